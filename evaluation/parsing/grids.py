"""Lining up the rows and columns of two tables."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.matching import align, fold

__all__ = ["Alignment", "align_grids", "folded_grid", "without_citations"]

_RAISED = re.compile("[\u2070\u00b9\u00b2\u00b3\u2074-\u207f]+")
_CITATION = re.compile(r"\[\d+(?:[,-]\d+)*\]$")
_DROPPED = str.maketrans("", "", "*_\\{}")


def folded_grid(grid: Sequence[Sequence[str]]) -> list[list[str]]:
    """Every text folded, raised digits written 10^20, rows filled up to equal length.

    The marks of emphasis and of subscripts, for which each source has its own signs, go.
    """
    width = max((len(row) for row in grid), default=0)
    return [[_folded(text) for text in (*row, *[""] * (width - len(row)))] for row in grid]


def _folded(text: str) -> str:
    return fold(_RAISED.sub(lambda match: f"^{match[0]}", text)).translate(_DROPPED)


def without_citations(grid: Sequence[Sequence[str]]) -> list[list[str]]:
    """A folded grid without numeric citations at the end of its texts."""
    return [[_CITATION.sub("", text) for text in row] for row in grid]


@dataclass(frozen=True, kw_only=True, slots=True)
class Alignment:
    """Rows and columns of the gold grid that have their like in the other, by index."""

    rows: dict[int, int]
    columns: dict[int, int]


def align_grids(gold: Sequence[Sequence[str]], got: Sequence[Sequence[str]]) -> Alignment:
    """The monotone map of rows and columns under which most cells agree (greedy).

    Rows first by the texts that they share, then columns given the rows, then rows again given the columns; empty cells
    don't count. A row or column that is missing or added thus costs itself and shifts nothing.
    """
    rows = align(gold, got, worth=_shared)
    gold_columns, got_columns = range(len(gold[0]) if gold else 0), range(len(got[0]) if got else 0)
    columns = align(
        gold_columns,
        got_columns,
        worth=lambda a, b: sum(1 for i, k in rows.items() if gold[i][a] and gold[i][a] == got[k][b]),
    )
    rows = align(
        range(len(gold)),
        range(len(got)),
        worth=lambda i, k: sum(1 for a, b in columns.items() if gold[i][a] and gold[i][a] == got[k][b]),
    )
    return Alignment(rows=rows, columns=columns)


def _shared(first: Sequence[str], second: Sequence[str]) -> int:
    return (Counter(filter(None, first)) & Counter(filter(None, second))).total()
