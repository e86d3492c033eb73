"""Whether a text states something of the form that a question expects, beyond the question's own words."""

import re
from collections.abc import Callable, Mapping

from query.extractive.expected import Form
from query.extractive.question import Question
from query.extractive.words import FUNCTION_WORDS, Token, likeness, tokens
from query.numbers import numbers_in

__all__ = ["new_words", "shows_formula", "states"]


_YEAR = re.compile(r"(?<![\d.-])(?:19|20)\d\d(?![\d-])")
_PERSON = re.compile(r"\b[A-Z][\w’'-]*\.? (?:[A-Z]\. ?)*[A-Z][\w’'-]+|\b[A-Z][\w’'-]+, [A-Z]\.")
_REASON = re.compile(
    r"\b(?:because|since|due to|owing to|so that|in order to|therefore|thus|hence|as (?:it|they|this|the)|reasons?|"
    r"caused?|leads? to|to (?:avoid|ensure|prevent|reduce|improve|increase|make|allow|enable|obtain|keep|help)|"
    r"(?:allow|enable|help|aim|motivat)\w*)\b",
    re.IGNORECASE,
)
_MANNER = re.compile(
    r"\b(?:by|using|via|through|with|based on|according to|follow(?:s|ing)?|from|then|as (?:an?|the)|first|define[ds]?|"
    r"formally)\b|=",
    re.IGNORECASE,
)
_DEFINES = re.compile(
    r"\b(?:is|are|refers? to|denotes?|means?|consists? of|comprises?|contains?|defined|called|named|stands? for)\b"
    r"|, an? |[(:]",
    re.IGNORECASE,
)
_LISTS = re.compile(r",.*\b(?:and|or)\b|:|;|\bsuch as\b|\bincluding\b|\([1-9a-c]\)|\b(?:and|both)\b", re.DOTALL)
# "The results are shown in Table 2." tells where, not what.
_POINTS = re.compile(
    r"\b(?:shown?|presented?|listed|reported?|summari[sz]e[ds]?|given|illustrate[ds]?|depict(?:ed|s)|found|see|describe[ds]?|"
    r"detailed|discussed|provided?|refer)\b.{0,30}\b(?:tab(?:le|\.)|fig(?:ure|\.)|sec(?:tion|\.)|appendix)",
    re.IGNORECASE,
)
_LEAST_NEW = 4
_SHARES = re.compile(r"\b(?:half|twice|double|third|quarter|dozen|hundreds?|thousands?)\b", re.IGNORECASE)
_FORMULA = re.compile(r"[=∑∏√∫]|\b(?:lg|log|exp|softmax|max|min)\s*\(|\\\w+")


def shows_formula(text: str) -> bool:
    """Whether a text prints a formula."""
    return _FORMULA.search(text) is not None


def states(question: Question, text: str) -> bool:
    """Whether the text could answer by its form alone: for a number, that it prints one that the question doesn't.

    A sentence that only points to a table, a figure or a section states nothing.
    """
    if _POINTS.search(text) and len(new_words(question, text)) < _LEAST_NEW:
        return False
    return _STATES[question.expected.form](question, text)


def new_words(question: Question, text: str) -> tuple[Token, ...]:
    """The telling words of a text that the question doesn't hold, inflected or not."""
    asked = [word.text for word in question.words]
    telling = (word for word in tokens(text) if not word.sign and word.text not in FUNCTION_WORDS)
    return tuple(word for word in telling if not any(likeness(word.text, other) > 0.7 for other in asked))


def _number(question: Question, text: str) -> bool:
    asked = {number.value for number in numbers_in(question.text, spelled=True)}
    told = {number.value for number in numbers_in(text, spelled=True)}
    return bool(told - asked) or _SHARES.search(text) is not None


def _year(question: Question, text: str) -> bool:
    return any(year not in question.text for year in _YEAR.findall(text))


def _person(question: Question, text: str) -> bool:
    return any(name not in question.text for name in _PERSON.findall(text))


def _name(question: Question, text: str) -> bool:
    """A name, or a word for a thing that the question doesn't name."""
    return any(word.coded or not word.small for word in new_words(question, text) if word.start > 0)


def _anything(_question: Question, _text: str) -> bool:
    return True


_STATES: Mapping[Form, Callable[[Question, str], bool]] = {
    "polar": _anything,
    "number": _number,
    "year": _year,
    "person": _person,
    "reason": lambda _question, text: _REASON.search(text) is not None,
    "manner": lambda _question, text: _MANNER.search(text) is not None,
    "list": lambda _question, text: _LISTS.search(text) is not None,
    "definition": lambda _question, text: _DEFINES.search(text) is not None,
    "name": _name,
    "statement": _anything,
}
