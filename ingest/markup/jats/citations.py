"""The entries of a JATS bibliography, put together where they are mere lists of fields, with their labels."""

from ingest.markup.dated import dated_label
from ingest.markup.inline import collapsed, inline_text
from ingest.markup.nodes import Node
from ingest.markup.spots import Lines
from ingest.pdf.references.entry import entry_label, entry_year
from paperscope.types import Reference

__all__ = ["full_name", "reference_of"]

_CITATIONS = ("mixed-citation", "element-citation", "citation", "nlm-citation")
_NUMBERS = (("volume", " "), ("issue", "("), ("fpage", ":"), ("lpage", "–"), ("elocation-id", ":"))


def reference_of(ref: Node, *, lines: Lines) -> Reference | None:
    """The entry, None if it is empty."""
    citation = next(ref.all(*_CITATIONS), None) or ref.one("note") or ref
    label = ref.one("label") or citation.one("label")
    printed = label.plain().strip("[]() .") if label is not None else ""
    text = _formatted(citation)
    if not text:
        return None
    year = _year(citation) or entry_year(text)
    if printed.isdigit():
        name = f"[{printed}]"
    else:
        people = [person for person in citation.all("name", "string-name", "collab") if person.plain()]
        name = dated_label([_surname(person) for person in people], year) or entry_label(text)
    said = f"{name} {text}" if printed.isdigit() and not text.startswith((name, f"{printed}.")) else text
    return Reference(id="", place=lines.of(ref), order=0, text=said, label=name, year=year)


def full_name(person: Node) -> str:
    """Given names and surname of a `contrib` or `name`, or the name of a group."""
    name = person if person.tag == "name" else next(person.all("name", "string-name"), None)
    if name is None:
        group = next(person.all("collab"), None)
        return inline_text(group.children) if group is not None else ""
    parts = [name.one("given-names"), name.one("surname"), name.one("suffix")]
    told = " ".join(inline_text(part.children) for part in parts if part is not None)
    return collapsed(told) or inline_text(name.children)


def _surname(person: Node) -> str:
    surname = next(person.all("surname"), None)
    return surname.plain() if surname is not None else person.plain()


def _year(citation: Node) -> int | None:
    year = next(citation.all("year"), None)
    digits = year.plain()[:4] if year is not None else ""
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) == 4 else None


def _formatted(citation: Node) -> str:
    """As printed; a citation that is a mere list of fields is put together: authors, title, source, year, pages."""
    loose = "".join(child for child in citation.children if isinstance(child, str)).strip()
    if citation.tag == "mixed-citation" or loose or not citation.nodes:
        kept = [child for child in citation.children if isinstance(child, str) or child.tag != "label"]
        return inline_text(kept)
    people = [full_name(person) if person.tag == "name" else person.plain() for person in _people(citation)]
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
    return collapsed(". ".join(part.strip().rstrip(".") for part in parts if part.strip()) + ".")


def _people(citation: Node) -> list[Node]:
    groups = [group for group in citation.many("person-group") if group.get("person-group-type") in ("", "author")]
    return [person for group in groups or [citation] for person in group.many("name", "string-name", "collab")]


def _first(citation: Node, tag: str) -> str:
    found = next(citation.all(tag), None)
    return inline_text(found.children) if found is not None else ""
