"""Whether a sentence affirms or denies what a yes/no question puts: its words aligned, its negations counted."""

import re
from collections.abc import Sequence

from query.embedded.question import Question
from query.embedded.quotes import Quote, Scorer
from query.embedded.words import likeness, tokens

__all__ = ["verdict"]

# The share of the proposition's words that one quotation must hold, and that it must hold with its surroundings.
_HELD = 0.5
_WITH_SURROUNDINGS = 0.7
_NEGATION = re.compile(
    r"\b(?:not(?! only)|no(?! doubt)|never|none|neither|nor|cannot|without|hardly|lack(?:s|ed|ing)?|fail(?:s|ed|ing)?|"
    r"unable|instead of|rather than|absence|eliminat(?:e|es|ed|ing)|avoid(?:s|ed|ing)?|remov(?:e|es|ed|ing)|"
    r"discard(?:s|ed|ing)?|free (?:of|from)|falls? short)\b|n['’]t\b|\bnon-|\w-free\b",
    re.IGNORECASE,
)
# What may be, will be or would be is no fact.
_SUPPOSED = re.compile(
    r"\b(?:if|may|might|could|would|will|should|future|hope|whether|unclear|hypothesi[sz]e|suppose|suspect)\b",
    re.IGNORECASE,
)
_OPPOSITES = tuple(
    tuple(pair.split("/"))
    for pair in """higher/lower highest/lowest high/low better/worse best/worst more/less more/fewer most/least
    increase/decrease large/small larger/smaller largest/smallest improve/degrade outperform/underperform
    include/exclude easy/hard easy/difficult easier/harder same/different positive/negative strong/weak
    stronger/weaker fast/slow faster/slower enable/prevent simple/complex basic/complex manual/automatic
    always/never public/private open/closed rise/fall gain/loss accept/reject agree/disagree freeze/unfreeze""".split()
)
_COMPARES = re.compile(
    r"(?:higher|lower|better|worse|more|less|larger|smaller|greater|fewer|faster|slower|longer|shorter|highest|lowest|"
    r"largest|smallest|best|worst|most|least|outperform|exceed|surpass|beat|improv|boost|gain|increas|drop|decreas)\w*"
)
_FIGURE = re.compile(r"(?<![\w.])\d[\d.,]*")
_FORM = 0.7
_PREFIXES = ("un", "in", "im", "ir", "non", "sub", "dis")
_LONGEST_PREFIXED = 4


def verdict(question: Question, quote: Quote, scorer: Scorer) -> bool | None:
    """True where the quotation affirms the proposition, False where it denies it, None where it does neither surely.

    Each negation that only one of both has, and each word in place of its opposite, turns the sense round.
    """
    words = [token.text for token in tokens(quote.text)]
    opposed = frozenset(index for index in _proposed(question) - quote.held if _opposes(question, index, words))
    held, total = quote.held | opposed, scorer.weight(question.telling) or 1.0
    if scorer.weight(held) < _HELD * total or scorer.weight(held | quote.around) < _WITH_SURROUNDINGS * total:
        return None
    compared = _proposed(question) - question.telling
    if question.names - held - quote.around or not all(_says(question, index, words) for index in compared - opposed):
        return None
    if _supposes(question, quote.text) or not _figures(question.text) <= _figures(quote.text):
        return None
    turns = len(opposed) + _negations(quote.text) - _negations(question.text)
    return turns % 2 == 0


def _proposed(question: Question) -> frozenset[int]:
    """The words of the proposition: the telling ones, and those that compare."""
    compare = (index for index in question.operators if _COMPARES.match(question.words[index].text))
    return question.telling | frozenset(compare)


def _says(question: Question, index: int, words: Sequence[str]) -> bool:
    return any(_alike(question.words[index].text, word) for word in words)


def _opposes(question: Question, index: int, words: Sequence[str]) -> bool:
    return any(_opposite(question.words[index].text, word) for word in words)


def _opposite(one: str, other: str) -> bool:
    if any(_alike(one, first) and _alike(other, last) for pair in _OPPOSITES for first, last in (pair, pair[::-1])):
        return True
    short, long = sorted((one, other), key=len)
    return any(
        long.startswith(prefix) and len(short) >= _LONGEST_PREFIXED and _alike(long.removeprefix(prefix), short)
        for prefix in _PREFIXES
    )


def _alike(one: str, other: str) -> bool:
    """Whether two words are forms of one."""
    return likeness(one, other) > _FORM


def _supposes(question: Question, text: str) -> bool:
    asked = {match[0].casefold() for match in _SUPPOSED.finditer(question.text)}
    return any(match[0].casefold() not in asked for match in _SUPPOSED.finditer(text))


def _negations(text: str) -> int:
    return sum(1 for _ in _NEGATION.finditer(text))


def _figures(text: str) -> frozenset[str]:
    return frozenset(figure.rstrip(".,") for figure in _FIGURE.findall(text))
