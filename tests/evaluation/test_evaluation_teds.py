"""TEDS against worked examples and a brute-force distance."""

from collections.abc import Callable
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.parsing.teds import Tree, teds, tree_distance, tree_of_table
from paperscope_core.types import Table


def tree(text: str) -> Tree:
    """ "f(d(a c(b)) e)" as a tree."""
    stack: list[list[Tree]] = [[]]
    for mark in text.replace("(", " ( ").replace(")", " ) ").split():
        if mark == "(":
            stack.append([])
        elif mark == ")":
            children = tuple(stack.pop())
            stack[-1][-1] = Tree(stack[-1][-1].label, children=children)
        else:
            stack[-1].append(Tree(mark))
    return stack[0][0]


def test_the_example_of_zhang_and_shasha() -> None:
    assert tree_distance(tree("f(d(a c(b)) e)"), tree("f(c(d(a b)) e)")) == 2


@pytest.mark.parametrize(
    ("rows", "similarity"),
    [
        ((("a", "b"), ("c", "d")), 1.0),
        ((("a", "b"), ("c", "x")), 1 - 1 / 7),  # one cell's text of one letter
        ((("a", "b"),), 1 - 3 / 7),  # a row with its two cells
        ((("a", "b"), ("c", "dxxx")), 1 - 0.75 / 7),  # three of four letters
    ],
)
def test_teds_of_small_tables(
    rows: tuple[tuple[str, ...], ...], similarity: float, make_table: Callable[..., Table]
) -> None:
    gold = tree_of_table(make_table((("a", "b"), ("c", "d"))))
    assert teds(gold, tree_of_table(make_table(rows))) == pytest.approx(similarity)


def test_structure_only_takes_texts_for_equal_but_not_spans(make_table: Callable[..., Table]) -> None:
    rows = (("a", "b"), ("c", "d"))
    gold = tree_of_table(make_table(rows))
    assert teds(gold, tree_of_table(make_table((("x", "y"), ("z", "w")))), structure_only=True) == 1
    spanned = tree_of_table(make_table(rows, spans={(0, 0): (1, 2)}))
    assert teds(gold, spanned, structure_only=True) == pytest.approx(1 - 2 / 7)


trees = st.recursive(
    st.sampled_from("ab").map(Tree),
    lambda children: st.builds(
        lambda label, found: Tree(label, children=tuple(found)),
        st.sampled_from("ab"),
        st.lists(children, min_size=1, max_size=2),
    ),
    max_leaves=4,
)


@cache
def brute(first: tuple[Tree, ...], second: tuple[Tree, ...]) -> float:
    """The distance of two forests by its definition: the last roots are deleted, inserted or matched."""
    if not first or not second:
        return sum(tree.size for tree in first + second)
    a, b = first[-1], second[-1]
    return min(
        brute(first[:-1] + a.children, second) + 1,
        brute(first, second[:-1] + b.children) + 1,
        brute(first[:-1], second[:-1]) + brute(a.children, b.children) + (a.label != b.label),
    )


@settings(deadline=None, max_examples=60)
@given(trees, trees)
def test_the_distance_is_the_one_defined(first: Tree, second: Tree) -> None:
    assert tree_distance(first, second) == brute((first,), (second,))
