"""What a quotation must have to answer a question at all, however much it speaks of the same things."""

from query.extractive.patterns import PICTURED
from query.extractive.question import Question
from query.extractive.quotes import Quote, Scorer
from query.extractive.stating import new_words, states

__all__ = ["may_answer"]


_FIGURES = ("number", "year")
# The share of the words that name the thing asked about that must stand beside its figure.
_ASKED = 0.5
# The share of the question's names that the quotation and its surroundings must hold.
_NAMES = 0.34
# How many words beyond the question's own it takes to tell how, or what a thing is.
_LEAST_NEW = {"manner": 4, "definition": 2}


def may_answer(question: Question, quote: Quote, scorer: Scorer) -> bool:
    """Whether the quotation is about the question's names and has the form expected: a figure stands beside the thing
    asked about, and it says more than the question. What a picture shows is told by a caption or a mention only."""
    held = scorer.weight(question.names & (quote.held | quote.around))
    if held < _NAMES * scorer.weight(question.names):
        return False
    if question.pictured and quote.element.kind != "figure" and not PICTURED.search(quote.text.casefold()):
        return False
    if question.told_over or quote.equation is not None:
        return True
    form, asked = question.expected.form, question.expected.asked & question.telling
    if not states(question, quote.said) or len(new_words(question, quote.said)) < _LEAST_NEW.get(form, 0):
        return False
    return form not in _FIGURES or scorer.weight(asked & quote.held) >= _ASKED * scorer.weight(asked)
