"""The score of a ranking against the evidence of a question: trec_eval's metrics, and the recall of pieces."""

from collections.abc import Mapping, Sequence

import pytrec_eval

from paperscope_lab.evaluation.retrieval.corpora import EvidencePiece
from paperscope_lab.evaluation.score import Tally

__all__ = ["HEADLINE", "first_rank", "score_ranking"]

# trec_eval's metrics by our names. A unit is relevant if it contains a piece of the evidence.
_MEASURES = {"hit@1": "success_1", "hit@5": "success_5", "MRR": "recip_rank", "nDCG@10": "ndcg_cut_10"}
_EVALUATED = {"success.1,5", "recip_rank", "ndcg_cut.10"}
_METRICS = ("hit@1", "hit@5", "recall@5", "recall@10", "MRR", "nDCG@10")
_METRICS_BY_KIND = ("hit@5", "recall@5")
HEADLINE = ("hit@1", "hit@5", "recall@5", "recall@10", "MRR")


def score_ranking(ranking: Sequence[str], evidence: Sequence[Sequence[EvidencePiece]]) -> dict[str, Tally]:
    """Return each metric of a ranking of distinct units.

    With several annotators, a metric is the best value over the annotators, as QASPER scores evidence (Dasigi et al.,
    2021, section 4). "hit@5.table" is the metric over the pieces that may be tables, if any.
    """
    values = _best_values(ranking, evidence, _METRICS)
    for kind in dict.fromkeys(kind for pieces in evidence for piece in pieces for kind in piece.kinds):
        of_kind = [[piece for piece in pieces if kind in piece.kinds] for pieces in evidence]
        found = _best_values(ranking, [pieces for pieces in of_kind if pieces], _METRICS_BY_KIND)
        values |= {f"{name}.{kind}": value for name, value in found.items()}
    return {name: Tally(right=value, total=1) for name, value in values.items()}


def first_rank(ranking: Sequence[str], evidence: Sequence[Sequence[EvidencePiece]]) -> int | None:
    """Return the rank, from 1, of the first unit that contains evidence; None if there is none."""
    units = {unit for pieces in evidence for piece in pieces for unit in piece.units}
    return next((rank for rank, unit in enumerate(ranking, start=1) if unit in units), None)


def _best_values(
    ranking: Sequence[str], evidence: Sequence[Sequence[EvidencePiece]], metrics: Sequence[str]
) -> dict[str, float]:
    relevant = {
        str(annotator): {unit: 1 for piece in pieces for unit in piece.units}
        for annotator, pieces in enumerate(evidence)
    }
    scores = {unit: -float(rank) for rank, unit in enumerate(ranking)}
    evaluator = pytrec_eval.RelevanceEvaluator(relevant, _EVALUATED)
    evaluated: Mapping[str, Mapping[str, float]] = evaluator.evaluate(dict.fromkeys(relevant, scores))
    values = [
        {name: evaluated[str(annotator)][measure] for name, measure in _MEASURES.items()}
        | {f"recall@{k}": _recall(ranking[:k], pieces) for k in (5, 10)}
        for annotator, pieces in enumerate(evidence)
    ]
    return {name: max(found[name] for found in values) for name in metrics}


def _recall(units: Sequence[str], pieces: Sequence[EvidencePiece]) -> float:
    """Return the share of the pieces that these units contain.

    trec_eval's recall counts units instead, of which several may contain one piece, and one may contain several.
    """
    return sum(not set(units).isdisjoint(piece.units) for piece in pieces) / len(pieces)
