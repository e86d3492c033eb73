"""The text index: BM25 over chunks, and the names of entities, in an SQLite FTS5 file of its own."""

import json
import math
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Self

from graph_store.database import enlarge_cache, read_only_uri
from graph_store.index.query_terms import folded, longest_first, match_terms, name_key, windows
from graph_store.reading import Checkpoint, Searchable
from paperscope_core.types import WORK, Filters, Hit, kind_of

__all__ = [
    "_CHUNKS",
    "_CLEAR",
    "_ENTITIES",
    "_FREQUENCIES",
    "_NAMED",
    "_NUMBERS",
    "_SECTIONS",
    "TextIndex",
    "_checked",
    "_connect",
    "_prepared",
]


# Format 3 has the ids of entities that version 9 of the library has.
_FORMAT = 3
_TABLES = """
CREATE TABLE mark (revision INTEGER NOT NULL, token TEXT NOT NULL);
INSERT INTO mark VALUES (0, '');
CREATE TABLE chunks (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL, paper TEXT NOT NULL, section TEXT NOT NULL, kind TEXT NOT NULL
);
CREATE INDEX chunks_by_paper ON chunks (paper, section, kind);
CREATE VIRTUAL TABLE chunk_words USING fts5 (text, tokenize = 'porter unicode61 remove_diacritics 2');
CREATE TABLE names (key TEXT NOT NULL, name TEXT NOT NULL, entity TEXT NOT NULL, paper TEXT NOT NULL);
CREATE INDEX names_by_key ON names (key, entity, paper);
CREATE INDEX names_by_entity ON names (entity, name, paper);
CREATE INDEX names_by_paper ON names (paper, entity);
CREATE TABLE entities (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, names TEXT NOT NULL);
CREATE VIRTUAL TABLE entity_words USING fts5 (names, tokenize = 'porter unicode61 remove_diacritics 2');
PRAGMA user_version = 3;
"""
_CLEAR = (
    "DELETE FROM chunks",
    "DELETE FROM chunk_words",
    "DELETE FROM names",
    "DELETE FROM entities",
    "DELETE FROM entity_words",
    "UPDATE mark SET revision = 0, token = ''",
)


def _connect(uri: str) -> sqlite3.Connection:
    """A connection that commits by itself, for use from any thread."""
    return sqlite3.connect(uri, uri=uri.startswith("file:"), timeout=60, isolation_level=None, check_same_thread=False)


def _prepared(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Make the tables where there are none."""
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,):
        connection.executescript(f"BEGIN; {_TABLES} COMMIT;")
    return _checked(connection)


def _checked(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Raise sqlite3.DatabaseError, and close, where the tables are of another format."""
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found != _FORMAT:
        connection.close()
        raise sqlite3.DatabaseError(f"a text index of format {found}, not {_FORMAT}")
    return connection


# Lists travel as JSON: the queries stay constant, whatever their length. An empty one (NULL) means all.
_NUMBERS = """
SELECT number FROM chunks
WHERE (:papers IS NULL OR paper IN (SELECT value FROM json_each(:papers)))
AND (:sections IS NULL OR section IN (SELECT value FROM json_each(:sections)))
AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))
ORDER BY number
"""
_SECTIONS = """
SELECT DISTINCT section FROM chunks
WHERE :papers IS NULL OR chunks.paper IN (SELECT value FROM json_each(:papers))
"""
_CHUNKS = """
SELECT chunks.id, bm25(chunk_words) AS rank
FROM chunk_words JOIN chunks ON chunks.number = chunk_words.rowid
WHERE chunk_words MATCH :expression
AND (:papers IS NULL OR chunks.paper IN (SELECT value FROM json_each(:papers)))
AND (:sections IS NULL OR chunks.section IN (SELECT value FROM json_each(:sections)))
AND (:kinds IS NULL OR chunks.kind IN (SELECT value FROM json_each(:kinds)))
ORDER BY rank, chunks.id LIMIT :limit
"""
_ENTITIES = """
SELECT entities.id, bm25(entity_words) AS rank
FROM entity_words JOIN entities ON entities.number = entity_words.rowid
WHERE entity_words MATCH :expression
AND (:papers IS NULL OR EXISTS (
    SELECT 1 FROM names
    WHERE names.entity = entities.id AND names.paper IN (SELECT value FROM json_each(:papers))
))
ORDER BY rank, entities.id LIMIT :limit
"""
_FREQUENCIES = """
SELECT wanted.value, (SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {table} MATCH wanted.value LIMIT :most))
FROM json_each(:terms) AS wanted
"""
_NAMED = """
SELECT DISTINCT names.key, names.entity
FROM json_each(:keys) AS wanted CROSS JOIN names ON names.key = wanted.value
WHERE :papers IS NULL OR names.paper IN (SELECT value FROM json_each(:papers))
"""


# So many chunks and names are ranked at most, however large the library is, as a word that stands in more tells little.
# A library of a hundred papers has no more.
_RANKED = {"chunk_words": 10_000, "entity_words": 2_000}
# k1 + 1, which BM25 gives for a word over and over; FTS5's bm25() has k1 = 1.2.
_MOST_OF_A_WORD = 2.2


class TextIndex:
    """One connection to the text index; not for several threads at once. Failures leave as sqlite3.Error."""

    def __init__(self, connection: sqlite3.Connection, *, writable: bool) -> None:
        self._connection = connection
        self.writable = writable
        self._counted: tuple[Checkpoint, int] = (Checkpoint(), 0)

    @classmethod
    def open(cls, file: Path) -> Self:
        """Open the index in `file`, or make it. An index of another format raises sqlite3.DatabaseError."""
        connection = _connect(str(file))
        connection.execute("PRAGMA journal_mode = WAL")
        # It can be built anew: a power cut may cost the last commits, which are then caught up from the store.
        connection.execute("PRAGMA synchronous = NORMAL")
        enlarge_cache(connection)
        return cls(_prepared(connection), writable=True)

    @classmethod
    def open_read_only(cls, file: Path) -> Self:
        """Open an index that is there, without writing."""
        connection = _connect(read_only_uri(file))
        return cls(_checked(connection), writable=False)

    @classmethod
    def in_memory(cls) -> Self:
        """An empty index that lives with this process."""
        return cls(_prepared(_connect(":memory:")), writable=True)

    def copy_in_memory(self) -> Self:
        """A copy that lives with this process; this one is closed."""
        connection = _connect(":memory:")
        self._connection.backup(connection)
        self.close()
        return type(self)(connection, writable=True)

    def close(self) -> None:
        """Release the file."""
        self._connection.close()

    @property
    def mark(self) -> Checkpoint:
        """How far in the store's history the index has come."""
        revision, token = self._connection.execute("SELECT revision, token FROM mark").fetchone()
        return Checkpoint(revision=revision, token=token)

    def clear(self) -> None:
        """Forget everything."""
        with self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            for statement in _CLEAR:
                self._connection.execute(statement)

    def replace(self, paper: str, searchable: Searchable | None, *, mark: Checkpoint) -> None:
        """Make the index hold exactly `searchable` of a paper (None: nothing), and move to `mark`; one transaction."""
        with self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            touched = self._forget(paper)
            if searchable is not None:
                touched |= self._take(searchable)
            for entity in sorted(touched):
                self._refresh(entity)
            self._connection.execute("UPDATE mark SET revision = ?, token = ?", (mark.revision, mark.token))

    def chunks(self, text: str, *, filters: Filters, limit: int) -> list[Hit]:
        """The allowed chunks that hold the text's words, by BM25 as a share (0 to 1) of the most they can give.

        So a chunk that holds every word often is near 1, and one that holds but the common ones of many near 0. Over
        all of a large library only the rarer words count.
        """
        lists = self._lists(filters)
        holding = self._holding("chunk_words", text, all_of_them=any(lists.values()))
        most = self._most(holding.values())
        return [Hit(id=hit.id, score=hit.score / most) for hit in self._ranked(_CHUNKS, holding, lists, limit=limit)]

    def entities(self, text: str, *, papers: Sequence[str], limit: int) -> list[Hit]:
        """The entities whose names share words with the text, by BM25; the rarer words of many, as for chunks."""
        holding = self._holding("entity_words", text, all_of_them=bool(papers))
        return self._ranked(_ENTITIES, holding, {"papers": _list(papers)}, limit=limit)

    def named(self, text: str, *, papers: Sequence[str]) -> dict[str, int]:
        """The entities whose name or alias stands in the text, with its length there, longest first."""
        found = windows(text)
        keys = json.dumps(sorted({window.key for window in found}))
        entities: dict[str, set[str]] = defaultdict(set)
        for key, entity in self._connection.execute(_NAMED, {"keys": keys, "papers": _list(papers)}):
            entities[key].add(entity)
        return longest_first(found, entities)

    def chunk_ids(self, numbers: Sequence[int]) -> dict[int, str]:
        """The ids of chunks by their numbers; unknown numbers are left out."""
        query = "SELECT number, id FROM chunks WHERE number IN (SELECT value FROM json_each(?))"
        return dict(self._connection.execute(query, (json.dumps(numbers),)).fetchall())

    def numbers(self, filters: Filters) -> list[int] | None:
        """The numbers of the chunks that sections and kinds allow; None where neither is restricted."""
        if not filters.sections and not filters.kinds:
            return None
        return [number for (number,) in self._connection.execute(_NUMBERS, self._lists(filters))]

    def _lists(self, filters: Filters) -> dict[str, str | None]:
        papers, sections = _list(filters.papers), None
        if filters.sections:
            paths = [path for (path,) in self._connection.execute(_SECTIONS, {"papers": papers})]
            sections = json.dumps([path for path in paths if filters.allows_section(path)])
        return {"papers": papers, "sections": sections, "kinds": _list(filters.kinds)}

    def _ranked(self, query: str, terms: Iterable[str], lists: Mapping[str, str | None], *, limit: int) -> list[Hit]:
        values = {"expression": " OR ".join(terms), "limit": limit, **lists}
        if not values["expression"]:
            return []
        return [Hit(id=key, score=-rank) for key, rank in self._connection.execute(query, values)]

    def _holding(self, table: str, text: str, *, all_of_them: bool) -> dict[str, int]:
        """The text's words that are searched for, with the number of rows that hold each: those of some papers, all;
        of the whole library the rarest, and further ones as long as together they stand in `_RANKED` at most."""
        terms = match_terms(text)
        most = _RANKED[table]
        found = self._counts(table, terms, most=-1 if all_of_them else most + 1)
        if all_of_them or sum(found.values()) <= most:
            return found
        if min(filter(None, found.values())) > most:
            found = self._counts(table, terms, most=-1)
        rarest = sorted(terms, key=found.__getitem__)
        first = next(term for term in rarest if found[term])
        rows = accumulate(found[term] for term in rarest)
        kept = {term for term, total in zip(rarest, rows, strict=True) if total <= most or term == first}
        return {term: found[term] for term in terms if term in kept}

    def _counts(self, table: str, terms: Sequence[str], *, most: int) -> dict[str, int]:
        """How many rows hold each of the terms, counted up to `most` (-1: to the end)."""
        values = {"terms": json.dumps(terms), "most": most}
        return dict(self._connection.execute(_FREQUENCIES.format(table=table), values).fetchall())

    def _most(self, holding: Iterable[int]) -> float:
        """The most that BM25 can give for words that so many chunks hold: the sum of idf (k1 + 1).

        With an idf that stays above 0 (Lucene's), where FTS5 takes one of 0 for a word of half the chunks: a chunk that
        holds such words alone has no share to speak of.
        """
        size = self._size()
        # Another process may add chunks meanwhile.
        telling = (math.log1p((max(size - number, 0) + 0.5) / (number + 0.5)) for number in holding)
        return _MOST_OF_A_WORD * sum(telling)

    def _size(self) -> int:
        """How many chunks there are; counted once for each state of the index."""
        mark = self.mark
        if self._counted[0] != mark:
            self._counted = (mark, self._connection.execute("SELECT count(*) FROM chunks").fetchone()[0])
        return self._counted[1]

    def _forget(self, paper: str) -> set[str]:
        numbers = self._connection.execute("SELECT number FROM chunks WHERE paper = ?", (paper,)).fetchall()
        self._connection.executemany("DELETE FROM chunk_words WHERE rowid = ?", numbers)
        self._connection.execute("DELETE FROM chunks WHERE paper = ?", (paper,))
        query = "SELECT DISTINCT entity FROM names WHERE paper = ? AND entity IN (SELECT id FROM entities)"
        touched = self._connection.execute(query, (paper,)).fetchall()
        self._connection.execute("DELETE FROM names WHERE paper = ?", (paper,))
        return {entity for (entity,) in touched}

    def _take(self, searchable: Searchable) -> set[str]:
        chunks = [
            (number, chunk.id, searchable.paper, chunk.section, kind_of(chunk), folded(chunk.searched))
            for number, chunk in zip(searchable.numbers.tolist(), searchable.chunks, strict=True)
        ]
        self._connection.executemany("INSERT INTO chunks VALUES (?, ?, ?, ?, ?)", [row[:5] for row in chunks])
        self._connection.executemany(
            "INSERT INTO chunk_words (rowid, text) VALUES (?, ?)", [(row[0], row[5]) for row in chunks]
        )
        names = {
            (name_key(name), folded(name), entity.id, searchable.paper)
            for entity in searchable.entities
            for name in (entity.name, *entity.aliases)
        }
        self._connection.executemany("INSERT INTO names VALUES (?, ?, ?, ?)", sorted(names))
        # The many words of titles would crowd out what a question is about: a work is found by its whole name only.
        return {entity.id for entity in searchable.entities if entity.type != WORK}

    def _refresh(self, entity: str) -> None:
        """Make the entity's searchable names those that the library's papers use now."""
        rows = self._connection.execute("SELECT DISTINCT name FROM names WHERE entity = ? ORDER BY name", (entity,))
        names = "\n".join(name for (name,) in rows)
        before = self._connection.execute("SELECT number, names FROM entities WHERE id = ?", (entity,)).fetchone()
        if before is not None:
            number, old = before
            if old == names:
                return
            self._connection.execute("DELETE FROM entity_words WHERE rowid = ?", (number,))
            self._connection.execute("DELETE FROM entities WHERE number = ?", (number,))
        if names:
            cursor = self._connection.execute("INSERT INTO entities (id, names) VALUES (?, ?)", (entity, names))
            row = (cursor.lastrowid, names)
            self._connection.execute("INSERT INTO entity_words (rowid, names) VALUES (?, ?)", row)


def _list(values: Sequence[str]) -> str | None:
    return json.dumps(values) if values else None
