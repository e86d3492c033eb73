"""Comparing the numbers that texts state, up to the gold's own rounding, across units of the same kind."""

import re
from dataclasses import replace
from decimal import Decimal
from functools import partial

from evaluation.metrics.quantities import Number, numbers_in
from evaluation.metrics.sets import assigned
from evaluation.values import Tally

__all__ = ["numbers_recall", "numeric_match", "same_number", "stated_numbers", "without_labels"]

_LABEL = re.compile(
    r"(?i)\b(?:tables?|tab|figures?|fig|sections?|sec|equations?|eqs?|eqn|appendix|pages?|pp?|chapters?|refs?|lines?|"
    r"footnotes?)\b\.?\s*\(?(?:[a-z]\.?)?\d+(?:\.\d+)*[a-z]?\b\)?"
)
_CITATION = re.compile(r"\[\d+(?:\s*[,;\-\u2013]\s*\d+)*\]")


def same_number(gold: Number, predicted: Number, *, relative: float = 0.0, absolute: float = 0.0) -> bool:
    """Whether the prediction is the gold number: as rounded as the gold is, or within one of the tolerances.

    `relative` is a share of the gold, `absolute` stands in its unit. Units of one kind are converted (1.5 s = 1500 ms),
    those of two kinds differ, and one that only one side prints is taken for granted; where that is a percentage, the
    other may be a fraction as well (93 % = 93 = 0.93).
    """
    least = max(gold.step / 2, Decimal(str(relative)) * abs(gold.value), Decimal(str(absolute)))
    return any(abs(value - gold.value) <= least for value in _in_unit_of(gold, predicted))


def _in_unit_of(gold: Number, predicted: Number) -> tuple[Decimal, ...]:
    converted = predicted.value * predicted.size / gold.size
    if gold.kind and predicted.kind:
        return (converted,) if gold.kind == predicted.kind else ()
    return (predicted.value, converted) if "share" in (gold.kind, predicted.kind) else (predicted.value,)


def numeric_match(gold: str, predicted: str, *, relative: float = 0.0, absolute: float = 0.0) -> bool:
    """Whether the gold text states numbers and the prediction all of them, in any order, whatever else it states."""
    wanted = numbers_in(gold)
    same = partial(same_number, relative=relative, absolute=absolute)
    return bool(wanted) and assigned(wanted, numbers_in(predicted), worth=same) == len(wanted)


def stated_numbers(text: str, question: str = "") -> tuple[Number, ...]:
    """The numbers that a text states and the question doesn't, in order.

    Numbers of tables, figures, sections and the like, and of citations, count only where the text states nothing else.
    """
    numbers = numbers_in(without_labels(text)) or numbers_in(text)
    given = numbers_in(question)
    return tuple(number for number in numbers if not any(same_number(number, other) for other in given))


def without_labels(text: str) -> str:
    """The text without the labels of tables, figures, sections and the like, and without numeric citations."""
    return _CITATION.sub(" ", _LABEL.sub(" ", text))


def numbers_recall(gold_text: str, answer: str, question: str = "") -> Tally:
    """How many of the gold text's numbers the answer states, of those that the question doesn't give.

    A number counts once; signs count only where both print one, as "falls by 0.5" says what "-0.5" does.
    """
    wanted: list[Number] = []
    for number in stated_numbers(gold_text, question):
        if not any(same_number(number, other) for other in wanted):
            wanted.append(number)
    return Tally(right=assigned(wanted, numbers_in(answer), worth=_same_amount), total=len(wanted))


def _same_amount(gold: Number, predicted: Number) -> bool:
    if gold.text[0] in "+-" and predicted.text[0] in "+-":
        return same_number(gold, predicted)
    return same_number(replace(gold, value=abs(gold.value)), replace(predicted, value=abs(predicted.value)))
