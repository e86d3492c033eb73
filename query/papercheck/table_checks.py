"""Sums, means, percentages, F1 and bold marks that hold everywhere in a table except in one cell.

No name of a row or column is read: a line of numbers is taken for the total of others if it is their total in so many
positions that chance cannot explain it. Then a position where it is not is a discrepancy.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import permutations
from math import pi, prod, sqrt
from operator import itemgetter
from typing import Literal

from paperscope_core.cancellation import check_cancelled
from paperscope_core.types import Evidence
from query.number_grid import Line, NumberGrid, PrintedValue

__all__ = ["Discrepancy", "DiscrepancyKind", "find_broken_identities", "find_wrong_bold"]

DiscrepancyKind = Literal["total", "mean", "percentage", "f1", "cited_value", "bold", "grim", "p_value"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Discrepancy:
    """Numbers of a paper that do not fit together. Which of them is wrong, if any, is for the reader to say.

    Attributes:
        kind: A "total" is not the sum of its terms, a "mean" not their mean, a "percentage" not that of its counts, an
            "f1" not that of its precision and recall; the text states a "cited_value" that the cell does not print; a
            value in "bold" is not the best one; no whole numbers have such a mean ("grim"); a "p_value" does not
            belong to its test statistic.
        arithmetic: What was computed, with the printed values: "12 + 15 = 27, printed: 28".
        evidence: The value in question first, then what it was computed from, each with its place.
    """

    kind: DiscrepancyKind
    arithmetic: str
    evidence: tuple[Evidence, ...]

    def __str__(self) -> str:
        return self.arithmetic


# The chance that unrelated numbers fit as well, over all identities that are tried in a table.
_CHANCE_LIMIT = 0.01
# The chance that sums of rounded numbers look exact in all positions.
_EXACT_LIMIT = 0.05
# A misfit in more positions says that the identity is another one.
_FITS_PER_MISFIT = 4
_LEAST_FITS = 2
# Larger tables are rarely sums of all their lines, and are not tried with each pair of lines.
_MOST_LINES, _MOST_PAIRED = 80, 14
_MOST_SHOWN = 8
# Of bold marks: the chance that bold values are all the highest or lowest ones although bold says something else, the
# least values of a column, and the columns that fit for each that does not.
_BOLD_CHANCE, _LEAST_BOLD, _BOLD_FITS = 0.01, 3, 3
_ZERO, _ONE, _TWO, _HUNDRED = Decimal(0), Decimal(1), Decimal(2), Decimal(100)

_Bounds = tuple[Decimal, Decimal]
_Terms = Sequence[PrintedValue]


@dataclass(frozen=True, slots=True)
class _Formula:
    """How a value follows from others.

    Attributes:
        bounds: Returns the least and the greatest result of the terms before rounding that are nearest to the printed
            value; None if they have no result.
        room: Returns how far the result of such terms could be elsewhere; None for the range of all results.
        shown: The formula with the texts of the terms.
    """

    kind: DiscrepancyKind
    bounds: Callable[[PrintedValue, _Terms], _Bounds | None]
    room: Callable[[PrintedValue, _Terms], Decimal] | None
    shown: Callable[[Sequence[str]], str]


def _total(_printed: PrintedValue, terms: _Terms) -> _Bounds:
    return sum((term.low for term in terms), _ZERO), sum((term.high for term in terms), _ZERO)


def _mean(printed: PrintedValue, terms: _Terms) -> _Bounds:
    low, high = _total(printed, terms)
    return low / len(terms), high / len(terms)


def _share(_printed: PrintedValue, terms: _Terms) -> _Bounds | None:
    part, whole = terms
    if not (part.is_count and whole.is_count and part.value <= whole.value and whole.value):
        return None
    share = _HUNDRED * part.value / whole.value
    return share, share


def _harmonic(printed: PrintedValue, terms: _Terms) -> _Bounds | None:
    one, other = terms
    if min(one.low, other.low) <= 0 or max(one.value, other.value, printed.value) > _HUNDRED:
        return None
    low = _TWO * one.low * other.low / (one.low + other.low)
    return low, _TWO * one.high * other.high / (one.high + other.high)


def _whole_sum(printed: PrintedValue, terms: _Terms) -> _Bounds | None:
    """Brown and Heathers, "The GRIM test", Social Psychological and Personality Science 8 (2017): the mean of n whole
    numbers is a whole number over n."""
    size = terms[0]
    if not size.is_count or size.value < _TWO or size.value * printed.half * _TWO >= _ONE or not printed.value % _ONE:
        return None
    nearest = (printed.value * size.value).to_integral_value() / size.value
    return nearest, nearest


def _others(_printed: PrintedValue, terms: _Terms) -> Decimal:
    sizes = [abs(term.value) for term in terms]
    return sum(sizes, _ZERO) - max(sizes)


def _spread(_printed: PrintedValue, terms: _Terms) -> Decimal:
    values = [term.value for term in terms]
    return min(max(values) - min(values), abs(min(values)))


def _between_whole(printed: PrintedValue, terms: _Terms) -> Decimal:
    return _ONE / terms[0].value - _TWO * printed.half


def _joined(texts: Sequence[str]) -> str:
    short = [*texts[: _MOST_SHOWN - 2], "\u2026", texts[-1]] if len(texts) > _MOST_SHOWN else texts
    return " + ".join(short)


_TOTAL = _Formula("total", _total, _others, _joined)
_MEAN = _Formula("mean", _mean, _spread, lambda texts: f"({_joined(texts)}) / {len(texts)}")
_SHARE = _Formula("percentage", _share, None, lambda texts: f"100 \u00d7 {texts[0]} / {texts[1]}")
_F1 = _Formula("f1", _harmonic, _spread, lambda texts: "2 \u00d7 {0} \u00d7 {1} / ({0} + {1})".format(*texts))
_GRIM = _Formula("grim", _whole_sum, _between_whole, lambda texts: f"the nearest mean of {texts[0]} whole numbers")


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A line that may follow from others; `whole` is a term that belongs to all positions."""

    formula: _Formula
    result: int
    terms: tuple[int, ...]
    whole: PrintedValue | None = None


@dataclass(frozen=True, slots=True)
class _Position:
    """A result as printed, its terms, and the bounds that they give."""

    printed: PrintedValue
    terms: tuple[PrintedValue, ...]
    bounds: _Bounds

    @property
    def gap(self) -> Decimal:
        """How far the printed value is from the bounds; negative if it fits."""
        return max(self.bounds[0] - self.printed.high, self.printed.low - self.bounds[1])

    @property
    def is_exact(self) -> bool:
        """Whether the middle of the bounds is printed."""
        return sum(self.bounds) == _TWO * self.printed.value


def find_broken_identities(grid: NumberGrid) -> Iterator[Discrepancy]:
    """Yield the values that break a sum, mean, percentage or F1 that holds elsewhere in the table."""
    tried = [(lines, list(_candidates(grid, lines))) for lines in (grid.columns, grid.rows)]
    count = sum(len(candidates) for _, candidates in tried)
    for lines, candidates in tried:
        best: dict[int, tuple[int, int, bool, float, _Formula, list[_Position]]] = {}
        for one in candidates:
            judged = _judge(one, lines)
            if judged is not None and judged[0] * count < _CHANCE_LIMIT:
                chance, fits, misfits = judged
                rated = (len(misfits), -fits, one.formula is _MEAN, chance, one.formula, misfits)
                best[one.result] = min(rated, best.get(one.result, rated), key=itemgetter(0, 1, 2, 3))
        for *_, formula, misfits in best.values():
            yield from (_discrepancy(formula, misfit) for misfit in misfits)


def _candidates(grid: NumberGrid, lines: Sequence[Line]) -> Iterator[_Candidate]:
    check_cancelled()
    if not lines or len(lines[0]) <= _LEAST_FITS:
        return
    if len(lines) <= _MOST_LINES:
        yield from _of_runs(len(lines))
    if len(lines) <= _MOST_PAIRED:
        yield from _of_pairs(len(lines))
    if lines is grid.columns:
        yield from _with_whole(grid)


def _of_runs(count: int) -> Iterator[_Candidate]:
    """Yield totals and means of the lines before or behind each line."""
    for result in range(count):
        for size in range(2, count):
            for first in (result - size, result + 1):
                if first >= 0 and first + size <= count:
                    terms = tuple(range(first, first + size))
                    yield _Candidate(_TOTAL, result, terms)
                    # The middle of two columns may be that of an interval.
                    yield from [_Candidate(_MEAN, result, terms)] if size > _LEAST_FITS else ()


def _of_pairs(count: int) -> Iterator[_Candidate]:
    for result, other in permutations(range(count), 2):
        yield _Candidate(_GRIM, result, (other,))
    for result, one, other in permutations(range(count), 3):
        yield _Candidate(_SHARE, result, (one, other))
        if one < other:
            yield _Candidate(_F1, result, (one, other))
            if other - one > 1 or result not in (one - 1, other + 1):
                yield _Candidate(_TOTAL, result, (one, other))


def _with_whole(grid: NumberGrid) -> Iterator[_Candidate]:
    """Yield means and percentages of the sample in a header, and percentages of the first or last value of a column."""
    for at in range(len(grid.columns)):
        yield from (_Candidate(_GRIM, at, (), size) for size in grid.sizes(at))
    for (at, line), (result, _) in permutations(enumerate(grid.columns), 2):
        ends = [end for end in (line[0], line[-1]) if end is not None]
        for whole in dict.fromkeys([*grid.sizes(at), *ends]):
            if whole.is_count and whole.value > 1:
                yield _Candidate(_SHARE, result, (at,), whole)


def _judge(candidate: _Candidate, lines: Sequence[Line]) -> tuple[float, int, list[_Position]] | None:
    """Return the chance that unrelated numbers fit as a candidate does, the number of its fits, and its misfits; None
    if it fits in too few positions."""
    positions: list[_Position] = []
    misfits = 0
    result = lines[candidate.result]
    most = max(1, len(result) // (_FITS_PER_MISFIT + 1))
    for position in _positions(candidate, lines):
        positions.append(position)
        misfits += position.gap > 0
        if misfits > most:
            return None
    fitting = [one for one in positions if one.gap <= 0]
    exact = _are_exact(candidate, positions)
    if exact:
        fitting = [one for one in positions if one.is_exact]
    # Columns of constants, such as settings, fit in all rows alike: that is one coincidence.
    fitting = list({(one.printed.value, *(term.value for term in one.terms)): one for one in fitting}.values())
    if len(fitting) < max(_LEAST_FITS, _FITS_PER_MISFIT * misfits - _FITS_PER_MISFIT):
        return None
    if candidate.formula is _F1 and all(one.printed.shows(*_mean(one.printed, one.terms)) for one in fitting):
        return None
    values = [value.value for value in result if value is not None]
    chances: list[float] = []
    for one in fitting:
        width = 2 * one.printed.half + (0 if exact else one.bounds[1] - one.bounds[0])
        room = candidate.formula.room(one.printed, one.terms) if candidate.formula.room else max(values) - min(values)
        chances.append(float(width / (width + room)))
    # A value that was truncated, or computed before rounding, may differ by a unit.
    slack = _ZERO if candidate.formula.kind == "grim" else _TWO
    clear = [one for one in positions if (not one.is_exact if exact else one.gap > slack * one.printed.half)]
    return prod(chances), len(fitting), clear


def _positions(candidate: _Candidate, lines: Sequence[Line]) -> Iterator[_Position]:
    fixed = (candidate.whole,) if candidate.whole else ()
    for at, printed in enumerate(lines[candidate.result]):
        terms = [lines[term][at] for term in candidate.terms]
        present = (*(term for term in terms if term is not None), *fixed)
        if (
            printed is None
            or len(present) < len(terms) + len(fixed)
            or (len(present) == 2 and present[0] is candidate.whole)
        ):
            continue
        bounds = candidate.formula.bounds(printed, present)
        # Where values are missing, the whole is smaller.
        if bounds is not None and not (candidate.terms and fixed and printed.low > bounds[1]):
            yield _Position(printed, present, bounds)


def _are_exact(candidate: _Candidate, positions: Sequence[_Position]) -> bool:
    """Return whether the totals are of whole numbers that were not rounded: nearly all are exact, which rounded terms
    rarely are."""
    if candidate.formula is not _TOTAL or not all(one.printed.is_count for one in positions):
        return False
    exact = [one for one in positions if one.is_exact]
    # The sum of k + 1 errors of rounding has a variance of (k + 1) / 12.
    chance = prod(min(1.0, sqrt(6 / (pi * (len(one.terms) + 1)))) for one in exact)
    return len(exact) >= _FITS_PER_MISFIT * (len(positions) - len(exact)) and chance < _EXACT_LIMIT


def _discrepancy(formula: _Formula, misfit: _Position) -> Discrepancy:
    low, high = misfit.bounds
    texts = [term.text for term in misfit.terms]
    digits = max(0, -int((_TWO * misfit.printed.half).normalize().as_tuple().exponent)) + 1
    if formula is _TOTAL and misfit.printed.is_count:
        low = high = (low + high) / _TWO
        digits = 0
    least, most = (f"{one:.{digits}f}" for one in (low, high))
    result = least if least == most else f"{least} to {most}"
    evidence = (misfit.printed.evidence, *(term.evidence for term in misfit.terms))
    return Discrepancy(
        kind=formula.kind,
        arithmetic=f"{formula.shown(texts)} = {result}, printed: {misfit.printed.text}",
        evidence=tuple(dict.fromkeys(evidence)),
    )


def find_wrong_bold(grid: NumberGrid) -> Iterator[Discrepancy]:
    """Yield the bold values that are neither the highest nor the lowest ones of their columns, if nearly all are."""
    fitting: list[tuple[list[PrintedValue], PrintedValue]] = []
    misfits: list[tuple[list[PrintedValue], PrintedValue]] = []
    for column in grid.groups():
        bold = [value for value in column if value.bold]
        if len(column) >= _LEAST_BOLD and len({value.value for value in bold}) == 1:
            values = [value.value for value in column]
            (fitting if bold[0].value in (min(values), max(values)) else misfits).append((column, bold[0]))
    rows = {value.evidence.place.box.y0 for _, value in fitting}
    chance = prod(2 / len(column) for column, _ in fitting)
    if len({value.value == max(one.value for one in column) for column, value in fitting}) == 1:
        chance = 2 * prod(1 / len(column) for column, _ in fitting)
    if len(rows) < 2 or len(fitting) < _BOLD_FITS * max(1, len(misfits)) or chance > _BOLD_CHANCE:
        return
    for column, value in misfits:
        lowest, highest = (best(column, key=lambda one: one.value) for best in (min, max))
        yield Discrepancy(
            kind="bold",
            arithmetic=f"{value.text} is in bold, but {highest.text} is higher and {lowest.text} is lower",
            evidence=(value.evidence, highest.evidence, lowest.evidence),
        )
