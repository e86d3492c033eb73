"""Elements that a question names, such as Table 8, Figs. 3b and 4, Eq. (4), Section 5.1, page 3 or [29]."""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache

from paperscope_core.text.words import fold_spelling
from paperscope_core.types import Element, Paper, Reference, Section
from query.question.paper_names import Citation, citations

__all__ = [
    "References",
    "cited_entries",
    "elements_in",
    "find_references",
    "named_section",
    "section_number",
    "table_labels",
    "without_numbered",
]

_KINDS = {
    "table": r"tab(?:le)?s?",
    "figure": r"fig(?:ure)?s?",
    "equation": r"eq(?:uation|n)?s?|formulas?|formulae",
    "algorithm": r"alg(?:orithm)?s?",
    "listing": r"listings?",
    "scheme": r"schemes?",
    "box": r"box(?:es)?",
    "prompt": r"prompts?",
    "section": r"(?:sub)?sec(?:tion|t)?s?|(?<!§)§+|appendix|appendices|app",
    "page": r"pages?|pp?",
}
_NUMBER = r"\(?(?:[A-Z]{1,2}\.?)?\d+(?:\.\d+)*[a-z]?\)?(?!\w)|\(?[IVXL]+\)?(?!\w)|[A-Z](?:\.\d+)*(?![\w'’])"
_SEPARATOR = r"\s*(?:,\s*and|,\s*or|,|and|or|&|to|through|[\-\u2010-\u2015])\s*"
_NAMED = re.compile(
    r"(?<![\w])(?:"
    + "|".join(f"(?P<{kind}>(?i:{words}))" for kind, words in _KINDS.items())
    + rf")\.?\s*(?P<numbers>(?:{_NUMBER})(?:{_SEPARATOR}(?:{_NUMBER}))*)"
)
_RANGE = re.compile(r"(?<![\w.])([A-Z]{0,2})(\d+)\s*(?:to|through|[\-\u2010-\u2015])\s*\1(\d+)(?![\d.])")
# "Supplementary Table 2" is printed as "Table S2".
_SUPPLEMENTARY = re.compile(r"(?i)\bsuppl\w*\.?\s+(tables?|figures?|figs?\.?|equations?|eqs?\.?)\s*(?=\d)")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_ORDINAL = re.compile(rf"(?i)\b({'|'.join(_ORDINALS)}|last)\s+(table|figure|equation)\b")
# The mark of a bibliography entry.
_MARK = re.compile(r"\[([^\[\]\s]{1,12})\]")
_LONGEST_RANGE = 20
_FIRST_AUTHOR = re.compile(r",|;|:|&|\band\b|\bet\b|\b(?:19|20)\d\d\b")


@dataclass(frozen=True, kw_only=True, slots=True)
class References:
    """Ids of the elements that a question names.

    Attributes:
        elements: Those that it names by their label.
        parts: The elements on named pages and in named sections, in reading order.
        surroundings: `parts`, and the places that cite works named by their label or by author and year.
        pages: The numbers of the named pages.
    """

    elements: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    surroundings: tuple[str, ...] = ()
    pages: frozenset[int] = frozenset()


def find_references(question: str, papers: Sequence[Paper]) -> References:
    """Resolve the elements that a question names in these papers; names that match nothing are skipped."""
    elements: list[str] = []
    parts: list[str] = []
    citing: list[str] = []
    pages: set[int] = set()
    labels = cache(lambda at: _labels(papers[at]))
    for kind, number in _mentions(_SUPPLEMENTARY.sub(r"\1 S", question)):
        for at, paper in enumerate(papers):
            if kind == "page":
                page = paper.page_number(int(number[:9])) if number.isdecimal() else None
                pages |= {page} if page is not None else set()
                parts.extend(one.id for one in paper.elements if one.place.page == page and not one.place.by_line)
            elif kind == "section":
                parts.extend(_in_section(paper, number))
            else:
                elements.extend(_labelled(labels(at), kind, number))
    for match in _ORDINAL.finditer(question):
        for paper in papers:
            elements.extend(_nth(paper, match[2].casefold(), match[1].casefold()))
    marks, cited = set(_MARK.findall(question)), list(citations(question))
    for paper in papers if marks or cited else ():
        entries = [
            one.id for one in paper.elements if isinstance(one, Reference) and one.label.strip("[]() .") in marks
        ]
        elements.extend(entries)
        citing.extend(_linking(paper, set(entries)))
        for citation in cited:
            citing.extend(_citing(paper, citation))
    return References(
        elements=tuple(dict.fromkeys(elements)),
        parts=tuple(dict.fromkeys(parts)),
        surroundings=tuple(dict.fromkeys((*parts, *citing))),
        pages=frozenset(pages),
    )


def table_labels(question: str) -> list[tuple[int, int]]:
    """Return where a question names tables by their labels: the offsets of each "Table 8"."""
    return [match.span() for match in _NAMED.finditer(question) if match["table"]]


def without_numbered(question: str) -> str:
    """Return the question without the elements, sections and pages that it names by number."""
    return _NAMED.sub(" ", question)


def _mentions(question: str) -> Iterator[tuple[str, str]]:
    for match in _NAMED.finditer(question):
        kind = next(kind for kind in _KINDS if match[kind])
        for number in _numbers(match["numbers"]):
            yield kind, number


def _numbers(text: str) -> list[str]:
    numbers = [number.strip("()") for number in re.findall(_NUMBER, text)]
    for prefix, start, end in _RANGE.findall(text):
        if 0 < int(end) - int(start) <= _LONGEST_RANGE:
            numbers.extend(f"{prefix}{number}" for number in range(int(start) + 1, int(end)))
    return numbers


def _labels(paper: Paper) -> Mapping[tuple[str, str], list[str]]:
    """Return the ids of elements by the kind and the number of their label."""
    labels: dict[tuple[str, str], list[str]] = {}
    for element in paper.elements:
        if label := _label(element):
            labels.setdefault(label, []).append(element.id)
    return labels


def _labelled(labels: Mapping[tuple[str, str], list[str]], kind: str, number: str) -> list[str]:
    numbers = (number, number.rstrip("abcdefghijklmnopqrstuvwxyz"))
    return next(filter(None, (labels.get((kind, one.casefold())) for one in numbers)), [])


def _label(element: Element) -> tuple[str, str] | None:
    mention = None if isinstance(element, Reference) else next(_mentions(element.label), None)
    return (mention[0], mention[1].casefold()) if mention else None


def _in_section(paper: Paper, number: str) -> Iterator[str]:
    roots = [one for one in paper.sections if section_number(one.number) == number]
    yield from (element.id for element in elements_in(paper, roots))


def elements_in(paper: Paper, sections: Sequence[Section]) -> Iterator[Element]:
    """Yield the elements of sections and of their subsections, in reading order."""
    roots = [section.path for section in sections]
    inside = {
        name
        for one in paper.sections
        if any(one.path == root or one.path.startswith(f"{root} > ") for root in roots)
        for name in (one.id, one.path)
    }
    yield from (element for element in paper.elements if element.section in inside)


def named_section(text: str) -> str:
    """Return the number of the section that a text is the name of ("Section 5.1", "§5.1", "Appendix B", "5.1"); other
    texts as they are."""
    match = _NAMED.fullmatch(text.strip())
    return match["numbers"].strip("()") if match and match["section"] else section_number(text)


def section_number(number: str) -> str:
    """Return the number of a section without "Appendix", "Section" or "Chapter" before it."""
    return re.sub(r"(?i)^(?:appendix|section|chapter)\s+", "", number).strip(" .")


def _citing(paper: Paper, citation: Citation) -> Iterator[str]:
    """Yield the bibliography entries of a work and the elements that cite it; empty if no year is given."""
    entries = {entry.id for entry in cited_entries(paper, citation)} if citation.year is not None else set()
    yield from _linking(paper, entries)
    yield from sorted(entries)


def _linking(paper: Paper, entries: Set[str]) -> list[str]:
    return sorted(link.source for link in paper.links if link.target in entries)


def cited_entries(paper: Paper, citation: Citation) -> Iterator[Reference]:
    """Yield the bibliography entries of a work that is named by author, and by year if the citation has one."""
    for element in paper.elements:
        if isinstance(element, Reference) and citation.year in (None, element.year) and _begins(element, citation):
            yield element


def _begins(entry: Reference, citation: Citation) -> bool:
    """Return whether the first author of an entry ("Li, X." or "X. Li") is the cited one."""
    head = fold_spelling(_FIRST_AUTHOR.split(entry.text, maxsplit=1)[0]).casefold()
    return re.search(rf"(?<!\w){re.escape(fold_spelling(citation.surnames[0]))}(?!\w)", head) is not None


def _nth(paper: Paper, kind: str, ordinal: str) -> list[str]:
    found = [element.id for element in paper.elements if element.kind == kind]
    at = len(found) - 1 if ordinal == "last" else _ORDINALS.index(ordinal)
    return found[at : at + 1] if found else []
