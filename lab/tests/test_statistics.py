"""Intervals and paired tests of tallies: what scipy is given, and what comes back."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paperscope_lab.statistics import Tally, adjusted, interval, mean_and_deviation, paired_difference

SHARES = st.lists(st.tuples(st.integers(0, 4), st.integers(1, 4)).map(lambda pair: min(pair) / pair[1]), min_size=2)


def ones(*values: float) -> list[Tally]:
    return [Tally(right=value, total=1) for value in values]


def test_interval_resamples_whole_items() -> None:
    # A resample of two items has both, or one of them twice: shares 1/10, 9/10 and, in the middle, 10/20.
    assert interval([Tally(right=1, total=10), Tally(right=9, total=10)], seed=0) == (0.1, 0.9)
    # Weighted by its total, the large item decides nearly every resample that holds it.
    low, high = interval([Tally(right=0, total=1000), *ones(1, 1, 1, 1)], seed=0)
    assert 0 <= low < 0.01
    assert high == 1


def test_interval_depends_on_the_seed_alone() -> None:
    tallies = ones(*np.random.default_rng(5).random(30))
    assert interval(tallies, seed=1) == interval(tallies, seed=1) != interval(tallies, seed=2)


def test_interval_of_one_item_or_of_none_is_its_share() -> None:
    assert interval(ones(0.25), seed=0) == (0.25, 0.25)
    assert interval([], seed=0) == (1, 1)


@settings(max_examples=30, deadline=None)
@given(SHARES)
def test_interval_contains_its_figure_and_stays_in_range(values: list[float]) -> None:
    low, high = interval(ones(*values), seed=0)
    assert 0 <= low <= high <= 1
    # With very few items the percentiles may just miss the mean.
    assert low - 0.5 <= np.mean(values) <= high + 0.5


def test_p_of_ratios_swaps_whole_items() -> None:
    pairs = [((1, 4), (3, 4)), ((0, 9), (2, 10)), ((2, 2), (1, 2)), ((5, 8), (8, 9)), ((1, 3), (2, 2))]
    a, b = ([Tally(right=pair[side][0], total=pair[side][1]) for pair in pairs] for side in (0, 1))

    def distance(swaps: tuple[int, ...]) -> float:
        one, two = (
            sum(
                (
                    Tally(right=pair[swap ^ side][0], total=pair[swap ^ side][1])
                    for pair, swap in zip(pairs, swaps, strict=True)
                ),
                Tally(right=0, total=0),
            )
            for side in (0, 1)
        )
        return abs(one.share - two.share)

    every = list(itertools.product((0, 1), repeat=len(pairs)))
    exact = np.mean([distance(swaps) >= distance((0,) * len(pairs)) - 1e-12 for swaps in every])
    found = paired_difference(a, b, seed=1)
    assert found.p == pytest.approx(exact)
    assert found.items == 5
    assert [found.a, found.b] == pytest.approx([9 / 26, 16 / 27])
    assert found.low < found.value < found.high


def test_p_of_many_items_is_drawn_and_counts_the_data_themselves() -> None:
    a, b = ones(*[0.0] * 20), ones(*[1.0] * 20)
    found = paired_difference(a, b, seed=0)
    assert found.p == 1 / 5000
    assert (found.value, found.low, found.high) == (1, 1, 1)


def test_p_counts_a_swap_that_gives_the_same_difference_but_for_rounding() -> None:
    values = [item % 7 / 6 for item in range(600)]
    assert paired_difference(ones(*values), ones(*values[:6], 0.0, *values[7:]), seed=0).p == 1.0


def test_equal_runs_do_not_differ() -> None:
    tallies = ones(0.2, 0.7, 1)
    found = paired_difference(tallies, tallies, seed=0)
    assert (found.value, found.low, found.high, found.p) == (0, 0, 0, 1)


def test_one_item_has_no_interval() -> None:
    found = paired_difference(ones(0), ones(1), seed=0)
    assert (found.value, found.low, found.high, found.p) == (1, 1, 1, 1)


@pytest.mark.parametrize(("a", "b"), [([], []), (ones(1), ones(1, 0))])
def test_unequal_runs_are_refused(a: list[Tally], b: list[Tally]) -> None:
    with pytest.raises(ValueError, match="the same items"):
        paired_difference(a, b, seed=0)


def test_p_values_are_adjusted_for_their_number() -> None:
    # Benjamini & Hochberg (1995): p_(i) m / i, made monotone from the largest down.
    assert adjusted([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.02, 0.04, 0.04, 0.02])
    assert adjusted([]) == []


def test_the_deviation_is_named() -> None:
    summary = mean_and_deviation([0.1, 0.2, 0.3])
    assert str(summary) == "0.2000 ± 0.1000 (sample standard deviation over 3 runs)"
    assert str(mean_and_deviation([0.5])) == "0.5000 (1 run)"
