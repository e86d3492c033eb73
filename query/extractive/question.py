"""What a question asks for, according to its form: a value, a computation over values, or yes or no."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from query.extractive.wording import FORM_WORDS, Token, citation_spans, fold, tokens

__all__ = ["Operation", "Question", "read_question", "words_within"]

Kind = Literal["extreme", "difference", "ratio", "sum", "average", "comparison"]

_AUXILIARIES = "is|are|was|were|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must"
_MORE = r"higher|lower|more|less|larger|smaller|greater|fewer"
_RANKS = {"second": 2, "third": 3, "fourth": 4, "fifth": 5}
# The first pattern that matches determines the operation; its words name no row or column.
_OPERATIONS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "difference",
        re.compile(
            rf"\bby (?:how much|how many(?: (?!{_AUXILIARIES})\w+)?)\b|\bhow (?:much|many)(?: \w+)? (?:{_MORE})\b"
            r"|\bdifference\b"
        ),
    ),
    ("ratio", re.compile(r"\bratio\b")),
    (
        "extreme",
        re.compile(
            rf"(?<!at )\b(?:(?P<rank>{'|'.join(_RANKS)})[\s-]+)?(?:(?P<high>highest|largest|greatest|biggest|"
            r"maxim(?:um|al)|most)|(?:lowest|smallest|fewest|minim(?:um|al)|least))\b"
        ),
    ),
    ("sum", re.compile(r"\b(?:sum|total|combined)\b")),
    ("average", re.compile(r"\b(?:average|mean)\b")),
    (
        "comparison",
        re.compile(rf"\bcompar(?:e|es|ed|ing|ison)\b|\b(?:versus|vs)\b|\bwhich\b.*\b(?P<asks>{_MORE})\b.* or "),
    ),
)
# Words that join the two sides of a computation.
_CONNECTIVES = re.compile(
    r"\b(?:than|between|compared (?:to|with)|relative to|with respect to|versus|vs|over|each|both|all)\b"
)
# "Which seed gives the highest F1, and what is that score?" asks for a value that the answer states anyway.
_REPEATED_QUESTION = re.compile(r",? and (?:what|which) (?:is|are|was|were) (?:that|the|its|this|these) \w+\W*$")
_VERB = re.compile(r"\b(\w+) (?:the|its|their|a) $")
_INTERROGATIVE = re.compile(r"\b(?:what|which|who|whom|whose|when|where|why|how(?: many| much)?)\b")
_VALUE_INTERROGATIVES = frozenset({"what", "which", "how many", "how much"})
_POLAR = re.compile(rf"(?:^|[,;:.] )(?:{_AUXILIARIES})\b")


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """A computation that a question asks for.

    `direction` is 1 for the highest value and -1 for the lowest, `rank` is 2 for the second highest or lowest. `words`
    are the indices of the words that ask for it. Its verb need not be explained: `verb` in "which one reaches the
    highest", or any one word (`spare`) in "by how much does A exceed B".
    """

    kind: Kind
    words: frozenset[int]
    direction: int = 0
    rank: int = 1
    spare: int = 0
    verb: frozenset[int] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A parsed question; sets contain indices of `words`.

    `form` are the words that name nothing. `polar` questions ask for yes or no, or offer a choice; `asks_value` is true
    if a value may answer.
    """

    text: str
    words: tuple[Token, ...]
    form: frozenset[int]
    polar: bool = False
    asks_value: bool = True
    operation: Operation | None = None


def read_question(text: str) -> Question:
    """Parse a question in English; a question that matches no pattern asks for a value."""
    folded = fold(text)
    lower, words = folded.casefold(), tokens(folded)
    operation = _operation(lower, words)
    asking = _INTERROGATIVE.search(lower)
    polar = _POLAR.search(lower)
    compared = operation is not None and operation.kind == "comparison"
    return Question(
        text=folded,
        words=words,
        form=frozenset(index for index, word in enumerate(words) if word.text in FORM_WORDS)
        | words_within(words, citation_spans(folded)),
        polar=polar is not None and (asking is None or polar.start() < asking.start()),
        asks_value=asking is None or asking[0] in _VALUE_INTERROGATIVES or compared,
        operation=operation,
    )


def _operation(lower: str, words: tuple[Token, ...]) -> Operation | None:
    for kind, pattern in _OPERATIONS:
        match = pattern.search(lower)
        if match is None:
            continue
        group = "asks" if match.groupdict().get("asks") else 0
        spans = [match.span(group), *(joint.span() for joint in _CONNECTIVES.finditer(lower))]
        again = _REPEATED_QUESTION.search(lower)
        spans += [again.span()] if again else []
        verb = _VERB.search(lower[: match.start()]) if kind == "extreme" else None
        direction = (1 if match["high"] else -1) if kind == "extreme" else 0
        return Operation(
            kind=kind,
            words=words_within(words, spans),
            direction=direction,
            rank=_RANKS.get(match["rank"] or "", 1) if kind == "extreme" else 1,
            spare=int(match[0].startswith("by how")),
            verb=words_within(words, [verb.span(1)]) if verb else frozenset(),
        )
    return None


def words_within(words: tuple[Token, ...], spans: Iterable[tuple[int, int]]) -> frozenset[int]:
    """The indices of the words inside one of these spans of the folded text."""
    return frozenset(
        index for index, word in enumerate(words) for start, end in spans if start <= word.start and word.end <= end
    )
