"""Which of the choices that a question offers its evidence speaks for."""

from collections.abc import Sequence

from query.extractive.question import Question
from query.extractive.quotes import Quote
from query.extractive.words import likeness, tokens

__all__ = ["choose"]


# How much a sentence counts for a choice halves with every so many words between the choice and what is asked about.
_HALF = 3


def choose(question: Question, quotes: Sequence[Quote]) -> tuple[str, Quote] | None:
    """The choice that stands nearest to the question's names, summed over the sentences, and the sentence that says
    so best. None where the sentences hold no choice, or both equally."""
    if len(question.choices) != 2:
        return None
    asked = _asked(question)
    support: dict[str, list[tuple[float, Quote]]] = {choice: [] for choice in question.choices}
    for quote in quotes:
        words = [token.text for token in tokens(quote.text)]
        for choice in question.choices:
            strength = _strength(words, choice, asked) * quote.score
            if strength > 0:
                support[choice].append((strength, quote))
    totals = {choice: sum(strength for strength, _ in found) for choice, found in support.items()}
    one, other = question.choices
    if totals[one] == totals[other]:
        return None
    best = one if totals[one] > totals[other] else other
    return best, max(support[best], key=lambda found: found[0])[1]


def _asked(question: Question) -> list[str]:
    """The names that the question is about, else all its telling words; never the choices themselves."""
    offered = {token.text for choice in question.choices for token in tokens(choice)}
    names = [question.words[index].text for index in sorted(question.names)]
    telling = [question.words[index].text for index in sorted(question.telling)]
    return [word for word in names if word not in offered] or [word for word in telling if word not in offered]


def _strength(words: Sequence[str], choice: str, asked: Sequence[str]) -> float:
    wanted = [token.text for token in tokens(choice)]
    at = [index for index in range(len(words)) if list(words[index : index + len(wanted)]) == wanted]
    strength = 0.0
    for name in asked:
        near = [index for index, word in enumerate(words) if _same(words, index, word, name)]
        if at and near:
            distance = min(abs(one - other) for one in at for other in near)
            strength += 0.5 ** (distance / _HALF)
    return strength


def _same(words: Sequence[str], index: int, word: str, name: str) -> bool:
    following = words[index + 1] if index + 1 < len(words) else ""
    return likeness(word, name) > 0.7 or word + following == name
