"""Abstention and the risk-coverage curve: examples, a count over all orders, scikit-learn."""

import random
from collections.abc import Sequence
from itertools import groupby, pairwise, permutations
from math import log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paperscope_lab.evaluation.metrics import selective
from paperscope_lab.evaluation.metrics.selective import abstention
from paperscope_lab.evaluation.score import Graded, Score, total

PAIRS = st.lists(st.tuples(st.sampled_from([0.1, 0.5, 0.9]), st.sampled_from([0.0, 0.25, 1.0])), min_size=1, max_size=6)
GRADED = st.lists(st.tuples(st.floats(0, 1), st.sampled_from([0.0, 1.0])), min_size=1, max_size=12)


Pairs = Sequence[tuple[float, float]]


def graded(pairs: Pairs) -> list[Graded]:
    return [Graded(confidence=confidence, loss=loss) for confidence, loss in pairs]


def risks(pairs: Pairs) -> tuple[float, ...]:
    return selective.risks(graded(pairs))


def aurc(pairs: Pairs) -> float:
    return selective.aurc(graded(pairs))


def excess_aurc(pairs: Pairs) -> float:
    return selective.excess_aurc(graded(pairs))


def risk_at(pairs: Pairs, *, coverage: float) -> float:
    return selective.risk_at(graded(pairs), coverage=coverage)


def test_abstention() -> None:
    questions = [(True, True), (True, False), (False, False), (False, True), (False, True)]
    scores = total(Score(tallies=abstention(answerable=able, answered=answered)) for able, answered in questions)
    shares = {name: tally.share for name, tally in scores.tallies.items()}
    assert shares == pytest.approx({"precision": 1 / 2, "recall": 1 / 3, "f1": 2 / 5})


def test_a_curve_by_hand() -> None:
    pairs = [(0.9, 0), (0.8, 1), (0.7, 0), (0.6, 1)]
    assert risks(pairs) == pytest.approx([0, 1 / 2, 1 / 3, 1 / 2])
    assert aurc(pairs) == pytest.approx((1 / 2 + 1 / 3 + 1 / 2) / 4)
    best = (0 + 0 + 1 / 3 + 1 / 2) / 4
    assert excess_aurc(pairs) == pytest.approx(aurc(pairs) - best)
    assert [risk_at(pairs, coverage=share) for share in (0.01, 0.25, 0.5, 0.51, 1)] == pytest.approx(
        [0, 0, 1 / 2, 1 / 3, 1 / 2]
    )


def test_risk_without_answers() -> None:
    assert (risks([]), aurc([]), excess_aurc([]), risk_at([], coverage=0.5)) == ((), 0, 0, 0)


def test_coverage_tolerates_rounding_errors() -> None:
    assert risk_at([(1 - i / 100, float(i == 7)) for i in range(100)], coverage=0.07) == 0


@settings(deadline=None)
@given(PAIRS)
def test_ties_are_a_mean_over_all_orders(pairs: Pairs) -> None:
    curves = []
    for order in permutations(pairs):
        if all(one[0] >= two[0] for one, two in pairwise(order)):
            losses = [loss for _, loss in order]
            curves.append([sum(losses[:count]) / count for count in range(1, len(losses) + 1)])
    mean = [sum(column) / len(curves) for column in zip(*curves, strict=True)]
    assert risks(pairs) == pytest.approx(mean)
    assert aurc(pairs) == pytest.approx(sum(mean) / len(mean))


@given(PAIRS, st.randoms(use_true_random=False))
def test_risks_ignore_the_order_of_the_questions(pairs: Pairs, dice: random.Random) -> None:
    mixed = list(pairs)
    dice.shuffle(mixed)
    assert risks(mixed) == pytest.approx(risks(pairs))


@settings(deadline=None)
@given(GRADED)
def test_risk_is_one_minus_the_precision_of_scikit_learn(pairs: Pairs) -> None:
    from sklearn.metrics import precision_recall_curve  # takes seconds

    """The precision of the answers above a threshold is what their risk lacks to 1."""
    precision, _, thresholds = precision_recall_curve(
        [1 - loss for _, loss in pairs] + [1], [confidence for confidence, _ in pairs] + [-1]
    )
    theirs = {threshold: 1 - share for threshold, share in zip(thresholds, precision[:-1], strict=True)}
    ranked = sorted((confidence for confidence, _ in pairs), reverse=True)
    curve, count = risks(pairs), 0
    for confidence, group in groupby(ranked):
        count += len(list(group))
        assert curve[count - 1] == pytest.approx(theirs[confidence])


@given(PAIRS)
def test_no_order_is_better_than_the_best(pairs: Pairs) -> None:
    assert excess_aurc(pairs) >= -1e-12
    assert excess_aurc([(-loss, loss) for _, loss in pairs]) == pytest.approx(0)


def test_the_best_area_nears_its_limit() -> None:
    """Geifman et al.: with risk r at full coverage, the best order has about r + (1 - r) ln(1 - r)."""
    size, risk = 20_000, 0.3
    best = [(float(i), float(i < size * risk)) for i in range(size)]
    assert aurc(best) == pytest.approx(risk + (1 - risk) * log(1 - risk), abs=1e-4)
