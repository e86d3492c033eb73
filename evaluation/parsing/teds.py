"""TEDS: tree edit distance similarity of tables (Zhong, ShafieiBavani and Jimeno Yepes, 2020, section 5).

TEDS(a, b) = 1 - EditDist(a, b) / max(|a|, |b|) over the trees table > row > cell. Insertion and deletion cost 1;
substitution costs 1 where the kind, the row span or the column span differs, else, between cells, the edit distance of
their texts over the length of the longer. Header cells count as cells and `thead`/`tbody` are left out, as most later
work does, because a PDF does not say where a header ends. The distance is that of Zhang and Shasha (1989).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from evaluation.gold.values import GoldTable
from evaluation.matching import edit_distance, fold
from paperscope_core.types import Table

__all__ = ["Tree", "teds", "tree_distance", "tree_of_gold", "tree_of_table"]


@dataclass(frozen=True, slots=True)
class Tree:
    """A node with its children; `label` is compared for equality, `text` by edit distance."""

    label: str
    text: str = ""
    children: tuple["Tree", ...] = ()

    @property
    def size(self) -> int:
        """How many nodes it has."""
        return 1 + sum(child.size for child in self.children)


def teds(gold: Tree, got: Tree, *, structure_only: bool = False) -> float:
    """The similarity, 0 to 1; `structure_only` takes all texts for equal (TEDS-struct)."""
    distance = tree_distance(gold, got, rename=_same_label if structure_only else _rename)
    return 1 - distance / max(gold.size, got.size)


def tree_of_table(table: Table, *, repeat_spans: bool = False) -> Tree:
    """A table as a tree, with an empty cell wherever it has none.

    `repeat_spans` repeats a spanned text in each of its cells in place of a span.
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
            Tree("row", children=tuple(Tree(f"cell {size}", fold(text)) for size, text in row)) for row in rows
        ),
    )


def _same_label(first: Tree, second: Tree) -> float:
    return float(first.label != second.label)


@lru_cache(maxsize=100_000)
def _text_cost(first: str, second: str) -> float:
    return edit_distance(first, second) / max(len(first), len(second)) if first != second else 0.0


def _rename(first: Tree, second: Tree) -> float:
    return 1.0 if first.label != second.label else _text_cost(first.text, second.text)


def tree_distance(first: Tree, second: Tree, *, rename: Callable[[Tree, Tree], float] = _same_label) -> float:
    """The cost of the cheapest edit script between two ordered trees; insertion and deletion cost 1."""
    if first == second:
        return 0.0
    a, b = _Postorder(first), _Postorder(second)
    distances = [[0.0] * len(b.nodes) for _ in a.nodes]
    for i in a.keyroots:
        for j in b.keyroots:
            _forests(a, b, (i, j), distances, rename=rename)
    return distances[-1][-1]


class _Postorder:
    """A tree's nodes in postorder, their leftmost leaves, and the keyroots: the root and nodes with a left sibling."""

    def __init__(self, root: Tree) -> None:
        self.nodes: list[Tree] = []
        self.leftmost: list[int] = []
        self._walk(root)
        last = {leaf: index for index, leaf in enumerate(self.leftmost)}
        self.keyroots = sorted(last.values())

    def _walk(self, node: Tree) -> int:
        leaves = [self._walk(child) for child in node.children]
        leaf = leaves[0] if leaves else len(self.nodes)
        self.nodes.append(node)
        self.leftmost.append(leaf)
        return leaf


def _forests(
    a: _Postorder,
    b: _Postorder,
    roots: tuple[int, int],
    distances: list[list[float]],
    *,
    rename: Callable[[Tree, Tree], float],
) -> None:
    """Fill in the distances of all pairs of subtrees on the left paths of the two `roots`."""
    i, j = roots
    left, up = a.leftmost[i], b.leftmost[j]
    forest = [[float(k + m) if not k or not m else 0.0 for m in range(j - up + 2)] for k in range(i - left + 2)]
    for k in range(left, i + 1):
        row, above = forest[k - left + 1], forest[k - left]
        whole = a.leftmost[k] == left
        for m in range(up, j + 1):
            at = m - up + 1
            cheapest = min(above[at], row[at - 1]) + 1
            if whole and b.leftmost[m] == up:
                cheapest = min(cheapest, above[at - 1] + rename(a.nodes[k], b.nodes[m]))
                distances[k][m] = cheapest
            else:
                cheapest = min(cheapest, forest[a.leftmost[k] - left][b.leftmost[m] - up] + distances[k][m])
            row[at] = cheapest
