"""Finds the tables of a document, with or without a caption, and reads doubtful ones twice."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Protocol

from ingest.document.cell_values import is_value
from ingest.document.geometry import (
    bounding_box,
    overlap,
    overlap_x,
    overlap_y,
    runs_of,
)
from ingest.document.pages import PageGrid, PageReadError
from ingest.pdf.captions import Caption, nameless
from ingest.pdf.frames import Frame, FramedFloat
from ingest.pdf.layout import PageLayout
from ingest.pdf.lines import Line, line_of
from ingest.pdf.tables.continued import with_further_parts
from ingest.pdf.tables.grid import read_table
from ingest.pdf.tables.readings import likeliest, readings_of
from ingest.pdf.tables.regions import (
    SIDES,
    RuleStack,
    Side,
    borderless_region,
    columns_touched,
    pair_captions,
    region_in,
    rule_stacks,
    ruled_region,
)
from ingest.pdf.tables.table_values import (
    FoundTable,
    Grid,
    GridCell,
    PrintedRow,
    TablePart,
    TableRegion,
    em_of,
    printed_rows,
    titled_columns,
)
from paperscope_core.types import Box

__all__ = ["GridFinder", "boxed_table", "find_tables", "find_unlabelled_tables", "with_second_readings"]


class GridFinder(Protocol):
    """See `Document.grids`."""

    def __call__(self, number: int, *, turns: int) -> Sequence[PageGrid]:
        """Return the grids of a page."""
        ...


_CONFIDENCE = 0.2  # As of any other grid of one column.
_LINE_PITCH = 1.25  # Usual pitches; a larger one separates paragraphs.
_ROW_SHIFT = 0.4  # The largest difference in baseline between parts of one row, in letter sizes.
_SPLIT_SHARE = 0.35  # The largest share of rows of several parts in running text.
_SPACE = 0.25  # The width of a space in letter sizes.
_INSET = 2.0  # Points; vertical rules further inside a frame separate columns.

# Tables without a caption, in points unless said otherwise; chosen on the development papers.
_TRUSTED = 0.75  # The least confidence in a table without a caption.
_MIN_ROWS = 3  # Fewer aligned rows are a list.
_MIN_RULES = 3  # Two rules alone may frame an algorithm or a notice.
_CAPTION_DISTANCE = 60.0  # A caption this close may belong to the table although they were not paired.
_BESIDE = 6.0  # A line that extends further continues beside the table.
_PITCH = 2.5  # Letter sizes; the largest distance between rows of one table.
_MAX_WORDS = 5000  # The most words in a column; sorting more into rows would take too long.
_VALUE_SHARE = 0.7  # The least share of values among the texts after a row's first one.
_TOUCH = 4.0  # Rules and texts whose ends are this close are aligned.
_LETTERS = (0.1, 0.5)  # Letter sizes above the baseline: a rule there runs through a word.
_MAX_CUT = 0.4  # The largest share of words at upright rules; those of titles over several columns are.


def find_tables(
    layouts: Sequence[PageLayout], framed: Sequence[FramedFloat] = (), *, taken: Sequence[FramedFloat] = ()
) -> list[FoundTable]:
    """Find a table for each table caption with a grid next to it, or with a box of text.

    A table that is continued in the next column or on the next page is one table.

    Args:
        layouts: The pages.
        framed: The frames that have a table's caption.
        taken: The frames of other floats, in which no table is searched.
    """
    boxed = [table for each in framed if (table := boxed_table(each, layouts))]
    known = {table.caption for table in boxed}
    closed = [place for each in taken for place in each.boxes]
    closed += [(part.page, part.box) for table in boxed for part in table.parts]
    pages = [
        (
            [caption for caption in layout.captions if caption.kind == "table" and caption not in known],
            [
                stack
                for stack in rule_stacks(layout)
                if not any(page == layout.index and overlap(stack.box, box) for page, box in closed)
            ],
        )
        for layout in layouts
    ]
    side = min(SIDES, key=lambda side: sum(pair_captions(*page, side=side)[0] for page in pages))
    found: list[FoundTable] = []
    free: list[list[RuleStack]] = []
    for layout, (captions, stacks) in zip(layouts, pages, strict=True):
        _, pairs = pair_captions(captions, stacks, side=side)
        free.append([stack for stack in stacks if stack not in pairs.values()])
        tables = [_read(layout, caption, pairs.get(caption), side=side) for caption in captions]
        found.extend(table for table in tables if table)
    return sorted([*boxed, *with_further_parts(found, layouts, stacks=free)], key=lambda table: table.page)


def _read(layout: PageLayout, caption: Caption, stack: RuleStack | None, *, side: Side) -> FoundTable | None:
    """Return the table by its rules, or by its columns if there are no rules or they enclose no body."""
    by_rules = read_table(layout, ruled_region(layout, stack), caption) if stack else None
    if by_rules and by_rules.grid.body_rows:
        return by_rules
    region = borderless_region(layout, caption, side=side)
    by_columns = read_table(layout, region, caption) if region else None
    return by_columns if by_columns and (by_columns.grid.body_rows or by_rules is None) else by_rules


def with_second_readings(
    tables: Sequence[FoundTable], layouts: Sequence[PageLayout], *, grids: GridFinder | None
) -> list[FoundTable]:
    """Read each table of one part a second time, by the grid of a layout model, and keep the likelier reading.

    A caption without a table has the model's table next to it.
    """
    if grids is None:
        return list(tables)
    found: list[FoundTable] = []
    for layout in layouts:
        here = [table for table in tables if table.page == layout.index]
        known = {caption for table in tables for caption in table.captions}
        alone = [caption for caption in layout.captions if caption.kind == "table" and caption not in known]
        if not here and not alone:
            continue
        seen = _grids_of(layout, grids)
        taken = {line for table in tables for part in table.parts if part.page == layout.index for line in part.lines}
        for table in here:
            near = max(seen, key=lambda grid: _shared(grid.box, table.box), default=None)
            single = len(table.parts) == 1 and near is not None and _shared(near.box, table.box) > 0
            found.append(_read_twice(table, layout, near, taken=taken - table.lines) if single and near else table)
        used = {line for table in found if table.page == layout.index for line in table.lines} | taken
        for caption in alone:
            free = [grid for grid in seen if not any(overlap(grid.box, line.box) for line in used)]
            left, right = columns_touched(layout, caption.box) or (0.0, layout.content.width)
            band = caption.box._replace(x0=left, x1=right)
            near = min(free, key=lambda grid: _gap(grid.box, band), default=None)
            if near and _gap(near.box, band) < _CAPTION_DISTANCE:
                region = region_in(layout, near.box)
                part = TablePart(page=layout.index, region=region, lines=layout.lines_with(region.words))
                if region.words:
                    reading = likeliest([*readings_of(region, near, model_region=True)])
                    found.append(FoundTable(captions=(caption,), parts=(part,), grid=reading.grid))
                    used |= part.lines
    return sorted(found, key=lambda table: table.page)


def _read_twice(table: FoundTable, layout: PageLayout, found: PageGrid, *, taken: Collection[Line]) -> FoundTable:
    region, other = table.parts[0].region, region_in(layout, found.box)
    readings = [*readings_of(region, found, model_region=False)]
    others = (stack.box for stack in rule_stacks(layout) if not overlap(stack.box, region.box))
    free = layout.lines_with(other.words).isdisjoint(taken) and not any(overlap(box, found.box) for box in others)
    if free and other.words and set(other.words) != set(region.words):
        readings += readings_of(other, found, model_region=True)
    best = likeliest(readings)
    part = replace(table.parts[0], region=best.region, lines=layout.lines_with(best.region.words))
    return replace(table, parts=(part,), grid=best.grid)


def _shared(box: Box, other: Box) -> float:
    """Return the area that two boxes share."""
    return max(overlap_x(box, other), 0.0) * max(overlap_y(box, other), 0.0)


def _gap(box: Box, caption: Box) -> float:
    """Return the distance of a box above or below a caption, without limit if it is beside it."""
    apart = max(box.y0 - caption.y1, caption.y0 - box.y1)
    return apart if overlap_x(box, caption) > 0 and apart > -_TOUCH else float("inf")


def find_unlabelled_tables(
    layouts: Sequence[PageLayout],
    free: Sequence[Sequence[Line]],
    tables: Sequence[FoundTable],
    *,
    grids: GridFinder | None = None,
) -> list[FoundTable]:
    """Find tables without a caption: between rules, or where rows of values are in a grid of the layout model.

    Args:
        layouts: The pages.
        free: The lines of each page that nothing else has claimed.
        tables: The tables with a caption; another table beside one of them has no name.
        grids: Provides the tables that a layout model finds on a page.
    """
    named = {caption for table in tables for caption in table.captions}
    found: list[FoundTable] = []
    for layout, lines in zip(layouts, free, strict=True):
        open_captions = [caption for caption in layout.captions if caption not in named]
        ruled = [
            table
            for stack in rule_stacks(layout)
            if len(stack.ys) >= _MIN_RULES
            and not any(overlap(stack.box.grown(0, _CAPTION_DISTANCE), caption.box) for caption in open_captions)
            if (table := _unlabelled(layout, ruled_region(layout, stack), lines)) and _names_columns(table.grid)
        ]
        used = {line for table in ruled for line in table.lines}
        blocks = _value_blocks(layout, [line for line in lines if line not in used])
        seen = _grids_of(layout, grids) if blocks else []
        near = [grid for grid in seen if any(_shared(grid.box, block) > 0 for block in blocks)]
        aligned = [_unlabelled(layout, region_in(layout, grid.box), lines, grid=grid) for grid in near]
        found.extend([*ruled, *(table for table in aligned if table)])
    return found


def _grids_of(layout: PageLayout, grids: GridFinder | None) -> Sequence[PageGrid]:
    try:
        return grids(layout.content.number, turns=layout.content.turns) if grids else ()
    except PageReadError:
        return ()


def _value_blocks(layout: PageLayout, free: Sequence[Line]) -> list[Box]:
    """Return the boxes of at least three rows of values that follow each other."""
    blocks: list[Box] = []
    for lines in layout.by_column(free):
        words = [word for line in lines for word in line.words]
        if sum(is_value(word.text) for word in words) >= _MIN_ROWS and len(words) <= _MAX_WORDS:
            em = em_of(words)
            rows = printed_rows(words, em=em)
            blocks += [bounding_box(row.box for row in rows[start:end]) for start, end in _blocks(rows, em=em)]
    return blocks


def _unlabelled(
    layout: PageLayout, region: TableRegion, free: Sequence[Line], *, grid: PageGrid | None = None
) -> FoundTable | None:
    """Return the table of a region, None if its lines are not all free, continue beside it or form no full grid."""
    lines = layout.lines_with(region.words)
    left, right = region.box.x0 - _BESIDE, region.box.x1 + _BESIDE
    if not lines <= set(free) or any(line.box.x0 < left or line.box.x1 > right for line in lines):
        return None
    if _is_drawn_over(region):
        return None
    table = read_table(layout, region, nameless("table", region.box))
    if table and grid:
        table = replace(table, grid=likeliest([*readings_of(region, grid, model_region=True)]).grid)
    # Rows of values that the model takes for a table are one, however doubtful its grid is.
    if table is None or (grid is None and table.grid.confidence < _TRUSTED) or len(table.grid.columns) < 2:
        return None
    body = len(table.grid.body_rows)
    return table if body >= 2 and body + table.grid.header_rows >= _MIN_ROWS else None


def _is_drawn_over(region: TableRegion) -> bool:
    """Return whether lines run through letters, as those of a plot do: a rule through a word, or upright lines at
    many."""
    low, high = _LETTERS
    if any(low < (word.baseline - y) / word.size < high for word in region.words for y in region.rules):
        return True
    cut = sum(any(word.x0 + 1 < x < word.x1 - 1 for x in region.verticals) for word in region.words)
    return cut > _MAX_CUT * len(region.words)


def _names_columns(grid: Grid) -> bool:
    """Return whether each column but the first has a title above the first inner rule, and the first is not line
    numbers."""
    stubs = [cell.text.rstrip(":.") for cell in grid.cells if cell.column == 0 and cell.row >= grid.header_rows]
    numbered = stubs == [str(number) for number in range(1, len(stubs) + 1)]
    return titled_columns(grid.cells) >= set(range(1, len(grid.columns))) and not numbered


def _blocks(rows: Sequence[PrintedRow], *, em: float) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each run of rows of values; a title of one text may be between two of them."""
    start = 0
    while start < len(rows):
        end = start
        while end < len(rows) and _is_valued(rows[end]) and (end == start or _follows(rows[end - 1], rows[end], em=em)):
            end += 1
            if end + 1 < len(rows) and _is_title(*rows[end - 1 : end + 2], em=em):
                end += 1
        if end - start >= _MIN_ROWS:
            yield start, end
        start = max(end, start + 1)


def _is_valued(row: PrintedRow) -> bool:
    """Return whether values follow the first text of a row."""
    values = [is_value(segment.text) for segment in row.segments[1:] if segment.text not in "$€£"]
    signs = len(row.segments) - 1 - len(values)
    return any(values) and sum(values) + signs >= _VALUE_SHARE * (len(row.segments) - 1)


def _is_title(above: PrintedRow, row: PrintedRow, below: PrintedRow, *, em: float) -> bool:
    return (
        len(row.segments) == 1
        and _is_valued(below)
        and _follows(above, row, em=em)
        and _follows(row, below, em=em)
        and row.box.x1 < below.segments[1].box.x0
    )


def _follows(above: PrintedRow, row: PrintedRow, *, em: float) -> bool:
    return row.baseline - above.baseline < _PITCH * em


def boxed_table(framed: FramedFloat, layouts: Sequence[PageLayout]) -> FoundTable | None:
    """Return a table of one column, None if the frames have columns and so are a table with an outline."""
    parts: list[TablePart] = []
    cells: list[GridCell] = []
    dy = 0.0
    for frame in framed.frames:
        words = tuple(word for line in frame.lines if line not in framed.caption.lines for word in line.words)
        if not words:
            continue
        em = em_of(words)
        rows = printed_rows(words, em=em)
        if _has_columns(frame, layouts[frame.page]):
            return None
        region = TableRegion(box=frame.box, words=words, rules=(frame.box.y0, frame.box.y1))
        top = frame.box.y0 + dy if parts else float("-inf")
        parts.append(TablePart(page=frame.page, region=region, lines=frozenset(frame.lines), dy=dy, top=top))
        for lines in _paragraphs(rows, right=max(row.box.x1 for row in rows)):
            moved = tuple(_moved(line, dy) for line in lines)
            cells.append(GridCell(row=len(cells), column=0, row_span=1, column_span=1, lines=moved, role="value"))
        dy += layouts[frame.page].content.height
    if not cells:
        return None
    box = bounding_box(part.box for part in parts)
    grid = Grid(cells=tuple(cells), header_rows=0, confidence=_CONFIDENCE, columns=((box.x0, box.x1),))
    return FoundTable(captions=(framed.caption,), parts=tuple(parts), grid=grid)


def _has_columns(frame: Frame, layout: PageLayout) -> bool:
    """Return whether a vertical rule or wide gaps separate the text of a frame."""
    left, right = min(line.box.x0 for line in frame.lines), max(line.box.x1 for line in frame.lines)
    rows = runs_of(frame.lines, joins=lambda row, line: line.baseline - row[0].baseline < _ROW_SHIFT * line.size)
    return sum(len(row) > 1 for row in rows) > _SPLIT_SHARE * len(rows) or any(
        left + _INSET < rule.x < right - _INSET and rule.y1 > frame.box.y0 and rule.y0 < frame.box.y1
        for rule in layout.content.vertical
    )


def _paragraphs(rows: Sequence[PrintedRow], *, right: float) -> list[list[Line]]:
    """Return the rows as paragraphs: one ends where the next word would have fitted, or at a wide pitch."""
    lines = [line_of(row.words) for row in rows]
    pitches = sorted(below.baseline - line.baseline for line, below in pairwise(lines))
    usual = pitches[len(pitches) // 3] if pitches else 0.0

    def joins(run: list[Line], line: Line) -> bool:
        last, first = run[-1], line.words[0]
        fits = last.box.x1 + _SPACE * line.size + (first.x1 - first.x0) < right
        return not fits and line.baseline - last.baseline < _LINE_PITCH * usual

    return runs_of(lines, joins=joins)


def _moved(line: Line, dy: float) -> Line:
    return line_of(replace(word, baseline=word.baseline + dy) for word in line.words)
