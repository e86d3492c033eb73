"""`paperscope tag`, `note` and `notes`."""

from pathlib import Path
from typing import Annotated

import typer

from paperscope_core.codec import to_json
from paperscope_core.files import output_errors, write_atomically
from service.cli.options import ConfigOption, JsonOption, LibraryOption, open_library
from service.cli.paper_commands import PaperArgument
from service.cli.terminal import print_json, print_line, print_note

__all__ = ["note", "notes", "tag"]


def tag(
    papers: Annotated[
        list[str] | None,
        typer.Argument(help="Papers: ids, file names, parts of titles or '#TAG'; none lists the tags."),
    ] = None,
    *,
    add: Annotated[list[str] | None, typer.Option("--add", "-a", help="A tag to give them (repeatable).")] = None,
    remove: Annotated[list[str] | None, typer.Option("--remove", help="A tag to take from them (repeatable).")] = None,
    library: LibraryOption = None,
    config: ConfigOption = None,
) -> None:
    """Give papers tags, and list the tags. Wherever papers are named, '#TAG' names all papers of a tag."""
    with open_library(library=library, config=config) as opened:
        if papers:
            opened.tag(papers, add=add or (), remove=remove or ())
        tags = opened.tags()
    for name, tagged in tags.items():
        print_line(f"#{name}  {len(tagged)} paper{'' if len(tagged) == 1 else 's'}")


def note(
    paper: PaperArgument,
    text: Annotated[str, typer.Argument(help="The note, in Markdown; none marks the element only.")] = "",
    *,
    element: Annotated[
        str, typer.Option("--element", "-e", help="The element that it is about, by its id: table-3, passage-12.")
    ] = "",
    library: LibraryOption = None,
    config: ConfigOption = None,
) -> None:
    """Store a note on a paper or on one of its elements, or mark an element."""
    with open_library(library=library, config=config) as opened:
        stored = opened.note(paper, text, element=element)
    print_line(f"stored {stored.id} on {stored.title}")


def notes(
    words: Annotated[str, typer.Argument(help="Only notes with these words in text, quotation or title.")] = "",
    *,
    paper: Annotated[
        list[str] | None, typer.Option("--paper", "-p", help="Only on this paper, or on those of '#TAG' (repeatable).")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write them into this folder as Markdown, a file for each paper.")
    ] = None,
    delete: Annotated[str, typer.Option("--delete", metavar="ID", help="Delete the note with this id.")] = "",
    library: LibraryOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """List notes and highlights, the newest first, or write them as Markdown with front matter, as for Obsidian."""
    from paperscope.note_export import note_files

    with open_library(library=library, config=config) as opened:
        if delete:
            opened.notes.delete(delete)
            print_line(f"deleted {delete}")
            return
        papers = [entry.id for entry in opened.select(paper)] if paper else None
        found = opened.notes.all(papers=papers, words=words)
        files = note_files(found, opened.entries(), opened.tags()) if out else {}
    if out:
        with output_errors(out):
            out.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            write_atomically(out / name, text.encode())
        print_note(f"wrote {len(files)} files to {out}")
        return
    for one in found:
        if as_json:
            print_json(to_json(one))
            continue
        where = ", ".join(dict.fromkeys(place.where for place in one.places))
        print_line(f"{one.id}  {', '.join(filter(None, (one.title, where)))}", style="bold")
        for line in filter(None, (one.quote and f"“{one.quote}”", one.text)):
            print_line(f"  {line}")
