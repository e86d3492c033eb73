"""Tags and constrained decoding, checked against all sequences."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paperscope_lab.ner.gold_tags import flat_spans, gold_tags

from ingest.extraction.recognizer.examples import Span
from ingest.extraction.recognizer.tagging import TagSet, text_tokens

TAGS = TagSet(labels=("A", "B"))


def valid_sequences(length: int) -> list[tuple[int, ...]]:
    """All sequences in which I-X follows B-X or I-X."""
    return [
        tags
        for tags in product(range(len(TAGS.tags)), repeat=length)
        if all(
            not TAGS.tags[tag].startswith("I") or TAGS.tags[before][1:] == TAGS.tags[tag][1:]
            for before, tag in zip((0, *tags), tags, strict=False)
        )
    ]


def scores_of(seed: int, length: int) -> "np.typing.NDArray[np.float64]":
    return np.random.default_rng(seed).normal(size=(length, len(TAGS.tags))) * 2


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32), length=st.integers(1, 4))
def test_decoding_finds_the_best_valid_sequence(seed: int, length: int) -> None:
    scores = scores_of(seed, length)
    best = max(valid_sequences(length), key=lambda tags: sum(scores[unit, tag] for unit, tag in enumerate(tags)))
    assert tuple(TAGS.best(scores)) == best


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32), length=st.integers(1, 4))
def test_a_confidence_is_the_share_of_the_sequences_that_have_the_entity(seed: int, length: int) -> None:
    scores = scores_of(seed, length)
    weights = {
        tags: np.exp(sum(scores[unit, tag] for unit, tag in enumerate(tags))) for tags in valid_sequences(length)
    }
    entities = sorted({entity for tags in weights for entity in TAGS.decode(tags)})
    expected = [
        sum(weight for tags, weight in weights.items() if entity in TAGS.decode(tags)) / sum(weights.values())
        for entity in entities
    ]
    assert TAGS.confidences(scores, entities) == pytest.approx(expected)


@settings(max_examples=20)
@given(tags=st.lists(st.sampled_from(valid_sequences(3)), min_size=1, max_size=3))
def test_encoding_undoes_decoding(tags: list[tuple[int, ...]]) -> None:
    sequence = [tag for part in tags for tag in part]
    units = [(2 * unit, 2 * unit + 1) for unit in range(len(sequence))]
    sequence = TAGS.best(np.eye(len(TAGS.tags))[sequence] * 9)
    spans = [
        Span(start=units[start][0], end=units[end - 1][1], label=TAGS.labels[label])
        for start, end, label in TAGS.decode(sequence)
    ]
    assert gold_tags(TAGS, spans, units) == sequence


def test_no_text_has_no_tags() -> None:
    assert TAGS.best(np.empty((0, 5))) == []
    assert gold_tags(TAGS, [Span(start=0, end=1, label="A")], []) == []


def test_of_overlapping_spans_the_longest_is_kept() -> None:
    long, inner, other = (Span(start=a, end=b, label="A") for a, b in ((0, 5), (3, 6), (6, 8)))
    assert flat_spans([other, inner, long]) == [long, other]


def test_texts_without_tokens_are_split() -> None:
    assert text_tokens("Pre-trained BERT.", characters=False) == ((0, 3), (3, 4), (4, 11), (12, 16), (16, 17))
    assert text_tokens("서울 시", characters=True) == ((0, 1), (1, 2), (3, 4))
    assert text_tokens(" \n", characters=True) == ()
