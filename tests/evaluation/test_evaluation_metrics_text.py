"""Comparing answers as text: the papers' examples, SQuAD's script written anew, and what must always hold."""

import re
import string
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.matching import edit_distance
from evaluation.metrics.text import anls, contains_answer, exact_match, normalise, token_f1

ANY = st.text(max_size=12)
PLAIN = st.text(st.sampled_from("the an cat.,-'\n"), max_size=20)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("The  Cat's\n meow.", "cats meow"),
        ("state-of-the-art", "stateoftheart"),
        ("“Ａn” ﬁne — ‘day’", "fine day"),
        ("STRASSE Straße", "strasse strasse"),
        ("a", ""),
        ("中文。", "中文"),
        ("theory of an anthem", "theory of anthem"),
    ],
)
def test_normalised(text: str, folded: str) -> None:
    assert normalise(text) == folded


def test_exact_match() -> None:
    assert exact_match("The Denver Broncos", "denver broncos.")
    assert not exact_match("Denver", "Denver Broncos")


@pytest.mark.parametrize(
    ("gold", "predicted", "score"),
    [
        ("the cat sat", "a cat sat down", 4 / 5),
        ("b b c", "b c c", 2 / 3),
        ("x", "y", 0),
        ("", "", 1),
        ("the", "...", 1),
        ("", "something", 0),
    ],
)
def test_token_f1(gold: str, predicted: str, score: float) -> None:
    assert token_f1(gold, predicted) == pytest.approx(score)


def _squad_f1(gold: str, predicted: str) -> float:
    """The definition in its own words: precision and recall of tokens, and their harmonic mean."""
    one, two = (
        re.sub(r"\b(a|an|the)\b", " ", "".join(c for c in text.lower() if c not in string.punctuation)).split()
        for text in (gold, predicted)
    )
    same = sum((Counter(one) & Counter(two)).values())
    if not one or not two:
        return float(one == two)
    precision, recall = same / len(two), same / len(one)
    return 2 * precision * recall / (precision + recall) if same else 0.0


@given(PLAIN, PLAIN)
def test_token_f1_is_the_harmonic_mean_of_precision_and_recall(gold: str, predicted: str) -> None:
    assert token_f1(gold, predicted) == pytest.approx(_squad_f1(gold, predicted))


@pytest.mark.parametrize(
    ("gold", "predicted", "score"),
    [
        ("Coca-Cola", "coca cola", 8 / 9),
        ("abcd", "abxy", 0),
        ("abcd", "abcx", 3 / 4),
        ("red", "blue", 0),
        (" Two\n words ", "two words", 1),
        ("", "", 1),
        ("", "a", 0),
    ],
)
def test_anls(gold: str, predicted: str, score: float) -> None:
    assert anls(gold, predicted) == pytest.approx(score)


def test_anls_takes_another_threshold() -> None:
    assert anls("abcd", "abxy", threshold=0.6) == 0.5
    assert anls("abcd", "abcx", threshold=0.25) == 0


@given(st.text("abC ", max_size=8), st.text("abC ", max_size=8))
def test_anls_is_the_share_of_what_need_not_be_edited(gold: str, predicted: str) -> None:
    one, two = (" ".join(text.lower().split()) for text in (gold, predicted))
    share = edit_distance(one, two) / max(len(one), len(two), 1)
    assert anls(gold, predicted) == pytest.approx(1 - share if share < 0.5 else 0)


def test_containing_whole_tokens_only() -> None:
    assert contains_answer("BERT-Tagger+DSC", "It is BERT-Tagger+DSC, of course.")
    assert contains_answer("the red car", "Red car")
    assert not contains_answer("art", "state of the artist")
    assert not contains_answer("red car", "red sports car")
    assert not contains_answer("The", "the end")


@given(ANY, ANY)
def test_the_measures_are_symmetric_and_between_none_and_all(one: str, two: str) -> None:
    for score in (token_f1, anls):
        assert 0 <= score(one, two) <= 1
        assert score(one, two) == score(two, one)
        assert score(one, one) == 1
    assert exact_match(one, two) == exact_match(two, one)


@given(st.text(st.sampled_from("the An é–ſ.'中")))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(ANY, ANY)
def test_an_exact_match_has_every_token(one: str, two: str) -> None:
    if exact_match(one, two):
        assert token_f1(one, two) == 1
