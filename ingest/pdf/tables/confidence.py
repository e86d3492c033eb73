"""How far a grid can be trusted, by its own look."""

import re
from collections.abc import Sequence
from statistics import median

from ingest.pdf.tables.parts import GridCell, GridRow, Piece
from ingest.pdf.tables.rows import is_value

__all__ = ["confidence_of"]

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
