"""Converts the words and rules of a table's region to a grid of cells with a confidence."""

import re
from collections.abc import Sequence
from itertools import pairwise
from math import prod
from statistics import median

from ingest.document.cell_values import is_value
from ingest.document.pages import HorizontalRule
from ingest.pdf.captions import Caption
from ingest.pdf.layout import PageLayout
from ingest.pdf.lines import Line, line_of
from ingest.pdf.pdf_words import Word
from ingest.pdf.tables.headers import body_rows, cut_titles, grouped_header
from ingest.pdf.tables.row_joining import join_rows, span_labels
from ingest.pdf.tables.table_columns import columns_of, cut_at_strips, strips_at, strips_of
from ingest.pdf.tables.table_values import (
    CellRole,
    FoundTable,
    Grid,
    GridCell,
    GridRow,
    Piece,
    PrintedRow,
    RowKind,
    TablePart,
    TableRegion,
    em_of,
    printed_rows,
    titled_columns,
    with_currency,
)

__all__ = ["read_grid", "read_table"]

_MATH_SHARE = 0.3  # The least share of mathematical letters in a table of formulas; stubs have a smaller one.
_ROWS_PER_STUB = 1.3  # Numerators and limits are printed rows of their own.

# Factors of the confidence; chosen on the development papers. Tables below 0.8 are read a second time (see `find`).
_NO_GRID_CONFIDENCE = 0.2  # The grid has one column only, or no body.
_UNRULED_FACTOR = 0.9  # A table without rules, whose extent is less certain.
_USUAL_SHARE = 0.7  # A share of the usual number of columns; a row that fills fewer may be cut wrongly.
_COLLISION = re.compile(r"[^\W\d]{2}.*\s[+−-]?\d+\.\d+")


def read_table(layout: PageLayout, region: TableRegion, caption: Caption) -> FoundTable | None:
    """Read the table in a region of a page, None if the region has no words."""
    if not region.words:
        return None
    part = TablePart(page=layout.index, region=region, lines=layout.lines_with(region.words))
    return FoundTable(captions=(caption,), parts=(part,), grid=read_grid(region))


def read_grid(
    region: TableRegion, *, edges: Sequence[float] = (), bands: Sequence[float] = (), both: bool = False
) -> Grid:
    """Read a region of at least one word.

    Args:
        region: The region.
        edges: The x between its columns, if known from elsewhere.
        bands: The y between its rows, if known from elsewhere.
        both: Whether a row also ends where its words say so.
    """
    em = em_of(region.words)
    if _is_formula_table(region.words, em=em):
        body = _formula_rows(region.words, em=em)
        return _grid((), body, levels=0, width=max(len(row.pieces) for row in body), region=region)
    rows = printed_rows(with_currency(region.words), em=em, verticals=region.verticals)
    grouping: list[HorizontalRule] = []
    top: list[PrintedRow] = []
    if region.inner_rules:
        end = region.inner_rules[0]
        head = [word for word in region.words if word.baseline < end]
        grouping = [
            rule
            for rule in region.partial
            if rule.y < end and any(word.baseline > rule.y and rule.x0 < word.center < rule.x1 for word in head)
        ]
        top = [row for row in rows if grouping and row.baseline < end]
    rest = rows[len(top) :]
    if not rest:
        top, rest, grouping = [], rows, []
    strips = strips_at(edges, rest) if edges else strips_of(rest, em=em, verticals=region.verticals)
    rough = columns_of(rest, strips, em=em)
    rest = [cut_at_strips(row, strips, rough) for row in rest]
    columns = columns_of(rest, strips, em=em)
    header: tuple[GridCell, ...] = ()
    levels = 0
    if grouping:
        levels, header = grouped_header(cut_titles(top, grouping, strips, columns), grouping, columns)
    lines = body_rows(rest, columns, region, headed=bool(grouping))
    body = span_labels(join_rows(lines, columns, region, bands=bands, both=both), columns, region)
    return _grid(header, body, levels=levels, width=len(columns), region=region, intervals=columns.intervals)


def _grid(
    header: tuple[GridCell, ...],
    body: Sequence[GridRow],
    *,
    levels: int,
    width: int,
    region: TableRegion,
    intervals: tuple[tuple[float, float], ...] = (),
) -> Grid:
    cells = (*header, *_cells_of(body, first_row=levels, width=width))
    return Grid(
        cells=cells,
        header_rows=levels + _leading_headers(body),
        confidence=_confidence(cells, body, width=width, ruled=region.ruled),
        columns=intervals,
    )


def _leading_headers(body: Sequence[GridRow]) -> int:
    """Return the number of leading header rows, including section titles before a header."""
    last = 0
    for index, row in enumerate(body):
        if row.kind == "body":
            break
        if row.kind == "header":
            last = index + 1
    return last


def _cells_of(rows: Sequence[GridRow], *, first_row: int, width: int) -> list[GridCell]:
    """Return the cells of rows, whose numbers begin at `first_row`."""
    stubs = _stub_columns(rows, width=width)
    roles: dict[RowKind, CellRole] = {"header": "column_header", "section": "section"}
    return [
        GridCell(
            row=first_row + index,
            column=0 if row.kind == "section" else piece.first,
            row_span=piece.rows,
            column_span=width if row.kind == "section" else piece.last - piece.first + 1,
            lines=piece.lines,
            role=roles.get(row.kind, "row_header" if piece.first < stubs else "value"),
        )
        for index, row in enumerate(rows)
        for piece in row.pieces
    ]


def _stub_columns(rows: Sequence[GridRow], *, width: int) -> int:
    """Return the number of leading columns that name their row: the first, and the second if the first one groups
    rows."""
    body = [row for row in rows if row.kind == "body"]
    if width < 2 or not body:
        return 0
    grouping = {piece.first for row in body for piece in row.pieces if piece.rows > 1}
    stubs = 1 + sum(column in grouping for column in range(1, width - 1))
    names = [piece.text for row in body if (piece := row.piece_at(stubs))]
    textual = bool(names) and 2 * sum(map(is_value, names)) < len(names)
    return stubs + 1 if grouping and textual and width > stubs + 1 else stubs


def _is_formula_table(words: Sequence[Word], *, em: float) -> bool:
    """Return whether a table has formulas in its cells: many mathematical letters, and more printed rows than stubs."""
    letters = sum(len(word.text) for word in words)
    if sum(len(word.text) * word.math for word in words) <= _MATH_SHARE * letters:
        return False
    stubs = _stubs(words, em=em)
    return len(stubs) > 2 and len(printed_rows(words, em=em)) > _ROWS_PER_STUB * len(stubs)


def _formula_rows(words: Sequence[Word], *, em: float) -> list[GridRow]:
    """Return a row for each stub, with everything to the right of it as one cell; the first row is the header."""
    stubs = _stubs(words, em=em)
    cut = max(stub.box.x1 for stub in stubs) + 1
    anchors = sorted({round(stub.baseline, 1) for stub in stubs})
    middles = [
        float("-inf"),
        *((low + high) / 2 for low, high in pairwise(anchors)),
        float("inf"),
    ]
    rows: list[GridRow] = []
    for index, anchor in enumerate(anchors):
        inside = [word for word in words if middles[index] <= word.baseline - 0.1 * em < middles[index + 1]]
        sides = [word for word in inside if word.x1 <= cut], [word for word in inside if word.x1 > cut]
        pieces = [
            Piece(first=column, last=column, lines=tuple(line_of(row.words) for row in printed_rows(side, em=em)))
            for column, side in enumerate(sides)
            if side
        ]
        kind: RowKind = "header" if index == 0 else "body"
        rows.append(GridRow(kind=kind, top=anchor, bottom=anchor, pieces=tuple(pieces)))
    return rows


def _stubs(words: Sequence[Word], *, em: float) -> list[Line]:
    """Return the texts at the left edge that are not mathematical."""
    segments = [segment for row in printed_rows(words, em=em) for segment in row.segments]
    plain = [segment for segment in segments if segment.math < _MATH_SHARE]
    if not plain:
        return []
    right = median(segment.box.x1 for segment in plain)
    return [segment for segment in plain if segment.box.x0 < right and segment.box.x1 < right + 2 * em]


def _confidence(cells: Sequence[GridCell], body: Sequence[GridRow], *, width: int, ruled: bool) -> float:
    """Return the confidence from 0 to 1; `cells` are all cells of the grid, `body` the rows below a grouped header.

    It is the product of: the share of body rows that have a stub, their own or a spanning one, and fill at least 70 %
    of the usual number of columns; the share of values in one column; the share of cells that don't look like two
    merged cells; the share of columns with a title, if any has one; and a factor for tables found without rules.
    """
    plain = [row for row in body if row.kind == "body"]
    if not plain or width < 2:
        return _NO_GRID_CONFIDENCE
    filled = _filled_columns(body)
    usual = median(len(columns) for columns in filled)
    good = sum(0 in columns and len(columns) >= _USUAL_SHARE * usual for columns in filled)
    pieces = [piece for row in plain for piece in row.pieces]
    values = [piece for piece in pieces if piece.first > 0]
    titled = titled_columns(cells) - {0}
    shares = (
        good / len(plain),
        sum(piece.first == piece.last for piece in values) / len(values) if values else 1.0,
        1 - sum(map(_is_collision, pieces)) / len(pieces),
        len(titled) / (width - 1) if titled else 1.0,
        1.0 if ruled else _UNRULED_FACTOR,
    )
    return round(prod(shares), 2)


def _filled_columns(body: Sequence[GridRow]) -> list[set[int]]:
    """Return the columns in which each body row has a text, including those of spans from above."""
    reaching: dict[int, int] = {}
    filled: list[set[int]] = []
    for index, row in enumerate(body):
        for piece in row.pieces:
            for column in range(piece.first, piece.last + 1):
                reaching[column] = max(reaching.get(column, 0), index + piece.rows)
        if row.kind == "section":
            reaching[0] = len(body)
        if row.kind == "body":
            filled.append({column for column, end in reaching.items() if end > index})
    return filled


def _is_collision(piece: Piece) -> bool:
    """Return whether a text looks like two cells: digits that are not a number, or a word before a decimal."""
    text = piece.text
    digits = text.replace(".", "").replace(" ", "").isdigit()
    return (digits and not is_value(text)) or bool(_COLLISION.fullmatch(text))
