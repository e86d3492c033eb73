"""Cross-references: which passages name which tables, figures, equations, sections and references."""

import re
from collections.abc import Iterable, Mapping, Sequence

from ingest.pdf.captions import normal_label
from paperscope.types import Element, Equation, Figure, Link, Passage, Reference, Section, Table

__all__ = ["find_links"]

_NUMBER = r"(?:[A-Z]{1,2}\.?)?\d+(?:\.\d+)*|[A-Z](?:\.\d+)+"
_TAIL = rf"(?:\s*(?:,\s*and|,\s*&|,|and|&|or|to|[-–—])\s*\(?(?:{_NUMBER})\)?[a-z]?(?![\w%]))*"
_MENTION = re.compile(
    rf"\b(?P<word>Tables?|Tabs?\.|Figures?|Figs?\.?|Equations?|Eqs?\.?|Eqns?\.?|Sections?|Secs?\.|Appendi(?:x|ces))"
    rf"[\s~]*\(?(?P<numbers>(?:{_NUMBER}|[A-Z](?=\b))\)?{_TAIL})|(?P<sign>§+)\s*(?P<signed>{_NUMBER}{_TAIL})",
)
_ONE = re.compile(rf"{_NUMBER}|[A-Z]\b")
_RANGE = re.compile(r"\d+\s*[-–—]\s*\d+|\d+\s+to\s+\d+")
_CITED = re.compile(r"\[(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\]")
_DATED = re.compile(
    r"(?P<name>[^\W\d_][\w'’-]+)(?P<more>\s+et\s+al\.?|\s+(?:and|&)\s+[^\W\d_][\w'’-]+)?,?\s*\(?(?P<year>(?:19|20)\d{2}[a-z]?)\b"
)
_MOST_IN_RANGE = 30


def find_links(elements: Sequence[Element], sections: Sequence[Section]) -> tuple[Link, ...]:
    """One link for each element and target, with the words that name it first."""
    targets = _targets(elements, sections)
    links: dict[tuple[str, str], Link] = {}
    for element in elements:
        for label, text in _mentions(_text(element)):
            target = targets.get(label)
            if target is not None and target != element.id:
                links.setdefault((element.id, target), Link(source=element.id, target=target, text=text))
    return tuple(links.values())


def _text(element: Element) -> str:
    match element:
        case Passage(role="furniture"):
            return ""
        case Passage():
            return element.text
        case Table() | Figure():
            return element.caption
        case _:
            return ""


def _targets(elements: Sequence[Element], sections: Sequence[Section]) -> Mapping[str, str]:
    """Element ids by what a text calls them; a section by the heading that opens it."""
    targets: dict[str, str] = {}
    headings = {
        element.section: element.id
        for element in reversed(elements)
        if isinstance(element, Passage) and element.role == "heading"
    }
    for section in sections:
        if section.number and section.id in headings:
            targets.setdefault(f"Section {section.number}", headings[section.id])
    for element in elements:
        match element:
            case Table() | Figure() | Equation() if element.label:
                targets.setdefault(element.label, element.id)
            case Reference() if element.label:
                targets.setdefault(element.label.lower(), element.id)
    return targets


def _mentions(text: str) -> Iterable[tuple[str, str]]:
    """(label, words) of everything that a text names."""
    for match in _MENTION.finditer(text):
        word = match["word"] or "Section"
        for number in _expanded(match["numbers"] or match["signed"]):
            yield _label(word, number), match[0]
    for match in _CITED.finditer(text):
        for number in _expanded(match[1]):
            yield f"[{number}]", f"[{number}]" if match[0].count(",") or "-" in match[0] else match[0]
    for match in _DATED.finditer(text):
        more = (
            re.sub(r"\s+", " ", match["more"] or "").replace("&", "and").replace("et al", "et al.").replace("..", ".")
        )
        yield f"{match['name']}{more}, {match['year']}".lower(), match[0].strip(" (,")


def _label(word: str, number: str) -> str:
    kind = word[:2].lower()
    if kind in ("ta", "fi"):
        return normal_label(word, number)
    return f"Equation {number}" if kind == "eq" else f"Section {number}"


def _expanded(text: str) -> list[str]:
    """`2, 4-6` -> 2, 4, 5, 6."""
    numbers: list[str] = []
    for match in _RANGE.finditer(text):
        first, last = (int(number) for number in re.findall(r"\d+", match[0]))
        if first < last <= first + _MOST_IN_RANGE:
            numbers.extend(str(number) for number in range(first, last + 1))
    rest = _RANGE.sub(" ", text)
    return numbers + [match[0] for match in _ONE.finditer(rest)]
