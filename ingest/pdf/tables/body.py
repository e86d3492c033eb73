"""Which rows of a table are headers, section titles or body."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ingest.pdf.tables.columns import Columns, partition
from ingest.pdf.tables.parts import GridRow, Piece, RowKind, Zones, place
from ingest.pdf.tables.rows import PrintedRow, is_annotation, is_value
from ingest.pdf.tables.turned import is_turned
from paperscope.types import Box

__all__ = ["body_rows"]

_MOST_HEADER_ROWS = 5


def body_rows(
    rows: Sequence[PrintedRow], columns: Columns, zones: Zones, *, box: Box, fills: Sequence[Box], headed: bool
) -> list[GridRow]:
    """A `GridRow` for each printed row below a grouped header (`headed`), or for all rows of a table without one."""
    drafted: list[GridRow] = []
    held = Counter(zones.of(row.baseline) for row in rows)
    for row in rows:
        alone = held[zones.of(row.baseline)] == 1
        section = _is_section(row, columns, box=box, fills=fills, alone=alone and bool(zones.inner))
        pieces = (Piece(first=0, last=len(columns) - 1, lines=row.segments),) if section else place(row, columns)
        kind: RowKind = "section" if section else "body"
        drafted.append(GridRow(kind=kind, top=row.baseline, bottom=row.baseline, pieces=pieces))
    drafted = [
        replace(row, kind="section") if below and _is_group_title(row, below, columns) else row
        for row, below in zip(drafted, [*drafted[1:], None], strict=True)
    ]
    heads = set() if headed else _first_headers(drafted, zones)
    named = {_key(drafted[index]) for index in heads}
    heads |= {index for index, row in enumerate(drafted) if row.kind == "body" and _key(row) in named}
    return [
        _as_header(row, columns, last=index + 1 not in heads) if index in heads else row
        for index, row in enumerate(drafted)
    ]


def _is_group_title(row: GridRow, below: GridRow, columns: Columns) -> bool:
    """Whether a row of a stub alone stands over a row whose stub is indented."""
    if row.kind != "body" or len(row.pieces) != 1 or len(below.pieces) < 2 or is_turned(row.pieces[0].lines[0]):
        return False
    title, stub = row.piece_at(0), below.piece_at(0)
    return title is not None and stub is not None and stub.box.x0 - title.box.x0 > 0.5 * columns.em


def _key(row: GridRow) -> tuple[str, ...]:
    return tuple(piece.text for piece in row.pieces)


def _is_section(row: PrintedRow, columns: Columns, *, box: Box, fills: Sequence[Box], alone: bool) -> bool:
    """A row of one text that is no cell: in a filled stripe, alone between rules, or centred or set off by its font,
    or a unit in parentheses over all columns of values."""
    if len(row.segments) != 1 or len(columns) < 2 or is_turned(row.segments[0]):
        return False
    segment = row.segments[0]
    middle = segment.baseline - 0.3 * segment.size
    if any(
        fill.x0 <= box.x0 + 4 and fill.x1 >= box.x1 - 4 and fill.y0 < middle < fill.y1 < fill.y0 + 3 * segment.size
        for fill in fills
    ):
        return True
    first, last = columns.span(segment.box.x0, segment.box.x1)
    if is_value(segment.text) or first == len(columns) - 1:
        return False
    over_values = segment.text[0] + segment.text[-1] == "()" and not is_annotation(segment.text)
    if over_values and abs(segment.center - columns.center(1, len(columns) - 1)) < 4:
        return True
    centered = abs(segment.center - (box.x0 + box.x1) / 2) < 4
    set_off = segment.bold > 0.6 or segment.italic > 0.6 or alone
    if centered and len(columns) > 2:
        return set_off or last > first
    return first == 0 and set_off


def _first_headers(rows: Sequence[GridRow], zones: Zones) -> set[int]:
    """The header rows at the table's head: those above the first inner rule, or the first row without one.

    Of a header in two rows, one with the stub's title and one without, both count even with a rule between them.
    """
    plain = [index for index, row in enumerate(rows) if row.kind != "section"]
    if not plain:
        return set()
    first = plain[0]
    zone = zones.of(rows[first].top)
    ruled = zone < len(zones.inner)
    heads = [first]
    for index in plain[1:_MOST_HEADER_ROWS]:
        row = rows[index]
        same_zone = ruled and zones.of(row.top) == zone
        values = any(is_value(piece.text) for piece in row.pieces if piece.first > 0)
        if index != heads[-1] + 1 or (values and not (same_zone and row.piece_at(0) is None)):
            break
        stubbed = any(rows[head].piece_at(0) for head in heads)
        if not same_zone and (len(row.pieces) < 2 or bool(row.piece_at(0)) == stubbed):
            break
        heads.append(index)
    return set(heads)


def _as_header(row: GridRow, columns: Columns, *, last: bool) -> GridRow:
    """A header row; above another one, its centred titles are shared out over the columns."""
    pieces = row.pieces
    if not last and 2 <= len(pieces) < len(columns) - 1:
        stub = pieces[0].box.x0 < columns.intervals[0][1]
        titles = pieces[1:] if stub else pieces
        groups = partition([(piece.box.x0 + piece.box.x1) / 2 for piece in titles], columns, first=1)
        if groups:
            shared = [
                Piece(first=first, last=end, lines=piece.lines)
                for piece, (first, end) in zip(titles, groups, strict=True)
            ]
            pieces = (*(pieces[:1] if stub else ()), *shared)
    return GridRow(kind="header", top=row.top, bottom=row.bottom, pieces=tuple(pieces))
