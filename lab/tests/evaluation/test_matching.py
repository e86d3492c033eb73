"""Comparing texts and sequences."""

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paperscope_lab.evaluation.matching import (
    align,
    edit_distance,
    longest_increasing_subsequence,
    nearest_distance,
    normalise_spaces,
    pair_best,
    remove_spaces,
    similarity,
)

WORDS = st.text("ab ", max_size=7)


@pytest.mark.parametrize(("one", "two", "distance"), [("kitten", "sitting", 3), ("", "ab", 2), ("ab", "ab", 0)])
def test_edit_distance(one: str, two: str, distance: int) -> None:
    assert edit_distance(one, two) == edit_distance(two, one) == distance


@given(WORDS, WORDS)
def test_nearest_distance_is_the_least_over_all_parts(pattern: str, text: str) -> None:
    parts = [""] + [text[start:end] for start, end in combinations(range(len(text) + 1), 2)]
    assert nearest_distance(pattern, text) == min(edit_distance(pattern, part) for part in parts)


@given(st.lists(st.integers(0, 6), max_size=8))
def test_rising_is_a_longest_chain(positions: list[int]) -> None:
    chain = longest_increasing_subsequence(positions)
    assert _rises(tuple(positions[index] for index in chain))
    assert chain == sorted(chain)
    longest = max(
        (size for size in range(len(positions) + 1) for part in combinations(positions, size) if _rises(part)),
        default=0,
    )
    assert len(chain) == longest


def _rises(part: tuple[int, ...]) -> bool:
    return all(a < b for a, b in pairwise(part))


def test_alignment_keeps_the_order_and_takes_the_greatest_worth() -> None:
    assert align("abcd", "acdb", worth=lambda a, b: float(a == b)) == {0: 0, 2: 1, 3: 2}


def test_pairs_are_one_to_one_and_the_best_first() -> None:
    assert pair_best([1, 5], [4, 5], worth=lambda a, b: 1 / (1 + abs(a - b)), least=0.2) == {1: 1, 0: 0}


def test_folding() -> None:
    assert remove_spaces("ﬁne “q” – x") == 'fine"q"-x'
    assert normalise_spaces("a\n b\u00a0c") == "a b c"
    assert similarity("Same Words", "same words") == 1
    assert similarity("abcdef", "uvwxyz") == 0
