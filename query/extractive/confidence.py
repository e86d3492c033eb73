"""How quotations rank as answers to a question, and how probable it is that one of them is right.

Two linear models, fitted on development questions put to some of their papers and checked on the others: a conditional
logit (McFadden, 1974) ranks the candidates of a question, and a logistic regression (Platt, 1999) tells from a
candidate's signals, and from its share of the softmax over all ranks, how probable it is that it answers.
"""

import math
from collections.abc import Mapping, Sequence

from query.extractive.patterns import Kind
from query.extractive.question import Question
from query.extractive.signals import Signals

__all__ = ["coverage_probability", "probabilities", "rank"]


_RANK_OWN = 2.95
_RANK_COVERAGE = 2.9
_RANK_ASKED = 1.05
_RANK_NAMES = -0.9
_RANK_MEANING = 2.55

_BIAS = -5.4
_OWN = 2.5
_MEANING = 2.6
_SHARE = 2.8
# A near miss: what is asked stands there, but of something else.
_ELSEWHERE = -1.5

# What is told over several sentences is found by the words around as much as by those within. Too few such questions
# were at hand to fit more than the coverage from which answers are right as often as not.
_AROUND = 0.6
_FORMULA = 0.15
_WITHIN = 0.05
# A caption tells what is to be seen, seldom what follows from it.
_CAPTION = -0.03
_TOLD_EVEN: Mapping[Kind, float] = {"reason": 0.44, "difference": 0.48, "comparison": 0.48, "formula": 0.48}
# The same for what is read in tables and for choices.
_COVERAGE_EVEN = 0.6
_STEEP = 8.0


def rank(question: Question, found: Signals) -> float:
    """How well a candidate answers beside the others of its question, on a scale without bounds."""
    if question.told_over:
        words = _AROUND * found.coverage + (1 - _AROUND) * found.meaning
        return words + _FORMULA * found.formula + _WITHIN * found.within + _CAPTION * found.caption
    words = _RANK_OWN * found.own + _RANK_COVERAGE * found.coverage + _RANK_ASKED * found.asked
    return words + _RANK_NAMES * found.names + _RANK_MEANING * found.meaning


def probabilities(question: Question, found: Sequence[Signals]) -> list[float]:
    """For each candidate of one question how probable it is that it answers, 0 to 1."""
    if question.told_over:
        return [_logistic(_STEEP * (one.coverage - _TOLD_EVEN[question.kind])) for one in found]
    ranks = [rank(question, one) for one in found]
    most = max(ranks, default=0.0)
    powers = [math.exp(value - most) for value in ranks]
    shares = [power / sum(powers) for power in powers]
    return [
        _logistic(_BIAS + _OWN * one.own + _MEANING * one.meaning + _SHARE * share + _ELSEWHERE * one.elsewhere)
        for one, share in zip(found, shares, strict=True)
    ]


def coverage_probability(coverage: float) -> float:
    """How probable it is that a table, or one of two choices, that accounts for this share of the question answers."""
    return _logistic(_STEEP * (coverage - _COVERAGE_EVEN))


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value))
