"""Which names of a paper may mean the same: neighbours by letters or by vectors, of types that go together."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy import float32
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ingest.extraction.type_system import TypeSystem
from ingest.resolution.rules import are_surely_two, narrows, words_of
from paperscope.types import Entity

__all__ = ["doubtful_pairs"]

_LETTERS = 0.65
_MEANING = 0.8


def doubtful_pairs(
    terms: Sequence[Entity], vectors: NDArray[float32] | None, *, types: TypeSystem, limit: int
) -> list[tuple[Entity, Entity]]:
    """Pairs of terms that no rule decides, at most `limit`: the likeliest first, those last of which one narrows the
    other ("Sørensen–Dice coefficient").

    Neighbours share most of their letters (Dice coefficient of trigrams), or, where `vectors` of the names are given
    (one unit-length row a term), lie near each other. Types must be the same, or one that of all the rest.
    """
    likeness = _likeness([_trigrams(term.name) for term in terms]) / _LETTERS
    if vectors is not None:
        likeness = np.maximum(likeness, vectors @ vectors.T / _MEANING)
    found = []
    for first, second in np.argwhere(np.triu(likeness, k=1) >= 1.0).tolist():
        one, other = sorted((terms[first], terms[second]), key=lambda term: term.id)
        fits = one.type == other.type or types.rest in (one.type, other.type)
        if fits and not are_surely_two(one.name, other.name):
            rank = (narrows(one.name, other.name), -round(float(likeness[first, second]), 4), one.id, other.id)
            found.append((rank, one, other))
    return [(one, other) for _, one, other in sorted(found, key=lambda item: item[0])[:limit]]


def _likeness(grams: Sequence[set[str]]) -> NDArray[float32]:
    """The Dice coefficient of each two sets: twice what they share, of all that they have."""
    places = {gram: place for place, gram in enumerate(sorted(set().union(*grams)))}
    ends = np.cumsum([0, *map(len, grams)])
    columns = [places[gram] for one in grams for gram in one]
    rows = csr_array((np.ones(len(columns), dtype=float32), columns, ends), shape=(len(grams), max(len(places), 1)))
    sizes = np.array([max(len(one), 1) for one in grams], dtype=float32)
    return np.asarray(2 * (rows @ rows.T).toarray() / (sizes[:, None] + sizes[None, :]), dtype=float32)


def _trigrams(name: str) -> set[str]:
    """The runs of three letters in the name's words, and the words' ends."""
    return {gram for word in words_of(name) for gram in _runs(f" {word} ")}


def _runs(word: str) -> Iterator[str]:
    yield from ("".join(run) for run in zip(word, word[1:], word[2:], strict=False))
