"""The score of a ranking, and the look-up of quotations in the units of a corpus."""

import pytest
from paperscope_lab.evaluation.retrieval.corpora import EvidencePiece, UnitTexts
from paperscope_lab.evaluation.retrieval.scoring import first_rank, score_ranking

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
