"""From the words and rules of a table's region to its grid of cells."""

from collections.abc import Sequence
from dataclasses import dataclass

from ingest.pdf.backend import HorizontalRule
from ingest.pdf.page.words import Word
from ingest.pdf.tables.body import body_rows
from ingest.pdf.tables.columns import Columns, columns_of, strips_at
from ingest.pdf.tables.confidence import confidence_of
from ingest.pdf.tables.formulas import formula_rows, is_formula_table
from ingest.pdf.tables.groups import merge_groups
from ingest.pdf.tables.header import grouped_header
from ingest.pdf.tables.joins import join_rows
from ingest.pdf.tables.parts import GridCell, GridRow, Zones, cells_of
from ingest.pdf.tables.rows import PrintedRow, em_of, printed_rows, with_currency
from ingest.pdf.tables.strips import recut, strips_of
from paperscope.types import Box

__all__ = ["Grid", "TableRegion", "read_grid"]


@dataclass(frozen=True, kw_only=True, slots=True)
class TableRegion:
    """What lies inside a table: its words, full-width rules (y), partial rules, vertical rules (x), filled boxes.

    `ruled` tells one that was found by its rules from one found by aligned words.
    """

    box: Box
    words: tuple[Word, ...]
    rules: tuple[float, ...]
    partial: tuple[HorizontalRule, ...] = ()
    verticals: tuple[float, ...] = ()
    fills: tuple[Box, ...] = ()
    ruled: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Grid:
    """Cells with rows and columns from 0; `header_rows` counts the leading rows that are no body.

    `columns` are the intervals (left, right) of its columns, none in a table of formulas.
    """

    cells: tuple[GridCell, ...]
    header_rows: int
    confidence: float
    columns: tuple[tuple[float, float], ...] = ()

    @property
    def rows(self) -> frozenset[int]:
        """The rows that have a cell of their own."""
        return frozenset(cell.row for cell in self.cells)

    @property
    def has_body(self) -> bool:
        """Whether any row is below the header and no section title."""
        return any(cell.row >= self.header_rows and cell.role != "section" for cell in self.cells)


def read_grid(region: TableRegion, *, edges: Sequence[float] = ()) -> Grid:
    """Read a region of at least one word; `edges` are the x that part its columns, if known from elsewhere."""
    em = em_of(region.words)
    rows = printed_rows(with_currency(region.words), em=em, verticals=region.verticals)
    zones = Zones(top=region.box.y0, bottom=region.box.y1, rules=region.rules)
    header: tuple[GridCell, ...] = ()
    levels = 0
    intervals: tuple[tuple[float, float], ...] = ()
    if is_formula_table(region.words, em=em):
        body = formula_rows(region.words, em=em)
        width = max(len(row.pieces) for row in body)
    else:
        partial = [rule for rule in region.partial if not _underlines(rule, region.words)]
        grouping = [rule for rule in partial if zones.header_end is not None and rule.y < zones.header_end]
        top = [row for row in rows if grouping and zones.header_end is not None and row.baseline < zones.header_end]
        rest = rows[len(top) :]
        if not rest:
            top, rest, grouping = [], rows, []
        strips = strips_at(edges, rest) if edges else strips_of(rest, em=em, verticals=region.verticals)
        rough = columns_of(rest, strips, em=em)
        rest = [recut(row, strips, rough.intervals, em=em) for row in rest]
        columns = columns_of(rest, strips, em=em)
        width, intervals = len(columns), columns.intervals
        if grouping:
            top = [recut(row, strips, columns.intervals, em=em, named=True) for row in top]
            levels, header = grouped_header(top, grouping, columns)
        body = _body(rest, columns, zones, region=region, headed=bool(grouping))
    cells = (*header, *cells_of(body, first_row=levels, width=width))
    return Grid(
        cells=cells,
        header_rows=levels + _leading(body),
        confidence=confidence_of(cells, body, width=width, ruled=region.ruled),
        columns=intervals,
    )


def _body(
    rows: Sequence[PrintedRow], columns: Columns, zones: Zones, *, region: TableRegion, headed: bool
) -> list[GridRow]:
    drafted = body_rows(rows, columns, zones, box=region.box, fills=region.fills, headed=headed)
    partial = [rule.y for rule in region.partial if rule.x0 < columns.intervals[0][1]]
    return merge_groups(join_rows(drafted, columns, zones), columns, zones, partial=partial)


def _underlines(rule: HorizontalRule, words: Sequence[Word]) -> bool:
    """Whether a rule underlines a word and so says nothing about the grid."""
    return any(
        abs(rule.y - word.baseline - 1.5) < 2.6
        and rule.x0 <= word.x0 + 1.5
        and word.x1 - 1.5 <= rule.x1
        and rule.x1 - rule.x0 < word.x1 - word.x0 + 8
        for word in words
    )


def _leading(body: Sequence[GridRow]) -> int:
    """How many leading rows are headers, the section titles before a header included."""
    last = 0
    for index, row in enumerate(body):
        if row.kind == "body":
            break
        if row.kind == "header":
            last = index + 1
    return last
