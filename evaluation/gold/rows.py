"""Tables whose gold is rows of texts only."""

from collections.abc import Sequence

from evaluation.gold.values import GoldTable, Grid

__all__ = ["table_of_rows"]


def table_of_rows(rows: Sequence[Sequence[str]], *, caption: str) -> GoldTable | None:
    """A table without number, drawn from a source file; empty rows and columns go.

    Its logical rows join the second row with the first where that may be the first one's second line. None for rows
    that are no table: those of one column only, which is what is left of a header cell's line breaks.
    """
    rows = [row for row in rows if any(text.strip() for text in row)]
    width = max((len(row) for row in rows), default=0)
    padded = [[*row, *[""] * (width - len(row))] for row in rows]
    kept = [column for column in range(width) if any(row[column].strip() for row in padded)]
    if len(kept) < 2:
        return None
    grid = tuple(tuple(row[column] for column in kept) for row in padded)
    logical, mapping = _joined(grid)
    return GoldTable(caption=caption or None, grid=grid, logical=logical, logical_row=mapping, from_source=True)


def _joined(grid: Grid) -> tuple[Grid, tuple[int, ...]]:
    mapping = tuple(range(len(grid)))
    if len(grid) < 3 or grid[1][0].strip():
        return grid, mapping
    head = tuple(first if first == second else f"{first} {second}" for first, second in zip(*grid[:2], strict=True))
    return (head, *grid[2:]), (0, *mapping[:-1])
