"""One ranking of chunks from several lists: a weighted mean of their scores.

Bruch, Gai and Ingber, "An analysis of fusion functions for hybrid retrieval", TOIS 2023: a convex combination of
normalised scores does better than reciprocal ranks and needs one weight. Here the norm of words is not the list's best
score but the most that the question's words can give, so that the question decides between the two: where no chunk
holds much of what it says, words say little and vectors rank; where one holds nearly all, words win.
"""

from collections.abc import Mapping

from paperscope.types import Candidates

__all__ = ["best_first", "fuse"]

# The weight of words, vectors have the rest: chosen from 0.5, 0.6 … 0.8 on the fitting part of `paperscope eval
# retrieval`. There the mean reciprocal rank over its sets is .663, with words and vectors alone .630 and .578; any of
# those weights gives .652 or more.
_WORDS = 0.7


def fuse(candidates: Candidates) -> dict[str, float]:
    """Chunk ids with their fused scores, 0 to 1.

    A chunk that is in one list only may have up to the least score of the other: by vectors it is taken to have that,
    by words, which most chunks share none of, nothing.
    """
    words = {hit.id: hit.score for hit in candidates.by_words}
    vectors = {hit.id: max(hit.score, 0.0) for hit in candidates.by_vectors}
    least = min(vectors.values(), default=0.0)
    return {
        chunk: _WORDS * words.get(chunk, 0.0) + (1 - _WORDS) * vectors.get(chunk, least)
        for chunk in dict.fromkeys((*words, *vectors))
    }


def best_first(scores: Mapping[str, float]) -> list[str]:
    """The ids by falling score; equal scores keep the mapping's order."""
    return sorted(scores, key=lambda key: -scores[key])
