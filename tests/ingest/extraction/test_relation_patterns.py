"""What a sentence says between two terms becomes a relation of its own kind."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.extraction.mentions import Sentence, TermFinder
from ingest.extraction.sentence_relations import pattern_relations
from paperscope_core.types import Relation

TERMS = {
    "dice loss": "method",
    "focal loss": "method",
    "BERT": "method",
    "loss function": "method",
    "image segmentation": "task",
    "Cityscapes": "dataset",
    "CoNLL": "dataset",
    "accuracy": "metric",
    "English": "concept",
}


def stated(*sentences: str) -> list[Relation]:
    finder = TermFinder({name: (name,) for name in TERMS})
    numbered = [Sentence(element=f"p/passage-{number}", text=text) for number, text in enumerate(sentences, 1)]
    return list(pattern_relations(numbered, finder, TERMS))


def triples(*sentences: str) -> set[tuple[str, str, str]]:
    return {(one.source, one.kind, one.target) for one in stated(*sentences)}


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Dice loss is used for image segmentation.", {("image segmentation", "uses", "dice loss")}),
        ("We use dice loss for image segmentation.", {("image segmentation", "uses", "dice loss")}),
        ("BERT trained on CoNLL is good.", {("BERT", "uses", "CoNLL")}),
        ("BERT [3] is evaluated on Cityscapes.", {("BERT", "evaluated on", "Cityscapes")}),
        ("Dice loss significantly outperforms the focal loss.", {("dice loss", "compared with", "focal loss")}),
        ("Dice loss is a loss function.", {("dice loss", "kind of", "loss function")}),
        ("A loss function such as dice loss helps.", {("dice loss", "kind of", "loss function")}),
        ("BERT consists of a dice loss.", {("dice loss", "part of", "BERT")}),
        ("The accuracy of BERT is high.", {("BERT", "measured by", "accuracy")}),
        (
            "BERT and dice loss are evaluated on Cityscapes, CoNLL.",
            {(name, "evaluated on", on) for name in ("BERT", "dice loss") for on in ("Cityscapes", "CoNLL")},
        ),
    ],
)
def test_the_words_between_tell_the_kind(sentence: str, expected: set[tuple[str, str, str]]) -> None:
    assert triples(sentence) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "Cityscapes is an English dataset.",
        "Dice loss and focal loss are losses.",
        "Dice loss was known long before BERT came.",
        "BERT is an extension of dice loss.",
        "BERT on English texts.",
    ],
)
def test_nothing_is_stated_where_the_words_do_not_say_it(sentence: str) -> None:
    assert triples(sentence) == set()


def test_the_shortest_sentence_is_the_evidence_and_the_weight_counts_them() -> None:
    (one,) = stated("As we saw, BERT uses dice loss.", "BERT uses dice loss.")
    assert (one.description, one.weight, one.sources) == ("BERT uses dice loss.", 2.0, ("p/passage-1", "p/passage-2"))


WORDS = st.sampled_from([*TERMS, "uses", "for", "is a", "and", ",", "(x)", "on", "than", "such as", "of", "the", "."])


@given(st.lists(st.lists(WORDS, max_size=12).map(" ".join), max_size=4))
def test_ends_stand_in_the_evidence_and_order_of_sentences_changes_no_triple(texts: list[str]) -> None:
    found = stated(*texts)
    assert triples(*reversed(texts)) == {(one.source, one.kind, one.target) for one in found}
    for one in found:
        assert one.source != one.target
        assert one.source.casefold() in one.description.casefold()
        assert one.target.casefold() in one.description.casefold()
