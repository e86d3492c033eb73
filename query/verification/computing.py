"""How a number follows from others: difference, sum, ratio, percentage, mean."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import permutations

from paperscope.types import Evidence
from query.numbers import Number

__all__ = ["Computation", "Operand", "computed"]

# Among more operands than these, some pair gives almost any result unless the words say what was done.
_FEW = 3
_MOST_OPERANDS = 24
_MOST_TERMS = 8
_SAID: Mapping[str, re.Pattern[str]] = {
    operation: re.compile(rf"(?i)\b(?:{words})\b|[{signs}]")
    for operation, words, signs in (
        (
            "difference",
            r"differ\w*|more|less|fewer|gap|margin|gain\w*|improv\w*|increas\w*|decreas\w*|drop\w*|declin\w*|reduc\w*|"
            r"higher|lower|larger|smaller|greater|bigger|better|worse|faster|slower|minus|chang\w*|from|exceed\w*|"
            r"outperform\w*|beats?|surpass\w*|ahead|behind|lead\w*|above|below|boost\w*|advantage|falls?|fell|rises?|rose|"
            r"points?|by|than",
            "−=",
        ),
        ("sum", r"sums?|totals?|together|altogether|plus|combined|in all|both|overall", "=+"),
        ("mean", r"means?|averag\w*", "=/"),
        ("ratio", r"ratio|times|fold|share|per cent|percent\w*|twice|half|factor|of", "=/×%"),
    )
}


@dataclass(frozen=True, slots=True)
class Operand:
    """A number to compute from, and what prints it; None where the question gives it."""

    number: Number
    evidence: Evidence | None


@dataclass(frozen=True, slots=True)
class Computation:
    """A formula that ends in the result, and its operands."""

    formula: str
    operands: tuple[Operand, ...]


def computed(
    number: Number, operands: Sequence[Operand], *, words: str, sets: Sequence[Sequence[Operand]] = ()
) -> Computation | None:
    """How the number follows from two of the operands, or as mean or sum of one of the `sets`, to the digits that it
    shows; the first way found, earlier operands first.

    Of more than three operands only a computation that `words` speak of counts.
    """
    distinct = list({operand.number.signed: operand for operand in reversed(operands)}.values())[::-1][:_MOST_OPERANDS]
    for one, other in permutations(distinct, 2):
        for operation, shown, result in _results(one.number, other.number, percent=number.percent):
            said = len(distinct) <= _FEW or _SAID[operation].search(words)
            if said and _gives(result, number):
                return Computation(f"{shown} = {number.text}", (one, other))
    for terms in sets:
        if len(terms) > 2:
            for operation, shown, result in _over_all(terms):
                if _SAID[operation].search(words) and _gives(result, number):
                    return Computation(f"{shown} = {number.text}", tuple(terms))
    return None


def _gives(result: Decimal, number: Number) -> bool:
    """A result of any sign gives a number without one; "+" and "-" must be the result's."""
    if number.sign and (result < 0) != (number.sign == "-"):
        return False
    # A ratio that is rounded to a single digit would make nearly any small count true.
    rounded = number.unit < 1 or number.value >= 10
    slack = number.unit / 2 if rounded else Decimal(0)
    return abs(abs(result) - number.value) <= slack


def _results(first: Number, second: Number, *, percent: bool) -> Iterator[tuple[str, str, Decimal]]:
    one, other = first.signed, second.signed
    a, b = _text(first), _text(second)
    yield "difference", f"{a} − {b}", one - other
    yield "sum", f"{a} + {b}", one + other
    yield "mean", f"({a} + {b}) / 2", (one + other) / 2
    if other:
        yield "ratio", f"{a} / {b}", one / other
    if other and percent:
        yield "ratio", f"100 × {a} / {b}", 100 * one / other
        yield "difference", f"100 × ({a} − {b}) / {b}", 100 * (one - other) / abs(other)


def _over_all(terms: Sequence[Operand]) -> Iterator[tuple[str, str, Decimal]]:
    total = sum((operand.number.signed for operand in terms), Decimal(0))
    shown = [_text(operand.number) for operand in terms]
    if len(shown) > _MOST_TERMS:
        shown = [*shown[: _MOST_TERMS - 2], "…", shown[-1]]
    yield "sum", " + ".join(shown), total
    yield "mean", f"({' + '.join(shown)}) / {len(terms)}", total / len(terms)


def _text(number: Number) -> str:
    return number.text.replace("-", "−")
