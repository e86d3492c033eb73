"""Sets: examples, and scikit-learn."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paperscope_lab.evaluation.metrics.sets import best_assignment, overlap, set_overlap
from paperscope_lab.evaluation.score import Score, Tally


def test_sets() -> None:
    scores = set_overlap("abca", "bcd")
    assert scores["precision"] == Tally(right=2, total=3)
    assert scores["recall"] == Tally(right=2, total=3)
    assert scores["f1"] == Tally(right=4, total=6)
    assert [tally.share for tally in set_overlap("", "").values()] == [1, 1, 1]
    assert [tally.share for tally in set_overlap("ab", "").values()] == [1, 0, 0]


def test_tallies_add_up_to_micro_averages() -> None:
    both = Score(tallies=set_overlap("ab", "b")) + Score(tallies=set_overlap("cd", "cde"))
    assert both.tallies == overlap(right=3, gold=4, predicted=4)


@settings(deadline=None)
@given(st.sets(st.integers(0, 9)), st.sets(st.integers(0, 9)))
def test_scikit_learn_agrees_on_sets(gold: set[int], predicted: set[int]) -> None:
    from sklearn.metrics import precision_recall_fscore_support  # takes seconds

    everything = range(11)
    theirs = precision_recall_fscore_support(
        [unit in gold for unit in everything],
        [unit in predicted for unit in everything],
        average="binary",
        zero_division=1.0,
    )
    ours = set_overlap(gold, predicted)
    assert [tally.share for tally in ours.values()] == pytest.approx(theirs[:3])


def test_the_best_assignment_is_not_the_greedy_one() -> None:
    worths = {("a", "x"): 0.9, ("a", "y"): 0.8, ("b", "x"): 0.8, ("b", "y"): 0.0}
    assert best_assignment("ab", "xy", worth=lambda one, two: worths[one, two]) == pytest.approx(1.6)
    assert best_assignment("ab", "", worth=lambda one, two: worths[one, two]) == 0
