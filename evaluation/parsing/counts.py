"""Scores what is known by number or count only: equations, figures, the title."""

from collections import Counter

from evaluation.gold.values import Gold
from evaluation.matching import similarity
from evaluation.parsing.labels import number_of
from evaluation.values import Miss, Score, Tally
from paperscope_core.types import Equation, Figure, Paper

__all__ = ["score_counts"]


def score_counts(paper: Paper, gold: Gold) -> Score:
    """equations.found: gold numbers that an equation bears; equations.true: numbers that the gold has;
    figures.count: the smaller of the counts found and true, of the larger; title: equal but for case and blanks."""
    tallies: dict[str, Tally] = {}
    misses: list[Miss] = []
    if gold.equations is not None:
        labels = [element.label for element in paper.elements if isinstance(element, Equation) and element.label]
        got, wanted = Counter(number_of(label) for label in labels), Counter(gold.equations)
        met = (got & wanted).total()
        tallies["equations.found"] = Tally(right=met, total=wanted.total())
        tallies["equations.true"] = Tally(right=met, total=got.total())
        misses += [Miss(metric="equations.found", what="equation", gold=number) for number in wanted - got]
        misses += [Miss(metric="equations.true", what="equation", gold="", got=number) for number in got - wanted]
    if gold.figures is not None:
        count = sum(isinstance(element, Figure) for element in paper.elements)
        larger = max(count, gold.figures)
        tallies["figures.count"] = Tally(right=min(count, gold.figures), total=larger)
        if count != gold.figures:
            misses.append(Miss(metric="figures.count", what="figures", gold=str(gold.figures), got=str(count)))
    if gold.title is not None:
        right = similarity(gold.title, paper.title) == 1
        tallies["title"] = Tally(right=right, total=1)
        if not right:
            misses.append(Miss(metric="title", what="title", gold=gold.title, got=paper.title))
    return Score(tallies=tallies, misses=tuple(misses))
