"""How well confidences tell right answers from wrong ones, and how far a judge and our rules agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.metrics.selective import aurc, excess_aurc, risk_at
from evaluation.running import ItemResult
from evaluation.values import Graded

__all__ = ["COVERAGES", "Agreement", "Risk", "agreement_of", "cohen_kappa", "grades_of", "risk_of"]

COVERAGES = (0.25, 0.5, 0.75, 1.0)
_RULES = "right"
_JUDGE = "judge.right"
_RIGHT = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Risk:
    """Of the answers that came with a confidence: the area under their risk-coverage curve, how far it is above that
    of the best order, and the selective risk (mean loss) at coverages, such as 0.25, written "25 %"."""

    answers: int
    aurc: float
    excess_aurc: float
    at: Mapping[str, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Agreement:
    """A judge's verdicts against ours on the same items: the share that agree, and Cohen's kappa."""

    items: int
    share: float
    kappa: float


def grades_of(results: Sequence[ItemResult]) -> list[tuple[float, float]]:
    """The (confidence, loss) pairs of all answers that have them."""
    graded: list[Graded] = [grade for result in results for grade in result.score.graded]
    return [(grade.confidence, grade.loss) for grade in graded]


def risk_of(results: Sequence[ItemResult]) -> Risk | None:
    """None where nothing was graded."""
    pairs = grades_of(results)
    if not pairs:
        return None
    at = {f"{coverage:.0%}".replace("%", " %"): risk_at(pairs, coverage=coverage) for coverage in COVERAGES}
    return Risk(answers=len(pairs), aurc=aurc(pairs), excess_aurc=excess_aurc(pairs), at=at)


def agreement_of(results: Sequence[ItemResult]) -> Agreement | None:
    """None where no judge was asked. What is right in part counts as right from a half on."""
    tallies = [result.score.tallies for result in results if _JUDGE in result.score.tallies]
    pairs = [(found[_RULES].share >= _RIGHT, found[_JUDGE].share >= _RIGHT) for found in tallies]
    if not pairs:
        return None
    same = sum(rules == judge for rules, judge in pairs)
    return Agreement(items=len(pairs), share=same / len(pairs), kappa=cohen_kappa(pairs))


def cohen_kappa(pairs: Sequence[tuple[bool, bool]]) -> float:
    """Agreement beyond chance (Cohen, A Coefficient of Agreement for Nominal Scales, 1960).

    0 where chance alone explains all of it, as where both raters always give the same verdict.
    """
    count = len(pairs)
    one, two = (sum(pair[rater] for pair in pairs) / count for rater in (0, 1))
    chance = one * two + (1 - one) * (1 - two)
    observed = sum(first == second for first, second in pairs) / count
    return (observed - chance) / (1 - chance) if chance < 1 else 0.0
