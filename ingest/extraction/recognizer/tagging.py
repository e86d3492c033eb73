"""Tags for spans (B-X begins an entity, I-X continues it), and decoding that allows only valid sequences."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy import float64
from numpy.typing import NDArray

__all__ = ["TagSet", "text_tokens", "word_tokens"]

Bounds = tuple[int, int]
_CHARACTER = re.compile(r"\S")
_WORD = re.compile(r"[^\W_]+|[^\s]")


@dataclass(frozen=True, kw_only=True)
class TagSet:
    """The tags of some labels: O, then B-X and I-X of each."""

    labels: tuple[str, ...]

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """The tags in the order of a model's scores."""
        return ("O", *(f"{part}-{label}" for label in self.labels for part in "BI"))

    @cached_property
    def starts(self) -> NDArray[float64]:
        """Per tag: 0 if it may be the first, else minus infinity."""
        return np.array([-np.inf if self._continues(tag) else 0.0 for tag in range(len(self.tags))])

    @cached_property
    def steps(self) -> NDArray[float64]:
        """Per pair of tags: 0 if the second may follow the first, else minus infinity. I-X follows B-X and I-X only."""
        steps = np.zeros((len(self.tags), len(self.tags)))
        for tag in range(len(self.tags)):
            if self._continues(tag):
                steps[:, tag] = -np.inf
                steps[tag - 1 : tag + 1, tag] = 0.0
        return steps

    @staticmethod
    def _continues(tag: int) -> bool:
        return tag > 0 and tag % 2 == 0

    def decode(self, tags: Sequence[int]) -> Iterator[tuple[int, int, int]]:
        """Yield (first unit, unit after the last, index of the label) of each entity of a valid sequence."""
        start = 0
        for end in range(1, len(tags) + 1):
            if end == len(tags) or not self._continues(tags[end]):
                if tags[start]:
                    yield start, end, (tags[start] - 1) // 2
                start = end

    def best(self, scores: NDArray[float64]) -> list[int]:
        """Return the valid sequence with the highest sum of scores (Viterbi).

        Args:
            scores: Of shape (units, tags).
        """
        if not len(scores):
            return []
        best = scores[0] + self.starts
        previous = np.empty(scores.shape, dtype=int)
        for unit in range(1, len(scores)):
            sums = best[:, None] + self.steps
            previous[unit] = sums.argmax(axis=0)
            best = sums.max(axis=0) + scores[unit]
        tags = [int(best.argmax())]
        for unit in range(len(scores) - 1, 0, -1):
            tags.append(int(previous[unit, tags[-1]]))
        return tags[::-1]

    def confidences(self, scores: NDArray[float64], entities: Iterable[tuple[int, int, int]]) -> list[float]:
        """Return the probability of each entity, as the share of the weight of all valid sequences that have exactly
        it.

        The weight of a sequence is the exponential of its sum of scores (forward-backward).

        Args:
            scores: Of shape (units, tags).
            entities: As `decode` yields them.
        """
        entities = list(entities)
        if not entities:
            return []
        forward = np.empty(scores.shape)
        forward[0] = scores[0] + self.starts
        for unit in range(1, len(scores)):
            forward[unit] = _sum(forward[unit - 1][:, None] + self.steps, axis=0) + scores[unit]
        # What follows a unit with a tag.
        backward = np.zeros(scores.shape)
        for unit in range(len(scores) - 2, -1, -1):
            backward[unit] = _sum(self.steps + (scores[unit + 1] + backward[unit + 1])[None, :], axis=1)
        total = float(_sum(forward[-1], axis=0))
        return [math.exp(min(0.0, self._weight(scores, forward, backward, entity) - total)) for entity in entities]

    def _weight(
        self,
        scores: NDArray[float64],
        forward: NDArray[float64],
        backward: NDArray[float64],
        entity: tuple[int, int, int],
    ) -> float:
        """Return the logarithm of the weight of all sequences that have exactly this entity."""
        start, end, label = entity
        begins, continues = 1 + 2 * label, 2 + 2 * label
        inside = forward[start, begins] + scores[start + 1 : end, continues].sum()
        if end == len(scores):
            return float(inside)
        after = scores[end] + backward[end]
        # No tag that continues an entity follows: with this label it would make the entity longer.
        return float(inside + _sum(after + self.starts, axis=0))


def _sum(values: NDArray[float64], *, axis: int) -> NDArray[float64]:
    """Return the logarithm of the sum of exponentials."""
    highest = values.max(axis=axis, keepdims=True)
    return np.asarray(np.log(np.exp(values - highest).sum(axis=axis)) + highest.squeeze(axis))


def text_tokens(text: str, *, characters: bool) -> tuple[Bounds, ...]:
    """Return the tokens of a text without given tokens: words and single marks, or each character except white
    space."""
    return tuple(match.span() for match in _CHARACTER.finditer(text)) if characters else word_tokens(text)


def word_tokens(text: str) -> tuple[Bounds, ...]:
    """Return the words and single marks of a text without given tokens."""
    return tuple(match.span() for match in _WORD.finditer(text))
