"""From the words and rules of a table's region to its grid of cells, and how far it can be trusted."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from ingest.document.pages import HorizontalRule
from ingest.pdf.captions import Caption
from ingest.pdf.lines import Line, bounding_box, line_of
from ingest.pdf.tables.cells import GridCell, GridRow, Piece, RowKind, Zones, cells_of
from ingest.pdf.tables.columns import Columns, columns_of, recut, strips_at, strips_of
from ingest.pdf.tables.headers import body_rows, grouped_header
from ingest.pdf.tables.row_joining import join_rows, merge_groups
from ingest.pdf.tables.rows import PrintedRow, em_of, is_value, printed_rows, with_currency
from ingest.pdf.words import Word
from paperscope_core.types import Box

__all__ = [
    "FoundTable",
    "Grid",
    "TablePart",
    "TableRegion",
    "confidence_of",
    "formula_rows",
    "is_formula_table",
    "read_grid",
]


_NO_GRID = 0.2
_UNRULED = 0.9
_USUAL = 0.7
_COLLISION = re.compile(r"[^\W\d]{2,}.*\s[+−-]?\d+\.\d+")


def confidence_of(cells: Sequence[GridCell], body: Sequence[GridRow], *, width: int, ruled: bool) -> float:
    """From 0 to 1; `cells` are all cells of the grid, `body` the rows below a grouped header.

    The share of body rows that have a stub, their own or one that reaches down to them, and fill at least 70 % of the
    usual number of columns; times the shares of body cells that lie in one column and don't look like two run
    together, and of columns that have a title where any has; less where the table was found without rules.
    """
    plain = [row for row in body if row.kind == "body"]
    if not plain or width < 2:
        return _NO_GRID
    filled = _filled(body)
    usual = median(len(columns) for columns in filled)
    good = sum(0 in columns and len(columns) >= _USUAL * usual for columns in filled)
    pieces = [piece for row in plain for piece in row.pieces]
    apart = sum(piece.first == piece.last for piece in pieces if piece.first > 0)
    values = sum(piece.first > 0 for piece in pieces)
    shares = (
        good / len(plain),
        apart / values if values else 1.0,
        1 - sum(map(_is_collision, pieces)) / len(pieces),
        _titled(cells, width=width),
        1.0 if ruled else _UNRULED,
    )
    result = 1.0
    for share in shares:
        result *= share
    return round(result, 2)


def _filled(body: Sequence[GridRow]) -> list[set[int]]:
    """The columns that each body row has a text in, those of spans from above included."""
    reaching: dict[int, int] = {}
    filled: list[set[int]] = []
    for index, row in enumerate(body):
        for piece in row.pieces:
            for column in range(piece.first, piece.last + 1):
                reaching[column] = max(reaching.get(column, 0), index + piece.rows)
        if row.kind == "body":
            filled.append({column for column, end in reaching.items() if end > index})
    return filled


def _is_collision(piece: Piece) -> bool:
    """Whether a text looks like two cells: a run of digits that is no number, or a word before a decimal."""
    text = piece.text
    digits = text.replace(".", "").replace(" ", "").isdigit()
    return (digits and not is_value(text)) or bool(_COLLISION.fullmatch(text))


def _titled(cells: Sequence[GridCell], *, width: int) -> float:
    titled = {
        column
        for cell in cells
        if cell.role == "column_header"
        for column in range(max(cell.column, 1), cell.column + cell.column_span)
    }
    return len(titled) / (width - 1) if titled else 1.0


def is_formula_table(words: Sequence[Word], *, em: float) -> bool:
    """Whether over 30 % of the letters are mathematical and there are many more printed rows than stubs."""
    letters = sum(len(word.text) for word in words)
    if sum(len(word.text) * word.math for word in words) <= 0.3 * letters:
        return False
    stubs = _stubs(words)
    return len(stubs) > 2 and len(printed_rows(words, em=em, verticals=())) > 1.3 * len(stubs)


def formula_rows(words: Sequence[Word], *, em: float) -> list[GridRow]:
    """A row for each stub, with what stands beside it as one cell; the first row is the header."""
    stubs = _stubs(words)
    cut = max(stub.box.x1 for stub in stubs) + 1
    anchors = sorted({round(stub.baseline, 1) for stub in stubs})
    rows: list[GridRow] = []
    for index, anchor in enumerate(anchors):
        low = (anchors[index - 1] + anchor) / 2 if index else float("-inf")
        high = (anchor + anchors[index + 1]) / 2 if index + 1 < len(anchors) else float("inf")
        inside = [word for word in words if low <= word.baseline - 0.1 * em < high]
        pieces = []
        for column, side in enumerate(
            ([word for word in inside if word.x1 <= cut], [word for word in inside if word.x1 > cut])
        ):
            if side:
                lines = tuple(line_of(row) for row in _by_line(side, em=em))
                pieces.append(Piece(first=column, last=column, lines=lines))
        kind: RowKind = "header" if index == 0 else "body"
        rows.append(GridRow(kind=kind, top=anchor, bottom=anchor, pieces=tuple(pieces)))
    return rows


def _by_line(words: Sequence[Word], *, em: float) -> list[list[Word]]:
    return [
        [word for segment in row.segments for word in segment.words] for row in printed_rows(words, em=em, verticals=())
    ]


def _stubs(words: Sequence[Word]) -> list[Line]:
    """The texts at the left edge that are not mathematical."""
    em = median(word.size for word in words for _ in word.text)
    segments = [segment for row in printed_rows(words, em=em, verticals=()) for segment in row.segments]
    plain = [segment for segment in segments if segment.math < 0.3]
    if not plain:
        return []
    right = median(segment.box.x1 for segment in plain)
    return [segment for segment in plain if segment.box.x0 < right and segment.box.x1 < right + 2 * em]


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


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class TablePart:
    """What is printed of a table in one place: a page (its index from 0), a region and the lines in it.

    Its words were moved by `dx` and `dy` for reading; there they stand from `top` on.
    """

    page: int
    region: TableRegion
    lines: frozenset[Line]
    dx: float = 0.0
    dy: float = 0.0
    top: float = float("-inf")

    @property
    def box(self) -> Box:
        """Where the part stands on its page."""
        return self.region.box


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FoundTable:
    """A table of one or several parts, read as one grid; `captions` has the captions of its further parts too."""

    captions: tuple[Caption, ...]
    parts: tuple[TablePart, ...]
    grid: Grid

    @property
    def caption(self) -> Caption:
        """The caption that names the table."""
        return self.captions[0]

    @property
    def page(self) -> int:
        """The page where the table begins."""
        return self.parts[0].page

    @property
    def box(self) -> Box:
        """Where the first part stands."""
        return self.parts[0].box

    @property
    def lines(self) -> frozenset[Line]:
        """The lines of all parts."""
        return frozenset(line for part in self.parts for line in part.lines)

    def spot(self, cell: GridCell) -> tuple[int, Box]:
        """The page of a cell, that of its first line, and its box there."""
        part = self._part(cell.lines[0])
        x0, y0, x1, y1 = bounding_box(line.box for line in cell.lines if self._part(line) is part)
        return part.page, Box(x0 - part.dx, y0 - part.dy, x1 - part.dx, y1 - part.dy)

    def _part(self, line: Line) -> TablePart:
        return next(part for part in reversed(self.parts) if line.baseline >= part.top)
