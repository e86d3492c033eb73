"""People and bibliographic entries in TEI."""

import re
from collections.abc import Mapping

from ingest.markup.dated import dated_label
from ingest.markup.inline import collapsed, inline_text
from ingest.markup.nodes import Node
from ingest.pdf.references.entry import entry_label, entry_year
from paperscope.types import Place, Reference

__all__ = ["numbers_cited", "person_name", "reference_of"]

_NUMBER = re.compile(r"[\[(]?(\d{1,3})[\])]?")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")


def person_name(author: Node) -> str:
    """Forenames and surname, or what is written."""
    name = next(author.all("persname"), author)
    parts = [inline_text(part.children) for part in name.all("forename", "surname")]
    return " ".join(parts) or inline_text(name.children)


def numbers_cited(root: Node) -> Mapping[str, str]:
    """The number under which each entry, by its `xml:id`, is cited; empty where the paper cites by name and year."""
    cited: dict[str, str] = {}
    for ref in root.all("ref"):
        match = _NUMBER.fullmatch(ref.plain())
        if match and ref.get("type") == "bibr" and ref.get("target").startswith("#"):
            cited.setdefault(ref.get("target")[1:], match[1])
    return cited


def reference_of(entry: Node, places: tuple[Place, ...], *, numbers: Mapping[str, str]) -> Reference | None:
    """One entry of `listBibl`, None if it is empty."""
    raw = next((note for note in entry.all("note") if note.get("type") == "raw_reference"), None)
    text = inline_text(raw.children) if raw is not None else _formatted(entry)
    if not text:
        return None
    year = _year(entry) or entry_year(text)
    number = numbers.get(entry.get("id"), "")
    surnames = [part.plain() for author in _authors(entry) for part in list(author.all("surname"))[:1]]
    label = f"[{number}]" if number else dated_label(surnames, year) or entry_label(text)
    said = f"{label} {text}" if number and not text.startswith((label, f"{number}.")) else text
    return Reference(id="", place=places[0], order=0, text=said, label=label, year=year, more_places=places[1:])


def _authors(entry: Node) -> list[Node]:
    analytic = entry.one("analytic")
    found = analytic.many("author") if analytic is not None else []
    return found or list(entry.all("author"))


def _year(entry: Node) -> int | None:
    for date in entry.all("date"):
        if match := _YEAR.search(date.get("when") or date.plain()):
            return int(match[0])
    return None


def _formatted(entry: Node) -> str:
    """Authors, year, titles, volume and pages; an entry in running text as it is written."""
    if entry.tag == "bibl":
        return inline_text(entry.children)
    year = _year(entry)
    titles = [inline_text(title.children) for title in entry.all("title")]
    scopes = [scope.plain() or f"{scope.get('from')}–{scope.get('to')}".strip("–") for scope in entry.all("biblscope")]
    parts = [
        ", ".join(filter(None, map(person_name, _authors(entry)))),
        str(year or ""),
        *titles,
        ", ".join(filter(None, scopes)),
    ]
    return collapsed(". ".join(part.rstrip(".") for part in parts if part) + ".") if any(parts) else ""
