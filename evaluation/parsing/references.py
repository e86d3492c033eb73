"""Scores the entries of the bibliography."""

from collections.abc import Sequence

from evaluation.gold.values import Gold
from evaluation.matching import fold, pair_best, similarity
from evaluation.values import Miss, Score, Tally
from paperscope_core.types import Paper, Reference

__all__ = ["score_references"]


_SAME_REFERENCE = 0.9


def score_references(paper: Paper, gold: Gold) -> Score:
    """references.count: the paper has as many entries as the gold (per paper). Where the gold has their texts:
    references.split: entries met one to one at a trigram similarity of 0.9; references.true: found entries that were
    met; references.year and references.label: right, of those met whose year or label the gold knows."""
    got = [element for element in paper.elements if isinstance(element, Reference)]
    expected = len(gold.references) if gold.references is not None else gold.reference_count
    if expected is None:
        return Score()
    right = len(got) == expected
    miss = () if right else (Miss(metric="references.count", what="entries", gold=str(expected), got=str(len(got))),)
    score = Score(tallies={"references.count": Tally(right=right, total=1)}, misses=miss)
    return score if gold.references is None else score + _score_entries(got, gold)


def _score_entries(got: Sequence[Reference], gold: Gold) -> Score:
    wanted = gold.references or ()
    pairs = pair_best(wanted, got, worth=lambda a, b: similarity(a.text, b.text), least=_SAME_REFERENCE)
    met = [(wanted[i], got[j]) for i, j in pairs.items()]
    years = [(one.year, other.year) for one, other in met if one.year is not None]
    labels = [(fold(one.label), fold(other.label)) for one, other in met if one.label]
    misses = [
        Miss(metric="references.split", what=f"entry {index + 1}", gold=entry.text)
        for index, entry in enumerate(wanted)
        if index not in pairs
    ]
    misses += [Miss(metric="references.year", what="year", gold=str(a), got=str(b)) for a, b in years if a != b]
    misses += [Miss(metric="references.label", what="label", gold=a, got=b) for a, b in labels if a != b]
    return Score(
        tallies={
            "references.split": Tally(right=len(pairs), total=len(wanted)),
            "references.true": Tally(right=len(pairs), total=len(got)),
            "references.year": Tally(right=sum(a == b for a, b in years), total=len(years)),
            "references.label": Tally(right=sum(a == b for a, b in labels), total=len(labels)),
        },
        misses=tuple(misses),
    )
