"""Sets and clusters: the papers' examples, scikit-learn, and a count by mention."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paperscope_lab.evaluation.metrics.sets import b_cubed, best_assignment, muc, overlap, set_overlap
from paperscope_lab.evaluation.score import Score, Tally

CLUSTERS = st.lists(st.integers(0, 3), min_size=8, max_size=8).map(
    lambda groups: [{m for m, group in enumerate(groups) if group == name} for name in sorted(set(groups))]
)
# Bagga & Baldwin 1998, figures 2 to 4: three chains, and two answers that each join two of them.
TRUTH = ["12345", "67", "89ABC"]
SMALL_ERROR = ["12345", "6789ABC"]
GREAT_ERROR = ["1234589ABC", "67"]


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


def test_b_cubed_and_muc_on_the_example_of_bagga_and_baldwin() -> None:
    small, great = b_cubed(TRUTH, SMALL_ERROR), b_cubed(TRUTH, GREAT_ERROR)
    assert small["precision"].share == pytest.approx(16 / 21)
    assert great["precision"].share == pytest.approx(7 / 12)
    assert small["recall"].share == great["recall"].share == 1
    for answer in (SMALL_ERROR, GREAT_ERROR):  # which MUC can't tell apart
        assert muc(TRUTH, answer) == {"precision": Tally(right=9, total=10), "recall": Tally(right=9, total=9)}


def test_mentions_that_one_side_lacks() -> None:
    scores = b_cubed(["ab", "c"], ["abx"])
    assert scores["precision"].share == pytest.approx((2 / 3 + 2 / 3 + 0) / 3)
    assert scores["recall"].share == pytest.approx(2 / 3)
    assert muc(["ab"], ["ac", "b"]) == {"precision": Tally(right=0, total=1), "recall": Tally(right=0, total=1)}


def test_a_mention_stays_in_its_first_cluster() -> None:
    assert b_cubed(["ab", "bc", "a"], ["ab", "c"])["recall"] == Tally(right=3, total=3)


@given(CLUSTERS, CLUSTERS)
def test_b_cubed_is_a_mean_over_mentions(gold: list[set[int]], predicted: list[set[int]]) -> None:
    shares = []
    for mention in range(8):
        mine = next(group for group in predicted if mention in group)
        truth = next(group for group in gold if mention in group)
        shares.append(len(mine & truth) / len(mine))
    assert b_cubed(gold, predicted)["precision"].share == pytest.approx(sum(shares) / 8)
    assert b_cubed(predicted, gold)["recall"] == b_cubed(gold, predicted)["precision"]


@given(CLUSTERS, CLUSTERS)
def test_muc_counts_the_links_that_are_needed(gold: list[set[int]], predicted: list[set[int]]) -> None:
    """Vilain et al. take the size of a cluster less the number of parts that the other side breaks it into."""
    parts = [len({next(i for i, other in enumerate(predicted) if m in other) for m in group}) for group in gold]
    right = sum(len(group) - count for group, count in zip(gold, parts, strict=True))
    assert muc(gold, predicted)["recall"] == Tally(right=right, total=sum(len(group) - 1 for group in gold))


def test_the_best_assignment_is_not_the_greedy_one() -> None:
    worths = {("a", "x"): 0.9, ("a", "y"): 0.8, ("b", "x"): 0.8, ("b", "y"): 0.0}
    assert best_assignment("ab", "xy", worth=lambda one, two: worths[one, two]) == pytest.approx(1.6)
    assert best_assignment("ab", "", worth=lambda one, two: worths[one, two]) == 0
