"""Joins two readings of one paper: the exact cells and formulas of a markup file (HTML, LaTeX, JATS, Word) with the
places of the printed one."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import TypeVar

from ingest.document.geometry import bounding_box
from paperscope_core.types import Box, Cell, Element, Equation, Paper, Place, Table

__all__ = ["join_markup"]

Labelled = TypeVar("Labelled", Table, Equation)

# The least share of the words of either table that both have, and of the signs of either formula: two tables with one
# label, of a preprint and of its revision, may have little in common.
_MOST_WORDS = 0.8
_MOST_SIGNS = 0.5
# Aligning takes the product of both numbers of words.
_MAX_WORDS = 4000
_CITATION = re.compile(r"\[\d{1,3}(?:[,–-]\s?\d{1,3}){0,20}\]")
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−", "-"))


def join_markup(printed: Paper, markup: Paper) -> Paper:
    """Return the printed paper with what the markup states exactly.

    A table gets the markup's cells if one table there has its label and most of its words; each cell has the place of
    the printed cells with its words. A number that both have, but not alike, stays as printed, and so does
    a table where its cell can't be told. An equation gets the
    LaTeX of the one with its number. Everything else is the printed paper's, and so are all places.
    """
    tables, equations = _by_label(Table, markup.elements), _by_label(Equation, markup.elements)
    unique = {*_by_label(Table, printed.elements), *_by_label(Equation, printed.elements)}

    def joined(element: Element) -> Element:
        if isinstance(element, Table) and element.label in unique and element.label in tables:
            return _joined_table(element, tables[element.label])
        if isinstance(element, Equation) and element.label in unique and element.label in equations:
            return _joined_equation(element, equations[element.label])
        return element

    return replace(printed, elements=tuple(map(joined, printed.elements)))


def _by_label(kind: type[Labelled], elements: Iterable[Element]) -> Mapping[str, Labelled]:
    """Return the elements of a kind whose label no other one has."""
    found: dict[str, list[Labelled]] = defaultdict(list)
    for element in elements:
        if isinstance(element, kind) and element.label:
            found[element.label].append(element)
    return {label: same[0] for label, same in found.items() if len(same) == 1}


def _joined_equation(equation: Equation, markup: Equation) -> Equation:
    ours, theirs = (Counter(filter(str.isalnum, _folded(one.text))) for one in (equation, markup))
    common = (ours & theirs).total()
    if not markup.latex or common < _MOST_SIGNS * max(ours.total(), theirs.total()):
        return equation
    return replace(equation, latex=markup.latex, text=markup.text)


def _joined_table(table: Table, markup: Table) -> Table:
    ours, theirs = _words(table.cells), _words(markup.cells)
    if not ours or max(len(ours), len(theirs)) > _MAX_WORDS:
        return table
    pairs = _Pairs(ours, theirs)
    if pairs.common < _MOST_WORDS * max(len(ours), len(theirs)):
        return table
    cells = list(markup.cells)
    for number in pairs.conflicts:
        [at, *others] = pairs.printed[number]
        ours_at, theirs_at = ((one.row, one.column) for one in (table.cells[at], cells[number]))
        if others or pairs.markup[at] != {number} or ours_at != theirs_at:
            return table
        cells[number] = replace(cells[number], text=table.cells[at].text, annotation=table.cells[at].annotation)
    placed = {number: _place([table.cells[at] for at in sorted(found)]) for number, found in pairs.printed.items()}
    around = [(markup.cells[number], place) for number, place in placed.items()]
    return replace(
        table,
        cells=tuple(
            replace(cell, place=placed.get(number) or _between(cell, around) or table.place)
            for number, cell in enumerate(cells)
        ),
        header_rows=markup.header_rows,
        confidence=1.0,
    )


def _folded(text: str) -> str:
    """Return a text without accents, case, citations and styles of letters."""
    decomposed = unicodedata.normalize("NFKD", _CITATION.sub(" ", text)).casefold()
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))


def _words(cells: Sequence[Cell]) -> list[tuple[int, str]]:
    """Return the words and numbers of cells, row by row, with the cell's index; a text of signs is one word."""
    order = sorted(range(len(cells)), key=lambda at: (cells[at].row, cells[at].column))
    folded = ((at, _folded(cells[at].text)) for at in order)
    return [
        (at, word) for at, text in folded for word in _WORD.findall(text) or ["".join(text.translate(_DASHES).split())]
    ]


class _Pairs:
    """Which printed cells have the words of which of the markup's cells.

    Attributes:
        printed: The printed cells of each of the markup's cells.
        markup: The markup's cells of each printed cell.
        conflicts: The markup's cells with a number where other digits are printed.
        common: The number of words that both have.
    """

    def __init__(self, ours: Sequence[tuple[int, str]], theirs: Sequence[tuple[int, str]]) -> None:
        self.printed: dict[int, set[int]] = defaultdict(set)
        self.markup: dict[int, set[int]] = defaultdict(set)
        self.conflicts: set[int] = set()
        self.common = 0
        matcher = SequenceMatcher(None, [word for _, word in ours], [word for _, word in theirs], autojunk=False)
        for tag, start, end, first, last in matcher.get_opcodes():
            here, there = ours[start:end], theirs[first:last]
            if len(here) == len(there) and (tag == "equal" or _joined(here) != _joined(there)):
                for pair in zip(here, there, strict=True):
                    self._add([pair[0]], [pair[1]])
            elif here and there:
                self._add(here, there)

    def _add(self, here: Sequence[tuple[int, str]], there: Sequence[tuple[int, str]]) -> None:
        """Pair the cells of words that stand in the same place."""
        printed, stated = _joined(here), _joined(there)
        digits, others = ("".join(filter(str.isdigit, side)) for side in (printed, stated))
        if printed == stated:
            self.common += max(len(here), len(there))
        elif digits and others and digits != others:
            self.conflicts |= {number for number, _ in there}
        for at, _ in here:
            for number, _ in there:
                self.printed[number].add(at)
                self.markup[at].add(number)


def _joined(words: Sequence[tuple[int, str]]) -> str:
    return "".join(word for _, word in words)


def _place(cells: Sequence[Cell]) -> Place:
    """Return the place of cells, of those on the first one's page."""
    first = cells[0].place
    return replace(first, box=bounding_box(cell.place.box for cell in cells if cell.place.page == first.page))


def _between(cell: Cell, placed: Sequence[tuple[Cell, Place]]) -> Place | None:
    """Return the place where the row and the column of a cell meet, None if no other cell of either has a place."""
    row = [place for other, place in placed if other.row == cell.row]
    columns = [place for other, place in placed if (other.column, other.column_span) == (cell.column, cell.column_span)]
    columns = [place for place in columns if row and place.page == row[0].page]
    if not row or not columns:
        return None
    high = bounding_box(place.box for place in row if place.page == row[0].page)
    wide = bounding_box(place.box for place in columns)
    return replace(row[0], box=Box(wide.x0, high.y0, wide.x1, high.y1))
