"""TEDS: tree edit distance similarity of tables (Zhong, ShafieiBavani and Jimeno Yepes, 2020, section 5).

TEDS(a, b) = 1 - EditDist(a, b) / max(|a|, |b|) over the trees table > row > cell. Insertion and deletion cost 1.
Substitution costs 1 if the kind, the row span or the column span differs; otherwise, between cells, it costs the edit
distance of their texts divided by the length of the longer text. Header cells count as cells, and `thead`/`tbody` are
left out, as in most later work, because a PDF does not mark where a header ends. APTED (Pawlik and Augsten, 2016)
computes the distance.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from apted import APTED, Config

from evaluation.gold.papers import GoldTable
from evaluation.matching import edit_distance, remove_spaces
from paperscope_core.types import Table

__all__ = ["Tree", "teds", "tree_of_gold", "tree_of_table"]


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
    def __init__(self, *, structure_only: bool) -> None:
        self._structure_only = structure_only

    def rename(self, first: Tree, second: Tree) -> float:
        if first.label != second.label:
            return 1.0
        return 0.0 if self._structure_only else _text_cost(first.text, second.text)

    def children(self, node: Tree) -> tuple[Tree, ...]:
        return node.children


@lru_cache(maxsize=100_000)
def _text_cost(first: str, second: str) -> float:
    return edit_distance(first, second) / max(len(first), len(second)) if first != second else 0.0


def teds(gold: Tree, got: Tree, *, structure_only: bool = False) -> float:
    """Returns the similarity, 0 to 1; `structure_only` treats all texts as equal (TEDS-Struct)."""
    if gold == got:  # most tables, and APTED takes quadratic time to find out
        return 1.0
    distance = APTED(gold, got, _Costs(structure_only=structure_only)).compute_edit_distance()
    return 1.0 - float(distance) / max(gold.size, got.size)


def tree_of_table(table: Table, *, repeat_spans: bool = False) -> Tree:
    """A table as a tree, with an empty cell wherever a cell is missing.

    `repeat_spans` repeats a spanned text in each of its cells instead of keeping the span.
    """
    if repeat_spans:
        return _tree([[("1x1", text) for text in row] for row in table.grid(repeat_spans=True)])
    cells = {(cell.row, cell.column): cell for cell in table.cells}
    covered = {
        (row, column)
        for cell in table.cells
        for row in range(cell.row, cell.row + cell.row_span)
        for column in range(cell.column, cell.column + cell.column_span)
    }
    height, width = table.shape
    rows: list[list[tuple[str, str]]] = [[] for _ in range(height)]
    for row, column in product(range(height), range(width)):
        cell = cells.get((row, column))
        if cell:
            rows[row].append((f"{cell.row_span}x{cell.column_span}", cell.text))
        elif (row, column) not in covered:
            rows[row].append(("1x1", ""))
    return _tree(rows)


def tree_of_gold(gold: GoldTable, *, logical: bool = True) -> Tree:
    """A gold table as a tree of its logical rows, or of its printed lines."""
    row_of = gold.logical_row if logical else range(len(gold.grid))
    sizes: dict[tuple[int, int], str] = {}
    covered: set[tuple[int, int]] = set()
    for span in gold.spans or ():
        top = row_of[span.row]
        down = row_of[span.row + span.rowspan - 1] - top + 1
        sizes[top, span.col] = f"{down}x{span.colspan}"
        covered |= {(top + i, span.col + j) for i in range(down) for j in range(span.colspan)} - {(top, span.col)}
    return _tree(
        [
            [(sizes.get((i, j), "1x1"), text) for j, text in enumerate(row) if (i, j) not in covered]
            for i, row in enumerate(gold.logical if logical else gold.grid)
        ]
    )


def _tree(rows: Sequence[Sequence[tuple[str, str]]]) -> Tree:
    return Tree(
        "table",
        children=tuple(
            Tree("row", children=tuple(Tree(f"cell {size}", remove_spaces(text)) for size, text in row)) for row in rows
        ),
    )
