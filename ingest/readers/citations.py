"""Entries of a bibliography and names of people in JATS and TEI."""

import re
from collections.abc import Mapping, Sequence

from ingest.document.references import entry_label, entry_year
from ingest.readers.inline_text import collapse_spaces, inline_text
from ingest.readers.markup_tree import Node
from ingest.readers.reading import SourceLines
from paperscope_core.types import Place, Reference

__all__ = ["author_year_label", "full_name", "jats_reference", "numbers_cited", "person_name", "tei_reference"]


def author_year_label(surnames: Sequence[str], year: int | None) -> str:
    """`Li et al., 2020`; "" where names or year are missing."""
    if not surnames or not surnames[0] or year is None:
        return ""
    if len(surnames) == 1:
        return f"{surnames[0]}, {year}"
    return f"{surnames[0]} and {surnames[1]}, {year}" if len(surnames) == 2 else f"{surnames[0]} et al., {year}"


_CITATIONS = ("mixed-citation", "element-citation", "citation", "nlm-citation")
_NUMBERS = (("volume", " "), ("issue", "("), ("fpage", ":"), ("lpage", "–"), ("elocation-id", ":"))


def jats_reference(ref: Node, *, lines: SourceLines) -> Reference | None:
    """The entry, None if it is empty."""
    citation = next(ref.iter(*_CITATIONS), None) or ref.find("note") or ref
    label = ref.find("label") or citation.find("label")
    printed = label.plain_text().strip("[]() .") if label is not None else ""
    text = _format_jats(citation)
    if not text:
        return None
    year = _jats_year(citation) or entry_year(text)
    if printed.isdigit():
        name = f"[{printed}]"
    else:
        people = [person for person in citation.iter("name", "string-name", "collab") if person.plain_text()]
        name = author_year_label([_surname(person) for person in people], year) or entry_label(text)
    said = f"{name} {text}" if printed.isdigit() and not text.startswith((name, f"{printed}.")) else text
    return Reference(id="", place=lines.of(ref), order=0, text=said, label=name, year=year)


def full_name(person: Node) -> str:
    """Given names and surname of a `contrib` or `name`, or the name of a group."""
    name = person if person.tag == "name" else next(person.iter("name", "string-name"), None)
    if name is None:
        group = next(person.iter("collab"), None)
        return inline_text(group.children) if group is not None else ""
    parts = [name.find("given-names"), name.find("surname"), name.find("suffix")]
    told = " ".join(inline_text(part.children) for part in parts if part is not None)
    return collapse_spaces(told) or inline_text(name.children)


def _surname(person: Node) -> str:
    surname = next(person.iter("surname"), None)
    return surname.plain_text() if surname is not None else person.plain_text()


def _jats_year(citation: Node) -> int | None:
    year = next(citation.iter("year"), None)
    digits = year.plain_text()[:4] if year is not None else ""
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) == 4 else None


def _format_jats(citation: Node) -> str:
    """As printed; a citation that is a mere list of fields is put together: authors, title, source, year, pages."""
    loose = "".join(child for child in citation.children if isinstance(child, str)).strip()
    if citation.tag == "mixed-citation" or loose or not citation.nodes:
        kept = [child for child in citation.children if isinstance(child, str) or child.tag != "label"]
        return inline_text(kept)
    people = [full_name(person) if person.tag == "name" else person.plain_text() for person in _people(citation)]
    numbers = "".join(
        f"{mark}{text}{')' if mark == '(' else ''}" for tag, mark in _NUMBERS if (text := _first(citation, tag))
    )
    parts = [
        ", ".join(filter(None, people)),
        _first(citation, "year"),
        _first(citation, "article-title") or _first(citation, "chapter-title") or _first(citation, "data-title"),
        f"{_first(citation, 'source')}{numbers}",
        _first(citation, "publisher-name"),
        _first(citation, "pub-id"),
    ]
    return collapse_spaces(". ".join(part.strip().rstrip(".") for part in parts if part.strip()) + ".")


def _people(citation: Node) -> list[Node]:
    groups = [group for group in citation.findall("person-group") if group.get("person-group-type") in ("", "author")]
    return [person for group in groups or [citation] for person in group.findall("name", "string-name", "collab")]


def _first(citation: Node, tag: str) -> str:
    found = next(citation.iter(tag), None)
    return inline_text(found.children) if found is not None else ""


_NUMBER = re.compile(r"[\[(]?(\d{1,3})[\])]?")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")


def person_name(author: Node) -> str:
    """Forenames and surname, or what is written."""
    name = next(author.iter("persname"), author)
    parts = [inline_text(part.children) for part in name.iter("forename", "surname")]
    return " ".join(parts) or inline_text(name.children)


def numbers_cited(root: Node) -> Mapping[str, str]:
    """The number under which each entry, by its `xml:id`, is cited; empty where the paper cites by name and year."""
    cited: dict[str, str] = {}
    for ref in root.iter("ref"):
        match = _NUMBER.fullmatch(ref.plain_text())
        if match and ref.get("type") == "bibr" and ref.get("target").startswith("#"):
            cited.setdefault(ref.get("target")[1:], match[1])
    return cited


def tei_reference(entry: Node, places: tuple[Place, ...], *, numbers: Mapping[str, str]) -> Reference | None:
    """One entry of `listBibl`, None if it is empty."""
    raw = next((note for note in entry.iter("note") if note.get("type") == "raw_reference"), None)
    text = inline_text(raw.children) if raw is not None else _format_tei(entry)
    if not text:
        return None
    year = _tei_year(entry) or entry_year(text)
    number = numbers.get(entry.get("id"), "")
    surnames = [part.plain_text() for author in _authors(entry) for part in list(author.iter("surname"))[:1]]
    label = f"[{number}]" if number else author_year_label(surnames, year) or entry_label(text)
    said = f"{label} {text}" if number and not text.startswith((label, f"{number}.")) else text
    return Reference(id="", place=places[0], order=0, text=said, label=label, year=year, more_places=places[1:])


def _authors(entry: Node) -> list[Node]:
    analytic = entry.find("analytic")
    found = analytic.findall("author") if analytic is not None else []
    return found or list(entry.iter("author"))


def _tei_year(entry: Node) -> int | None:
    for date in entry.iter("date"):
        if match := _YEAR.search(date.get("when") or date.plain_text()):
            return int(match[0])
    return None


def _format_tei(entry: Node) -> str:
    """Authors, year, titles, volume and pages; an entry in running text as it is written."""
    if entry.tag == "bibl":
        return inline_text(entry.children)
    year = _tei_year(entry)
    titles = [inline_text(title.children) for title in entry.iter("title")]
    scopes = [
        scope.plain_text() or f"{scope.get('from')}–{scope.get('to')}".strip("–") for scope in entry.iter("biblscope")
    ]
    parts = [
        ", ".join(filter(None, map(person_name, _authors(entry)))),
        str(year or ""),
        *titles,
        ", ".join(filter(None, scopes)),
    ]
    return collapse_spaces(". ".join(part.rstrip(".") for part in parts if part) + ".") if any(parts) else ""
