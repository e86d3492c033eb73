"""What a question names outright: "Table 8", "Figs. 3b and 4", "Eq. (4)", "Section 5.1", "page 3", a paper's title."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from paperscope.types import Element, Equation, Figure, Paper, PaperEntry, Passage, Reference, Table

__all__ = ["References", "find_references", "named_papers"]

_KINDS = {
    "table": r"tab(?:le)?s?",
    "figure": r"fig(?:ure)?s?",
    "equation": r"eq(?:uation|n)?s?|formulas?|formulae",
    "algorithm": r"alg(?:orithm)?s?",
    "section": r"sec(?:tion|t)?s?|§+|appendix|appendices|app",
    "page": r"pages?|pp?",
}
_NUMBER = r"\(?(?:[A-Z]{1,2}\.?)?\d+(?:\.\d+)*[a-z]?\)?(?!\w)|\(?[IVXL]+\)?(?!\w)|[A-Z](?:\.\d+)*(?![\w'’])"
_SEPARATOR = r"\s*(?:,\s*and|,\s*or|,|and|or|&|to|through|[\-\u2010-\u2015])\s*"
_NAMED = re.compile(
    r"(?<![\w])(?:"
    + "|".join(f"(?P<{kind}>(?i:{words}))" for kind, words in _KINDS.items())
    + rf")\.?\s*(?P<numbers>(?:{_NUMBER})(?:{_SEPARATOR}(?:{_NUMBER}))*)"
)
_RANGE = re.compile(r"(?<![\d.])(\d+)\s*(?:to|through|[\-\u2010-\u2015])\s*(\d+)(?![\d.])")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_ORDINAL = re.compile(rf"(?i)\b({'|'.join(_ORDINALS)}|last)\s+(table|figure|equation)\b")
_LONGEST_RANGE = 20
# Each question is held against the names of all papers.
_PAPERS_KEPT = 20_000


@dataclass(frozen=True, kw_only=True, slots=True)
class References:
    """Ids of the elements that a question names: `elements` one by one, in the question's order; `surroundings` are
    the elements of the sections and pages it names."""

    elements: tuple[str, ...] = ()
    surroundings: tuple[str, ...] = ()


def find_references(question: str, papers: Sequence[Paper]) -> References:
    """Resolve what the question names over these papers; what no paper holds is left out."""
    elements: list[str] = []
    surroundings: list[str] = []
    for kind, number in _mentions(question):
        for paper in papers:
            if kind == "page":
                surroundings.extend(element.id for element in paper.elements if _is_on(element, number))
            elif kind == "section":
                surroundings.extend(_in_section(paper, number))
            else:
                elements.extend(_labelled(paper, kind, number))
    for match in _ORDINAL.finditer(question):
        for paper in papers:
            elements.extend(_nth(paper, match[2].casefold(), match[1].casefold()))
    return References(elements=_once(elements), surroundings=_once(surroundings))


def _is_on(element: Element, page: str) -> bool:
    return str(element.place.page) == page and not element.place.by_line


def named_papers(question: str, papers: Sequence[PaperEntry]) -> tuple[str, ...]:
    """Ids of the papers whose title (three words or more) or file name stands in the question.

    A file name without its ending counts only if it holds a digit, as "2310.07609v1" does: "paper" names no file.
    """
    folded, plain = f" {_folded(question)} ", question.casefold()
    found = []
    for paper in papers:
        title, names = _called(paper.title, paper.file)
        if (title and title in folded) or any(_stands_in(name, plain) for name in names):
            found.append(paper.id)
    return tuple(found)


@lru_cache(maxsize=_PAPERS_KEPT)
def _called(title: str, file: str) -> tuple[str, tuple[str, ...]]:
    """The title, "" where it is too short to tell a paper, and the names of the file that tell it."""
    folded, name = _folded(title), file.casefold()
    stem = name.rpartition(".")[0]
    names = [name] if stem else []
    if len(stem) >= 6 and any(letter.isdigit() for letter in stem):
        names.append(stem)
    return f" {folded} " if folded.count(" ") >= 2 else "", tuple(names)


def _mentions(question: str) -> Iterator[tuple[str, str]]:
    for match in _NAMED.finditer(question):
        kind = next(kind for kind in _KINDS if match[kind])
        for number in _numbers(match["numbers"]):
            yield kind, number


def _numbers(text: str) -> list[str]:
    numbers = [number.strip("()") for number in re.findall(_NUMBER, text)]
    for start, end in _RANGE.findall(text):
        if 0 < int(end) - int(start) <= _LONGEST_RANGE:
            numbers.extend(str(number) for number in range(int(start) + 1, int(end)))
    return numbers


def _labelled(paper: Paper, kind: str, number: str) -> list[str]:
    labels = [(element.id, _label(element)) for element in paper.elements]
    for wanted in (number, number.rstrip("abcdefghijklmnopqrstuvwxyz")):
        found = [element for element, label in labels if label == (kind, wanted.casefold())]
        if found:
            return found
    return []


def _label(element: Element) -> tuple[str, str] | None:
    if isinstance(element, Passage | Reference):
        return None
    mentions = list(_mentions(element.label))
    return (mentions[0][0], mentions[0][1].casefold()) if mentions else None


def _in_section(paper: Paper, number: str) -> Iterator[str]:
    paths = [section.path for section in paper.sections if section.number.strip(" .") == number]
    for element in paper.elements:
        if any(element.section == path or element.section.startswith(f"{path} > ") for path in paths):
            yield element.id


def _nth(paper: Paper, kind: str, ordinal: str) -> list[str]:
    kinds = {"table": Table, "figure": Figure, "equation": Equation}
    found = [element.id for element in paper.elements if isinstance(element, kinds[kind])]
    at = len(found) - 1 if ordinal == "last" else _ORDINALS.index(ordinal)
    return found[at : at + 1] if found else []


def _folded(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


def _stands_in(name: str, text: str) -> bool:
    # Most names don't stand there at all, and a pattern for each paper of a large library takes its time.
    return name in text and re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text) is not None


def _once(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))
