"""What a paper's sentences tie to a table's names: a table of LoRA's settings is about the model that a sentence says
was trained with LoRA."""

from collections.abc import Sequence
from dataclasses import replace

from paperscope_core.text.sentences import split_sentences
from paperscope_core.types import Paper
from query.extractive.question import Question
from query.extractive.select import Selection
from query.extractive.weights import Weights
from query.extractive.words import likeness, tokens

__all__ = ["linked"]


# A name that a sentence ties to the table says less than one that the table holds.
_LINKED = 0.6
_TELLING = 0.4
# What is compared must stand in the table itself.
_COMPARES = ("difference", "comparison", "gain", "ratio")


def linked(question: Question, selection: Selection, weights: Weights, paper: Paper) -> Selection:
    """The selection with the question's names that it lacks counted as held, if sentences say them together with a
    telling word of a row or column name that the question holds in full, and leave no telling word of the question
    open; unchanged otherwise."""
    own = [mention for mention in selection.mentions if mention.whole]
    words = [question.words[index].text for mention in own for index in mention.at]
    telling = [word for word in dict.fromkeys(words) if weights.of(word) >= _TELLING and word not in selection.unheld]
    if not selection.unheld or not telling or question.kind in _COMPARES:
        return selection
    ties = [tie for name in selection.unheld for tie in _ties(paper, name, telling)]
    about = "\n".join((selection.view.table.caption, *ties))
    named = frozenset(index for mention in selection.mentions for index in mention.at)
    left = [question.words[index].text for index in question.telling - named]
    if not all(_holds(about, (word,)) for word in left if weights.of(word) >= _TELLING):
        return selection
    total = weights.total(question.words[index] for index in question.telling)
    names = [index for index in question.names if question.words[index].text in selection.unheld]
    gained = _LINKED * weights.total(question.words[index] for index in names) / total
    return replace(selection, coverage=selection.coverage + gained, unheld=())


def _ties(paper: Paper, name: str, telling: Sequence[str]) -> list[str]:
    """The sentences that hold the name and one of the telling words."""
    texts = (element.text for element in paper.elements if element.kind == "passage")
    found = (sentence for text in texts if name in text.casefold() for sentence in split_sentences(text))
    return [sentence for sentence in found if _holds(sentence, (name,)) and _holds(sentence, telling)]


def _holds(text: str, words: Sequence[str]) -> bool:
    held = {token.text for token in tokens(text)}
    return any(likeness(word, other) > 0.7 for word in words for other in held)
