"""What a yes/no question claims: the words that a quotation must say to settle it.

No parser stands behind it, but the order of English: the subject follows the auxiliary, the predicate the subject's
last noun. What ends a run of words, or follows "be" or "always", may therefore be the predicate.
"""

import re
from dataclasses import dataclass

from query.extractive.question import Question
from query.extractive.runs import TELLS, runs

__all__ = ["Claimed", "read_claimed"]


_COPULAS = frozenset("be been being is are was were".split())
_DEGREES = frozenset("also always ever fully more most least less never not only often still".split())
# "Does the paper report X?" asks for X alone.
_TELLERS = frozenset(
    "article author authors document manuscript paper papers publication study text they we you".split()
)
_COMPARATIVE = re.compile(
    "higher|lower|better|worse|more|less|larger|bigger|smaller|greater|fewer|faster|slower|longer|shorter|easier|harder|"
    "stronger|weaker|cheaper|simpler"
)
_COMPARES = re.compile(
    rf"(?:{_COMPARATIVE.pattern}|highest|lowest|largest|smallest|best|worst|most|least|outperform|exceed|surpass|beat|"
    r"improv|boost|gain|increas|drop|decreas)\w*"
)
_REPORTS = re.compile(
    r"\b(?:argue|claim|conclude|demonstrate|find|imply|indicate|observe|report|reveal|show|state|suggest) that\b"
)
# "…, and if so, in which year?" asks a second question.
_SECOND = re.compile(
    r", (?:and )?(?:if (?:so|yes)\b|(?:how|what|which|why|when|where|who)\b)|\band (?:if so|how|why)\b"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Claimed:
    """Indices of the question's words: `words` are all that it claims, `spoken` those of them that the quotation itself
    must say (the subject and its verb, unless they are names, what may be the predicate, and what compares or tells;
    none where an entry of a bibliography may answer), `compares` those that compare. The predicate begins at
    `predicate` or later."""

    words: frozenset[int]
    spoken: frozenset[int]
    compares: frozenset[int]
    predicate: int


def read_claimed(question: Question) -> Claimed:
    """Read what a yes/no question claims; what it asks further is left out."""
    second = _SECOND.search(question.text.casefold())
    end = second.start() if second else len(question.text)
    first = frozenset(index for index, word in enumerate(question.words) if word.start < end)
    compares = frozenset(index for index in question.operators if _COMPARES.match(question.words[index].text))
    compares |= frozenset(index for index in first if _before_than(question, index))
    tells = frozenset(index for index in first - question.operators if _tells(question, index))
    words = (question.telling | compares | tells) & first
    plain = words - question.names - _framing(question)
    phrases = [frozenset(run.words) & plain for run in runs(question)]
    subject = next((phrase for phrase in phrases if phrase), frozenset[int]())
    closing = [group for group in (frozenset(group) & plain for group in _closing(question)) if group]
    ends = closing[0] | closing[-1] if closing else frozenset[int]()
    spoken = frozenset[int]() if question.bibliographic else (subject | ends | compares | tells) & first
    return Claimed(
        words=words,
        spoken=spoken,
        compares=compares & first,
        predicate=min(ends, default=0),
    )


def _framing(question: Question) -> frozenset[int]:
    """The words before "suggest that": who says it, not what is said."""
    match = _REPORTS.search(question.text.casefold())
    end = match.end() if match else 0
    return frozenset(index for index, word in enumerate(question.words) if word.start < end)


def _before_than(question: Question, index: int) -> bool:
    """Whether a word is the "faster" or "more" of "faster in practice than", "more severe than"."""
    than = any(word.text == "than" for word in question.words[index:])
    return than and _COMPARATIVE.fullmatch(question.words[index].text) is not None


def _tells(question: Question, index: int) -> bool:
    before = question.words[index - 1].text if index else ""
    return question.words[index].text in TELLS and before not in _TELLERS


def _closing(question: Question) -> list[tuple[int, ...]]:
    """What ends each run, or follows "be" or an adverb of degree: where a predicate may stand."""
    found: list[tuple[int, ...]] = []
    for run in runs(question):
        group = _hyphened(question, run.words)
        after = run.before in _COPULAS | _DEGREES and run.words[0] > 1
        if group[0] != run.words[0] or after:
            found.append(group)
    return found


def _hyphened(question: Question, run: tuple[int, ...]) -> tuple[int, ...]:
    """The last word of a run with what hyphens join to it."""
    first = len(run) - 1
    while first > 0 and question.text[question.words[run[first - 1]].end : question.words[run[first]].start] == "-":
        first -= 1
    return run[first:]
