"""Conversations that a library stores: questions with their whole answers."""

from collections.abc import Iterator, Set
from dataclasses import dataclass
from itertools import chain

from paperscope_core.types.answer import Answer, Turn
from paperscope_core.types.place import Place

__all__ = ["Conversation", "ConversationHead"]

# Older turns do not help to interpret a question.
_HISTORY = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class ConversationHead:
    """A conversation without its turns.

    Attributes:
        title: The first question, unless somebody has chosen another title; "" before the first one.
        created: The time of creation. All times are seconds since the epoch.
        updated: The time of the last answer.
        questions: The number of turns.
    """

    id: str
    title: str
    created: float
    updated: float
    questions: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Conversation:
    """A conversation with its turns, the oldest first."""

    head: ConversationHead
    turns: tuple[Answer, ...]

    @property
    def history(self) -> tuple[Turn, ...]:
        """The last turns, which complete a follow-up question."""
        return tuple(map(Turn.of, self.turns[-_HISTORY:]))

    @property
    def papers(self) -> Set[str]:
        """The ids of the papers that its answers cite or show; the library may have lost some since."""
        return {place.paper for turn in self.turns for place in _places_of(turn)}


def _places_of(answer: Answer) -> Iterator[Place]:
    """Yield the places of the evidence of claims and numbers, of readings of images, and of exhibits."""
    support = (evidence for check in answer.checks for evidence in check.support)
    for evidence in chain(answer.evidence, support):
        yield from evidence.places
    for shown in chain(answer.readings, answer.exhibits):
        yield shown.place
