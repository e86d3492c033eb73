"""The notes of a library: what people wrote about a place of a paper, or marked there."""

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlalchemy import RowMapping, delete, insert, select, update

from graph_store.database import Database
from graph_store.opening import lacking
from graph_store.schema import notes
from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import InputError, UnknownNoteError
from paperscope_core.text.escaping import without_control_characters
from paperscope_core.text.words import fold_spelling
from paperscope_core.types import Note

__all__ = ["Notes"]

_LONGEST_TEXT = 20_000
_LONGEST_QUOTE = 4000


class Notes:
    """Notes in the store; safe for several threads and processes. Changes are durable when a method returns.

    Args:
        clock: Returns seconds since the epoch.
    """

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def add(self, note: Note) -> Note:
        """Store a note; return it with its id and time.

        Raises:
            InputError: The text is too long, or there is neither a text nor a place.
        """
        if not (note.text.strip() or note.places):
            raise InputError("a note has a text, or marks a place; this one has neither")
        quote, now = without_control_characters(note.quote)[:_LONGEST_QUOTE], self._clock()
        kept = replace(note, id=f"note-{secrets.token_hex(12)}", text=_checked(note.text), quote=quote)
        row = {"id": kept.id, "paper": kept.paper, "value": to_json(kept), "created": now, "updated": now}
        with self._database.write("notes") as connection:
            connection.execute(insert(notes), row)
        return replace(kept, created=now, updated=now)

    def all(self, *, papers: Sequence[str] | None = None, words: str = "") -> list[Note]:
        """Return the notes on these papers (ids; None: on all) with these words in text, quotation or title, the one
        that was changed last first. Notes on papers that were removed are among them."""
        query = select(notes).order_by(notes.c.updated.desc(), notes.c.id)
        with self._database.read() as connection:
            rows = [] if lacking(connection, notes) else connection.execute(query).mappings().all()
        wanted = fold_spelling(words).casefold().split()
        found = [_note(row) for row in rows if papers is None or row["paper"] in papers]
        return [note for note in found if all(word in _searched(note) for word in wanted)]

    def change(self, note: str, text: str) -> Note:
        """Give the note with this id another text; return it. Raises UnknownNoteError, and InputError if it is too
        long."""
        with self._database.write("notes") as connection:
            row = connection.execute(select(notes).where(notes.c.id == note)).mappings().first()
            if row is None:
                raise _unknown(note)
            changed = replace(_note(row), text=_checked(text), updated=self._clock())
            values = {"value": to_json(changed), "updated": changed.updated}
            connection.execute(update(notes).where(notes.c.id == note).values(values))
        return changed

    def delete(self, note: str) -> None:
        """Delete the note with this id. Raises UnknownNoteError."""
        with self._database.write("notes") as connection:
            if not connection.execute(delete(notes).where(notes.c.id == note)).rowcount:
                raise _unknown(note)


def _note(row: RowMapping) -> Note:
    stored = from_json(Note, row["value"])
    places = tuple(replace(place, paper=row["paper"]) for place in stored.places)
    return replace(stored, paper=row["paper"], places=places, created=row["created"], updated=row["updated"])


def _checked(text: str) -> str:
    if len(text) > _LONGEST_TEXT:
        raise InputError(f"the note has {len(text)} characters; the maximum is {_LONGEST_TEXT}")
    return without_control_characters(text).strip()


def _searched(note: Note) -> str:
    return fold_spelling(f"{note.text} {note.quote} {note.title}").casefold()


def _unknown(note: str) -> UnknownNoteError:
    return UnknownNoteError(f"no note {note!r} in this library; it may have been deleted")
