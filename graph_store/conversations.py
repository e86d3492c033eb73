"""The conversations of a library: they stay when a paper that they cite is removed."""

import json
import secrets
import time
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import chain

from sqlalchemy import Connection, Select, delete, func, select, update

from graph_store.database import Database
from graph_store.schema import conversations, turns
from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import InputError, StoreError, UnknownConversationError
from paperscope_core.types import Answer, Place, Turn

__all__ = ["MAX_TURNS", "Conversation", "ConversationHead", "Conversations"]

MAX_TURNS = 100
"""How many turns a conversation may have, so that it can be read at once."""

# A longer question is cut.
_MAX_TITLE_LENGTH = 200
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


class Conversations:
    """Conversations in the store; safe for several threads and processes. Changes are durable when a method returns.

    Every method with the id of a conversation raises UnknownConversationError if there is none.
    """

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def create(self, title: str = "") -> ConversationHead:
        """Begin a conversation; without a title, its first question becomes the title."""
        now = self._clock()
        row = {"id": f"conversation-{secrets.token_hex(12)}", "title": _cut(title), "created": now, "updated": now}
        with self._database.write("conversations") as connection:
            connection.execute(conversations.insert().values(row))
            return _read_head(connection, str(row["id"]))

    def all(self, *, limit: int = 100, offset: int = 0) -> Sequence[ConversationHead]:
        """Return the conversations with the latest answers, the latest first."""
        query = _heads().order_by(conversations.c.updated.desc(), conversations.c.number.desc())
        with self._database.read() as connection:
            rows = connection.execute(query.limit(limit).offset(offset)).mappings()
            return [ConversationHead(**row) for row in rows]

    def count(self) -> int:
        """Return the number of conversations."""
        with self._database.read() as connection:
            return int(connection.execute(select(func.count()).select_from(conversations)).scalar_one())

    def head(self, conversation: str) -> ConversationHead:
        """Return the conversation with this id, without its turns."""
        with self._database.read() as connection:
            return _read_head(connection, conversation)

    def get(self, conversation: str) -> Conversation:
        """Return the conversation with this id. Raises StoreError if an answer in it is damaged."""
        query = select(turns.c.value).where(turns.c.conversation == conversation).order_by(turns.c.position)
        with self._database.read() as connection:
            head = _read_head(connection, conversation)
            values = connection.execute(query).scalars().all()
        try:
            return Conversation(head=head, turns=tuple(map(_read_answer, values)))
        except ValueError as error:
            detail = f"an answer of the conversation {conversation!r} is damaged; delete the conversation"
            raise StoreError(detail, where=self._database.where) from error

    def check_room(self, head: ConversationHead) -> None:
        """Raise InputError if the conversation has MAX_TURNS, and StoreError if no answer can be stored."""
        _check_turns(head)
        self._database.check_room()

    def rename(self, conversation: str, title: str) -> ConversationHead:
        """Change the title. Raises InputError if it is blank."""
        line = _cut(title)
        if not line:
            raise InputError("a conversation needs a title with a letter or a number")
        with self._database.write("conversations") as connection:
            head = _read_head(connection, conversation)
            _update(connection, head.id, title=line)
            return _read_head(connection, head.id)

    def append(self, conversation: str, answer: Answer) -> ConversationHead:
        """Store the answer to the next question. Raises InputError if the conversation has MAX_TURNS."""
        with self._database.write("conversations") as connection:
            head = _read_head(connection, conversation)
            _check_turns(head)
            row = {"conversation": head.id, "position": head.questions, "value": to_json(answer)}
            connection.execute(turns.insert().values(row))
            _update(connection, head.id, title=head.title or _cut(answer.question), updated=self._clock())
            return _read_head(connection, head.id)

    def delete(self, conversation: str) -> None:
        """Delete a conversation with its answers."""
        with self._database.write("conversations") as connection:
            head = _read_head(connection, conversation)
            connection.execute(delete(conversations).where(conversations.c.id == head.id))


def _read_answer(value: str) -> Answer:
    """Read a stored answer. Raise ValueError if it is damaged.

    An answer that was stored before there were findings has sentences, "warnings"; they become notes.
    """
    # A quotation mark within a string is escaped.
    if '"warnings":' not in value:
        return from_json(Answer, value)
    stored = json.loads(value)
    stored["findings"] = [{"kind": "note", "message": message} for message in stored.pop("warnings", ())]
    return from_json(Answer, json.dumps(stored))


def _check_turns(head: ConversationHead) -> None:
    if head.questions >= MAX_TURNS:
        raise InputError(
            f"this conversation has {MAX_TURNS} questions, which is as many as one may have; begin another"
        )


def _heads() -> Select[tuple[object, ...]]:
    counted = select(func.count()).where(turns.c.conversation == conversations.c.id).scalar_subquery()
    columns = (conversations.c[name] for name in ("id", "title", "created", "updated"))
    return select(*columns, counted.label("questions"))


def _read_head(connection: Connection, conversation: str) -> ConversationHead:
    row = connection.execute(_heads().where(conversations.c.id == conversation)).mappings().first()
    if row is None:
        raise UnknownConversationError(f"no conversation {conversation!r} in this library; it may have been deleted")
    return ConversationHead(**row)


def _update(connection: Connection, conversation: str, **values: object) -> None:
    connection.execute(update(conversations).where(conversations.c.id == conversation).values(values))


def _cut(title: str) -> str:
    """Return a title on one line, without control characters."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in title).split())
    return line if len(line) <= _MAX_TITLE_LENGTH else f"{line[: _MAX_TITLE_LENGTH - 1]}…"
