"""Tables that go on below their last rule down to the foot of the page, where their first part is not closed by one."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from ingest.pdf.page.lines import Line
from ingest.pdf.tables.columns import Columns
from ingest.pdf.tables.found import FoundTable
from ingest.pdf.tables.grid import read_grid
from ingest.pdf.tables.rows import PrintedRow, em_of, printed_rows, with_currency
from paperscope.types import Box

__all__ = ["with_open_end"]

_PITCH = 1.6
_LEAST_PITCH = 1.6
_BESIDE = 6.0


def with_open_end(table: FoundTable, below: Sequence[Line], *, note: float) -> FoundTable:
    """The table with the rows under its last rule, if they stand in its columns and only notes follow them.

    `below` are the lines under the table in its column of the page, `note` is the largest size of a note's letters.
    """
    part = table.parts[-1]
    words = [word for line in below for word in line.words]
    if not words or not part.region.ruled or len(table.grid.columns) < 2:
        return table
    em = em_of(part.region.words)
    columns = Columns(intervals=tuple(table.grid.columns), em=em)
    rows = printed_rows(part.region.words, em=em, verticals=part.region.verticals)
    pitch = max((after.baseline - row.baseline for row, after in pairwise(rows)), default=0.0)
    limit = _PITCH * max(pitch, _LEAST_PITCH * em)
    added = 0
    last = rows[-1].baseline
    under = printed_rows(with_currency(words), em=em, verticals=part.region.verticals)
    while added < len(under) and under[added].baseline - last < limit and _fits(under[added], columns, box=part.box):
        last = under[added].baseline
        added += 1
    inside = {line for line in below if line.baseline < last + 0.3 * em}
    full = sum(len(row.segments) == len(columns) for row in under[:added])
    if 2 * full < added or not added or any(line not in inside and line.size > note for line in below):
        return table
    box = Box(part.box.x0, part.box.y0, part.box.x1, max(line.box.y1 for line in inside))
    more = tuple(word for line in below if line in inside for word in line.words)
    region = replace(part.region, box=box, words=part.region.words + more)
    whole = replace(part, region=region, lines=part.lines | inside)
    return replace(table, parts=(*table.parts[:-1], whole), grid=read_grid(region))


def _fits(row: PrintedRow, columns: Columns, *, box: Box) -> bool:
    """Whether each text of a row stands in one column of its own, within the table's ends."""
    if row.box.x0 < box.x0 - _BESIDE or row.box.x1 > box.x1 + _BESIDE:
        return False
    spans = [columns.span(segment.box.x0, segment.box.x1) for segment in row.segments]
    homes = [first for first, last in spans if first == last]
    return len(set(homes)) == len(spans) and (len(spans) > 1 or homes[0] > 0)
