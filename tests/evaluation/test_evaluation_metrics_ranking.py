"""The measures of rankings: worked examples, and ranx on random ones."""

import random
from math import log2
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.ranking import hit_at, ndcg_at, precision_at, recall_at, reciprocal_rank

FLAGS = st.lists(st.booleans(), max_size=12)


def test_a_worked_example() -> None:
    flags = [False, True, False, True]
    assert (hit_at(flags, 1), hit_at(flags, 2)) == (0, 1)
    assert reciprocal_rank(flags) == 1 / 2
    assert (precision_at(flags, 2), precision_at(flags, 4), precision_at(flags, 10)) == (0.5, 0.5, 0.2)
    best = 1 + 1 / log2(3) + 1 / log2(4)
    assert ndcg_at(flags, 10, relevant=3) == pytest.approx((1 / log2(3) + 1 / log2(5)) / best)
    assert ndcg_at(flags, 2, relevant=3) == pytest.approx((1 / log2(3)) / (1 + 1 / log2(3)))


def test_recall_counts_each_piece_once() -> None:
    found = [frozenset({0}), frozenset({0}), frozenset({0, 2}), frozenset({1})]
    assert [recall_at(found, k, pieces=4) for k in (1, 2, 3, 4, 9)] == [1 / 4, 1 / 4, 2 / 4, 3 / 4, 3 / 4]


def test_nothing_relevant_or_nothing_found() -> None:
    assert (hit_at([], 5), reciprocal_rank([]), precision_at([], 5)) == (0, 0, 0)
    assert (ndcg_at([False], 5, relevant=0), recall_at([frozenset()], 5, pieces=0)) == (0, 0)


def test_several_units_may_cover_one_piece() -> None:
    assert ndcg_at([True, True], 10, relevant=1) == 1


@given(FLAGS, st.integers(1, 12), st.integers(0, 12))
def test_shares_stay_between_none_and_all(flags: list[bool], k: int, relevant: int) -> None:
    scores = (hit_at(flags, k), reciprocal_rank(flags), precision_at(flags, k), ndcg_at(flags, k, relevant=relevant))
    assert all(0 <= score <= 1 + 1e-12 for score in scores)


@given(FLAGS, st.integers(1, 12))
def test_the_best_order_has_the_greatest_gain(flags: list[bool], k: int) -> None:
    best = ndcg_at(sorted(flags, reverse=True), k, relevant=sum(flags))
    assert best == pytest.approx(float(any(flags)))
    assert ndcg_at(flags, k, relevant=sum(flags)) <= best + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 5, 10])
def test_ranx_agrees_on_random_rankings(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")  # it would compile for a minute what runs in a moment, and warn of it
    ranx: Any = pytest.importorskip("ranx")
    dice = random.Random(k)
    gold, runs = _random_rankings(dice)
    names = [f"hit_rate@{k}", "mrr", f"recall@{k}", f"precision@{k}", f"ndcg@{k}"]
    theirs = ranx.evaluate(ranx.Qrels(gold), ranx.Run(runs), names, return_mean=False)
    for row, question in enumerate(runs):
        ranking, relevant = list(runs[question]), sorted(gold[question])
        flags = [unit in relevant for unit in ranking]
        found = [frozenset({relevant.index(unit)} if unit in relevant else ()) for unit in ranking]
        ours = (
            hit_at(flags, k),
            reciprocal_rank(flags),
            recall_at(found, k, pieces=len(relevant)),
            precision_at(flags, k),
            ndcg_at(flags, k, relevant=len(relevant)),
        )
        assert ours == pytest.approx([theirs[name][row] for name in names])


def _random_rankings(dice: random.Random) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    units = [f"unit-{number:02}" for number in range(30)]
    gold = {f"q{number:02}": dict.fromkeys(dice.sample(units, dice.randint(1, 8)), 1) for number in range(40)}
    runs = {}
    for question in gold:
        ranking = dice.sample(units, 20)
        runs[question] = {unit: 1 / rank for rank, unit in enumerate(ranking, start=1)}
    return gold, runs
