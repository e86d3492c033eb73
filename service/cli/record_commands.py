"""`paperscope complete`, `edit` and `bibliography`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from paperscope_core.errors import InputError
from paperscope_core.paper_lookup import is_tag
from paperscope_core.publication import doi_in
from paperscope_core.types import UNPUBLISHED, Publication
from service.cli.options import ConfigOption, LibraryOption, open_library, report_failure
from service.cli.paper_commands import PaperArgument
from service.cli.terminal import print_line, print_text, publication_line, record_lines, retraction_line

if TYPE_CHECKING:
    from paperscope.bibliographies import BibliographyFormat

__all__ = ["bibliography", "complete", "edit"]

PapersArgument = Annotated[
    list[str] | None, typer.Argument(help="Papers: ids, file names, parts of titles or '#TAG'; none for all.")
]


def complete(papers: PapersArgument = None, *, library: LibraryOption = None, config: ConfigOption = None) -> None:
    """Complete papers' records by Crossref's or arXiv's: title, authors, journal, volume, pages, retraction.

    The setting records.contact names what may be contacted. Exits with code 1 if a paper has no record."""
    failed = 0
    with open_library(library=library, config=config) as opened:
        tagged = not papers or any(map(is_tag, papers))
        for name in [entry.id for entry in opened.select(papers or ())] if tagged else papers or ():
            try:
                paper = opened.complete(name)
            except InputError as error:
                failed += 1
                report_failure(name, error, as_json=False)
                continue
            print_line(f"completed {paper.id}  {paper.title}  ({publication_line(paper.publication)})")
            retracted = retraction_line(paper.publication)
            for line in record_lines(paper.publication):
                print_line(f"          {line}", style="red" if line == retracted else "")
    raise typer.Exit(1 if failed else 0)


def edit(
    paper: PaperArgument,
    *,
    title: Annotated[str, typer.Option(help="The title.")] = "",
    author: Annotated[list[str] | None, typer.Option(help="An author; repeat it for all of them.")] = None,
    year: Annotated[int | None, typer.Option(min=1000, max=2999, help="The year of publication.")] = None,
    venue: Annotated[str, typer.Option(help="The journal or the proceedings.")] = "",
    doi: Annotated[str, typer.Option(help="The DOI.")] = "",
    library: LibraryOption = None,
    config: ConfigOption = None,
) -> None:
    """Correct a paper's record. It stays corrected when the file is read again."""
    if doi and not doi_in(doi):
        raise InputError(f"--doi {doi}: this is no DOI, such as 10.1000/182")
    published = Publication(year=year, venue=venue.strip(), doi=doi_in(doi))
    if not (title.strip() or author or published != UNPUBLISHED):
        raise InputError("Nothing to correct: give --title, --author, --year, --venue or --doi.")
    with open_library(library=library, config=config) as opened:
        found = opened.correct(paper, title=title.strip(), authors=author or (), published=published)
    print_line(
        f"corrected {found.id}  {found.title}  ({', '.join(found.authors)}; {publication_line(found.publication)})"
    )


def bibliography(
    papers: PapersArgument = None,
    *,
    form: Annotated[
        str, typer.Option("--format", help="bibtex, ris, csl-json, or text: references in a style.")
    ] = "bibtex",
    style: Annotated[
        Path | None, typer.Option("--style", help="A citation style for --format text, a .csl file; default: Harvard.")
    ] = None,
    library: LibraryOption = None,
    config: ConfigOption = None,
) -> None:
    """Print a bibliography of papers as BibTeX, RIS, CSL-JSON, or as references in a citation style."""
    from paperscope.bibliographies import BIBLIOGRAPHIES, references

    if form not in BIBLIOGRAPHIES:
        raise InputError(f"--format {form}: the formats are {', '.join(BIBLIOGRAPHIES)}")
    with open_library(library=library, config=config) as opened:
        entries = opened.select(papers or ())
        published = opened.publications([entry.id for entry in entries])
    if style is not None:
        print_text("\n".join(references(entries, published, style=style)))
        return
    print_text(BIBLIOGRAPHIES[cast("BibliographyFormat", form)](entries, published))
