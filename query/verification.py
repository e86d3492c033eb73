"""Checks an answer without a model: every claim has evidence, and every number stands in it or follows from it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import permutations

from paperscope.types import Claim
from query.numbers import Number, numbers_in

__all__ = ["verify"]

# A quote with more numbers than this is no operand: among so many, some pair gives almost any result.
_MOST_OPERANDS = 12
# How many values an answer compared ("3 of 5 columns") is its own count; no paper prints it.
_COUNTED = re.compile(r"\b(?:\d+ of )?\d+ (?:values|cells|rows|columns|candidates)\b")


def verify(*, question: str, text: str, claims: Sequence[Claim], texts: Mapping[str, str]) -> tuple[str, ...]:
    """Warnings on what the evidence does not support; none where all is well.

    `texts` holds the text of each cited element. A number is supported if the question or the claim's evidence prints
    the same value, or if it is the difference, sum, ratio, percentage or mean of two supported numbers that the
    question, the claim or its quotes state. The answer's own text may rest on any claim.
    """
    warnings: list[str] = []
    asked = list(numbers_in(question, spelled=True))
    known, operands = list(asked), list(asked)
    for claim in claims:
        if not claim.evidence:
            warnings.append(f"no evidence is cited for {claim.text!r}")
        printed = [*asked, *_printed(claim, texts)]
        stated = [*asked, *_quoted(claim), *_supported(claim.text, printed)]
        unsupported = [
            number for number in _claimed(claim.text) if not (_stands(number, printed) or _follows(number, stated))
        ]
        warnings.extend(_unsupported(number) for number in unsupported)
        known += [*printed, *(number for number in _claimed(claim.text) if number not in unsupported)]
        operands += stated
    if not claims:
        warnings.append("the answer cites no evidence")
    operands += _supported(text, known)
    warnings.extend(
        _unsupported(number) for number in _claimed(text) if not (_stands(number, known) or _follows(number, operands))
    )
    return tuple(dict.fromkeys(warnings))


def _unsupported(number: Number) -> str:
    return f"the number {number.text} is not in the cited evidence, nor does it follow from two numbers there"


def _claimed(text: str) -> Iterator[Number]:
    return numbers_in(_COUNTED.sub(" ", text))


def _printed(claim: Claim, texts: Mapping[str, str]) -> Iterator[Number]:
    for evidence in claim.evidence:
        yield from numbers_in(evidence.quote, spelled=True)
        yield from numbers_in(texts.get(evidence.element, ""), spelled=True)


def _quoted(claim: Claim) -> Iterator[Number]:
    for evidence in claim.evidence:
        numbers = list(numbers_in(evidence.quote))
        if len(numbers) <= _MOST_OPERANDS:
            yield from numbers


def _supported(text: str, printed: Sequence[Number]) -> list[Number]:
    return [number for number in _claimed(text) if _stands(number, printed)]


def _stands(number: Number, printed: Iterable[Number]) -> bool:
    return any(_same(number, other) for other in printed)


def _same(one: Number, other: Number) -> bool:
    """Equal values; a percentage also equals its fraction (73% and 0.73)."""
    if one.percent and not other.percent:
        return other.value in (one.value, one.value / 100)
    if other.percent and not one.percent:
        return one.value in (other.value, other.value / 100)
    return one.value == other.value


def _follows(number: Number, operands: Iterable[Number]) -> bool:
    """Whether two of the operands give the number, to the digits that it shows."""
    values = list(dict.fromkeys(operand.value for operand in operands))[: 2 * _MOST_OPERANDS]
    # A ratio that is rounded to a single digit would make nearly any small count true.
    rounded = number.unit < 1 or number.value >= 10
    slack = number.unit / 2 if rounded else Decimal(0)
    return any(
        abs(result - number.value) <= slack for one, other in permutations(values, 2) for result in _results(one, other)
    )


def _results(one: Decimal, other: Decimal) -> Iterator[Decimal]:
    yield abs(one - other)
    yield one + other
    yield (one + other) / 2
    if other:
        yield one / other
        yield 100 * one / other
        yield 100 * abs(one - other) / other
