"""Rows of running texts at one pitch: nothing but the texts themselves says where a row ends."""

from collections.abc import Callable, Sequence

from ingest.pdf.tables.parts import GridRow, Piece

__all__ = ["wrapped_groups"]

_RUNNING = 15
_LOWER = 0.6


def wrapped_groups(zone: Sequence[GridRow], runs_over: Callable[[GridRow, Piece], bool]) -> list[list[GridRow]]:
    """The printed lines of each row, [] if the zone isn't such a table.

    A line goes on with the row if each of its texts goes on from the line right above, where there was no room for
    its first word; any other line opens a row and has a stub. Most lines that go on below a stub must show it by a
    small letter, and the texts of a column must be long.
    """
    if len(zone) < 2 or any(row.kind != "body" for row in zone):
        return []
    groups: list[list[GridRow]] = [[zone[0]]]
    for row in zone[1:]:
        last = groups[-1][-1]
        if all(runs_over(last, piece) for piece in row.pieces):
            groups[-1].append(row)
        elif row.piece_at(0):
            groups.append([row])
        else:
            return []
    below_stubs = [row for group in groups for row in group[1:] if row.piece_at(0)]
    plain = sum(any(piece.text[0].islower() for piece in row.pieces) for row in below_stubs)
    if not below_stubs or plain < _LOWER * len(below_stubs) or not _has_running_column(groups):
        return []
    return groups


def _has_running_column(groups: Sequence[Sequence[GridRow]]) -> bool:
    """Whether the texts of some column that go over several lines are long."""
    texts: dict[int, list[str]] = {}
    for group in groups:
        for row in group[1:]:
            for piece in row.pieces:
                texts.setdefault(piece.first, []).append(piece.text)
    return any(sum(map(len, column)) > _RUNNING * len(column) for column in texts.values())
