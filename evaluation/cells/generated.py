"""Look-ups drawn from a transcribed table."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence

from evaluation.gold.values import GoldLookup, GoldTable
from evaluation.matching import fold, spaced
from evaluation.metrics.quantities import as_number

__all__ = ["drawn", "table_lookups"]


def table_lookups(table: GoldTable) -> Sequence[GoldLookup]:
    """Each numeric cell that the name of its row and the full name of its column tell from all others of the table.

    A row is named by its first cell, unless that one spans several rows; a column by the headers above it, a group's
    title and the title of the section that heads them first. None of a table whose header rows aren't known.
    """
    cells = list(_cells(table))
    seen = Counter(_key(row, column) for row, column, _ in cells)
    return [
        GoldLookup(
            label=f"Table {table.number}" if table.number else "",
            caption=table.caption or "",
            row=spaced(row),
            column=spaced(column),
            answer=text,
            page=table.page,
        )
        for row, column, text in cells
        if row and column and seen[_key(row, column)] == 1 and as_number(text)
    ]


def drawn(lookups: Sequence[GoldLookup], *, most: int, seed: int, salt: str) -> list[tuple[int, GoldLookup]]:
    """At most so many of them with their numbers, from 1, in their order; a seed always draws the same."""

    def lot(index: int) -> str:
        lookup = lookups[index]
        parts = (str(seed), salt, lookup.label, lookup.caption, lookup.row, lookup.column)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    return [(index + 1, lookups[index]) for index in sorted(sorted(range(len(lookups)), key=lot)[:most])]


def _cells(table: GoldTable) -> Iterator[tuple[str, str, str]]:
    """(row's name, column's name, text) of the body; the name of a row that isn't told is "" ."""
    grid = _spread(table)
    heads = {table.logical_row[row] for row in table.header_rows or ()}
    sections = {table.logical_row[row] for row in table.section_rows}
    names: list[dict[str, None]] = []
    for row, texts in enumerate(grid):
        if row in heads:
            if row - 1 not in heads:
                names = [{} for _ in texts]
            title = next(filter(None, texts), "")
            for name, text in zip(names, texts, strict=True):
                name[title if row in sections else text] = None
        elif row not in sections and names:
            follows = grid[row + 1] if row + 1 < len(grid) and row + 1 not in heads | sections else None
            told = follows is None or bool(follows[0])
            for name, text in list(zip(names, texts, strict=False))[1:]:
                yield texts[0] if told else "", " ".join(filter(None, name)), text


def _spread(table: GoldTable) -> list[list[str]]:
    """The logical grid, its texts stripped, rows of equal length, each spanned text of a header in all its columns."""
    width = max(map(len, table.logical), default=0)
    grid = [[text.strip() for text in (*row, *[""] * (width - len(row)))] for row in table.logical]
    for span in table.spans or ():
        row = table.logical_row[span.row]
        if span.row in (table.header_rows or ()):
            for column in range(span.col, min(span.col + span.colspan, width)):
                grid[row][column] = grid[row][span.col]
    return grid


def _key(row: str, column: str) -> tuple[str, str]:
    return fold(row).casefold(), fold(column).casefold()
