"""Which of two compared things a sentence puts where the question has the other."""

import re
from collections.abc import Sequence

from query.extractive.claimed import Claimed
from query.extractive.opposites import alike, clauses, opposite
from query.extractive.question import Question
from query.extractive.words import FUNCTION_WORDS, tokens

__all__ = ["compared_alike"]


# "A outperforms B" compares without "than".
_BEATS = re.compile(r"(?:outperform|underperform|exceed|surpass|beat)\w*")
_PASSIVE = 2
_PIVOTS = frozenset("against compared over relative than versus vs".split())
# "the", "to": what may stand between a pivot and the standard.
_LOOSE = 2


def compared_alike(question: Question, claimed: Claimed, text: str) -> bool | None:
    """Whether the text compares in the question's order, True where the question compares nothing with another thing,
    None where the text doesn't tell."""
    compared, standard = _sides(question, claimed)
    if not standard:
        return True
    words = [question.words[index].text for index in sorted(claimed.compares)]
    for clause in clauses(text):
        found = _order([token.text for token in tokens(clause)], words, compared, standard)
        if found is not None:
            return found
    return None


def _sides(question: Question, claimed: Claimed) -> tuple[frozenset[str], frozenset[str]]:
    """The words that only what is compared, and that only the standard of comparison bears; none without both."""
    beats = [index for index in claimed.compares if _BEATS.match(question.words[index].text)]
    start = beats[0] + 1 if beats else question.baseline
    if not claimed.compares or start is None or start <= min(claimed.compares):
        return frozenset(), frozenset()
    end = _end(question, claimed, start)
    before = frozenset(question.words[index].text for index in claimed.words - claimed.compares if index < start)
    behind = frozenset(question.words[index].text for index in claimed.words if start <= index < end)
    return (before - behind, behind - before) if before - behind else (frozenset(), frozenset())


def _end(question: Question, claimed: Claimed, start: int) -> int:
    """Where the standard's first words end: before the next function word."""
    ends = (
        index
        for index in range(start + 1, len(question.words))
        if question.words[index].text in FUNCTION_WORDS and index - 1 in claimed.words
    )
    return next(ends, len(question.words))


def _order(
    words: Sequence[str], compares: Sequence[str], compared: frozenset[str], standard: frozenset[str]
) -> bool | None:
    at = next((index for index, word in enumerate(words) if _compares(word, compares)), None)
    if at is None:
        return None
    verb = _BEATS.match(words[at]) is not None
    first, last = _parted(words, at, verb=verb, width=len(standard) + _LOOSE)
    same = (_holds(first, compared) and not _holds(first, standard)) or (
        _holds(last, standard) and not _holds(last, compared)
    )
    turned = (_holds(first, standard) and not _holds(first, compared)) or (
        _holds(last, compared) and not _holds(last, standard)
    )
    passive = verb and "by" in words[at : at + _PASSIVE]
    return None if same == turned else same != passive


def _parted(words: Sequence[str], at: int, *, verb: bool, width: int) -> tuple[Sequence[str], Sequence[str]]:
    """The words for what is compared, and those for the standard: behind "than", or behind the verb. Where "compared
    to" goes before the comparison, the standard is at most `width` words."""
    pivot = next((index for index, word in enumerate(words) if word in _PIVOTS and index != at), None)
    if pivot is None:
        return words[:at], words[at:] if verb else ()
    if pivot < at:
        end = min(pivot + 1 + width, at)
        return (*words[:pivot], *words[end:at]), words[pivot:end]
    return words[:at], words[pivot:]


def _compares(word: str, compares: Sequence[str]) -> bool:
    return any(alike(word, other) or opposite(word, other) for other in compares)


def _holds(words: Sequence[str], wanted: frozenset[str]) -> bool:
    return any(alike(word, other) for word in words for other in wanted)
