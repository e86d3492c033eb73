"""The measures of rankings: worked examples, and trec_eval on random ones."""

import random
from math import log2

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from evaluation.retrieval.corpora import EvidencePiece, UnitTexts
from evaluation.retrieval.scoring import (
    first_rank,
    hit_at,
    ndcg_at,
    precision_at,
    recall_at,
    reciprocal_rank,
    score_ranking,
)

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


@pytest.mark.parametrize("k", [1, 5, 10])
def test_trec_eval_agrees_on_random_rankings(k: int) -> None:
    gold, runs = _random_rankings(random.Random(k))
    names = {"success", "recip_rank", "recall", "P", "ndcg_cut"}
    measures = {f"{name}.{k}" if name != "recip_rank" else name for name in names}
    theirs = pytrec_eval.RelevanceEvaluator(gold, measures).evaluate(runs)
    for question, run in runs.items():
        ranking, relevant = list(run), sorted(gold[question])
        flags = [unit in relevant for unit in ranking]
        found = [frozenset({relevant.index(unit)} if unit in relevant else ()) for unit in ranking]
        assert {
            f"success_{k}": float(hit_at(flags, k)),
            "recip_rank": reciprocal_rank(flags),
            f"recall_{k}": recall_at(found, k, pieces=len(relevant)),
            f"P_{k}": precision_at(flags, k),
            f"ndcg_cut_{k}": ndcg_at(flags, k, relevant=len(relevant)),
        } == pytest.approx(theirs[question])


def _random_rankings(dice: random.Random) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    units = [f"unit-{number:02}" for number in range(30)]
    gold = {f"q{number:02}": dict.fromkeys(dice.sample(units, dice.randint(1, 8)), 1) for number in range(40)}
    runs = {}
    for question in gold:
        ranking = dice.sample(units, 20)
        runs[question] = {unit: 1 / rank for rank, unit in enumerate(ranking, start=1)}
    return gold, runs


A, B, C = (EvidencePiece(units=(name,)) for name in "abc")
RANKING = ("x", "a", "y", "z", "v", "b")


def values(ranking: tuple[str, ...], *evidence: tuple[EvidencePiece, ...]) -> dict[str, float]:
    found = score_ranking(ranking, evidence)
    assert {tally.total for tally in found.values()} == {1}
    return {name: round(tally.right, 4) for name, tally in found.items()}


def test_a_ranking_with_known_positions() -> None:
    # Found at ranks 2 and 6 of three: the gain is 1/log2(3) + 1/log2(7), the best 1 + 1/log2(3) + 1/log2(4).
    assert values(RANKING, (A, B, C)) == {
        "hit@1": 0,
        "hit@5": 1,
        "recall@5": 0.3333,
        "recall@10": 0.6667,
        "MRR": 0.5,
        "nDCG@10": round((0.6309 + 0.3562) / (1 + 0.6309 + 0.5), 4),
    }
    assert first_rank(RANKING, [(B, C)]) == 6
    assert first_rank(RANKING, [(C,)]) is None
    assert set(values((), (A,)).values()) == {0}


def test_a_piece_with_several_units_is_found_with_any_and_counts_once() -> None:
    either = EvidencePiece(units=("a", "b"))
    found = values(("a", "b"), (either, C))
    assert found["recall@5"] == 0.5
    # Three units are relevant; the first two ranks show two of them.
    assert found["nDCG@10"] == round((1 + 0.6309) / (1 + 0.6309 + 0.5), 4)


def test_the_annotator_who_agrees_best_counts() -> None:
    found = values(RANKING, (C,), (A, B))
    assert (found["hit@5"], found["recall@5"], found["MRR"]) == (1, 0.5, 0.5)


def test_kinds_count_only_their_own_pieces() -> None:
    table, text = EvidencePiece(units=("a",), kinds=("table", "figure")), EvidencePiece(units=("b",), kinds=("text",))
    found = values(RANKING, (table, text), (text,))
    assert (found["hit@5.table"], found["recall@5.figure"]) == (1, 1)
    assert (found["hit@5.text"], found["recall@5.text"]) == (0, 0)
    assert not [name for name in values(RANKING, (A,)) if "." in name]


@pytest.mark.parametrize(
    ("quotation", "places"),
    [
        ("Dice loss weighs hard examples more.", [0, 3]),
        ("weighs  HARD examples", [0, 3]),
        ("It is used for tagging, too. Focal loss is another one of this kind.", [1, 2]),
        ("Focal loss is anothr one of this kind", [2]),
        ("A loss that no unit speaks of at all.", []),
    ],
)
def test_a_quotation_is_looked_up_whole_in_part_and_nearly(quotation: str, places: list[int]) -> None:
    units = UnitTexts(
        [
            "Dice loss weighs hard examples more.",
            "It is used for tagging, too.",
            "Focal loss is another one of this kind.",
            "Dice loss weighs hard  examples more.",
        ]
    )
    assert units.holding(quotation) == places


def test_nothing_stands_in_no_units() -> None:
    assert UnitTexts([]).holding("anything") == []
