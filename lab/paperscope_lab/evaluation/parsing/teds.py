"""TEDS: tree edit distance similarity of tables (Zhong, ShafieiBavani and Jimeno Yepes, 2020, section 5).

TEDS(a, b) = 1 - EditDist(a, b) / max(|a|, |b|) over the trees table > row > cell. Insertion and deletion cost 1.
Substitution costs 1 if the kind, the row span or the column span differs; otherwise, between cells, it costs the edit
distance of their texts divided by the length of the longer text. Header cells count as cells, and `thead`/`tbody` are
left out, as in most later work, because a PDF does not mark where a header ends. APTED (Pawlik and Augsten, 2016)
computes the distance.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from apted import APTED, Config

from paperscope_core.types import Cell, Table
from paperscope_lab.evaluation.gold.papers import GoldTable
from paperscope_lab.evaluation.matching import edit_distance, remove_spaces

__all__ = ["Tree", "covered_positions", "teds", "tree_of_gold", "tree_of_table"]


@dataclass(frozen=True, slots=True)
class Tree:
    """A node with its children; labels are compared for equality, texts by edit distance."""

    label: str
    text: str = ""
    children: tuple["Tree", ...] = ()

    @property
    def size(self) -> int:
        """The number of nodes."""
        return 1 + sum(child.size for child in self.children)


class _Costs(Config):  # type: ignore[misc] # untyped
    def rename(self, first: Tree, second: Tree) -> float:
        if first.label != second.label:
            return 1.0
        return _text_cost(first.text, second.text)

    def children(self, node: Tree) -> tuple[Tree, ...]:
        return node.children


@lru_cache(maxsize=100_000)
def _text_cost(first: str, second: str) -> float:
    return edit_distance(first, second) / max(len(first), len(second)) if first != second else 0.0


def teds(gold: Tree, got: Tree) -> float:
    """Return the similarity, 0 to 1."""
    if gold == got:  # most tables, and APTED takes quadratic time to find out
        return 1.0
    distance = APTED(gold, got, _Costs()).compute_edit_distance()
    return 1.0 - float(distance) / max(gold.size, got.size)


def covered_positions(cell: Cell) -> Iterator[tuple[int, int]]:
    """Return the (row, column) positions of a cell in its table's grid."""
    return product(range(cell.row, cell.row + cell.row_span), range(cell.column, cell.column + cell.column_span))


def tree_of_table(table: Table, *, repeat_spans: bool = False) -> Tree:
    """Return a table as a tree, with an empty cell wherever a cell is missing.

    `repeat_spans` repeats a spanned text in each of its cells instead of keeping the span.
    """
    sizes = {(cell.row, cell.column): (cell.row_span, cell.column_span) for cell in table.cells}
    return _tree(table.grid(repeat_spans=repeat_spans), {} if repeat_spans else sizes)


def tree_of_gold(gold: GoldTable, *, logical: bool = True) -> Tree:
    """Return a gold table as a tree of its logical rows, or of its printed lines."""
    row_of = gold.logical_row if logical else range(len(gold.grid))
    sizes = {
        (row_of[span.row], span.col): (row_of[span.row + span.rowspan - 1] - row_of[span.row] + 1, span.colspan)
        for span in gold.spans or ()
    }
    return _tree(gold.logical if logical else gold.grid, sizes)


def _tree(grid: Sequence[Sequence[str]], sizes: Mapping[tuple[int, int], tuple[int, int]]) -> Tree:
    """Return the tree of a grid whose positions have these row and column spans; the others are single cells."""
    covered = {
        (row + down, column + right)
        for (row, column), (height, width) in sizes.items()
        for down, right in product(range(height), range(width))
        if down or right
    }

    def cell(position: tuple[int, int], text: str) -> Tree:
        height, width = sizes.get(position, (1, 1))
        return Tree(f"cell {height}x{width}", remove_spaces(text))

    rows = (
        Tree("row", children=tuple(cell((i, j), text) for j, text in enumerate(texts) if (i, j) not in covered))
        for i, texts in enumerate(grid)
    )
    return Tree("table", children=tuple(rows))
