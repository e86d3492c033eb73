"""How one number follows from others: difference, sum, ratio, percentage, mean."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import cached_property
from itertools import permutations

from paperscope_core.types import Evidence
from query.numbers import Number

__all__ = [
    "Computation",
    "Computations",
    "NumberIndex",
    "Operand",
    "Wording",
    "describes_decrease",
    "is_printed_so",
    "numbers_agree",
]

_FALLS = re.compile(
    r"(?i)\b(?:drop|fall|fell|decreas|declin|reduc|degrad|deteriorat|loses?\b|lost\b|lower|less\b|fewer|smaller|worse|"
    r"below|negative|minus|differ|gap\b|chang|hurt|penalt|shrink|down\b)\w*"
)
_ROUNDED = re.compile(
    r"(?i)\b(?:about|around|approximately|approx|roughly|nearly|almost|circa|round(?:s|ed|ing))\b|[~\u2248\u223c]"
)
_LEAST_DIGITS = 2

_MOST_OPERANDS = 24
_MOST_TERMS = 8
# Some pair of several numbers gives almost any result, so the statement must name the operation.
_SAID: Mapping[str, re.Pattern[str]] = {
    operation: re.compile(rf"(?i)\b(?:{words})\b|(?<=[\d%)])\s[{signs}]\s")
    for operation, words, signs in (
        (
            "difference",
            r"differ\w*|more|less|fewer|gap|margin|gain\w*|improv\w*|increas\w*|decreas\w*|drop\w*|declin\w*|reduc\w*|"
            r"higher|lower|larger|smaller|greater|bigger|better|worse|faster|slower|minus|chang\w*|from|exceed\w*|"
            r"outperform\w*|beats?|surpass\w*|ahead|behind|lead\w*|above|below|boost\w*|advantage|falls?|fell|rises?|rose|"
            r"points?|by|than",
            "\u2212\u2013=-",
        ),
        ("sum", r"sums?|totals?|together|altogether|plus|combined|in all|both|overall|all", "=+"),
        ("mean", r"means?|averag\w*", "="),
        ("points", "points?|pp", "\n"),
        ("ratio", r"ratio|times|fold|share|per cent|percent\w*|twice|half|factor|divided", "=×"),
    )
}


@dataclass(frozen=True, slots=True)
class Wording:
    """What the words of a statement say about its numbers: whether they decrease, and whether they are rounded."""

    falls: bool
    rounds: bool = False

    @classmethod
    def of(cls, text: str) -> "Wording":
        """Read a text."""
        return cls(describes_decrease(text), _ROUNDED.search(text) is not None)


def numbers_agree(stated: Number, printed: Number, *, said: Wording, around_falls: bool) -> bool:
    """Return whether a stated number is the printed one: equal, or rounded to the stated digits if the statement says
    so ("about 95") or converts to a percentage.

    A percentage also equals its fraction (73% and 0.73). A plus sign may be dropped or added; a minus sign only if the
    words describe a decrease: `said` for a missing sign, the printed text (`around_falls`) for an added one. Two signs
    must be equal.
    """
    if stated.sign and printed.sign:
        if stated.sign != printed.sign:
            return False
    elif (printed.sign == "-" and not said.falls) or (stated.sign == "-" and not around_falls):
        return False
    return any(
        stated.value == value or ((said.rounds or turned) and _is_rounded(stated, value))
        for value, turned in _values(stated, printed)
    )


def is_printed_so(stated: Number, printed: Number) -> bool:
    """Return whether a number has the decimals and the sign of percentage of another one: "3-hop" says no 3.0 and no
    3%."""
    decimals = (min(number.unit, Decimal(1)) for number in (stated, printed))
    return stated.percent == printed.percent and len(set(decimals)) == 1


class NumberIndex:
    """Printed numbers by value, so that a stated one is not compared with all of them."""

    def __init__(self, numbers: Sequence[Number]) -> None:
        self.numbers = numbers
        self._order = sorted(range(len(numbers)), key=lambda at: numbers[at].value)
        self._values = [numbers[at].value for at in self._order]

    def agreeing(self, stated: Number, *, said: Wording, around_falls: bool) -> list[int]:
        """Return the positions of the numbers that agree with the stated one (see `numbers_agree`), in order."""
        near = set[int]()
        for scale in (Decimal(1), Decimal(100), Decimal("0.01")):
            start = bisect_left(self._values, (stated.value - stated.unit) * scale)
            near.update(self._order[start : bisect_right(self._values, (stated.value + stated.unit) * scale)])
        return [
            at for at in sorted(near) if numbers_agree(stated, self.numbers[at], said=said, around_falls=around_falls)
        ]


def describes_decrease(text: str) -> bool:
    """Return whether the words describe a decrease or a difference, so that "0.5" may mean "-0.5"."""
    return bool(_FALLS.search(text))


def _is_rounded(stated: Number, value: Decimal) -> bool:
    """Return whether the value rounds to the number; a number with one digit must be equal."""
    if len(re.sub(r"\D", "", stated.text).strip("0")) < _LEAST_DIGITS:
        return stated.value == value
    return (value / stated.unit).to_integral_value(ROUND_HALF_UP) * stated.unit == stated.value


def _values(stated: Number, printed: Number) -> tuple[tuple[Decimal, bool], ...]:
    """Return the printed value, and its percentage or fraction if only one side is a percentage."""
    if stated.percent and not printed.percent:
        return (printed.value, False), (printed.value * 100, True)
    if printed.percent and not stated.percent:
        return (printed.value, False), (printed.value / 100, True)
    return ((printed.value, False),)


@dataclass(frozen=True, slots=True)
class Operand:
    """A number to compute with and the evidence that prints it; None if the question gives it."""

    number: Number
    evidence: Evidence | None


# An operation over all operands of a set, as it is shown, its result, and the operands.
_OverSet = tuple[str, str, Decimal, tuple[Operand, ...]]


@dataclass(frozen=True, slots=True)
class Computation:
    """A formula with its result, its operands, and the number of terms if it is a sum."""

    formula: str
    operands: tuple[Operand, ...]
    terms: int = 0


@dataclass(frozen=True)
class Computations:
    """The computations that a statement may report: from two operands, or the sum or mean of one of the `sets`.

    Only operations that `words` name count. Of many operands, the first distinct ones are used.
    """

    words: str
    operands: Sequence[Operand]
    sets: Sequence[Sequence[Operand]] = ()

    @cached_property
    def _named(self) -> frozenset[str]:
        return frozenset(operation for operation, pattern in _SAID.items() if pattern.search(self.words))

    @cached_property
    def _rounds(self) -> bool:
        return _ROUNDED.search(self.words) is not None

    @cached_property
    def _distinct(self) -> list[Operand]:
        kept = {operand.number.signed: operand for operand in reversed(self.operands)}
        return list(kept.values())[::-1][:_MOST_OPERANDS]

    @cached_property
    def _over_all(self) -> list[_OverSet]:
        return list(_over_sets(self.sets))

    def find(self, number: Number) -> Computation | None:
        """Return the first computation that gives the number, earlier operands first, or None."""
        if not self._named:
            return None
        found = self._find_in(permutations(self._distinct, 2), number)
        return found or self._find_over(self._over_all, number)

    def find_further(
        self, number: Number, *, runs: Sequence[Sequence[Operand]], pairs: Iterable[tuple[Operand, Operand]]
    ) -> Computation | None:
        """Return a computation from one of the pairs, or the sum or mean of all operands of a short run, that gives the
        number, or None."""
        if not self._named:
            return None
        short = [terms for terms in runs if len(terms) <= _MOST_OPERANDS]
        return self._find_in(pairs, number) or self._find_over(_over_sets(short), number)

    def _find_in(self, pairs: Iterable[tuple[Operand, Operand]], number: Number) -> Computation | None:
        for one, other in pairs:
            for operation, shown, result in _results(one.number, other.number, wanted=number):
                # Differences and sums of printed numbers are exact; so is a mean with fewer digits than these.
                coarse = operation == "mean" and number.unit > max(one.number.unit, other.number.unit)
                exact = ("/" not in shown or coarse) and not self._rounds
                if operation in self._named and _gives(result, number, exact=exact):
                    return Computation(f"{shown} = {number.text}", (one, other), 2 if operation == "sum" else 0)
        return None

    def _find_over(self, over_sets: Iterable[_OverSet], number: Number) -> Computation | None:
        for operation, shown, result, terms in over_sets:
            finer = all(term.number.unit < number.unit for term in terms) and not self._rounds
            if operation in self._named and _gives(result, number, exact=operation == "sum" or finer):
                return Computation(f"{shown} = {number.text}", terms, len(terms) if operation == "sum" else 0)
        return None


def _gives(result: Decimal, number: Number, *, exact: bool) -> bool:
    """Return whether the result rounds to the number or equals it. The sign of the number, if any, must be the
    result's."""
    if number.sign and (result < 0) != (number.sign == "-"):
        return False
    if exact:
        return abs(result) == number.value
    # A ratio rounded to one digit would support almost any small count.
    rounded = number.unit < 1 or number.value >= 10
    steps = (abs(result) / number.unit).to_integral_value(ROUND_HALF_UP)
    return (steps * number.unit if rounded else abs(result)) == number.value


def _results(first: Number, second: Number, *, wanted: Number) -> Iterator[tuple[str, str, Decimal]]:
    one, other = first.signed, second.signed
    a, b = _text(first), _text(second)
    # A difference from 0 and a sum with 0 are the other number.
    if one and other and (one < other) == (wanted.sign == "-"):
        yield "difference", f"{a} − {b}", one - other
        if max(abs(one), abs(other)) < 1:
            # Of shares: "0.97 against 0.94".
            yield "points", f"100 × ({a} − {b})", 100 * (one - other)
    if one and other:
        yield "sum", f"{a} + {b}", one + other
    yield "mean", f"({a} + {b}) / 2", (one + other) / 2
    # A percentage by a number is no share.
    if other and not (wanted.percent and first.percent != second.percent):
        yield "ratio", f"{a} / {b}", one / other
    if other and wanted.percent and first.percent == second.percent:
        yield "ratio", f"100 × {a} / {b}", 100 * one / other
        falls = one < other and not wanted.sign
        shown = f"{b} − {a}" if falls else f"{a} − {b}"
        yield "difference", f"100 × ({shown}) / {b}", 100 * (one - other) / abs(other)


def _over_sets(sets: Sequence[Sequence[Operand]]) -> Iterator[_OverSet]:
    return ((*one, tuple(terms)) for terms in sets if len(terms) > 2 for one in _over_all(terms))


def _over_all(terms: Sequence[Operand]) -> Iterator[tuple[str, str, Decimal]]:
    total = sum((operand.number.signed for operand in terms), Decimal(0))
    shown = [_text(operand.number) for operand in terms]
    if len(shown) > _MOST_TERMS:
        shown = [*shown[: _MOST_TERMS - 2], "…", shown[-1]]
    yield "sum", " + ".join(shown), total
    yield "mean", f"({' + '.join(shown)}) / {len(terms)}", total / len(terms)


def _text(number: Number) -> str:
    return number.text.replace("-", "−")
