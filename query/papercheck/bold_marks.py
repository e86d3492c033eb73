"""Bold values that are not the best of their column, in tables that print the best values in bold."""

from collections.abc import Iterator
from math import prod

from query.papercheck.discrepancies import Discrepancy
from query.papercheck.number_grid import NumberGrid, PrintedValue

__all__ = ["find_wrong_bold"]

# The chance that bold values are all the highest or lowest ones although bold says something else.
_CHANCE_LIMIT = 0.01
_LEAST_VALUES, _FITS_PER_MISFIT = 3, 3


def find_wrong_bold(grid: NumberGrid) -> Iterator[Discrepancy]:
    """Yield the bold values that are neither the highest nor the lowest ones of their columns, if nearly all are."""
    fitting: list[tuple[list[PrintedValue], PrintedValue]] = []
    misfits: list[tuple[list[PrintedValue], PrintedValue]] = []
    for column in grid.groups():
        bold = [value for value in column if value.bold]
        if len(column) >= _LEAST_VALUES and len({value.value for value in bold}) == 1:
            values = [value.value for value in column]
            (fitting if bold[0].value in (min(values), max(values)) else misfits).append((column, bold[0]))
    rows = {value.evidence.place.box.y0 for _, value in fitting}
    chance = prod(2 / len(column) for column, _ in fitting)
    if len({value.value == max(one.value for one in column) for column, value in fitting}) == 1:
        chance = 2 * prod(1 / len(column) for column, _ in fitting)
    if len(rows) < 2 or len(fitting) < _FITS_PER_MISFIT * max(1, len(misfits)) or chance > _CHANCE_LIMIT:
        return
    for column, value in misfits:
        lowest, highest = (best(column, key=lambda one: one.value) for best in (min, max))
        yield Discrepancy(
            kind="bold",
            arithmetic=f"{value.text} is in bold, but {highest.text} is higher and {lowest.text} is lower",
            evidence=(value.evidence, highest.evidence, lowest.evidence),
        )
