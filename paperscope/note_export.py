"""Notes as Markdown files with front matter, a file for each paper, as Obsidian and other programs read them."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence

from paperscope.bibliographies import bibtex_keys
from paperscope_core.text.escaping import markdown_line
from paperscope_core.types import Note, PaperEntry

__all__ = ["note_files"]


def note_files(
    notes: Iterable[Note],
    entries: Sequence[PaperEntry],
    tags: Mapping[str, Sequence[str]],
    *,
    link: Callable[[Note], str] = lambda _note: "",
) -> dict[str, str]:
    """Return the notes of each paper as a file, by its name: the paper's key in BibTeX, or its id if it was removed.

    Args:
        entries: All papers of the library.
        tags: The ids of the papers with each tag.
        link: Returns the address that shows the places of a note; "" for none.
    """
    keys = {entry.id: key for entry, key in zip(entries, bibtex_keys(entries), strict=True)}
    known = {entry.id: entry for entry in entries}
    grouped: dict[str, list[Note]] = {}
    for note in notes:
        grouped.setdefault(note.paper, []).append(note)
    files = {}
    for paper, those in grouped.items():
        those.sort(key=lambda note: ([(place.page, place.box.y0) for place in note.places[:1]], note.created))
        names = [tag for tag, papers in tags.items() if paper in papers]
        head = _front_matter(those[0], known.get(paper), keys.get(paper, ""), names)
        body = "\n\n---\n\n".join(_written(note, link(note)) for note in those)
        files[f"{keys.get(paper, paper)}.md"] = f"{head}\n# {markdown_line(those[0].title)}\n\n{body}\n"
    return files


def _front_matter(note: Note, entry: PaperEntry | None, key: str, tags: Sequence[str]) -> str:
    record: dict[str, object] = {"title": note.title}
    if entry is not None:
        record |= {"title": entry.title, "authors": entry.authors, "year": entry.year, "venue": entry.venue}
        record |= {"doi": entry.doi, "arxiv": entry.arxiv, "citekey": key}
    record |= {"paper": note.paper, "tags": tags}
    # JSON is YAML, too.
    lines = (f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in record.items() if value)
    return "\n".join(["---", *lines, "---", ""])


def _written(note: Note, link: str) -> str:
    quote = "\n".join(f"> {markdown_line(line)}" for line in note.quote.splitlines())
    where = ", ".join(dict.fromkeys(place.where for place in note.places))
    what = ", ".join(filter(None, (note.element.rpartition("/")[2], where)))
    cited = f"[{what}]({link})" if link and what else what
    return "\n\n".join(filter(None, (quote, note.text, cited)))
