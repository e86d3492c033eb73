"""The text index: BM25 over chunks, names of entities, and relations of papers, in a separate SQLite FTS5 file."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from graph_store.database import enlarge_cache, read_only_uri
from graph_store.index.bm25 import RANKED, TOKENIZE, max_score, rarest
from graph_store.index.finding import NameHits
from graph_store.index.graph_walk import EdgeArrays
from graph_store.index.query_terms import longest_first, match_terms, name_key, windows
from graph_store.reading import Checkpoint, Searchable
from paperscope_core.text.words import fold_spelling
from paperscope_core.types import WORK, Filters, Hit, kind_of

__all__ = ["TextIndex"]

# An index of another format is built again.
_FORMAT = 6
_TABLES = f"""
CREATE TABLE mark (revision INTEGER NOT NULL, token TEXT NOT NULL, chunks INTEGER NOT NULL);
INSERT INTO mark VALUES (0, '', 0);
CREATE TABLE chunks (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL, paper TEXT NOT NULL, section TEXT NOT NULL, kind TEXT NOT NULL
);
CREATE INDEX chunks_by_paper ON chunks (paper, section, kind);
CREATE VIRTUAL TABLE chunk_words USING fts5 (text, tokenize = '{TOKENIZE}');
CREATE TABLE names (key TEXT NOT NULL, name TEXT NOT NULL, entity TEXT NOT NULL, paper TEXT NOT NULL);
CREATE INDEX names_by_key ON names (key, entity, paper);
CREATE INDEX names_by_entity ON names (entity, name, paper);
CREATE INDEX names_by_paper ON names (paper, entity);
CREATE TABLE entities (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, names TEXT NOT NULL);
CREATE VIRTUAL TABLE entity_words USING fts5 (names, tokenize = '{TOKENIZE}');
CREATE TABLE edges (paper TEXT PRIMARY KEY, value BLOB NOT NULL);
PRAGMA user_version = {_FORMAT};
"""  # noqa: S608 # no statement has a value of others
_CLEAR = (
    "DELETE FROM chunks",
    "DELETE FROM chunk_words",
    "DELETE FROM names",
    "DELETE FROM entities",
    "DELETE FROM entity_words",
    "DELETE FROM edges",
    "UPDATE mark SET revision = 0, token = '', chunks = 0",
)

# Lists are bound as JSON, so that the queries do not depend on their lengths. NULL means no restriction.
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
# Without a restriction, only the best rows are joined with their ids, which takes half the time.
_BEST = """
SELECT rowid, bm25({table}) AS rank FROM {table} WHERE {table} MATCH :expression ORDER BY rank LIMIT :limit
"""
_IDS = "SELECT number, id FROM {table} WHERE number IN (SELECT value FROM json_each(:numbers))"
_OWNERS = {"chunk_words": "chunks", "entity_words": "entities"}
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
_RESTRICTED = {"chunk_words": _CHUNKS, "entity_words": _ENTITIES}
# To skip rows takes half the time of counting them.
_FREQUENCIES = """
SELECT wanted.value, CASE
    WHEN (SELECT 1 FROM {table} WHERE {table} MATCH wanted.value LIMIT :most >= 0 OFFSET :most - 1) THEN :most
    ELSE (SELECT count(*) FROM {table} WHERE {table} MATCH wanted.value)
END
FROM json_each(:terms) AS wanted
"""
_NAMED = """
SELECT DISTINCT names.key, names.entity
FROM json_each(:keys) AS wanted CROSS JOIN names ON names.key = wanted.value
WHERE :papers IS NULL OR names.paper IN (SELECT value FROM json_each(:papers))
"""

# Rows that are read beyond the last one wanted, to find those of the same score.
_MOST_EQUAL = 64
# Words whose numbers of rows are kept in memory: some 1 MB.
_MOST_COUNTED = 10_000


def _connect(uri: str) -> sqlite3.Connection:
    """Return a connection in autocommit mode that any thread may use."""
    return sqlite3.connect(uri, uri=uri.startswith("file:"), timeout=60, isolation_level=None, check_same_thread=False)


class TextIndex:
    """One connection to the text index; not thread-safe. Failures are raised as sqlite3.Error."""

    def __init__(self, connection: sqlite3.Connection, *, writable: bool) -> None:
        if writable and connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,):
            connection.executescript(f"BEGIN; {_TABLES} COMMIT;")
        (found,) = connection.execute("PRAGMA user_version").fetchone()
        if found != _FORMAT:
            connection.close()
            raise sqlite3.DatabaseError(f"a text index of format {found}, not {_FORMAT}")
        self._connection = connection
        self.writable = writable
        self._counts: tuple[Checkpoint, dict[tuple[str, int, str], int]] = Checkpoint(), {}

    @classmethod
    def open(cls, file: Path) -> Self:
        """Open or create the index in `file`. An index of another format raises sqlite3.DatabaseError."""
        connection = _connect(str(file))
        connection.execute("PRAGMA journal_mode = WAL")
        # A power failure may lose the last commits, which are then applied again from the store.
        connection.execute("PRAGMA synchronous = NORMAL")
        enlarge_cache(connection)
        return cls(connection, writable=True)

    @classmethod
    def open_read_only(cls, file: Path) -> Self:
        """Open an existing index for reading only."""
        return cls(_connect(read_only_uri(file)), writable=False)

    @classmethod
    def in_memory(cls) -> Self:
        """Return an empty index in memory."""
        return cls(_connect(":memory:"), writable=True)

    def copy_in_memory(self) -> Self:
        """Return a copy in memory, and close this index."""
        connection = _connect(":memory:")
        self._connection.backup(connection)
        self.close()
        return type(self)(connection, writable=True)

    def close(self) -> None:
        """Release the file."""
        self._connection.close()

    def __len__(self) -> int:
        """Return the number of chunks."""
        return int(self._connection.execute("SELECT count(*) FROM chunks").fetchone()[0])

    def damage(self) -> list[str]:
        """Return what is wrong with the index itself; empty if nothing is."""
        lines = [line for (line,) in self._connection.execute("PRAGMA integrity_check(5)")]
        found = [f"the index of words is damaged: {line}" for line in lines if line != "ok"]
        for table, words in (("chunks", "chunk_words"), ("entities", "entity_words")):
            query = f"SELECT count(*) FROM {table} WHERE number NOT IN (SELECT rowid FROM {words})"  # noqa: S608 # ours
            if missing := self._connection.execute(query).fetchone()[0]:
                found.append(f"the index of words lacks the words of {missing} {table}")
        return found

    @property
    def checkpoint(self) -> Checkpoint:
        """The point in the store's history that the index reflects."""
        revision, token = self._connection.execute("SELECT revision, token FROM mark").fetchone()
        return Checkpoint(revision=revision, token=token)

    def clear(self) -> None:
        """Delete everything."""
        with self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            for statement in _CLEAR:
                self._connection.execute(statement)

    def replace(self, paper: str, searchable: Searchable | None, *, checkpoint: Checkpoint) -> None:
        """Replace a paper's content, or delete it if `searchable` is None, and move to a checkpoint, atomically."""
        with self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            touched, gone = self._delete(paper)
            if searchable is not None:
                touched |= self._insert(searchable)
            for entity in sorted(touched):
                self._refresh(entity)
            new = 0 if searchable is None else len(searchable.chunks)
            row = (checkpoint.revision, checkpoint.token, new - gone)
            self._connection.execute("UPDATE mark SET revision = ?, token = ?, chunks = chunks + ?", row)

    def chunks(self, text: str, *, filters: Filters, limit: int) -> list[Hit]:
        """Return the allowed chunks that contain words of the text; see `find_candidates`."""
        lists = self._lists(filters)
        holding = self._term_frequencies("chunk_words", text, all_of_them=any(lists.values()))
        most = max_score(holding.values(), size=self._size())
        ranked = self._ranked("chunk_words", holding, lists, limit=limit)
        return [Hit(id=hit.id, score=hit.score / most) for hit in ranked]

    def names(self, text: str, *, papers: Sequence[str], limit: int) -> NameHits:
        """Return the entities that a text names; at most `limit` by their words."""
        holding = self._term_frequencies("entity_words", text, all_of_them=bool(papers))
        guessed = self._ranked("entity_words", holding, {"papers": _list(papers)}, limit=limit)
        return NameHits(exact=self._named(text, papers=papers), guessed=guessed)

    def chunk_ids(self, numbers: Sequence[int]) -> dict[int, str]:
        """Return the ids of chunks by their numbers; unknown numbers are left out."""
        return self._ids("chunks", numbers)

    def edges(self, papers: Sequence[str]) -> dict[str, EdgeArrays]:
        """Return the relations of papers, by paper; unknown papers are left out."""
        query = "SELECT paper, value FROM edges WHERE paper IN (SELECT value FROM json_each(?))"
        rows = self._connection.execute(query, (json.dumps(papers),))
        return {paper: EdgeArrays.from_bytes(value) for paper, value in rows}

    def numbers(self, filters: Filters) -> list[int] | None:
        """Return the numbers of the chunks that the sections and kinds allow; None if neither is restricted."""
        if not filters.sections and not filters.kinds:
            return None
        return [number for (number,) in self._connection.execute(_NUMBERS, self._lists(filters))]

    def _named(self, text: str, *, papers: Sequence[str]) -> dict[str, int]:
        found = windows(text)
        keys = json.dumps(sorted({window.key for window in found}))
        entities: dict[str, set[str]] = defaultdict(set)
        for key, entity in self._connection.execute(_NAMED, {"keys": keys, "papers": _list(papers)}):
            entities[key].add(entity)
        return longest_first(found, entities)

    def _lists(self, filters: Filters) -> dict[str, str | None]:
        papers, sections = _list(filters.papers), None
        if filters.sections:
            paths = [path for (path,) in self._connection.execute(_SECTIONS, {"papers": papers})]
            sections = json.dumps([path for path in paths if filters.allows_section(path)])
        return {"papers": papers, "sections": sections, "kinds": _list(filters.kinds)}

    def _ranked(
        self, table: str, holding: Mapping[str, int], lists: Mapping[str, str | None], *, limit: int
    ) -> list[Hit]:
        # A term that no row contains gives no score, but would be looked up again.
        expression = " OR ".join(term for term, number in holding.items() if number)
        if not expression or limit < 1:
            return []
        rows = None if any(lists.values()) else self._best(table, expression, limit=limit)
        if rows is None:
            values = {"expression": expression, "limit": limit, **lists}
            rows = self._connection.execute(_RESTRICTED[table], values).fetchall()
        return [Hit(id=key, score=-rank) for key, rank in rows]

    def _best(self, table: str, expression: str, *, limit: int) -> list[tuple[str, float]] | None:
        """Return the best rows, by score and id; None if more than `_MOST_EQUAL` have the score of the last one."""
        most = limit + _MOST_EQUAL
        query = _BEST.format(table=table)
        rows = self._connection.execute(query, {"expression": expression, "limit": most}).fetchall()
        last = rows[:limit][-1][1] if rows else 0.0
        if len(rows) == most and rows[-1][1] == last:
            return None
        found = {number: rank for number, rank in rows if rank <= last}
        ids = self._ids(_OWNERS[table], list(found))
        return sorted(((key, found[number]) for number, key in ids.items()), key=lambda row: (row[1], row[0]))[:limit]

    def _ids(self, table: str, numbers: Sequence[int]) -> dict[int, str]:
        query = _IDS.format(table=table)
        return dict(self._connection.execute(query, {"numbers": json.dumps(numbers)}).fetchall())

    def _term_frequencies(self, table: str, text: str, *, all_of_them: bool) -> dict[str, int]:
        """Return the search terms of the text with the number of rows that contain each: all of them if `all_of_them`;
        else the rarest, and further ones while at most `RANKED` rows contain them."""
        terms = match_terms(text)
        most = RANKED[table]
        found = self._row_counts(table, terms, most=-1 if all_of_them else most + 1)
        if all_of_them or sum(found.values()) <= most:
            return found
        if min(filter(None, found.values())) > most:
            found = self._row_counts(table, terms, most=-1)
        return rarest(found, most=most)

    def _row_counts(self, table: str, terms: Sequence[str], *, most: int) -> dict[str, int]:
        """Return the number of rows that contain each term, counted up to `most` (-1: without limit).

        Questions share most of their words, and a common one takes the longest to count, so the numbers are kept.
        """
        now = self.checkpoint
        counted, known = self._counts
        if counted != now or len(known) > _MOST_COUNTED:
            known = {}
            self._counts = now, known
        missing = [term for term in terms if (table, most, term) not in known]
        values = {"terms": json.dumps(missing), "most": most}
        for term, number in self._connection.execute(_FREQUENCIES.format(table=table), values) if missing else ():
            known[table, most, term] = number
        return {term: known[table, most, term] for term in terms}

    def _size(self) -> int:
        """Return the number of chunks, which takes long to count."""
        return int(self._connection.execute("SELECT chunks FROM mark").fetchone()[0])

    def _delete(self, paper: str) -> tuple[set[str], int]:
        """Delete a paper; return the entities that it named, and the number of its chunks."""
        numbers = self._connection.execute("SELECT number FROM chunks WHERE paper = ?", (paper,)).fetchall()
        self._connection.executemany("DELETE FROM chunk_words WHERE rowid = ?", numbers)
        self._connection.execute("DELETE FROM chunks WHERE paper = ?", (paper,))
        query = "SELECT DISTINCT entity FROM names WHERE paper = ? AND entity IN (SELECT id FROM entities)"
        touched = self._connection.execute(query, (paper,)).fetchall()
        self._connection.execute("DELETE FROM names WHERE paper = ?", (paper,))
        self._connection.execute("DELETE FROM edges WHERE paper = ?", (paper,))
        return {entity for (entity,) in touched}, len(numbers)

    def _insert(self, searchable: Searchable) -> set[str]:
        chunks = list(zip(searchable.numbers.tolist(), searchable.chunks, strict=True))
        rows = [(number, chunk.id, chunk.paper, chunk.section, kind_of(chunk)) for number, chunk in chunks]
        self._connection.executemany("INSERT INTO chunks VALUES (?, ?, ?, ?, ?)", rows)
        words = [(number, fold_spelling(chunk.searched)) for number, chunk in chunks]
        self._connection.executemany("INSERT INTO chunk_words (rowid, text) VALUES (?, ?)", words)
        names = {
            (name_key(name), fold_spelling(name), entity.id, searchable.paper)
            for entity in searchable.entities
            for name in (entity.name, *entity.aliases)
        }
        self._connection.executemany("INSERT INTO names VALUES (?, ?, ?, ?)", sorted(names))
        edges = EdgeArrays.of(searchable.edges).to_bytes()
        self._connection.execute("INSERT INTO edges VALUES (?, ?)", (searchable.paper, edges))
        # The words of many titles would displace the terms, so a work is found by its whole name only.
        return {entity.id for entity in searchable.entities if entity.type != WORK}

    def _refresh(self, entity: str) -> None:
        """Set the entity's searchable names to those that the papers currently use."""
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
