"""What speaks for a quotation as the answer to a question, as numbers that a model weighs."""

from dataclasses import dataclass

from query.extractive.question import Question
from query.extractive.quotes import Quote, Scorer
from query.extractive.stating import shows_formula
from query.extractive.topic import topic

__all__ = ["Signals", "signals"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Signals:
    """Each 0 to 1. `own` is the share of the question's telling words that the quotation holds, `coverage` that with
    its surroundings, `asked` that of the words that name the thing asked about, and `names` the share of the
    question's names that neither the quotation nor its surroundings hold. `meaning` is its likeness to the question.

    `within` tells that retrieval chose its element, `caption` that it is a caption, `formula` that it shows a formula
    where one is asked for, `elsewhere` that neither the quotation nor its surroundings speak of what a thing is asked
    of ("the learning rate of the ensemble").
    """

    own: float
    coverage: float
    asked: float
    names: float
    meaning: float
    within: bool
    caption: bool
    formula: bool
    elsewhere: bool


def signals(question: Question, quote: Quote, scorer: Scorer, *, likeness: float, within: bool) -> Signals:
    """`likeness` is the cosine with the question, `within` whether retrieval chose the element."""
    asked = (question.focus if question.kind == "formula" else question.expected.asked) & question.telling
    about = topic(question)
    shows = quote.equation is not None or shows_formula(quote.text)
    return Signals(
        own=_share(scorer, quote.held, question.telling),
        coverage=quote.coverage,
        asked=_share(scorer, quote.held, asked or question.telling),
        names=_share(scorer, question.names - quote.held - quote.around, question.names),
        meaning=max(likeness, 0.0),
        within=within,
        caption=quote.element.kind == "figure",
        formula=question.kind == "formula" and shows,
        elsewhere=bool(about) and not about & (quote.held | quote.around),
    )


def _share(scorer: Scorer, held: frozenset[int], asked: frozenset[int]) -> float:
    total = scorer.weight(asked)
    return scorer.weight(held & asked) / total if total else 0.0
