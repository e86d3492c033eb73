"""Scores the captions of figures and tables."""

from collections.abc import Sequence

from evaluation.gold.values import Gold, GoldCaption
from evaluation.matching import pair_best, similarity
from evaluation.parsing.labels import number_of
from evaluation.values import Miss, Score, Tally
from paperscope_core.types import Figure, Paper, Table

__all__ = ["score_captions"]


_SAME_CAPTION = 0.85


def score_captions(paper: Paper, gold: Gold) -> Score:
    """captions.figure, captions.table, captions.any (kind not known): gold captions that a float of that kind bears,
    with the gold's number where it has one; alike means a trigram similarity of 0.85 and more."""
    floats = [element for element in paper.elements if isinstance(element, Table | Figure)]
    pairs = pair_best(gold.captions, floats, worth=_caption_worth, least=_SAME_CAPTION)
    score = Score()
    for index, caption in enumerate(gold.captions):
        metric = f"captions.{caption.kind or 'any'}"
        right = index in pairs
        what = caption.label or "caption"
        miss = () if right else (Miss(metric=metric, what=what, gold=caption.text, got=_nearest(caption, floats)),)
        score += Score(tallies={metric: Tally(right=right, total=1)}, misses=miss)
    return score


def _caption_worth(caption: GoldCaption, element: Table | Figure) -> float:
    if caption.kind not in (None, element.kind):
        return 0.0
    if caption.label and number_of(caption.label) != number_of(element.label):
        return 0.0
    return similarity(caption.text, element.caption)


def _nearest(caption: GoldCaption, floats: Sequence[Table | Figure]) -> str:
    ranked = sorted(floats, key=lambda element: -similarity(caption.text, element.caption))
    return f"{ranked[0].label}: {ranked[0].caption}" if ranked else ""
