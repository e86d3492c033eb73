"""`paperscope complete` and `bibliography`."""

from typing import TYPE_CHECKING, Annotated, cast

import typer

from paperscope_core.errors import InputError
from paperscope_core.paper_lookup import find_entry
from service.cli.options import ConfigOption, LibraryOption, open_library, report_failure
from service.cli.terminal import print_line, print_text, publication_line, record_lines

if TYPE_CHECKING:
    from paperscope.bibliographies import BibliographyFormat

__all__ = ["bibliography", "complete"]

PapersArgument = Annotated[
    list[str] | None, typer.Argument(help="Papers: ids, file names or parts of titles; none for all.")
]


def complete(papers: PapersArgument = None, *, library: LibraryOption = None, config: ConfigOption = None) -> None:
    """Complete papers' records by Crossref's or arXiv's: title, authors, journal, volume, pages, retraction.

    The setting records.contact names what may be contacted. Exits with code 1 if a paper has no record."""
    failed = 0
    with open_library(library=library, config=config) as opened:
        for name in papers or [entry.id for entry in opened.entries()]:
            try:
                paper = opened.complete(name)
            except InputError as error:
                failed += 1
                report_failure(name, error, as_json=False)
                continue
            print_line(f"completed {paper.id}  {paper.title}  ({publication_line(paper.publication)})")
            for line in record_lines(paper.publication):
                print_line(f"          {line}", style="red" if line.startswith("RETRACTED") else "")
    raise typer.Exit(1 if failed else 0)


def bibliography(
    papers: PapersArgument = None,
    *,
    form: Annotated[str, typer.Option("--format", help="bibtex, ris or csl-json.")] = "bibtex",
    library: LibraryOption = None,
    config: ConfigOption = None,
) -> None:
    """Print a bibliography of papers as BibTeX, RIS or CSL-JSON."""
    from paperscope.bibliographies import BIBLIOGRAPHIES

    if form not in BIBLIOGRAPHIES:
        raise InputError(f"--format {form}: the formats are {', '.join(BIBLIOGRAPHIES)}")
    with open_library(library=library, config=config) as opened:
        known = opened.entries()
        entries = [find_entry(known, name) for name in papers] if papers else known
        published = opened.publications([entry.id for entry in entries])
    print_text(BIBLIOGRAPHIES[cast("BibliographyFormat", form)](entries, published))
