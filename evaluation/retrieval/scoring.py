"""What a ranking of units is worth."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evaluation.metrics.ranking import hit_at, ndcg_at, recall_at, reciprocal_rank
from evaluation.retrieval.values import Piece
from evaluation.values import Tally

__all__ = ["HEADLINE", "first_rank", "tallies"]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Judged:
    """A ranking beside the evidence: the pieces found at each rank, of how many, and how many units hold any."""

    found: Sequence[frozenset[int]]
    pieces: int
    relevant: int

    @property
    def flags(self) -> list[bool]:
        return [bool(found) for found in self.found]


_METRICS: Mapping[str, Callable[[_Judged], float]] = {
    "hit@1": lambda judged: hit_at(judged.flags, 1),
    "hit@5": lambda judged: hit_at(judged.flags, 5),
    "recall@5": lambda judged: recall_at(judged.found, 5, pieces=judged.pieces),
    "recall@10": lambda judged: recall_at(judged.found, 10, pieces=judged.pieces),
    "MRR": lambda judged: reciprocal_rank(judged.flags),
    "nDCG@10": lambda judged: ndcg_at(judged.flags, 10, relevant=judged.relevant),
}
_BY_KIND = ("hit@5", "recall@5")
HEADLINE = ("hit@1", "hit@5", "recall@5", "recall@10", "MRR")


def tallies(ranking: Sequence[str], evidence: Sequence[Sequence[Piece]]) -> dict[str, Tally]:
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


def first_rank(ranking: Sequence[str], evidence: Sequence[Sequence[Piece]]) -> int | None:
    """The rank of the first unit, from 1, that holds evidence; None where none does."""
    units = {unit for pieces in evidence for piece in pieces for unit in piece.units}
    return next((rank for rank, unit in enumerate(ranking, start=1) if unit in units), None)


def _best(metric: str, ranking: Sequence[str], evidence: Sequence[Sequence[Piece]]) -> float:
    return max(_METRICS[metric](_judged(ranking, pieces)) for pieces in evidence)


def _judged(ranking: Sequence[str], pieces: Sequence[Piece]) -> _Judged:
    return _Judged(
        found=[frozenset(at for at, piece in enumerate(pieces) if unit in piece.units) for unit in ranking],
        pieces=len(pieces),
        relevant=len({unit for piece in pieces for unit in piece.units}),
    )
