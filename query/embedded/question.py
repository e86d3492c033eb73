"""What a question asks for, read off general English patterns: no pattern knows a paper or a field."""

import re
from collections.abc import Set
from dataclasses import dataclass, field
from typing import Literal

from query.embedded.words import CITATION, FUNCTION_WORDS, Token, fold, names_joined, tokens

__all__ = ["Kind", "Question", "read_question"]

Kind = Literal[
    "look-up",
    "superlative",
    "comparison",
    "difference",
    "gain",
    "ratio",
    "sum",
    "average",
    "count",
    "formula",
    "reason",
]

_HIGH = r"highest|largest|greatest|biggest|maxim(?:um|al)|longest|strongest|most|top(?=-| |\?)"
_LOW = r"lowest|smallest|fewest|minim(?:um|al)|shortest|weakest|least"
_RANKS = {"second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "fifth": 5, "5th": 5}
_RANK = re.compile(rf"\b(?P<rank>{'|'.join(_RANKS)})[\s-]+(?:{_HIGH}|{_LOW}|best|worst)\b")
_MORE = r"higher|lower|better|worse|more|less|larger|smaller|greater|fewer|faster|slower|longer|shorter"
_PIVOT = re.compile(
    r"\b(?:(?:when )?compar(?:ed|es?|ing) (?:to|with|against)(?: that of)?|relative to|than(?: that of)?|over|versus|vs|against)\b"
)
# The first pattern that stands in the question decides; the words that it matches ask, and name nothing.
_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "formula",
        re.compile(
            r"\b(?:how (?:is|are|was|were|does|do|did) .*\b(?:calculat|comput|defin|formulat|deriv)\w*|formula\w*|equation|mathematical\w* (?:expression|definition))"
        ),
    ),
    ("reason", re.compile(r"^\W*why\b|\bwhat (?:is|are|was|were) the (?:reason|motivation|purpose|goal|aim)s?\b")),
    (
        "difference",
        re.compile(
            rf"\bby how (?:much|many)\b|\bhow (?:much|many)(?: \w+)? (?:{_MORE})\b|\b(?:difference|gap|margin)s? (?:in|between|of)\b|\bhow (?:much|many)\b.*\b(?:exceed|outperform|surpass)\w*"
        ),
    ),
    ("superlative", re.compile(rf"(?<!at )\b(?:{_HIGH}|{_LOW}|best|worst)\b")),
    (
        "gain",
        re.compile(
            r"\b(?:improve(?:ment|s|d)?|boost(?:s|ed)?|gain(?:s|ed)?|increase[sd]?|drop(?:s|ped)?|decrease[sd]?|uplift)\b"
        ),
    ),
    ("ratio", re.compile(r"\bratios?\b|\bhow many times\b|\bfactor of\b")),
    (
        "comparison",
        re.compile(
            rf"\bcompar(?:e|es|ed|ing|ison)\b|\b(?:{_MORE}) than\b|\b(?:outperform|exceed|surpass|beat)(?:s|ed)?\b|\b(?:versus|vs)\b|\bwhich (?:\w+ )*(?:is|has|are) (?:the )?(?:{_MORE})\b"
        ),
    ),
    ("sum", re.compile(r"\bsum of\b|\bin total\b|\btotal (?:number|amount|count)\b|\baltogether\b|\bcombined\b")),
    ("average", re.compile(r"\b(?:average|mean) (?:of|over|across)\b")),
    ("count", re.compile(r"\bhow many\b|\bnumber of (?:rows|columns|tables|figures)\b")),
)
_PREPOSITIONS = frozenset("for in of on by with when at from under".split())
_GAIN = dict(_KINDS)["gain"]
_POLAR = re.compile(r"^\W*(?:is|are|was|were|does|do|did|can|could|has|have)\b")
_BIBLIOGRAPHIC = re.compile(
    r"\b(?:publi(?:shed|cation)|authors?|authored|proceedings|conference|journal|cit(?:ed|es|ation)|references?)\b"
)
# "Does it support A or B?" asks for yes or no; "Is it A or B?" for one of them.
_YES_OR_NO = re.compile(r"^\W*(?:does|do|did|can|could|has|have)\b")
_CHOICE = re.compile(r"(?P<left>[^,?:]+?),? or (?P<right>[^,?]+?)\s*\?")


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question as read. Sets hold indices of `words`.

    `direction` is 1 for the highest, -1 for the lowest, 0 where "best" or "worst" leaves it to the metric (`best`
    tells which). `bibliographic` questions may be answered by the list of references. `rank` 2 asks for the second. `gain` tells that changes are asked for, not values. `baseline` is
    where the standard of comparison begins ("than …"), None if nowhere. `telling` are the words that an answer's
    evidence should cover, `names` those written as names; `focus` those that say what a formula is asked for; `joined` the names that a sign holds together.
    """

    text: str
    words: tuple[Token, ...]
    kind: Kind
    direction: int = 0
    best: bool = True
    rank: int = 1
    gain: bool = False
    polar: bool = False
    bibliographic: bool = False
    baseline: int | None = None
    choices: tuple[str, ...] = ()
    telling: frozenset[int] = frozenset()
    names: frozenset[int] = frozenset()
    focus: frozenset[int] = frozenset()
    operators: frozenset[int] = frozenset()
    joined: tuple[frozenset[int], ...] = field(default=())


def read_question(text: str, *, common: Set[str] = frozenset()) -> Question:
    """Read a question in English; what no pattern knows is a look-up.

    A capitalised word is a name unless it is `common`, that is, the papers write it small too.
    """
    folded = " ".join(fold(text).split())
    lower = folded.casefold()
    words = tokens(folded)
    kind, spans = _kind(lower)
    pivots = [*_PIVOT.finditer(lower)]
    spans += [match.span() for match in pivots]
    spans += [match.span() for match in _GAIN.finditer(lower)]
    operators = _within(words, spans)
    cited = _within(words, [match.span() for match in CITATION.finditer(folded)])
    rank = _RANK.search(lower)
    telling = frozenset(index for index, word in enumerate(words) if word.text not in FUNCTION_WORDS and not word.sign)
    telling = telling - operators - cited
    return Question(
        text=folded,
        words=words,
        kind=kind,
        direction=_direction(lower),
        best="worst" not in lower,
        rank=_RANKS[rank["rank"]] if rank else 1,
        gain=_GAIN.search(lower) is not None,
        polar=_POLAR.match(lower) is not None,
        bibliographic=_BIBLIOGRAPHIC.search(lower) is not None,
        baseline=_after(words, pivots[-1].end()) if pivots else None,
        choices=() if _YES_OR_NO.match(lower) else _choices(folded),
        telling=telling,
        names=frozenset(index for index in telling if _is_name(words[index], common)),
        focus=_focus(words, operators) if kind == "formula" else frozenset(),
        operators=operators,
        joined=names_joined(folded, words),
    )


def _kind(lower: str) -> tuple[Kind, list[tuple[int, int]]]:
    for kind, pattern in _KINDS:
        match = pattern.search(lower)
        if match is None:
            continue
        # A long pattern holds names between its ends; only its ends ask.
        if kind == "formula" and " " in match[0]:
            return kind, [(match.end() - len(match[0].split()[-1]), match.end())]
        if kind == "difference" and match.end() - match.start() > 40:
            return kind, [(match.start(), match.start() + 8)]
        return kind, [match.span()]
    return "look-up", []


def _focus(words: tuple[Token, ...], operators: frozenset[int]) -> frozenset[int]:
    """What is to be calculated: "calculate X for …", "the formula for X in …", "how is X calculated"."""
    verb = max(operators, default=len(words))
    passive = words[1].text in ("is", "are", "was", "were") and words[0].text == "how" if len(words) > 1 else False
    if passive:
        return frozenset(range(2, verb))
    first = verb + 2 if verb + 1 < len(words) and words[verb + 1].text in ("for", "of") else verb + 1
    ends = (index for index in range(first, len(words)) if words[index].text in _PREPOSITIONS)
    return frozenset(range(first, next(ends, len(words))))


def _is_name(word: Token, common: Set[str]) -> bool:
    return word.coded or (not word.small and word.start > 0 and word.text.isalpha() and word.text not in common)


def _direction(lower: str) -> int:
    high, low = re.search(rf"\b(?:{_HIGH})\b", lower), re.search(rf"\b(?:{_LOW})\b", lower)
    if high is None and low is None:
        return 0
    return 1 if low is None or (high is not None and high.start() < low.start()) else -1


def _within(words: tuple[Token, ...], spans: list[tuple[int, int]]) -> frozenset[int]:
    return frozenset(
        index for index, word in enumerate(words) for start, end in spans if start <= word.start and word.end <= end
    )


def _after(words: tuple[Token, ...], end: int) -> int | None:
    return next((index for index, word in enumerate(words) if word.start >= end), None)


def _choices(text: str) -> tuple[str, ...]:
    match = _CHOICE.search(text)
    if match is None:
        return ()
    right = [word for word in match["right"].split() if word.casefold() not in ("a", "an", "the")]
    if not 1 <= len(right) <= 4:
        return ()
    left = match["left"].split()[-len(right) :]
    return " ".join(left), " ".join(right)
