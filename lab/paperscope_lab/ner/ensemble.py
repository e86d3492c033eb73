"""Ensembles: the mean of taggers' scores, and votes on the spans of any systems."""

import asyncio
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy import float64
from numpy.typing import NDArray

from ingest.extraction.recognizer.encoder_tagger import EncoderTagger, UnitScores, decode
from ingest.extraction.recognizer.examples import Example, Span
from ingest.extraction.recognizer.tagging import TagSet
from paperscope_core.errors import InputError
from paperscope_lab.ner.gold_tags import flat_spans

__all__ = ["ScoreEnsemble", "vote"]


class ScoreEnsemble:
    """Averages the scores of taggers, which may split texts differently.

    The scores are averaged over the parts of a text that any tagger tells apart: where one has a unit and another has
    two, the unit counts for both, and what begins an entity in the first part continues it in the second.

    Args:
        taggers: The taggers, with the same labels in any order.

    Raises:
        InputError: There are no taggers, or their labels differ.
    """

    def __init__(self, taggers: Sequence[EncoderTagger]) -> None:
        labels = {frozenset(tagger.tags.labels) for tagger in taggers}
        if len(labels) != 1:
            raise InputError("an ensemble needs taggers with the same labels; score each by itself to compare them")
        self.name = " + ".join(tagger.name for tagger in taggers)
        self._taggers = taggers
        self._tags = taggers[0].tags

    async def recognize(self, examples: Sequence[Example]) -> list[Example]:
        """Find the entities of texts in a thread. See `Recognizer.recognize`."""
        return await asyncio.to_thread(self.tag, examples)

    def tag(self, examples: Sequence[Example]) -> list[Example]:
        """Find the entities of texts. See `Recognizer.recognize`."""
        scored = [[self._in_order(tagger, one) for one in tagger.score(examples)] for tagger in self._taggers]
        return [
            replace(example, spans=decode(self._tags, mean_scores(self._tags, parts)), failure=None)
            for example, *parts in zip(examples, *scored, strict=True)
        ]

    def _in_order(self, tagger: EncoderTagger, scored: UnitScores) -> UnitScores:
        columns = [tagger.tags.tags.index(tag) for tag in self._tags.tags]
        return UnitScores(units=scored.units, scores=scored.scores[:, columns])


def mean_scores(tags: TagSet, scored: Sequence[UnitScores]) -> UnitScores:
    """Return the mean of logarithms of probabilities over the smallest parts of the text that any of the scores tells
    apart.

    A part of which a tagger has no unit gets the scores of the others.
    """
    edges = sorted({edge for one in scored for unit in one.units for edge in unit})
    parts = list(pairwise(edges))
    total = np.zeros((len(parts), len(tags.tags)))
    counts = np.zeros(len(parts))
    for one in scored:
        normal = _log_softmax(one.scores)
        starts = [start for start, _ in one.units]
        for row, (start, end) in enumerate(parts):
            unit = bisect_right(starts, start) - 1
            if unit < 0 or one.units[unit][1] < end:
                continue
            total[row] += normal[unit] if one.units[unit][0] == start else _continued(normal[unit])
            counts[row] += 1
    kept = [row for row in range(len(parts)) if counts[row]]
    return UnitScores(units=tuple(parts[row] for row in kept), scores=total[kept] / counts[kept, None])


def _log_softmax(scores: NDArray[float64]) -> NDArray[float64]:
    if not len(scores):
        return scores
    shifted = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


# The logarithm of no probability, as a finite number that can be averaged.
_NEVER = -30.0


def _continued(scores: NDArray[float64]) -> NDArray[float64]:
    """Return the scores of a later part of a unit: an entity that the unit begins or continues goes on."""
    found = scores.copy()
    found[2::2] = np.logaddexp(scores[1::2], scores[2::2])
    found[1::2] = _NEVER
    return found


def vote(systems: Sequence[Sequence[Example]], *, needed: int | None = None) -> list[Example]:
    """Keep the entities that enough systems found, with the share of the systems as confidence.

    Args:
        systems: The predictions of each system for the same examples.
        needed: The number of systems that must find an entity; None for more than half of them.

    Returns:
        The examples with entities that don't overlap: those with more votes are kept.

    Raises:
        InputError: The systems predict for different texts.
    """
    needed = len(systems) // 2 + 1 if needed is None else needed
    found = []
    for first, *others in zip(*_aligned(systems), strict=True):
        votes: dict[tuple[int, int, str], int] = defaultdict(int)
        for example in (first, *others):
            for key in {(span.start, span.end, span.label) for span in example.spans}:
                votes[key] += 1
        kept: list[Span] = []
        for (start, end, label), count in sorted(votes.items(), key=lambda item: (-item[1], item[0])):
            span = Span(start=start, end=end, label=label, confidence=round(count / len(systems), 4))
            if count >= needed and len(flat_spans([*kept, span])) > len(kept):
                kept.append(span)
        found.append(replace(first, spans=tuple(sorted(kept, key=lambda span: span.start)), failure=None))
    return found


def _aligned(systems: Sequence[Sequence[Example]]) -> list[list[Example]]:
    """Return the predictions of each system in the order of the first."""
    by_id: list[Mapping[str, Example]] = [{example.id: example for example in system} for system in systems]
    texts = [{key: example.text for key, example in system.items()} for system in by_id]
    if not texts or any(other != texts[0] for other in texts):
        raise InputError("the systems of a vote must predict for the same texts under the same ids")
    return [[system[key] for key in by_id[0]] for system in by_id]
