"""Scores papers of many fields against what was read by eye: tables, order of text, record, figures."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from paperscope_core.types import Figure, Paper, Passage, Table, places_of
from paperscope_lab.evaluation.gold.papers import FieldLine, Gold
from paperscope_lab.evaluation.matching import normalise_spaces, remove_spaces
from paperscope_lab.evaluation.metrics.regions import area, shared_area
from paperscope_lab.evaluation.parsing.tables import shape_of
from paperscope_lab.evaluation.score import Miss, Score, Tally, score_checks, total

__all__ = ["score_fields"]

_PLAIN_CHARACTERS = str.maketrans("\u2217\u2a7d\u2a7e", "*\u2264\u2265")
# In a folded text: a comparison, a tick; a minus before a number, or after a word ("HIV-").
_SIGN = re.compile(r"[\u00b1<>\u2264\u2265\u00d7+\u2248\u2713\u2717\u00b7]|(?<![^(\[,;])-(?=[.\d])|(?<=\w)-$")
_MIN_TABLE_COVERED = 0.2  # of the gold's box
_MIN_FIGURE_COVERED = 0.75  # of the gold's box
_MIN_FIGURE_TRUE = 0.6  # of the figure's box
_TITLE_LENGTH = 60
_MAX_MISSES_SHOWN = 12

Rows = Sequence[Sequence[str]]


def score_fields(paper: Paper, gold: Gold) -> Score:
    """Compare what was read by eye from the pages of a paper with the parser's elements.

    - fields.cells: printed cells with their text, at their position if the table has the right shape, else in the row
      that shares most texts; fields.signs: those of them that hold a sign (a minus, <, ±, a tick).
    - fields.shape: tables with the right numbers of rows and columns; fields.whole: tables whose cells are all right.
    - fields.no_table: pages without a table on which none is found.
    - fields.neighbours: pairs of neighbouring headings, paragraphs and list items that are found in this order;
      fields.pages: pages all of whose pairs are.
    - fields.title (its first 60 letters), fields.authors (complete and in order), fields.year, fields.doi, if printed.
    - fields.figures: pictures of which a figure covers three quarters, with at most two fifths of other content;
      fields.no_figure: pictures that are not printed, and not shown as a figure.
    """
    return total(_score_line(line, paper) for line in gold.fields)


def _score_line(line: FieldLine, paper: Paper) -> Score:
    if line.page is None:
        return _score_record(line, paper)
    if line.grid or line.no_table:
        return _score_table(line, paper)
    return _score_page(line, paper) if line.starts else _score_figure(line, paper)


def _score_table(expected: FieldLine, paper: Paper) -> Score:
    tables = (element for element in paper.elements if isinstance(element, Table))
    found = [(place.box, table) for table in tables for place in places_of(table) if place.page == expected.page]
    what = f"page {expected.page}, {expected.label or 'table'}"
    if not (box := expected.bbox):
        return score_checks({"fields.no_table": not found}, what=what, gold="", got=found[0][1].label if found else "")
    found = [(other, table) for other, table in found if shared_area(other, box) > _MIN_TABLE_COVERED * area(box)]
    nearest = max(found, key=lambda one: shared_area(one[0], box), default=None)
    want, got = _filled_rows(expected.grid), _filled_rows(nearest[1].grid() if nearest else ())
    cells = list(_compared_cells(want, got))
    signed = [right for text, right in cells if _SIGN.search(text)]
    missed = [Miss(metric="fields.cells", what=what, gold=text) for text, right in cells if not right]
    tallies = {
        "fields.cells": Tally(right=len(cells) - len(missed), total=len(cells)),
        "fields.signs": Tally(right=sum(signed), total=len(signed)),
    }
    shapes = shape_of(want), shape_of(got)
    checks = {"fields.shape": shapes[0] == shapes[1], "fields.whole": want == got}
    score = score_checks(checks, what=what, gold=f"shape {shapes[0]}", got=f"shape {shapes[1]}")
    return score + Score(tallies=tallies, misses=tuple(missed[:_MAX_MISSES_SHOWN]))


def _filled_rows(grid: Rows) -> list[tuple[str, ...]]:
    """Fold every text, and leave out the rows and columns without one."""
    width = max(map(len, grid), default=0)
    rows = ([_folded(text) for text in (*row, *[""] * (width - len(row)))] for row in grid)
    return list(zip(*filter(any, zip(*filter(any, rows), strict=True)), strict=True))


def _folded(text: str) -> str:
    return remove_spaces(text).translate(_PLAIN_CHARACTERS).casefold()


def _compared_cells(want: Rows, got: Rows) -> Iterator[tuple[str, bool]]:
    """Yield each printed text, and whether it was read."""
    same_shape = shape_of(want) == shape_of(got)
    for index, row in enumerate(want):
        texts = [text for text in row if text]
        if same_shape:
            yield from ((text, text == other) for text, other in zip(row, got[index], strict=True) if text)
        else:
            nearest = max(got, key=lambda other: sum(text in other for text in texts), default=())
            yield from ((text, text in nearest) for text in texts)


def _score_page(page: FieldLine, paper: Paper) -> Score:
    passages = (element for element in paper.elements if isinstance(element, Passage) and element.role != "furniture")
    shown = (one.text for one in passages if any(place.page == page.page for place in places_of(one)))
    text = _letters(" ".join(shown))
    found = [(start, text.find(_letters(start))) for start in page.starts]
    checks = [
        score_checks({"fields.neighbours": 0 <= one < other}, what=f"page {page.page}", gold=f"{first} … {then}")
        for (first, one), (then, other) in pairwise(found)
    ]
    order = total(checks)
    return order + score_checks(
        {"fields.pages": not order.misses}, what=f"page {page.page}", gold=f"{len(checks)} pairs"
    )


def _letters(text: str) -> str:
    """Return the letters and digits of a text in lower case."""
    return re.sub(r"\W+", "", normalise_spaces(text)).casefold()


def _score_record(record: FieldLine, paper: Paper) -> Score:
    printed: dict[str, tuple[Sequence[str], Sequence[str]]] = {
        "title": ([record.title or ""], [paper.title]),
        "authors": (record.authors or (), paper.authors),
        "year": ([str(record.year or "")], [str(paper.publication.year or "")]),
        "doi": ([record.doi or ""], [paper.publication.doi]),
    }
    return total(
        score_checks(
            {f"fields.{name}": _is_same(name, want, got)}, what="record", gold="; ".join(want), got="; ".join(got)
        )
        for name, (want, got) in printed.items()
        if any(want)
    )


def _is_same(name: str, want: Sequence[str], got: Sequence[str]) -> bool:
    one, other = list(map(_letters, want)), list(map(_letters, got))
    return one == other or (name == "title" and other[0].startswith(one[0][:_TITLE_LENGTH]))


def _score_figure(expected: FieldLine, paper: Paper) -> Score:
    figures = [element for element in paper.elements if isinstance(element, Figure)]
    what = f"page {expected.page}"
    if not (box := expected.bbox):
        shown = any(_letters(figure.label) == _letters(expected.phantom) for figure in figures)
        return score_checks({"fields.no_figure": not shown}, what=what, gold="", got=expected.phantom)
    boxes = [figure.place.box for figure in figures if figure.place.page == expected.page]
    least = _MIN_FIGURE_COVERED * area(box)
    found = any(shared_area(one, box) >= max(least, _MIN_FIGURE_TRUE * area(one)) for one in boxes)
    return score_checks({"fields.figures": found}, what=what, gold=expected.label or "figure")
