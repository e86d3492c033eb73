"""What a question asks for."""

from collections.abc import Set
from dataclasses import dataclass, field

from query.extractive.expected import Expected, read_expected
from query.extractive.patterns import (
    BIBLIOGRAPHIC,
    CHOICE,
    ENTRY,
    FOCUS_ENDS,
    FRAME,
    GAIN,
    HIGH,
    KINDS,
    LOW,
    PICTURED,
    PIVOT,
    POLAR,
    QUANTITY,
    RANK,
    RANKS,
    YES_OR_NO,
    Kind,
)
from query.extractive.words import CITATION, FUNCTION_WORDS, Token, fold, names_joined, tokens

__all__ = ["Question", "read_question"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question as read. Sets hold indices of `words`.

    `direction` is 1 for the highest, -1 for the lowest, 0 where "best" or "worst" leaves it to the metric (`best`
    tells which); `rank` 2 asks for the second. `quantity` tells that figures are asked for, `gain` that changes are,
    not values. `polar` ones ask for yes or no, `bibliographic` ones perhaps for the list of references, `pictured` ones
    for what a picture shows; `expected` tells what kind of answer is asked for, and of what. `baseline` is where the
    standard of comparison begins ("than …"), None if nowhere. `telling` are the words that the evidence should account
    for, `names` those of them written as names, `focus` what a formula is asked for or what is to be compared,
    `operators` the words that ask. `joined` are the names that a sign holds together ("BERT+DSC").
    """

    text: str
    words: tuple[Token, ...]
    kind: Kind
    direction: int = 0
    best: bool = True
    rank: int = 1
    quantity: bool = False
    gain: bool = False
    polar: bool = False
    bibliographic: bool = False
    pictured: bool = False
    baseline: int | None = None
    choices: tuple[str, ...] = ()
    telling: frozenset[int] = frozenset()
    names: frozenset[int] = frozenset()
    focus: frozenset[int] = frozenset()
    operators: frozenset[int] = frozenset()
    joined: tuple[frozenset[int], ...] = ()
    expected: Expected = field(default_factory=lambda: Expected(form="statement"))

    @property
    def told_over(self) -> bool:
        """Whether the answer is commonly told over several sentences: reasons, differences in words, formulas."""
        return self.kind in ("reason", "difference", "comparison", "formula") and self.expected.form != "number"


def read_question(text: str, *, common: Set[str] = frozenset()) -> Question:
    """Read a question in English; what no pattern knows is a look-up.

    A capitalised word is a name unless it is `common`, that is, the papers write it small too.
    """
    folded = " ".join(fold(text).split())
    lower = folded.casefold()
    words = tokens(folded)
    kind, spans = _kind(lower)
    pivots = [*PIVOT.finditer(lower)]
    spans += [match.span() for match in pivots]
    spans += [match.span() for match in GAIN.finditer(lower)]
    asking = _within(words, spans)
    spans += [match.span() for match in FRAME.finditer(lower)]
    bibliographic = BIBLIOGRAPHIC.search(lower) is not None
    if bibliographic:
        spans += [match.span() for match in ENTRY.finditer(lower)]
    operators = _within(words, spans)
    cited = _within(words, [match.span() for match in CITATION.finditer(folded)])
    rank = RANK.search(lower)
    telling = frozenset(index for index, word in enumerate(words) if word.text not in FUNCTION_WORDS and not word.sign)
    telling = telling - operators - cited - _possessive(folded, words)
    return Question(
        text=folded,
        words=words,
        kind=kind,
        direction=_direction(lower),
        best="worst" not in lower,
        rank=RANKS[rank["rank"]] if rank else 1,
        quantity=QUANTITY.search(lower) is not None,
        gain=GAIN.search(lower) is not None,
        polar=POLAR.match(lower) is not None,
        bibliographic=bibliographic,
        pictured=PICTURED.search(lower) is not None,
        baseline=_after(words, pivots[-1].end()) if pivots else None,
        choices=() if YES_OR_NO.match(lower) else _choices(folded),
        telling=telling,
        names=frozenset(index for index in telling if _is_name(words[index], common)),
        focus=_focus(kind, words, asking),
        operators=operators,
        joined=names_joined(folded, words),
        expected=read_expected(folded, words),
    )


def _possessive(text: str, words: tuple[Token, ...]) -> frozenset[int]:
    """The "s" of "the model's"."""
    return frozenset(
        index for index, word in enumerate(words) if word.text == "s" and text[max(word.start - 1, 0)] in "'’"
    )


def _kind(lower: str) -> tuple[Kind, list[tuple[int, int]]]:
    for kind, pattern in KINDS:
        match = pattern.search(lower)
        if match is not None:
            asking = [match.span(group) for group, text in match.groupdict().items() if text]
            return kind, asking or [match.span()]
    return "look-up", []


def _focus(kind: Kind, words: tuple[Token, ...], operators: frozenset[int]) -> frozenset[int]:
    if kind == "formula":
        return _calculated(words, operators)
    if kind in ("difference", "comparison"):
        joints = [index for index, word in enumerate(words) if word.text == "and"]
        return frozenset(index for joint in joints for index in (joint - 1, joint + 1) if 0 <= index < len(words))
    return frozenset()


def _calculated(words: tuple[Token, ...], operators: frozenset[int]) -> frozenset[int]:
    """What is to be calculated: "calculate X for …", "the formula for X in …", "how is X calculated"."""
    texts = [word.text for word in words]
    verb = max(operators, default=len(words))
    if texts[:1] == ["how"] and texts[1:2] in (["is"], ["are"], ["was"], ["were"]):
        return frozenset(range(2, verb))
    first = verb + 2 if texts[verb + 1 : verb + 2] in (["for"], ["of"]) else verb + 1
    ends = (index for index in range(first, len(words)) if texts[index] in FOCUS_ENDS)
    return frozenset(range(first, next(ends, len(words))))


def _is_name(word: Token, common: Set[str]) -> bool:
    return word.coded or (not word.small and word.start > 0 and word.text.isalpha() and word.text not in common)


def _direction(lower: str) -> int:
    high, low = HIGH.search(lower), LOW.search(lower)
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
    match = CHOICE.search(text)
    if match is None:
        return ()
    right = [word for word in match["right"].split() if word.casefold() not in ("a", "an", "the")]
    if not 1 <= len(right) <= 4:
        return ()
    left = match["left"].split()[-len(right) :]
    return " ".join(left), " ".join(right)
