"""Tells the type of a name, by a softmax regression on the vectors of its words and its spelling.

`paperscope_core.models.weights` has the vectors; `scripts/bench names` fits the weights to the annotations of SciER's
training set (datasets, methods, tasks) and TDMSci's (datasets, metrics, tasks). A type that a set does not annotate
counts neither for nor against: words outside SciER's annotations may be a metric, those outside TDMSci's a method.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from ingest.extraction.entity_types import TermType, type_of_class
from ingest.extraction.names import features_of_form, split_name
from ingest.extraction.word_vectors import bundled_vectors

__all__ = ["FITTED_TYPES", "NameTypes", "features_of_name", "probability_of_type", "type_of_name"]

FITTED_TYPES: tuple[TermType, ...] = ("dataset", "metric", "task", "method")
"""The types that the weights tell, in their order; names of none of them come last."""
# The least probability of a type, and the least share of it in the probability of all types; a name that ends with a
# class word of the type ("cross-lingual classification task") needs the share only. On SciER's development set 69 % of
# the annotated names get a type, 95 % of these the right one; on SciERC's 48 % and 92 %. Rare words of other fields
# than the sets' are often taken for methods below this limit.
_LEAST = 0.6
_LEAST_SHARE = 0.5
_KNOWN = 20_000


@dataclass(frozen=True, kw_only=True, slots=True)
class NameTypes:
    """The weights: a row for each feature of `features_of_name`, a column for each type and for none."""

    weights: NDArray[float32]
    bias: NDArray[float32]

    def probabilities(self, features: NDArray[float32]) -> NDArray[float32]:
        """The probabilities of the types and of none, of shape (..., 5), of features of shape (..., n)."""
        scores = features @ self.weights + self.bias
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=-1, keepdims=True), dtype=float32)


@cache
def _fitted() -> NameTypes:
    stored: Mapping[str, list[list[float]]] = json.loads(
        (files("ingest.extraction") / "name_types.json").read_text(encoding="utf-8")
    )
    return NameTypes(**{name: np.array(values, dtype=float32) for name, values in stored.items()})


def features_of_name(name: str) -> NDArray[float32]:
    """Returns the features of a name: its spelling, and the vectors of its first and last word and of their mean."""
    vectors = bundled_vectors()
    words = split_name(name) or [name]
    found = [vectors.vector(vectors.pieces(word) or [0]) for word in words]
    spelled = np.array(list(features_of_form(name, words).values()), dtype=float32)
    return np.concatenate([spelled, found[0], found[-1], np.mean(found, axis=0)])


@lru_cache(maxsize=_KNOWN)
def _probabilities(name: str) -> tuple[float, ...]:
    return tuple(map(float, _fitted().probabilities(features_of_name(name))[: len(FITTED_TYPES)]))


def _likeliest(name: str) -> tuple[TermType, float]:
    """The likeliest type of a name, and its probability."""
    found = _probabilities(name)
    highest = max(found)
    return FITTED_TYPES[found.index(highest)], highest


def probability_of_type(name: str) -> float:
    """The probability of the likeliest type of a name."""
    return _likeliest(name)[1]


def type_of_name(name: str) -> TermType:
    """Returns the type of a name, or concept if none is certain: also if the last word alone certainly has another
    one, because "macro F1" is an F1."""
    best, probability = _likeliest(name)
    stated = " " in name and type_of_class(name) == best
    certain = probability >= (_LEAST_SHARE * sum(_probabilities(name)) if stated else _LEAST)
    last, of_last = _likeliest((split_name(name) or [name])[-1])
    contradicted = of_last >= _LEAST and last != best
    return best if certain and not contradicted else "concept"
