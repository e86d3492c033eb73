"""BM25, and which words of a question are searched for, alike in every index of words.

Postings are the occurrences of a term: arrays of `POSTING`, ordered by chunk and position.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import TypeAlias

import numpy as np
from numpy import float64, int64, void
from numpy.typing import NDArray

__all__ = [
    "LONGEST",
    "POSTING",
    "RANKED",
    "TOKENIZE",
    "Postings",
    "count_texts",
    "max_score",
    "phrase_postings",
    "rarest",
    "scored",
]

TOKENIZE = "porter unicode61 remove_diacritics 2"
"""The options of SQLite's FTS5 by which texts are cut into words, without their endings."""

RANKED = {"chunk_words": 10_000, "entity_words": 2_000}
"""The maximum number of chunks and names that are ranked: a word that occurs in more of them is not distinctive. A
hundred papers have fewer."""

POSTING = np.dtype([("number", "<i4"), ("length", "<u2"), ("position", "<u2")])
"""An occurrence of a term: the number of the text, its length in words, and the place of the term in it."""

LONGEST = 65_535
"""The greatest length and position that a posting states."""

Postings: TypeAlias = NDArray[void]

# FTS5's bm25() has these.
_K1, _B = 1.2, 0.75
_LEAST_IDF = 1e-6
# Positions in one number with that of the text, for phrases.
_PLACES = 1 << 17


def rarest(found: Mapping[str, int], *, most: int) -> dict[str, int]:
    """Return the rarest of the terms, given with the number of texts that contain each, and further ones while at most
    `most` texts contain them. At least one is found."""
    terms = sorted(found, key=found.__getitem__)
    first = next(term for term in terms if found[term])
    rows = accumulate(found[term] for term in terms)
    kept = {term for term, total in zip(terms, rows, strict=True) if total <= most or term == first}
    return {term: number for term, number in found.items() if term in kept}


def max_score(holding: Iterable[int], *, size: int) -> float:
    """Return the maximum possible BM25 score of words that occur in these numbers of `size` texts: the sum of idf (k1 +
    1).

    The idf is Lucene's, which is always positive, whereas that of FTS5 is 0 for a word in half the texts: one that
    contains only such words has a share of nearly 0.
    """
    # Another process may have added texts since.
    telling = (math.log1p((max(size - number, 0) + 0.5) / (number + 0.5)) for number in holding)
    return (_K1 + 1) * sum(telling)


def scored(
    postings: Sequence[tuple[Postings, int]], *, size: int, mean_length: float
) -> tuple[NDArray[int64], NDArray[float64]]:
    """Return the numbers of the texts that contain any of the terms, and their scores: FTS5's bm25(), positive.

    Args:
        postings: Those of each term, with the number of texts that contain it, which may be more than are ranked.
        mean_length: The mean length of all texts in words.
    """
    numbers, scores = [np.empty(0, dtype=int64)], [np.empty(0)]
    for found, holding in postings:
        texts, first, counts = np.unique(found["number"], return_index=True, return_counts=True)
        lengths = found["length"][first]
        idf = math.log((size - holding + 0.5) / (holding + 0.5)) if 2 * holding < size else 0.0
        norm = counts + _K1 * (1 - _B + _B * lengths / mean_length)
        numbers.append(texts.astype(int64))
        scores.append(max(idf, _LEAST_IDF) * (counts * (_K1 + 1.0) / norm))
    texts, places = np.unique(np.concatenate(numbers), return_inverse=True)
    totals = np.bincount(places, np.concatenate(scores), minlength=len(texts))
    return texts.astype(int64), totals.astype(float64)


def phrase_postings(tokens: Sequence[Postings]) -> Postings:
    """Return the postings of a phrase, from those of its words in order: where all follow one another."""
    starts = [found["number"].astype(int64) * _PLACES + found["position"] - place for place, found in enumerate(tokens)]
    kept = starts[0]
    for others in starts[1:]:
        kept = kept[np.isin(kept, others, assume_unique=True)]
    return tokens[0][np.isin(starts[0], kept, assume_unique=True)]


def count_texts(postings: Postings) -> int:
    """Return the number of texts in which a term occurs."""
    return len(np.unique(postings["number"]))
