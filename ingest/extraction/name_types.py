"""Tells the type of a name, by a softmax regression on the vectors of its words and its spelling.

`paperscope_core.models.weights` has the vectors; `scripts/bench names` fits the weights to the annotations of SciER's
training set (datasets, methods, tasks) and TDMSci's (datasets, metrics, tasks), and to 17,635 names without a type of
JNLPBA, WNUT-17 and WordNet, from twice the texts that `lab/examples/other_fields.py` writes. A type that a set does not
annotate counts neither for nor against: words outside SciER's annotations may be a metric, those outside TDMSci's a
method.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from ingest.extraction.entity_types import TermType, type_of_class
from ingest.extraction.mentions import is_coined
from paperscope_core.models.weights import find_weights

__all__ = [
    "FITTED_TYPES",
    "NameTypes",
    "bundled_vectors",
    "features_of_form",
    "features_of_name",
    "probability_of_type",
    "split_name",
    "type_of_name",
]

FITTED_TYPES: tuple[TermType, ...] = ("dataset", "metric", "task", "method")
"""The types that the weights tell, in their order; names of no type come last."""
_MAX_SIGNS = 5
_FEW_LETTERS = 2
_SMALL_DIGITS = frozenset("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹")
_SPLIT = re.compile(r"[\s\-\u2010\u2011\u2013]+")
_SWITCH = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_INNER_CAPITAL = re.compile(r"[a-z][A-Z]")

_TENSOR = "embeddings.word_embeddings.weight"
# The vocabulary is ordered by frequency, after 995 entries for signs and single characters.
_FIRST_WORD = 995
# The least probability of a type, and the least share of it in the probability of all types; a name that ends with a
# class word of the type ("cross-lingual classification task") needs only the share. On SciER's development set 75 % of
# the annotated names get a type, 93 % of these the right one; on SciERC's 57 % and 86 %. Of names of other fields, 2 %
# (JNLPBA's development set), 6 % (WNUT-17's) and 6 % (CoNLL-2003's testa; no news were fitted to) get one.
_LEAST = 0.35
_LEAST_SHARE = 0.4
_KNOWN = 20_000


@dataclass(frozen=True, kw_only=True, slots=True)
class NameTypes:
    """The weights: a row for each feature of `features_of_name`, a column for each type and for none."""

    weights: NDArray[float32]
    bias: NDArray[float32]

    def probabilities(self, features: NDArray[float32]) -> NDArray[float32]:
        """Return the probabilities of the types and of none, of shape (..., 5), of features of shape (..., n)."""
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
    """Return the features of a name: its spelling, and the vectors of its first and last word and of their mean."""
    vectors = bundled_vectors()
    words = split_name(name) or [name]
    found = [vectors.vector(vectors.pieces(word) or [0]) for word in words]
    spelled = np.array(list(features_of_form(name, words).values()), dtype=float32)
    return np.concatenate([spelled, found[0], found[-1], np.mean(found, axis=0)])


@lru_cache(maxsize=_KNOWN)
def _probabilities(name: str) -> tuple[float, ...]:
    return tuple(map(float, _fitted().probabilities(features_of_name(name))[: len(FITTED_TYPES)]))


def _likeliest(name: str) -> tuple[TermType, float]:
    """Return the likeliest type of a name, and its probability."""
    found = _probabilities(name)
    highest = max(found)
    return FITTED_TYPES[found.index(highest)], highest


def probability_of_type(name: str) -> float:
    """Return the probability of the likeliest type of a name."""
    return _likeliest(name)[1]


def type_of_name(name: str) -> TermType:
    """Return the type of a name, or concept if none is certain: also if the last word alone certainly has another
    one, because "macro F1" is an F1."""
    best, probability = _likeliest(name)
    stated = " " in name and type_of_class(name) == best
    certain = probability >= (_LEAST_SHARE * sum(_probabilities(name)) if stated else _LEAST)
    last, of_last = _likeliest((split_name(name) or [name])[-1])
    contradicted = of_last >= _LEAST and last != best
    return best if certain and not contradicted else "concept"


def split_name(name: str) -> list[str]:
    """Return the words of a name; the parts of a hyphenated word count singly."""
    return [word for word in _SPLIT.split(name) if word]


def features_of_form(name: str, words: Sequence[str]) -> dict[str, float]:
    """Return how a name of these words is spelled, by the name of the feature."""
    signs = sum(not (character.isalnum() or character in " -'\u2019\u2010\u2013/") for character in name)
    spelled = {
        "one word": len(words) == 1,
        "two words": len(words) == 2,
        "three words": len(words) == 3,
        "no space": " " not in name,
        "coined": any(map(is_coined, name.split())),
        "all coined": all(map(is_coined, name.split())),
        "capitalized": all(word[:1].isupper() for word in words),
        "lower": name == name.lower(),
        "upper": name.isupper(),
        "inner capital": _INNER_CAPITAL.search(name) is not None,
        "digit": any(map(str.isdigit, name)),
        "leading digit": name[:1].isdigit(),
        "small digit": not _SMALL_DIGITS.isdisjoint(name),
        "signs": signs > 0,
        "code": "." in name or "_" in name,
        "few letters": sum(map(str.isalpha, name)) <= _FEW_LETTERS,
    }
    return {feature: float(value) for feature, value in spelled.items()} | {
        "many signs": float(min(signs, _MAX_SIGNS)),
        "switches": float(min(len(_SWITCH.findall(name)), _MAX_SIGNS)),
        "length": len(name) / 20,
    }


class WordVectors:
    """The pieces of words and their vectors. Rows are read when they are needed: the whole table takes 47 MB."""

    def __init__(self, folder: Path) -> None:
        from safetensors import safe_open
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        weights: Any = safe_open(folder / "model.safetensors", framework="numpy")  # Its methods have no types.
        self._rows = weights.get_slice(_TENSOR)
        self._known: dict[int, NDArray[float32]] = {}

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return int(self._rows.get_shape()[1])

    def pieces(self, word: str) -> list[int]:
        """Return the positions in the vocabulary of the pieces that a word is divided into."""
        return list(self._tokenizer.encode(word, add_special_tokens=False).ids)

    def vector(self, pieces: list[int]) -> NDArray[float32]:
        """Return the mean of the pieces' vectors."""
        for piece in pieces:
            if piece not in self._known:
                self._known[piece] = np.asarray(self._rows[piece], dtype=float32)
        rows = np.array([self._known[piece] for piece in pieces])
        return np.asarray(rows.mean(axis=0), dtype=float32)

    @staticmethod
    def rarity(pieces: list[int]) -> float:
        """Return the logarithm of the mean rank of the pieces by frequency: about 0 for "the", 10 for the rarest."""
        return float(np.log(np.mean([max(piece - _FIRST_WORD, 1) for piece in pieces])))


@cache
def bundled_vectors() -> WordVectors:
    """Return the vectors of the weights that Paperscope is installed with. Raise ModelError if they are missing."""
    return WordVectors(Path(find_weights("").location))
