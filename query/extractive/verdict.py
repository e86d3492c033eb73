"""Whether a quotation affirms or denies what a yes/no question claims: its words aligned, its negations counted."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from paperscope_core.types import Paper
from query.extractive.claimed import Claimed, read_claimed
from query.extractive.opposites import alike, clauses, elliptic, negations, opposite, suppositions
from query.extractive.question import Question
from query.extractive.quotes import Quote, Scorer
from query.extractive.sides import compared_alike
from query.extractive.significance import LEVEL, asks_significance, level_in, significance
from query.extractive.words import LIGHT_WORDS, tokens

__all__ = ["settled"]


# The share of the question that one quotation must hold, and that it must hold with its surroundings.
_HELD = 0.5
_WITH_SURROUNDINGS = 0.7
_FIGURE = re.compile(r"(?<![\w.])\d[\d.,]*")
# Verbs of having, using and enabling say much the same of a thing: any of them stands for any other.
_GENERAL = frozenset(
    """adapt adopt allow apply comprise contain employ enable enjoy equip exploit feature handle have include
    incorporate integrate involve let offer permit possess process provide serve support use utilise utilize""".split()
)
# Nouns that only say what kind of thing a name stands for.
_KINDS = LIGHT_WORDS | frozenset(
    "algorithm architecture family framework library network technique tool version".split()
)
# "Does A perform better?" is settled by "A is better".
_DOES = frozenset("perform performs performed run runs work works worked".split())


@dataclass(frozen=True, kw_only=True, slots=True)
class _Held:
    """What a quotation's `words` account for: indices of the question's words that it says, has the opposite of, or
    leaves to what stands around it."""

    words: tuple[str, ...]
    said: frozenset[int]
    opposed: frozenset[int]
    around: frozenset[int]


def settled(
    question: Question, quotes: Sequence[Quote], scorer: Scorer, papers: Sequence[Paper]
) -> tuple[bool, Quote] | None:
    """Yes or no, and the first of the quotations that settles it; None where none does."""
    claimed = read_claimed(question)
    levels = _levels(question, papers)
    for quote in quotes:
        level = levels.get(quote.element.place.paper, LEVEL)
        affirms = _verdict(question, claimed, quote, scorer, level=level)
        if affirms is not None:
            return affirms, quote
    return None


def _verdict(question: Question, claimed: Claimed, quote: Quote, scorer: Scorer, *, level: float) -> bool | None:
    """True where the quotation affirms the claim, False where it denies it, None where it does neither surely.

    The quotation itself must say the subject and the predicate, or its opposite. Each negation beside the predicate
    that only one of both has, each opposite, and things compared the other way round turn the sense. Of significance,
    figures decide: a p-value above `level` denies it.
    """
    asks = frozenset(index for index in claimed.words if asks_significance(question.words[index].text))
    figures = significance(quote.text, level) if asks else frozenset()
    held = _held(question, claimed, quote, known=asks if figures else frozenset())
    if not _accounts(question, claimed, held, scorer) or asks - held.said - held.opposed or len(figures) > 1:
        return None
    if suppositions(quote.text) - suppositions(question.text) or not _figures(question.text) <= _figures(quote.text):
        return None
    same = compared_alike(question, claimed, quote.text)
    if same is None:
        return None
    turned = not same
    if figures:
        turned |= False in figures
    elif (len(held.opposed) + _negations(question, claimed, quote.text)) % 2:
        turned = not turned
    return turned == (negations(question.text) % 2 == 1)


def _held(question: Question, claimed: Claimed, quote: Quote, *, known: frozenset[int]) -> _Held:
    """`known` are the words that figures stand for: these speak of what stands beside them, and not around."""
    words = tuple(token.text for token in tokens(quote.text))
    texts = {index: question.words[index].text for index in claimed.words}
    said = quote.held | known | {index for index, text in texts.items() if any(alike(text, word) for word in words)}
    opposed = {index for index, text in texts.items() if any(opposite(text, word) for word in words)} - said
    around = frozenset() if known else quote.around
    return _Held(words=words, said=said, opposed=frozenset(opposed), around=around)


def _accounts(question: Question, claimed: Claimed, held: _Held, scorer: Scorer) -> bool:
    """Whether the quotation itself says what it must of the claim, and enough of it with what stands around."""
    said = held.said | held.opposed
    waived = {index for index in claimed.words - said if _needless(question.words[index].text, claimed, held)}
    lacking = claimed.words - said - waived
    if lacking & claimed.spoken or lacking & question.names - held.around:
        return False
    total = scorer.weight(question.telling - waived)
    return scorer.weight(said) >= _HELD * total and scorer.weight(said | held.around) >= _WITH_SURROUNDINGS * total


def _needless(word: str, claimed: Claimed, held: _Held) -> bool:
    """Whether the quotation may leave a word of the claim unsaid."""
    if word in _KINDS or (claimed.compares and word in _DOES):
        return True
    return _general(word) and any(_general(other) for other in held.words)


def _general(word: str) -> bool:
    return any(alike(word, verb) for verb in _GENERAL)


def _negations(question: Question, claimed: Claimed, text: str) -> int:
    """How many negations stand in the clause of a text that holds most of the predicate, and in those that deny of
    the subject what is said before ("the other does not")."""
    predicate = frozenset(index for index in claimed.words if index >= claimed.predicate)
    found = list(clauses(text))
    best = max(found, key=lambda clause: _holds(question, predicate, clause), default="")
    denying = (clause for clause in found if elliptic(clause) and _holds(question, claimed.words - predicate, clause))
    return sum(negations(clause) for clause in {best, *denying})


def _holds(question: Question, wanted: frozenset[int], clause: str) -> int:
    """How many of the question's words a clause says, or has the opposite of."""
    words = [token.text for token in tokens(clause)]
    texts = (question.words[index].text for index in wanted)
    return sum(any(alike(text, word) or opposite(text, word) for word in words) for text in texts)


def _figures(text: str) -> frozenset[str]:
    return frozenset(figure.rstrip(".,") for figure in _FIGURE.findall(text))


def _levels(question: Question, papers: Sequence[Paper]) -> dict[str, float]:
    """The level of significance that each paper states, by its id, where the question asks for significance."""
    if not any(asks_significance(word.text) for word in question.words):
        return {}
    return {
        paper.id: level_in(element.text for element in paper.elements if element.kind == "passage") for paper in papers
    }
