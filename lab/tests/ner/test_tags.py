"""Tags: what is encoded is decoded, and broken tags are read as conlleval reads them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paperscope_lab.ner.tags import (
    SCHEMES,
    Entity,
    Scheme,
    decode,
    decode_strict,
    detect_scheme,
    encode,
    split_tag,
    violations,
)


@st.composite
def entities(draw: st.DrawFn) -> tuple[int, list[Entity]]:
    length = draw(st.integers(1, 12))
    edges = sorted(draw(st.sets(st.integers(0, length))))
    pairs = [(start, end, draw(st.sampled_from("AB"))) for start, end in pairwise(edges)]
    return length, [pair for pair in pairs if draw(st.booleans())]


@pytest.mark.parametrize("scheme", SCHEMES)
@given(case=entities())
def test_what_is_encoded_is_decoded(scheme: Scheme, case: tuple[int, list[Entity]]) -> None:
    length, found = case
    tags = encode(length, found, scheme)
    assert decode(tags) == found
    assert decode_strict(tags, scheme) == found
    assert violations(tags, scheme) == []


def test_a_tag_that_continues_nothing_starts_an_entity() -> None:
    tags = ["I-A", "I-B", "O", "E-B", "B-A", "I-A", "S-A"]
    assert decode(tags) == [(0, 1, "A"), (1, 2, "B"), (3, 4, "B"), (4, 6, "A"), (6, 7, "A")]
    assert decode_strict(tags, "BIOES") == [(6, 7, "A")]
    assert decode_strict(["I-A", "I-A", "O", "B-A", "I-A", "I-B"], "IOB2") == [(3, 5, "A")]


def test_the_scheme_is_found() -> None:
    assert detect_scheme([["I-A", "B-A"], ["O", "I-B"]]) == "IOB1"
    assert detect_scheme([["B-A", "I-A"], ["O", "B-B"]]) == "IOB2"
    assert detect_scheme([["B-A", "L-A", "U-B", "O"]]) == "BIOES"
    assert detect_scheme([["O"]]) == "IOB2"


@pytest.mark.parametrize("tag", ["", "B", "B-", "X-A", "I_A", "o"])
def test_a_broken_tag_is_quoted(tag: str) -> None:
    with pytest.raises(ValueError, match=repr(tag)):
        split_tag(tag)


def test_entities_that_overlap_have_no_tags() -> None:
    with pytest.raises(ValueError, match="overlap"):
        encode(3, [(0, 2, "A"), (1, 3, "B")])
