"""Reads tables without rules between rows whose cells are centred vertically: the middles of a row's texts agree."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ingest.document.cell_values import is_value
from ingest.document.geometry import runs_of
from ingest.pdf.lines import Line
from ingest.pdf.tables.columns import Columns
from ingest.pdf.tables.model import GridRow, Piece, TableRegion
from ingest.pdf.tables.row_breaks import has_room
from ingest.pdf.tables.rows import PrintedRow

__all__ = ["centred_rows"]

# In letter sizes unless said otherwise; chosen on generated tables (`eval parsing --only generated-tables`).
_SAME_MIDDLE = 0.12  # The largest difference between the middles of texts of one row: rounding.
_STEP = 0.12  # Lines that are further apart than the closest ones by more are in different rows.
_LEAST_PITCH = 0.7  # Lines that are closer are halves of one.
_MIN_SHIFTED = 2  # The least number of rows in which texts of different heights are centred on each other.
_WRAPPED = 0.8  # The least share of lines in a text that had no room on the line above.
_SHARED = 0.8  # The least share of rows with several texts.


@dataclass(frozen=True, kw_only=True, slots=True)
class _Block:
    """Lines of one column that are as close as the lines of a text."""

    column: int
    lines: tuple[Line, ...]

    @property
    def middle(self) -> float:
        """The y halfway between the first baseline and the last."""
        return (self.lines[0].baseline + self.lines[-1].baseline) / 2


def centred_rows(
    rows: Sequence[PrintedRow], columns: Columns, region: TableRegion, *, headed: bool
) -> list[GridRow] | None:
    """Returns the rows of a table whose texts are centred on each other; None if this is not certain.

    It is certain if the texts of the columns, each of lines at the smallest distance, form rows by their middles alone:
    no two texts of a row are in one column, no row begins before the one above ends, and in several rows texts of
    different heights have the same middle. Lines that are joined must wrap; values below each other never do.

    Args:
        rows: The printed rows, without those of a grouped header.
        columns: The columns.
        region: The table's region; its first inner rule is below the header.
        headed: Whether there is a grouped header.
    """
    blocks = _blocks(rows, columns, region)
    if blocks is None:
        return None
    runs = runs_of(
        sorted(blocks, key=lambda block: block.middle),
        joins=lambda run, block: block.middle - run[0].middle < _SAME_MIDDLE * columns.em,
    )
    if not _are_rows(runs) or not _are_texts(blocks, columns):
        return None
    heads = 0 if headed else max(1, sum(_zone(run, region) == 0 for run in runs) if region.inner_rules else 1)
    return None if heads > 1 else [_row(run, header=index < heads) for index, run in enumerate(runs)]


def _blocks(rows: Sequence[PrintedRow], columns: Columns, region: TableRegion) -> list[_Block] | None:
    """Returns the texts of each column, None if a text spans columns."""
    lines: list[list[Line]] = [[] for _ in range(len(columns))]
    for row in rows:
        for segment in row.segments:
            first, last = columns.span(segment.box.x0, segment.box.x1)
            if first != last:
                return None
            lines[first].append(segment)
    pitches = [
        pitch
        for column in lines
        for above, line in pairwise(column)
        if (pitch := line.baseline - above.baseline) > _LEAST_PITCH * columns.em
    ]
    limit = min(pitches, default=0.0) + _STEP * columns.em

    def joins(run: list[Line], line: Line) -> bool:
        same = region.zone(run[-1].baseline) == region.zone(line.baseline)
        return same and line.baseline - run[-1].baseline < limit

    return [
        _Block(column=index, lines=tuple(run))
        for index, column in enumerate(lines)
        for run in runs_of(column, joins=joins)
    ]


def _are_rows(runs: Sequence[Sequence[_Block]]) -> bool:
    """Whether blocks with the same middles form rows, one below the other, and some of different heights do."""
    if any(len({block.column for block in run}) < len(run) for run in runs):
        return False
    ends = [max(block.lines[-1].baseline for block in run) for run in runs]
    starts = [min(block.lines[0].baseline for block in run) for run in runs]
    if any(start <= end for end, start in zip(ends, starts[1:], strict=False)):
        return False
    shifted = sum(len({len(block.lines) for block in run}) > 1 for run in runs)
    return shifted >= _MIN_SHIFTED and sum(len(run) > 1 for run in runs) >= _SHARED * len(runs)


def _are_texts(blocks: Sequence[_Block], columns: Columns) -> bool:
    """Whether the lines of the blocks wrap, and no value is below another one."""
    pairs = [(_piece(block, above), _piece(block, line)) for block in blocks for above, line in pairwise(block.lines)]
    if any(is_value(above.text) and is_value(below.text) for above, below in pairs):
        return False
    return sum(not has_room(*pair, columns) for pair in pairs) >= _WRAPPED * len(pairs)


def _piece(block: _Block, line: Line) -> Piece:
    return Piece(first=block.column, last=block.column, lines=(line,))


def _zone(run: Sequence[_Block], region: TableRegion) -> int:
    return region.zone(run[0].lines[0].baseline)


def _row(run: Sequence[_Block], *, header: bool) -> GridRow:
    lines = [line for block in run for line in block.lines]
    return GridRow(
        kind="header" if header else "body",
        top=min(line.baseline for line in lines),
        bottom=max(line.baseline for line in lines),
        pieces=tuple(
            Piece(first=block.column, last=block.column, lines=block.lines)
            for block in sorted(run, key=lambda block: block.column)
        ),
    )
