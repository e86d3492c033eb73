"""How well a ranking finds what is relevant, for one question. `flags` say for each rank whether it is relevant."""

from collections.abc import Sequence
from math import log2

__all__ = ["hit_at", "ndcg_at", "precision_at", "recall_at", "reciprocal_rank"]


def hit_at(flags: Sequence[bool], k: int) -> float:
    """1 where one of the first `k` is relevant, else 0."""
    return float(any(flags[:k]))


def reciprocal_rank(flags: Sequence[bool]) -> float:
    """1 / the rank of the first relevant one, counted from 1; 0 where there is none (Voorhees, TREC-8, 1999)."""
    return next((1 / rank for rank, flag in enumerate(flags, start=1) if flag), 0.0)


def precision_at(flags: Sequence[bool], k: int) -> float:
    """The share of `k` ranks that is relevant; a ranking shorter than `k` counts as filled up with what is not."""
    return sum(map(bool, flags[:k])) / k


def recall_at(found: Sequence[frozenset[int]], k: int, *, pieces: int) -> float:
    """The share of the gold pieces that the first `k` cover together; `found` holds the pieces covered at each rank.

    A piece counts once, however many ranks cover it. 0 where there are no pieces: leave such questions out.
    """
    covered: frozenset[int] = frozenset().union(*found[:k])
    return len(covered) / pieces if pieces else 0.0


def ndcg_at(flags: Sequence[bool], k: int, *, relevant: int) -> float:
    """DCG over the DCG of the best possible ranking, each of the first `k` gaining 1 / log2(1 + rank).

    Järvelin & Kekäläinen, Cumulated gain-based evaluation of IR techniques (2002), with binary gains and the discount
    that is usual since, as in trec_eval. `relevant` is how many relevant units the corpus holds; where the ranking
    shows more of them (several units that cover one piece), it holds as many. 0 where there are none.
    """
    ideal = min(max(relevant, sum(map(bool, flags))), k)
    best = sum(1 / log2(1 + rank) for rank in range(1, ideal + 1))
    gain = sum(1 / log2(1 + rank) for rank, flag in enumerate(flags[:k], start=1) if flag)
    return gain / best if best else 0.0
