"""Bibliography entries and names of people in JATS and TEI."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ingest.document.authors import Authors
from ingest.document.drafts import draft_reference
from ingest.readers.inline_text import collapse_spaces, inline_text, node_text
from ingest.readers.markup_tree import Node
from paperscope_core.types import Place, Reference

__all__ = ["cited_numbers", "jats_name", "jats_reference", "tei_name", "tei_reference"]

_JATS_CITATIONS = ("mixed-citation", "element-citation", "citation", "nlm-citation")
_JATS_NUMBERS = (("volume", " "), ("issue", "("), ("fpage", ":"), ("lpage", "–"), ("elocation-id", ":"))
_CITED_NUMBER = re.compile(r"[\[(]?(\d{1,3})[\])]?")
# What else an author's element holds.
_NOT_NAMES = frozenset(("affiliation", "email", "idno", "address", "note"))
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")


def jats_reference(ref: Node, *, place: Place) -> Reference | None:
    """Return the entry of a JATS `ref`, None if it is empty."""
    citation = ref.first_of(*_JATS_CITATIONS) or ref.find("note") or ref
    text = _format_jats(citation) or node_text(citation)
    if not text:
        return None
    year = next((node.plain_text()[:4] for node in citation.iter("year")), "")
    people = [person for person in citation.iter("name", "string-name", "collab") if person.plain_text()]
    label = ref.find("label") or citation.find("label")
    printed = label.plain_text().strip("[]() .") if label is not None else ""
    return _reference(
        text,
        number=printed if printed.isdigit() else "",
        surnames=[next(person.iter("surname"), person).plain_text() for person in people],
        year=int(year) if year.isascii() and year.isdigit() and len(year) == 4 else None,
        places=(place,),
    )


def tei_reference(entry: Node, places: tuple[Place, ...], *, numbers: Mapping[str, str]) -> Reference | None:
    """Return an entry of a TEI `listBibl`, None if it is empty; `numbers` come from `cited_numbers`."""
    raw = next((note for note in entry.iter("note") if note.get("type") == "raw_reference"), None)
    text = node_text(raw) or _format_tei(entry)
    if not text:
        return None
    surnames = (author.first_of("surname") for author in _tei_authors(entry))
    return _reference(
        text,
        number=numbers.get(entry.get("id"), ""),
        surnames=[surname.plain_text() for surname in surnames if surname is not None],
        year=_tei_year(entry),
        places=places,
    )


def _reference(
    text: str, *, number: str, surnames: Sequence[str], year: int | None, places: tuple[Place, ...]
) -> Reference:
    """Return an entry labelled by its number, else by names and year; a number missing in the text is prefixed."""
    label = f"[{number}]" if number else ""
    if number and not text.startswith((label, f"{number}.")):
        text = f"{label} {text}"
    draft = draft_reference(text, *places)
    year = year or draft.year
    return replace(draft, label=label or _author_year_label(surnames, year) or draft.label, year=year)


def _author_year_label(surnames: Sequence[str], year: int | None) -> str:
    """`Li et al., 2020`; "" if names or year are missing."""
    return f"{Authors(names=tuple(surnames)).short}, {year}" if surnames and surnames[0] and year else ""


def _format_jats(citation: Node) -> str:
    """Return the citation as printed; one that is a list of fields is formatted: authors, year, title, source,
    publisher."""
    loose = "".join(child for child in citation.children if isinstance(child, str)).strip()
    if citation.tag == "mixed-citation" or loose or not citation.nodes:
        return inline_text(child for child in citation.children if isinstance(child, str) or child.tag != "label")

    def field(tag: str) -> str:
        return node_text(next(citation.iter(tag), None))

    groups = [group for group in citation.findall("person-group") if group.get("person-group-type") in ("", "author")]
    people = [person for group in groups or [citation] for person in group.findall("name", "string-name", "collab")]
    names = [jats_name(person) if person.tag == "name" else person.plain_text() for person in people]
    numbers = "".join(
        f"{mark}{text}{')' if mark == '(' else ''}" for tag, mark in _JATS_NUMBERS if (text := field(tag))
    )
    return _sentences(
        ", ".join(filter(None, names)),
        field("year"),
        field("article-title") or field("chapter-title") or field("data-title"),
        f"{field('source')}{numbers}",
        field("publisher-name"),
        field("pub-id"),
    )


def _format_tei(entry: Node) -> str:
    """Return the entry as printed, or formatted: authors, year, titles, volume and pages."""
    if entry.tag == "bibl":
        return node_text(entry)
    scopes = (
        scope.plain_text() or f"{scope.get('from')}–{scope.get('to')}".strip("–") for scope in entry.iter("biblscope")
    )
    return _sentences(
        ", ".join(filter(None, map(tei_name, _tei_authors(entry)))),
        str(_tei_year(entry) or ""),
        *map(node_text, entry.iter("title")),
        ", ".join(filter(None, scopes)),
    )


def _sentences(*parts: str) -> str:
    joined = ". ".join(part.strip().rstrip(".") for part in parts if part.strip())
    return collapse_spaces(f"{joined}.") if joined else ""


def jats_name(person: Node) -> str:
    """Given names and surname of a `contrib` or `name`, or the name of a group."""
    name = person if person.tag == "name" else person.first_of("name", "string-name")
    if name is None:
        return node_text(person.first_of("collab"))
    parts = (node_text(name.find(tag)) for tag in ("given-names", "surname", "suffix"))
    return " ".join(filter(None, parts)) or node_text(name)


def tei_name(author: Node) -> str:
    """Return forenames and surname, or the text as written."""
    name = next(author.iter("persname"), author)
    written = (child for child in name.children if isinstance(child, str) or child.tag not in _NOT_NAMES)
    return " ".join(map(node_text, name.iter("forename", "surname"))) or inline_text(written)


def cited_numbers(root: Node) -> Mapping[str, str]:
    """Return the number by which each entry is cited, by its `xml:id`; empty if a TEI paper cites by author and
    year."""
    cited: dict[str, str] = {}
    for ref in root.iter("ref"):
        match = _CITED_NUMBER.fullmatch(ref.plain_text())
        if match and ref.get("type") == "bibr" and ref.get("target").startswith("#"):
            cited.setdefault(ref.get("target")[1:], match[1])
    return cited


def _tei_authors(entry: Node) -> list[Node]:
    analytic = entry.find("analytic")
    return (analytic.findall("author") if analytic is not None else []) or list(entry.iter("author"))


def _tei_year(entry: Node) -> int | None:
    matches = (_YEAR.search(date.get("when") or date.plain_text()) for date in entry.iter("date"))
    return next((int(match[0]) for match in matches if match), None)
