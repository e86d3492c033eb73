"""Ranking measures, and the score of a ranking against the evidence."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log2

from evaluation.retrieval.corpora import EvidencePiece
from evaluation.score import Tally

__all__ = [
    "HEADLINE",
    "first_rank",
    "hit_at",
    "ndcg_at",
    "precision_at",
    "recall_at",
    "reciprocal_rank",
    "score_ranking",
]


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


@dataclass(frozen=True, kw_only=True, slots=True)
class _JudgedRanking:
    """A ranking beside the evidence: the pieces found at each rank, of how many, and how many units hold any."""

    found: Sequence[frozenset[int]]
    pieces: int
    relevant: int

    @property
    def flags(self) -> list[bool]:
        return [bool(found) for found in self.found]


_METRICS: Mapping[str, Callable[[_JudgedRanking], float]] = {
    "hit@1": lambda judged: hit_at(judged.flags, 1),
    "hit@5": lambda judged: hit_at(judged.flags, 5),
    "recall@5": lambda judged: recall_at(judged.found, 5, pieces=judged.pieces),
    "recall@10": lambda judged: recall_at(judged.found, 10, pieces=judged.pieces),
    "MRR": lambda judged: reciprocal_rank(judged.flags),
    "nDCG@10": lambda judged: ndcg_at(judged.flags, 10, relevant=judged.relevant),
}
_BY_KIND = ("hit@5", "recall@5")
HEADLINE = ("hit@1", "hit@5", "recall@5", "recall@10", "MRR")


def score_ranking(ranking: Sequence[str], evidence: Sequence[Sequence[EvidencePiece]]) -> dict[str, Tally]:
    """Each metric of a ranking of distinct units; with several annotators, that with the evidence of whichever is best,
    as QASPER scores evidence (Dasigi et al., 2021, section 4).

    "hit@5.table" is the metric over those pieces that may be tables; it is there if there are any.
    """
    values = {name: _best(name, ranking, evidence) for name in _METRICS}
    kinds = dict.fromkeys(kind for pieces in evidence for piece in pieces for kind in piece.kinds)
    for kind in kinds:
        of_kind = [[piece for piece in pieces if kind in piece.kinds] for pieces in evidence]
        values |= {f"{name}.{kind}": _best(name, ranking, list(filter(None, of_kind))) for name in _BY_KIND}
    return {name: Tally(right=value, total=1) for name, value in values.items()}


def first_rank(ranking: Sequence[str], evidence: Sequence[Sequence[EvidencePiece]]) -> int | None:
    """The rank of the first unit, from 1, that holds evidence; None where none does."""
    units = {unit for pieces in evidence for piece in pieces for unit in piece.units}
    return next((rank for rank, unit in enumerate(ranking, start=1) if unit in units), None)


def _best(metric: str, ranking: Sequence[str], evidence: Sequence[Sequence[EvidencePiece]]) -> float:
    return max(_METRICS[metric](_judged(ranking, pieces)) for pieces in evidence)


def _judged(ranking: Sequence[str], pieces: Sequence[EvidencePiece]) -> _JudgedRanking:
    return _JudgedRanking(
        found=[frozenset(at for at, piece in enumerate(pieces) if unit in piece.units) for unit in ranking],
        pieces=len(pieces),
        relevant=len({unit for piece in pieces for unit in piece.units}),
    )
