"""Comparing answers as text: the papers' examples, SQuAD's script written anew, and what must always hold."""

import re
import string
from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paperscope_lab.evaluation.matching import edit_distance
from paperscope_lab.evaluation.metrics.text import (
    anls,
    contains_answer,
    exact_match,
    item_similarity,
    list_f1,
    normalise,
    read_list,
    token_f1,
)

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


ITEMS = st.lists(st.sampled_from(["alpha", "alpah", "beta", "12", "12.0", "13"]), max_size=4)


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("['a', 'b']", ("a", "b")),
        ('["a", 2, 0.5]', ("a", "2", "0.5")),
        ("('a', None)", ("a", "None")),
        ("{'b', 'a'}", ("a", "b")),
        ('["a\\d", "b"]', ("a\\d", "b")),
        ("[]", ()),
        ("a, b and c", ("a", "b", "c")),
        ("a, b, and c", ("a", "b", "c")),
        ("a; b, c or d", ("a", "b", "c", "d")),
        ("this and that", ("this", "that")),
        ("one thing", ("one thing",)),
        ("1,234, 5,678 and 9", ("1,234", "5,678", "9")),
        ("1,2,3", ("1", "2", "3")),
        ("- a and b\n\n* c\n3. d\n(4) e", ("a and b", "c", "d", "e")),
        ("-0.5\n-0.7", ("-0.5", "-0.7")),
        ("[a, b", ("[a", "b")),
        ("(see below)", ("(see below)",)),
        ("", ()),
    ],
)
def test_reading(text: str, items: tuple[str, ...]) -> None:
    assert read_list(text) == items


@pytest.mark.parametrize("text", ["[" * 100_000, "[1, " + "-" * 5000 + "1]", "{[]: 1}", "{'a': 1}", "[\x00]", "{[]}"])
def test_what_no_parser_takes_is_still_a_text(text: str) -> None:
    assert "".join(read_list(text))


@pytest.mark.parametrize(
    ("gold", "predicted", "score"),
    [
        ("The Cat", "cat.", 1),
        ("71.02", "71.03", 0),
        ("71.02", "71.020 ", 1),
        ("two", "2", 1),
        ("93%", "0.93", 1),
        ("event", "evant", 4 / 5),
        ("event", "other", 0),
        ("71.02", "a text", 0),
    ],
)
def test_similarity_of_items(gold: str, predicted: str, score: float) -> None:
    assert item_similarity(gold, predicted) == pytest.approx(score)


def test_f1_by_hand() -> None:
    assert list_f1(["a1", "b2"], ["b2", "a1"]) == 1
    assert list_f1(["71.02", "75.38"], ["75.38", "71.0"]) == 1 / 2
    assert list_f1(["event", "red"], ["evant", "blue", "green"]) == pytest.approx(2 * 0.8 / 5)
    assert (list_f1([], []), list_f1(["a1"], []), list_f1([], ["a1"])) == (1, 0, 0)


def test_repeating_an_item_earns_nothing() -> None:
    assert list_f1(["red", "blue"], ["red", "red"]) == 1 / 2


@given(ITEMS, ITEMS)
def test_f1_is_that_of_the_best_assignment(gold: list[str], predicted: list[str]) -> None:
    short, long = sorted((gold, predicted), key=len)
    best = max(sum(map(item_similarity, short, order)) for order in permutations(long, len(short)))
    assert list_f1(gold, predicted) == pytest.approx(
        2 * best / (len(gold) + len(predicted)) if gold or predicted else 1
    )
    assert list_f1(gold, predicted) == pytest.approx(list_f1(gold[::-1], predicted))


@given(st.text(max_size=30))
def test_any_text_can_be_read(text: str) -> None:
    assert all(item == item.strip() != "" for item in read_list(text))
    assert list_f1(read_list(text), read_list(text)) == pytest.approx(1)


@given(st.lists(st.text(min_size=1).map(str.strip).filter(bool)))
def test_a_literal_gives_its_items_back(items: list[str]) -> None:
    assert read_list(repr(items)) == tuple(items)
