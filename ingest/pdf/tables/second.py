"""A second reading of a table that our rules are unsure of, by the cells that the PDF library sees in its place."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from ingest.pdf.backend import PageContent, PageReadError
from ingest.pdf.page.layout import PageLayout
from ingest.pdf.page.turning import as_seen, turned_box, turned_size
from ingest.pdf.tables.found import FoundTable
from ingest.pdf.tables.grid import Grid, TableRegion, read_grid
from paperscope.types import Box

__all__ = ["CellFinder", "with_second_readings"]

CellFinder: TypeAlias = Callable[[int, Box], Sequence[Box]]
"""See `Document.cells`."""

_UNSURE = 0.8
# One takes about as long as our rules take for six pages.
_PAGES_A_READING = 6
# The library takes minutes to find the cells between a thousand crossing lines.
_MOST_CROSSINGS = 2500
_SAME_EDGE = 3.0


def with_second_readings(
    tables: Sequence[FoundTable], layouts: Sequence[PageLayout], *, cells: CellFinder | None
) -> list[FoundTable]:
    """The tables, each as we read it or, where we are unsure, as the cells part it if that grid can be trusted more.

    Only so many are read twice that a document takes no more than twice its time, and none that has several parts.
    """
    unsure = [table for table in tables if table.grid.confidence < _UNSURE and len(table.parts) == 1]
    twice = unsure[: 1 + len(layouts) // _PAGES_A_READING] if cells else []
    return [
        _better(table, layouts[table.page].content, cells) if cells and table in twice else table for table in tables
    ]


def _better(table: FoundTable, page: PageContent, cells: CellFinder) -> FoundTable:
    region = table.parts[0].region
    edges = list(_edges(region, page, cells))
    grid = read_grid(region, edges=edges) if edges else table.grid
    return replace(table, grid=grid) if _is_better(grid, table.grid) else table


def _is_better(other: Grid, ours: Grid) -> bool:
    """Whether another reading can be trusted more; one that runs columns together has less that could look wrong."""
    return other.confidence > ours.confidence and len(other.columns) >= len(ours.columns)


def _edges(region: TableRegion, page: PageContent, cells: CellFinder) -> Iterator[float]:
    """The x of the edges of cells, those of one line once."""
    if _crossings(region.box, page) > _MOST_CROSSINGS:
        return
    try:
        seen = cells(page.number, as_seen(region.box, page))
    except PageReadError:
        return
    size = turned_size(page.width, page.height, turns=-page.turns)
    boxes = [turned_box(cell, *size, turns=page.turns) for cell in seen]
    last = float("-inf")
    for x in sorted(x for box in boxes for x in (box.x0, box.x1)):
        if x - last > _SAME_EDGE:
            yield x
            last = x


def _crossings(box: Box, page: PageContent) -> int:
    """At most how many crossings of lines, the sides of filled boxes among them, a table has."""
    fills = 2 * sum(fill.y1 > box.y0 and fill.y0 < box.y1 for fill in page.fills)
    level = sum(box.y0 <= rule.y <= box.y1 for rule in page.horizontal)
    plumb = sum(box.x0 <= rule.x <= box.x1 for rule in page.vertical)
    return (level + fills) * (plumb + fills)
