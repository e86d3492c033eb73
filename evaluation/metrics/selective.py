"""Selective answering: abstention, and risk over coverage."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, groupby
from math import ceil
from operator import itemgetter

from evaluation.metrics.sets import overlap
from evaluation.score import Tally

__all__ = ["abstention", "aurc", "excess_aurc", "risk_at", "risks"]


Confidences = Sequence[tuple[float, float]]


def abstention(questions: Iterable[tuple[bool, bool]]) -> Mapping[str, Tally]:
    """The tallies "precision", "recall" and "f1" of abstaining, from (answerable, answered) by question.

    It is right not to answer what can't be answered.
    """
    pairs = list(questions)
    return overlap(
        right=sum(not answerable and not answered for answerable, answered in pairs),
        gold=sum(not answerable for answerable, _ in pairs),
        predicted=sum(not answered for _, answered in pairs),
    )


def risks(pairs: Confidences) -> tuple[float, ...]:
    """The selective risk (mean loss) of the n most confident ones, for n = 1 to all, from (confidence, loss) pairs.

    The k-th stands at coverage k / n. Among equal confidences it is the mean over all their orders.
    """
    ranked = sorted(pairs, key=itemgetter(0), reverse=True)
    expected: list[float] = []
    for _, group in groupby(ranked, key=itemgetter(0)):
        losses = [loss for _, loss in group]
        expected.extend([sum(losses) / len(losses)] * len(losses))
    return tuple(total / count for count, total in enumerate(accumulate(expected), start=1))


def risk_at(pairs: Confidences, *, coverage: float) -> float:
    """The selective risk of the fewest that reach `coverage` (above 0 up to 1); 0 where there are no pairs."""
    curve = risks(pairs)
    # What a product of floats has too much ("0.07 * 100") must not ask for one more.
    return curve[max(ceil(coverage * len(curve) - 1e-9), 1) - 1] if curve else 0.0


def aurc(pairs: Confidences) -> float:
    """The area under the risk-coverage curve: the mean of the selective risks over all coverages; 0 without pairs.

    Geifman, Uziel & El-Yaniv, Bias-Reduced Uncertainty Estimation for Deep Neural Classifiers (2019), section 3.
    """
    curve = risks(pairs)
    return sum(curve) / len(curve) if curve else 0.0


def excess_aurc(pairs: Confidences) -> float:
    """E-AURC of the same paper: how far the area is above that of the best order of the same losses; 0 is perfect."""
    return aurc(pairs) - aurc([(-loss, loss) for _, loss in pairs])
