"""Intervals and paired tests, against scipy's and against exact answers."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evaluation.score import Tally
from evaluation.statistics import adjusted, interval, paired_difference

SHARES = st.lists(st.tuples(st.integers(0, 4), st.integers(1, 4)).map(lambda pair: min(pair) / pair[1]), min_size=2)


def ones(*values: float) -> list[Tally]:
    return [Tally(right=value, total=1) for value in values]


def test_the_interval_is_the_percentile_bootstraps() -> None:
    random = np.random.default_rng(3)
    values = random.random(60)
    theirs = stats.bootstrap((values,), np.mean, method="percentile", n_resamples=5000, rng=random)
    low, high = interval(ones(*values), seed=1)
    assert low == pytest.approx(theirs.confidence_interval.low, abs=0.01)
    assert high == pytest.approx(theirs.confidence_interval.high, abs=0.01)


def test_the_interval_of_a_ratio_resamples_whole_items() -> None:
    random = np.random.default_rng(4)
    totals = random.integers(1, 30, size=50)
    rights = np.minimum(totals, random.integers(0, 30, size=50))
    theirs = stats.bootstrap(
        (rights, totals),
        lambda right, total, axis: right.sum(axis=axis) / total.sum(axis=axis),
        paired=True,
        method="percentile",
        n_resamples=5000,
        rng=random,
    )
    tallies = [Tally(right=float(a), total=float(b)) for a, b in zip(rights, totals, strict=True)]
    low, high = interval(tallies, seed=1)
    assert low == pytest.approx(theirs.confidence_interval.low, abs=0.015)
    assert high == pytest.approx(theirs.confidence_interval.high, abs=0.015)


def test_the_same_seed_gives_the_same_interval_and_another_another() -> None:
    tallies = ones(*np.random.default_rng(5).random(30))
    assert interval(tallies, seed=1) == interval(tallies, seed=1) != interval(tallies, seed=2)


def test_one_item_says_nothing_of_its_spread() -> None:
    assert interval(ones(0.25), seed=0) == (0.25, 0.25)
    assert interval([], seed=0) == (1, 1)


@settings(max_examples=30, deadline=None)
@given(SHARES)
def test_an_interval_holds_its_figure_and_stays_in_range(values: list[float]) -> None:
    low, high = interval(ones(*values), seed=0)
    assert 0 <= low <= high <= 1
    # Of very few items the percentiles may just miss the mean.
    assert low - 0.5 <= np.mean(values) <= high + 0.5


def test_p_is_the_permutation_tests() -> None:
    a, b = [0.1, 0.4, 0.3, 0.9, 0.2, 0.5, 0.6, 0.1], [0.3, 0.5, 0.3, 0.8, 0.6, 0.9, 0.7, 0.2]
    observed = abs(np.mean(b) - np.mean(a))
    signs = itertools.product((1, -1), repeat=len(a))
    differences = [abs(np.mean(np.subtract(b, a) * np.array(sign))) for sign in signs]
    exact = np.mean([difference >= observed - 1e-12 for difference in differences])
    found = paired_difference(ones(*a), ones(*b), seed=7)
    assert found.p == pytest.approx(exact, abs=0.02)
    assert found.items == 8
    assert [found.a, found.b] == pytest.approx([np.mean(a), np.mean(b)])
    assert found.value == pytest.approx(np.mean(b) - np.mean(a))
    assert found.low < found.value < found.high


def test_p_of_ratios_swaps_whole_items() -> None:
    pairs = [((1, 4), (3, 4)), ((0, 9), (2, 10)), ((2, 2), (1, 2)), ((5, 8), (8, 9)), ((1, 3), (2, 2))]
    a, b = ([Tally(right=pair[side][0], total=pair[side][1]) for pair in pairs] for side in (0, 1))

    def apart(swaps: tuple[int, ...]) -> float:
        one = sum((pair[swap][0] for pair, swap in zip(pairs, swaps, strict=True)), 0) / sum(
            pair[swap][1] for pair, swap in zip(pairs, swaps, strict=True)
        )
        two = sum((pair[1 - swap][0] for pair, swap in zip(pairs, swaps, strict=True)), 0) / sum(
            pair[1 - swap][1] for pair, swap in zip(pairs, swaps, strict=True)
        )
        return abs(one - two)

    every = list(itertools.product((0, 1), repeat=len(pairs)))
    exact = np.mean([apart(swaps) >= apart((0,) * len(pairs)) - 1e-12 for swaps in every])
    assert paired_difference(a, b, seed=1).p == pytest.approx(exact, abs=0.02)


def test_equal_runs_do_not_differ() -> None:
    tallies = ones(0.2, 0.7, 1)
    found = paired_difference(tallies, tallies, seed=0)
    assert (found.value, found.low, found.high, found.p) == (0, 0, 0, 1)


@pytest.mark.parametrize(("a", "b"), [([], []), (ones(1), ones(1, 0))])
def test_unequal_runs_are_refused(a: list[Tally], b: list[Tally]) -> None:
    with pytest.raises(ValueError, match="the same items"):
        paired_difference(a, b, seed=0)


def test_p_values_are_adjusted_for_their_number() -> None:
    # Benjamini & Hochberg (1995): p_(i) m / i, made monotone from the largest down.
    assert adjusted([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.02, 0.04, 0.04, 0.02])
    assert adjusted([]) == []
