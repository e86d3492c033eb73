"""Ensembles: means of scores over different splits of a text, and votes."""

from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.ner.tiny_encoder import GOLD, example_of

from ingest.extraction.recognizer.examples import Example, Span
from ingest.extraction.recognizer.tagging import TagSet
from paperscope_core.errors import InputError

if TYPE_CHECKING:
    from ingest.extraction.recognizer.encoder_tagger import UnitScores

TAGS = TagSet(labels=("A",))


def scored(*units: tuple[int, int, str], sure: float = 4.0) -> "UnitScores":
    from ingest.extraction.recognizer.encoder_tagger import UnitScores

    rows = [[sure if name == tag else 0.0 for name in TAGS.tags] for _, _, tag in units]
    return UnitScores(units=tuple((start, end) for start, end, _ in units), scores=np.array(rows))


def found(*systems: "UnitScores") -> list[tuple[int, int]]:
    from paperscope_lab.ner.ensemble import mean_scores

    from ingest.extraction.recognizer.encoder_tagger import decode

    return [(span.start, span.end) for span in decode(TAGS, mean_scores(TAGS, systems))]


def test_the_same_split_is_averaged() -> None:
    first = scored((0, 2, "B-A"), (3, 5, "O"), sure=1.0)
    second = scored((0, 2, "O"), (3, 5, "B-A"), sure=3.0)
    assert found(first, second) == [(3, 5)]


def test_a_unit_of_one_split_counts_for_its_parts_in_another() -> None:
    whole = scored((0, 4, "B-A"), (5, 6, "O"))
    parts = scored((0, 2, "B-A"), (2, 4, "I-A"), (5, 6, "O"))
    assert found(whole, parts) == found(whole) == [(0, 4)]
    assert found(whole, scored((0, 2, "B-A"), (2, 4, "O"), sure=9.0)) == [(0, 2)]


def test_what_only_one_system_sees_is_kept() -> None:
    assert found(scored((0, 2, "O")), scored((0, 2, "O"), (3, 4, "B-A"))) == [(3, 4)]


def with_spans(example: Example, *keys: tuple[int, int]) -> Example:
    return Example(
        id=example.id,
        text=example.text,
        tokens=example.tokens,
        spans=tuple(Span(start=start, end=end, label="A") for start, end in keys),
    )


def test_votes_keep_what_most_systems_found() -> None:
    from paperscope_lab.ner.ensemble import vote

    text = example_of("a b c d")
    systems = [[with_spans(text, *keys)] for keys in ([(0, 3)], [(0, 3), (4, 5)], [(2, 5)])]
    (voted,) = vote(systems)
    assert [(span.start, span.end, span.confidence) for span in voted.spans] == [(0, 3, 0.6667)]
    (any_of,) = vote(systems, needed=1)
    assert [(span.start, span.end) for span in any_of.spans] == [(0, 3), (4, 5)]


def test_systems_of_other_texts_are_refused() -> None:
    from paperscope_lab.ner.ensemble import vote

    with pytest.raises(InputError, match="the same texts"):
        vote([GOLD, GOLD[:2]])
