"""Lists as answers: how they are read, and their F1 over unordered items."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.lists import item_similarity, list_f1, read_list

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
