"""Tables without a caption: grids between rules of their own, and aligned rows of values set off from the text."""

from collections.abc import Container, Sequence

from ingest.pdf.captions import Caption
from ingest.pdf.page.layout import PageLayout
from ingest.pdf.page.lines import Line
from ingest.pdf.tables.aligned import aligned_regions
from ingest.pdf.tables.found import FoundTable, TablePart
from ingest.pdf.tables.grid import Grid, TableRegion, read_grid
from ingest.pdf.tables.regions import page_stacks
from ingest.pdf.tables.ruled import ruled_region
from paperscope.types import Box

__all__ = ["unlabelled_tables"]

_TRUSTED = 0.75
_LEAST_ROWS = 3
_LEAST_RULES = 3
_NEAR = 60.0
_BESIDE = 6.0


def unlabelled_tables(
    layout: PageLayout, free: Sequence[Line], captions: Sequence[Caption], *, page: int, named: Container[Caption]
) -> list[FoundTable]:
    """The tables among the lines that nothing else holds; `captions` are all captions of the page.

    A caption among `named` has its table; another table beside that one under the same caption has no name.
    """
    open_captions = [caption for caption in captions if caption not in named]
    found: list[FoundTable] = []
    for stack in page_stacks(layout, captions):
        if len(stack.ys) < _LEAST_RULES or any(_is_near(caption.box, stack.box) for caption in open_captions):
            continue
        region = ruled_region(layout, stack)
        table = _table(layout, region, free, page=page)
        if table and _names_columns(table.grid):
            found.append(table)
    rest = set(free) - {line for table in found for line in table.lines}
    for region in aligned_regions(layout, [line for line in free if line in rest]):
        table = _table(layout, region, free, page=page)
        found.extend([table] if table else [])
    return found


def _is_near(caption: Box, box: Box) -> bool:
    """Whether what stands at a place may be what a caption names."""
    beside = min(caption.x1, box.x1) > max(caption.x0, box.x0)
    return beside and max(caption.y0 - box.y1, box.y0 - caption.y1) < _NEAR


def _table(layout: PageLayout, region: TableRegion, free: Sequence[Line], *, page: int) -> FoundTable | None:
    """The table of a region, None if its lines are not all free, go on beside it or make no full grid."""
    lines = layout.lines_with(region.words)
    if not lines or not lines <= set(free) or any(_leaves(line.box, region.box) for line in lines):
        return None
    grid = read_grid(region)
    body = {cell.row for cell in grid.cells if cell.row >= grid.header_rows and cell.role != "section"}
    rows = len(body) + grid.header_rows
    if grid.confidence < _TRUSTED or len(grid.columns) < 2 or len(body) < 2 or rows < _LEAST_ROWS:
        return None
    caption = Caption(kind="table", label="", text="", lines=(), box=region.box)
    part = TablePart(page=page, region=region, lines=lines)
    return FoundTable(captions=(caption,), parts=(part,), grid=grid)


def _leaves(line: Box, box: Box) -> bool:
    return line.x0 < box.x0 - _BESIDE or line.x1 > box.x1 + _BESIDE


def _names_columns(grid: Grid) -> bool:
    """Whether each column but the first has a title above the first inner rule, and the first is no count of lines."""
    titled = {
        column
        for cell in grid.cells
        if cell.role == "column_header"
        for column in range(cell.column, cell.column + cell.column_span)
    }
    stubs = [cell.text.rstrip(":.") for cell in grid.cells if cell.column == 0 and cell.row >= grid.header_rows]
    numbered = all(stub.isdecimal() for stub in stubs) and [*map(int, stubs)] == [*range(1, len(stubs) + 1)]
    return titled >= set(range(1, len(grid.columns))) and not numbered
