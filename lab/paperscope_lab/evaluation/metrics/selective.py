"""Selective answering: abstention, and risk over coverage."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from math import ceil
from operator import attrgetter

from paperscope_lab.evaluation.metrics.sets import overlap
from paperscope_lab.evaluation.score import Graded, Tally

__all__ = ["Risk", "abstention", "aurc", "excess_aurc", "risk_at", "risk_of", "risks"]

_COVERAGES = (0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Risk:
    """The selective risk of answers with a confidence.

    `aurc` is the area under their risk-coverage curve, `excess_aurc` its difference from that of the best order, and
    `at` the risk at each coverage, written "25 %".
    """

    answers: int
    aurc: float
    excess_aurc: float
    at: Mapping[str, float]


def risk_of(graded: Sequence[Graded]) -> Risk | None:
    """The risk of the answers; None if there are none."""
    if not graded:
        return None
    at = {f"{100 * coverage:.0f} %": risk_at(graded, coverage=coverage) for coverage in _COVERAGES}
    return Risk(answers=len(graded), aurc=aurc(graded), excess_aurc=excess_aurc(graded), at=at)


def abstention(*, answerable: bool, answered: bool) -> Mapping[str, Tally]:
    """The tallies "precision", "recall" and "f1" of abstaining from one question, which is right if it can't be
    answered."""
    return overlap(right=not answerable and not answered, gold=not answerable, predicted=not answered)


def risks(graded: Sequence[Graded]) -> tuple[float, ...]:
    """The selective risk (mean loss) of the n most confident answers, for n = 1 to all.

    The k-th value is the risk at coverage k / n. For equal confidences it is the mean over all their orders.
    """
    ranked = sorted(graded, key=attrgetter("confidence"), reverse=True)
    expected: list[float] = []
    for _, group in groupby(ranked, key=attrgetter("confidence")):
        losses = [grade.loss for grade in group]
        expected.extend([sum(losses) / len(losses)] * len(losses))
    return tuple(total / count for count, total in enumerate(accumulate(expected), start=1))


def risk_at(graded: Sequence[Graded], *, coverage: float) -> float:
    """The selective risk of the fewest answers that reach `coverage` (above 0, up to 1); 0 without answers."""
    curve = risks(graded)
    # Tolerates the rounding error of a product such as 0.07 * 100, which would require one answer more.
    return curve[max(ceil(coverage * len(curve) - 1e-9), 1) - 1] if curve else 0.0


def aurc(graded: Sequence[Graded]) -> float:
    """The area under the risk-coverage curve: the mean of the selective risks over all coverages; 0 without answers.

    Geifman, Uziel & El-Yaniv, Bias-Reduced Uncertainty Estimation for Deep Neural Classifiers (2019), section 3.
    """
    curve = risks(graded)
    return sum(curve) / len(curve) if curve else 0.0


def excess_aurc(graded: Sequence[Graded]) -> float:
    """E-AURC of the same paper: the area minus that of the best order of the same losses; 0 is optimal."""
    return aurc(graded) - aurc([Graded(confidence=-grade.loss, loss=grade.loss) for grade in graded])
