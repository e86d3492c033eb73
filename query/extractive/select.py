"""The part of a table that a question speaks of, and how much of the question it accounts for."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from query.extractive.align import Aligner, Mention
from query.extractive.grid import Datum, TableView
from query.extractive.question import Question
from query.extractive.topic import topic
from query.extractive.words import LIGHT_WORDS, likeness, tokens

__all__ = ["Level", "Selection", "select"]


Level = tuple[str, str]

# What stands round the table (caption, corner titles, the passages that refer to it) says less than its headers.
_AROUND = 0.8


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """`data` are the values that carry, on every level that the question mentions, one of the mentioned names.

    `coverage` (0 to 1) is the share of the question's telling words that the mentions, and what stands round the
    table, account for; `unheld` are the names among them that nothing accounts for.
    `direct` tells that a header is the very word that asks ("ratio"): the question is a look-up then.
    """

    view: TableView
    mentions: tuple[Mention, ...]
    data: tuple[Datum, ...]
    coverage: float
    unheld: tuple[str, ...]
    direct: bool = False

    def levels(self) -> dict[Level, tuple[Mention, ...]]:
        """The mentions by the level of their names, in the question's order."""
        return _by_level(self.mentions)

    def axes(self) -> frozenset[str]:
        """Which of "row" and "column" the question mentions names of."""
        return frozenset(mention.part.axis for mention in self.mentions)


def select(
    question: Question, view: TableView, aligner: Aligner, *, around: str, aliases: Mapping[str, Sequence[str]]
) -> Selection:
    """Align a question with a table; `around` is the text that describes the table."""
    mentions = aligner.mentions(view.parts, aliases)
    asking = [mention for mention in mentions if mention.at & question.operators and mention.score >= 1]
    if asking:
        levels = {_level(mention) for mention in asking}
        mentions = tuple(mention for mention in mentions if mention in asking or _level(mention) not in levels)
    mentions = tuple(mention for mention in mentions if not _idle(question, view, mention, mentions))
    mentions, data = _fitting(view, mentions)
    held = _held(question, mentions, around)
    total = aligner.weight(question.telling)
    covered = sum(aligner.weight([index]) * held.get(index, 0.0) for index in question.telling)
    return Selection(
        view=view,
        mentions=mentions,
        data=data,
        coverage=covered / total if total else 0.0,
        unheld=tuple(question.words[index].text for index in sorted(_unheld(question, held))),
        direct=bool(asking),
    )


def _idle(question: Question, view: TableView, mention: Mention, mentions: Sequence[Mention]) -> bool:
    """Whether a mention such as "model" says what kind of thing is asked for, and not which."""
    if any(question.words[index].text not in LIGHT_WORDS for index in mention.at):
        return False
    others = any(_level(other) == _level(mention) and other is not mention for other in mentions)
    return others or all(datum.value.number is None for datum in view.data if mention.part in datum.parts)


def _level(mention: Mention) -> Level:
    return mention.part.axis, mention.part.level


def _by_level(mentions: Sequence[Mention]) -> dict[Level, tuple[Mention, ...]]:
    levels: dict[Level, list[Mention]] = defaultdict(list)
    for mention in sorted(mentions, key=lambda mention: mention.first):
        levels[_level(mention)].append(mention)
    return {level: tuple(found) for level, found in levels.items()}


def _fitting(view: TableView, mentions: Sequence[Mention]) -> tuple[tuple[Mention, ...], tuple[Datum, ...]]:
    """The data under the mentions; where no value lies under all of them, the least telling level gives way."""
    levels = _by_level(mentions)
    while levels:
        wanted = [frozenset(mention.part for mention in found) for found in levels.values()]
        data = tuple(datum for datum in view.data if all(datum.parts & parts for parts in wanted))
        if data:
            return tuple(mention for found in levels.values() for mention in found), data
        weakest = min(levels, key=lambda level: max(mention.score * mention.weight for mention in levels[level]))
        del levels[weakest]
    return (), view.data


def _unheld(question: Question, held: Mapping[int, float]) -> frozenset[int]:
    about = topic(question)
    return (question.names if held.keys() & about else question.names | about) - held.keys()


def _held(question: Question, mentions: Sequence[Mention], around: str) -> dict[int, float]:
    held: dict[int, float] = {}
    described = {token.text for token in tokens(around)}
    for index in question.telling:
        best = max((likeness(question.words[index].text, word) for word in described), default=0.0)
        if best > 0:
            held[index] = best * _AROUND
    for mention in mentions:
        for index in mention.at:
            held[index] = max(held.get(index, 0.0), 1.0 if mention.score > _AROUND else _AROUND)
    return held
