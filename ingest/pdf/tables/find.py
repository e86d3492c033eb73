"""The tables of a document: beside their captions, without one, and doubtful ones read twice."""

from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias

from ingest.document.geometry import box_as_seen, turned_box, turned_size
from ingest.document.pages import HorizontalRule, PageContent, PageReadError
from ingest.pdf.captions import Caption
from ingest.pdf.layout import PageLayout
from ingest.pdf.lines import Line, bounding_box
from ingest.pdf.tables.continued import with_further_parts
from ingest.pdf.tables.grid import FoundTable, Grid, TablePart, TableRegion, read_grid
from ingest.pdf.tables.regions import (
    RuleStack,
    Side,
    assign_stacks,
    borderless_region,
    preferred_side,
    rule_stacks,
    ruled_region,
)
from ingest.pdf.tables.rows import PrintedRow, em_of, is_value, printed_rows
from paperscope_core.types import Box

__all__ = ["CellFinder", "aligned_regions", "find_tables", "find_unlabelled_tables", "with_second_readings"]


def find_tables(layouts: Sequence[PageLayout], captions: Sequence[Sequence[Caption]]) -> list[FoundTable]:
    """One table for each table caption beside which a grid is found; `captions` holds all captions page by page.

    A table that goes on in the next column or on the next page is one table.
    """
    named = [[caption for caption in page if caption.kind == "table"] for page in captions]
    stacks = [rule_stacks(layout, page) for layout, page in zip(layouts, captions, strict=True)]
    side = preferred_side(list(zip(named, stacks, strict=True)))
    found: list[FoundTable] = []
    free: list[list[RuleStack]] = []
    for index, layout in enumerate(layouts):
        pairs = assign_stacks(named[index], stacks[index], side=side)
        free.append([stack for stack in stacks[index] if stack not in pairs.values()])
        for caption in named[index]:
            table = _read(layout, caption, pairs.get(caption), page=index, side=side, captions=captions[index])
            if table:
                found.append(table)
    return with_further_parts(found, layouts, captions=captions, stacks=free)


def _read(
    layout: PageLayout,
    caption: Caption,
    stack: RuleStack | None,
    *,
    page: int,
    side: Side,
    captions: Sequence[Caption],
) -> FoundTable | None:
    """The table by its rules, or by its columns where there are no rules or they enclose no body."""
    by_rules = _found(ruled_region(layout, stack), layout, caption, page=page) if stack else None
    if by_rules and by_rules.grid.has_body:
        return by_rules
    region = borderless_region(layout, caption, side=side, captions=captions)
    by_columns = _found(region, layout, caption, page=page)
    return by_columns if by_columns and (by_columns.grid.has_body or by_rules is None) else by_rules


def _found(region: TableRegion | None, layout: PageLayout, caption: Caption, *, page: int) -> FoundTable | None:
    if region is None or not region.words:
        return None
    part = TablePart(page=page, region=region, lines=layout.lines_with(region.words))
    return FoundTable(captions=(caption,), parts=(part,), grid=read_grid(region))


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
        seen = cells(page.number, box_as_seen(region.box, page))
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


_PITCH = 2.5
_FEWEST_VALUE_ROWS = 3
_MOST_WORDS = 5000
_MOST_TITLES = 5
_OVERHANG = 3.0
_VALUES = 0.7
_TOUCH = 4.0
_FEWEST_FULL_RULES = 2
_HALF = 0.5


def aligned_regions(layout: PageLayout, free: Sequence[Line]) -> Iterator[TableRegion]:
    """The blocks of at least three rows of values that rules or fills set off, or that are a full grid with titles.

    Text of more words than a page can show is left alone: its rows take too long to tell.
    """
    columns: dict[int, list[Line]] = defaultdict(list)
    for line in free:
        columns[layout.column(line)].append(line)
    for lines in columns.values():
        words = [word for line in lines for word in line.words]
        if sum(is_value(word.text) for word in words) < _FEWEST_VALUE_ROWS or len(words) > _MOST_WORDS:
            continue
        rows = printed_rows(words, em=em_of(words), verticals=())
        for start, end in _blocks(rows, em=em_of(words)):
            block = rows[_head(rows, start, end, em=em_of(words)) : end]
            region = _region(layout, block, body=rows[start:end])
            if region is not None:
                yield region


def _blocks(rows: Sequence[PrintedRow], *, em: float) -> Iterator[tuple[int, int]]:
    """Start and end of each run of rows of values; a title of one text may stand between two of them."""
    start = 0
    while start < len(rows):
        end = start
        while end < len(rows) and _is_valued(rows[end]) and (end == start or _follows(rows[end - 1], rows[end], em=em)):
            end += 1
            if end + 1 < len(rows) and _is_title(rows[end - 1 : end + 2], em=em):
                end += 1
        if end - start >= _FEWEST_VALUE_ROWS:
            yield start, end
        start = max(end, start + 1)


def _is_valued(row: PrintedRow) -> bool:
    """Whether values follow the first text of a row."""
    values = [segment for segment in row.segments[1:] if is_value(segment.text) or segment.text in "$€£"]
    return any(is_value(segment.text) for segment in values) and len(values) >= _VALUES * (len(row.segments) - 1)


def _is_title(rows: Sequence[PrintedRow], *, em: float) -> bool:
    above, row, below = rows
    return (
        len(row.segments) == 1
        and _is_valued(below)
        and _follows(above, row, em=em)
        and _follows(row, below, em=em)
        and row.box.x1 < below.segments[1].box.x0
    )


def _follows(above: PrintedRow, row: PrintedRow, *, em: float) -> bool:
    return row.baseline - above.baseline < _PITCH * em


def _head(rows: Sequence[PrintedRow], start: int, end: int, *, em: float) -> int:
    """Where the titles above a block begin: texts over its columns of values, or several texts in a row."""
    box = bounding_box(row.box for row in rows[start:end])
    left = min(row.segments[1].box.x0 for row in rows[start:end] if len(row.segments) > 1)
    first = start
    while first > 0 and start - first < _MOST_TITLES and _follows(rows[first - 1], rows[first], em=em):
        above = rows[first - 1]
        inside = above.box.x0 > box.x0 - _TOUCH and above.box.x1 < box.x1 + _OVERHANG * em
        if not inside or (len(above.segments) == 1 and above.box.x0 < left - 2 * em):
            break
        first -= 1
    return first


def _region(layout: PageLayout, block: Sequence[PrintedRow], *, body: Sequence[PrintedRow]) -> TableRegion | None:
    """The region of a block, None where no rules or fills set it off and its rows are no full grid under titles."""
    words = tuple(word for row in block for segment in row.segments for word in segment.words)
    ink = bounding_box(row.box for row in block)
    box = Box(ink.x0, ink.y0 - _TOUCH, ink.x1, ink.y1 + _TOUCH)
    rules = _joined([rule for rule in layout.content.horizontal if _lies_in(rule, box)])
    left = min(row.segments[1].box.x0 for row in body if len(row.segments) > 1)
    full = [rule for rule in rules if rule.x0 < left + _TOUCH and rule.x1 > ink.x1 - _TOUCH]
    fills = tuple(fill for fill in layout.content.fills if fill.y1 > box.y0 and fill.y0 < box.y1)
    set_off = len(full) >= _FEWEST_FULL_RULES or _shaded(fills, body, width=ink.x1 - ink.x0)
    if not set_off and not (len(block) > len(body) and _is_plain_grid(body)):
        return None
    first = body[0].box.y0
    foot = max((rule.y for rule in full if rule.y < first + 1), default=None)
    inner = tuple(rule.y for rule in full if foot is None or rule.y >= foot)
    return TableRegion(
        box=box,
        words=words,
        rules=(box.y0, *inner, box.y1),
        partial=tuple(rule for rule in rules if rule.y not in inner),
        fills=fills,
        ruled=False,
    )


def _is_plain_grid(rows: Sequence[PrintedRow]) -> bool:
    """Whether each row is a name at the left edge and the same number of values, two or more."""
    stubs = [row.segments[0] for row in rows]
    widths = {len(row.segments) for row in rows}
    return (
        len(rows) > _FEWEST_VALUE_ROWS
        and len(widths) == 1
        and min(widths) > 2
        and max(stub.box.x0 for stub in stubs) - min(stub.box.x0 for stub in stubs) < 1
        and all(any(letter.isalpha() for letter in stub.text) and stub.math < _HALF for stub in stubs)
    )


def _lies_in(rule: HorizontalRule, box: Box) -> bool:
    return box.y0 <= rule.y <= box.y1 and box.x0 - _TOUCH <= rule.x0 and rule.x1 <= box.x1 + 3 * _TOUCH


def _joined(rules: Sequence[HorizontalRule]) -> list[HorizontalRule]:
    """Rules at one height, end to end, as one."""
    joined: list[HorizontalRule] = []
    for rule in sorted(rules, key=lambda rule: (round(rule.y), rule.x0)):
        last = joined[-1] if joined else None
        if last and abs(rule.y - last.y) < 1 and rule.x0 - last.x1 < _TOUCH + 1:
            joined[-1] = HorizontalRule(last.x0, max(last.x1, rule.x1), last.y)
        else:
            joined.append(rule)
    return joined


def _shaded(fills: Sequence[Box], rows: Sequence[PrintedRow], *, width: float) -> bool:
    """Whether fills lie behind most of the width of some rows and not of others."""
    behind = [
        sum(fill.x1 - fill.x0 for fill in fills if fill.y0 < row.baseline - 1 < fill.y1) > _HALF * width for row in rows
    ]
    return any(first != second for first, second in pairwise(behind))


_TRUSTED = 0.75
_FEWEST_TABLE_ROWS = 3
_FEWEST_TABLE_RULES = 3
_NEAR = 60.0
_BESIDE = 6.0


def find_unlabelled_tables(
    layout: PageLayout, free: Sequence[Line], captions: Sequence[Caption], *, page: int, named: Container[Caption]
) -> list[FoundTable]:
    """The tables among the lines that nothing else holds; `captions` are all captions of the page.

    A caption among `named` has its table; another table beside that one under the same caption has no name.
    """
    open_captions = [caption for caption in captions if caption not in named]
    found: list[FoundTable] = []
    for stack in rule_stacks(layout, captions):
        if len(stack.ys) < _FEWEST_TABLE_RULES or any(_is_near(caption.box, stack.box) for caption in open_captions):
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
    if grid.confidence < _TRUSTED or len(grid.columns) < 2 or len(body) < 2 or rows < _FEWEST_TABLE_ROWS:
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
