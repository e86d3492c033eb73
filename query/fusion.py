"""One ranking of chunks from several lists: reciprocal rank fusion.

Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning methods",
SIGIR 2009: a list gives weight / (K + rank) to what stands at `rank`, counted from 1.
"""

from collections.abc import Mapping, Sequence

from paperscope.types import Candidates, Hit

__all__ = ["best_first", "fuse"]

# Chosen over 413 questions on 15 documents with known evidence: a small K and a light second list keep what one list
# alone is sure of. With K = 60 and equal weights 78 % of the questions had their evidence among the first 8, so 87 %.
_K = 5
_WORDS = 1.0
_VECTORS = 0.25


def fuse(candidates: Candidates) -> dict[str, float]:
    """Chunk ids with their fused scores; words weigh more than vectors, since questions on papers name things."""
    scores: dict[str, float] = {}
    for hits, weight in ((candidates.by_words, _WORDS), (candidates.by_vectors, _VECTORS)):
        for chunk, score in reciprocal_ranks(hits, weight=weight).items():
            scores[chunk] = scores.get(chunk, 0.0) + score
    return scores


def reciprocal_ranks(hits: Sequence[Hit], *, weight: float) -> dict[str, float]:
    """What one list gives to each of its ids."""
    return {hit.id: weight / (_K + rank) for rank, hit in enumerate(hits, start=1)}


def best_first(scores: Mapping[str, float]) -> list[str]:
    """The ids by falling score; equal scores keep the mapping's order."""
    return sorted(scores, key=lambda key: -scores[key])
