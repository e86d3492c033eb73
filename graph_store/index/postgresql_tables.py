"""The tables of the index in PostgreSQL: creates them, reads their state, and updates them.

They are in the schema of the library's own tables, which no transaction here changes.
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Any, Literal

import numpy as np
from numpy import float32
from numpy.typing import NDArray
from sqlalchemy import Connection, CursorResult, text

from graph_store.index.query_terms import name_key
from graph_store.index.text_terms import Tokenizer, WordRows, bounded
from graph_store.postgresql import storable
from graph_store.reading import Checkpoint, Searchable
from paperscope_core.text.words import fold_spelling
from paperscope_core.types import WORK, kind_of

__all__ = [
    "FORMAT",
    "State",
    "Vectors",
    "WordTable",
    "Writer",
    "as_halfvec",
    "clear",
    "create",
    "drop",
    "read_damage",
    "read_state",
    "read_vectors",
    "write_checkpoint",
]

FORMAT = 3

WordTable = Literal["chunk", "entity"]
"""The words of chunks, whose owners are papers, or those of entities' names, each of which is its own owner."""

_log = logging.getLogger(__name__)

_ALL = ", ".join(
    f"search_{name}"
    for name in (
        "state",
        "embedders",
        "papers",
        "chunks",
        "entities",
        "names",
        "chunk_words",
        "chunk_terms",
        "entity_words",
        "entity_terms",
    )
)
_KEY = "integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
# Compared by code points, as in the library's own tables.
_TEXT = 'text COLLATE "C" NOT NULL'
# Of a section, in characters: a row of an index has at most 2,704 bytes. What follows can't be searched for.
_LONGEST_PATH = 500
# to_regclass() may answer from a cache of before the transaction.
_HAS_TABLES = """
SELECT EXISTS (
    SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE relname = 'search_state' AND nspname = current_schema()
)
"""
_NEW_STATE = f"INSERT INTO search_state VALUES ({FORMAT}, 0, '', 0, 0, 0, 0)"  # noqa: S608 # ours
# A term's postings of one owner are a value: a row for each posting would take four times the room.
_WORDS = f"""
CREATE TABLE search_{{table}}_words (
    term {_TEXT}, owner integer NOT NULL, texts integer NOT NULL, postings bytea NOT NULL, PRIMARY KEY (term, owner)
);
CREATE INDEX search_{{table}}_words_by_owner ON search_{{table}}_words (owner);
CREATE TABLE search_{{table}}_terms (term {_TEXT} PRIMARY KEY, texts integer NOT NULL);
"""
_TABLES = f"""
CREATE TABLE search_state (
    format integer NOT NULL, revision integer NOT NULL, token {_TEXT},
    chunks bigint NOT NULL, chunk_words bigint NOT NULL, entities bigint NOT NULL, entity_words bigint NOT NULL
);
{_NEW_STATE};
CREATE TABLE search_embedders (
    number {_KEY}, name {_TEXT} UNIQUE, dimension integer NOT NULL, chunks integer NOT NULL, graph boolean NOT NULL
);
CREATE TABLE search_papers (
    number {_KEY}, id {_TEXT} UNIQUE, embedder integer, chunks integer NOT NULL, words integer NOT NULL
);
CREATE TABLE search_chunks (
    number integer PRIMARY KEY, id {_TEXT}, paper integer NOT NULL, section {_TEXT}, kind {_TEXT},
    embedder integer, vector {{vector_schema}}.halfvec
);
CREATE INDEX search_chunks_by_paper ON search_chunks (paper, section, kind);
CREATE INDEX search_chunks_by_kind ON search_chunks (kind);
CREATE TABLE search_entities (number {_KEY}, id {_TEXT} UNIQUE, names {_TEXT});
CREATE TABLE search_names (key {_TEXT}, name {_TEXT}, entity integer NOT NULL, paper integer NOT NULL);
CREATE INDEX search_names_by_key ON search_names (key, entity, paper);
CREATE INDEX search_names_by_entity ON search_names (entity, paper);
CREATE INDEX search_names_by_paper ON search_names (paper, entity);
{_WORDS.format(table="chunk")}
{_WORDS.format(table="entity")}
"""
# Lists are bound as arrays, so that a statement does not depend on their lengths.
_INSERT_PAPERS = """
INSERT INTO search_papers (id, embedder, chunks, words)
SELECT * FROM unnest(CAST(:ids AS text[]), CAST(:embedders AS int[]), CAST(:chunks AS int[]), CAST(:words AS int[]))
RETURNING id, number
"""
_INSERT_CHUNKS = """
INSERT INTO search_chunks
SELECT number, id, paper, section, kind, embedder, CAST(vector AS {vector_schema}.halfvec)
FROM unnest(
    CAST(:numbers AS int[]), CAST(:ids AS text[]), CAST(:papers AS int[]), CAST(:sections AS text[]),
    CAST(:kinds AS text[]), CAST(:embedders AS int[]), string_to_array(:vectors, ';', '')
) AS new (number, id, paper, section, kind, embedder, vector)
"""
_INSERT_NAMES = """
INSERT INTO search_names
SELECT new.key, new.name, search_entities.number, search_papers.number
FROM unnest(CAST(:keys AS text[]), CAST(:names AS text[]), CAST(:entities AS text[]), CAST(:papers AS text[]))
    AS new (key, name, entity, paper)
JOIN search_entities ON search_entities.id = new.entity
JOIN search_papers ON search_papers.id = new.paper
"""
_INSERT_ENTITIES = """
INSERT INTO search_entities (id, names)
SELECT id, '' FROM unnest(CAST(:ids AS text[])) AS new (id) ON CONFLICT (id) DO NOTHING
"""
_CURRENT_NAMES = """
SELECT number, names, coalesce((
    SELECT string_agg(DISTINCT name, E'\\n' ORDER BY name) FROM search_names WHERE entity = search_entities.number
), '') AS current
FROM search_entities WHERE number = ANY(:numbers) ORDER BY number
"""
_DELETE_ENTITIES = """
DELETE FROM search_entities
WHERE number = ANY(:numbers) AND NOT EXISTS (SELECT FROM search_names WHERE entity = search_entities.number)
"""
_SET_NAMES = """
UPDATE search_entities SET names = new.names
FROM unnest(CAST(:numbers AS int[]), CAST(:names AS text[])) AS new (number, names)
WHERE search_entities.number = new.number
"""
_INSERT_WORDS = """
INSERT INTO search_{table}_words
SELECT term, owner, texts, substring(CAST(:postings AS bytea) FROM start FOR size)
FROM unnest(
    string_to_array(:terms, E'\\n'), CAST(:owners AS int[]), CAST(:texts AS int[]),
    CAST(:starts AS int[]), CAST(:sizes AS int[])
) AS new (term, owner, texts, start, size)
"""
_COUNT_TERMS = """
INSERT INTO search_{table}_terms AS known
SELECT * FROM unnest(string_to_array(:terms, E'\\n'), CAST(:texts AS int[]))
ON CONFLICT (term) DO UPDATE SET texts = known.texts + excluded.texts
"""
_FORGET_TERMS = """
UPDATE search_{table}_terms AS known SET texts = known.texts - gone.texts
FROM (
    SELECT term, sum(texts) AS texts FROM search_{table}_words WHERE owner = ANY(:owners) GROUP BY term
) AS gone
WHERE known.term = gone.term
"""
# A sum of no rows is NULL.
_COUNTS = """
SELECT
    chunks = (SELECT count(*) FROM search_chunks)
        AND chunks = (SELECT coalesce(sum(chunks), 0) FROM search_papers) AS "chunks",
    chunk_words = (SELECT coalesce(sum(words), 0) FROM search_papers) AS "words",
    entities = (SELECT count(*) FROM search_entities WHERE names <> '') AS "entities",
    (SELECT coalesce(sum(texts), 0) FROM search_chunk_terms)
        = (SELECT coalesce(sum(texts), 0) FROM search_chunk_words) AS "postings of words",
    (SELECT coalesce(sum(texts), 0) FROM search_entity_terms)
        = (SELECT coalesce(sum(texts), 0) FROM search_entity_words) AS "postings of names",
    (SELECT coalesce(sum(chunks), 0) FROM search_embedders)
        = (SELECT count(*) FROM search_chunks WHERE vector IS NOT NULL) AS "vectors"
FROM search_state
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """What the index holds.

    Attributes:
        checkpoint: The point in the library's history that it reflects.
        format: That of its tables.
        texts: The number of texts in each table of words.
        words: The number of words in them.
    """

    checkpoint: Checkpoint
    format: int
    texts: Mapping[WordTable, int]
    words: Mapping[WordTable, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Vectors:
    """The vectors of an embedder.

    Attributes:
        graph: Whether there is an HNSW graph of them.
    """

    embedder: int
    dimension: int
    chunks: int
    graph: bool


def create(connection: Connection, *, vector_schema: str) -> None:
    """Create the tables, empty. `vector_schema` is the quoted name of pgvector's schema."""
    connection.execute(text(_TABLES.format(vector_schema=vector_schema)))


def drop(connection: Connection) -> None:
    """Delete the tables, if there are any."""
    connection.execute(text(f"DROP TABLE IF EXISTS {_ALL}"))


def clear(connection: Connection) -> None:
    """Delete everything in the tables."""
    connection.execute(text(f"TRUNCATE {_ALL}"))
    connection.execute(text(_NEW_STATE))


def read_state(connection: Connection) -> State | None:
    """Return what the index holds; None if there are no tables in this transaction's view."""
    if not connection.execute(text(_HAS_TABLES)).scalar():
        return None
    row = connection.execute(text("SELECT * FROM search_state")).first()
    if row is None:
        # They were made anew since this transaction began.
        return None
    return State(
        checkpoint=Checkpoint(revision=row.revision, token=row.token),
        format=row.format,
        texts={"chunk": row.chunks, "entity": row.entities},
        words={"chunk": row.chunk_words, "entity": row.entity_words},
    )


def read_damage(connection: Connection) -> list[str]:
    """Return where the tables of the index contradict each other; empty if nowhere."""
    counts = connection.execute(text(_COUNTS)).mappings().one()
    return [f"the search in PostgreSQL has a wrong number of {what}" for what, agree in counts.items() if not agree]


def write_checkpoint(connection: Connection, checkpoint: Checkpoint) -> None:
    """Move to a checkpoint."""
    values = {"revision": checkpoint.revision, "token": checkpoint.token}
    connection.execute(text("UPDATE search_state SET revision = :revision, token = :token"), values)


def read_vectors(connection: Connection, embedder: str) -> Vectors | None:
    """Return the vectors of an embedder, if there are any."""
    query = (
        "SELECT number AS embedder, dimension, chunks, graph FROM search_embedders WHERE name = :name AND chunks > 0"
    )
    row = connection.execute(text(query), {"name": embedder}).mappings().first()
    return None if row is None else Vectors(**row)


def as_halfvec(vector: NDArray[float32]) -> str:
    """Return a vector in the form in which pgvector reads it."""
    return f"[{','.join(map(str, vector.tolist()))}]"


class Writer:
    """Updates the tables in a transaction that holds the lock of the index."""

    def __init__(self, connection: Connection, *, tokenizer: Tokenizer, vector_schema: str) -> None:
        self._connection = connection
        self._tokenizer = tokenizer
        self._vector_schema = vector_schema

    def replace(self, papers: Mapping[str, Searchable | None]) -> None:
        """Replace the content of these papers, or delete it if it is None."""
        left = self._delete_papers(list(papers))
        kept = [one for one in papers.values() if one is not None]
        self._refresh_entities(left=left, added=self._insert_papers(kept) if kept else set())

    def _run(self, statement: str, **values: object) -> CursorResult[Any]:
        return self._connection.execute(text(statement), values)

    def _delete_papers(self, ids: Sequence[str]) -> set[int]:
        """Delete what is stored of papers; returns the entities that they named."""
        rows = self._run(
            "SELECT number, embedder, chunks, words FROM search_papers WHERE id = ANY(:ids)", ids=ids
        ).all()
        if not rows:
            return set()
        owners = [row.number for row in rows]
        left = set(self._run("SELECT entity FROM search_names WHERE paper = ANY(:owners)", owners=owners).scalars())
        self._forget_words("chunk", owners)
        self._resize("chunk", texts=-sum(row.chunks for row in rows), words=-sum(row.words for row in rows))
        for row in rows:
            self._count_vectors(row.embedder, -row.chunks)
        self._run("DELETE FROM search_names WHERE paper = ANY(:owners)", owners=owners)
        self._run("DELETE FROM search_chunks WHERE paper = ANY(:owners)", owners=owners)
        self._run("DELETE FROM search_papers WHERE number = ANY(:owners)", owners=owners)
        return left

    def _insert_papers(self, papers: Sequence[Searchable]) -> set[int]:
        """Insert papers; returns the entities of which they have new names."""
        chunks = [chunk for paper in papers for chunk in paper.chunks]
        numbers = [number for paper in papers for number in paper.numbers.tolist()]
        places = [place for place, paper in enumerate(papers) for _ in paper.chunks]
        words = self._tokenizer.postings(
            [fold_spelling(chunk.searched) for chunk in chunks], numbers=numbers, owners=places
        )
        lengths = [0] * len(papers)
        for place, length in zip(places, words.lengths, strict=True):
            lengths[place] += length
        embedders = [self._embedder(paper) for paper in papers]
        rows = self._run(
            _INSERT_PAPERS,
            ids=[paper.paper for paper in papers],
            embedders=embedders,
            chunks=[len(paper.chunks) for paper in papers],
            words=lengths,
        )
        keys = {row.id: row.number for row in rows}
        owners = [keys[paper.paper] for paper in papers]
        vectors = (
            "" if embedders[place] is None else text_of
            for place, paper in enumerate(papers)
            for text_of in _halfvecs(paper.vectors)
        )
        self._run(
            _INSERT_CHUNKS.format(vector_schema=self._vector_schema),
            numbers=numbers,
            ids=[chunk.id for chunk in chunks],
            papers=[owners[place] for place in places],
            sections=[chunk.section[:_LONGEST_PATH] for chunk in chunks],
            kinds=[kind_of(chunk) for chunk in chunks],
            embedders=[embedders[place] for place in places],
            # An empty text is none.
            vectors=";".join(vectors),
        )
        self._insert_words("chunk", words, owners)
        self._resize("chunk", texts=len(chunks), words=sum(lengths))
        return self._insert_names(papers)

    def _embedder(self, paper: Searchable) -> int | None:
        """Return the number of a paper's embedder, whose vectors are counted; None if it has none that can be
        compared."""
        count, dimension = paper.vectors.shape
        if count == 0:
            return None
        query = "SELECT number, dimension, chunks, graph FROM search_embedders WHERE name = :name"
        row = self._run(query, name=paper.embedder).first()
        if row is not None and row.dimension != dimension and row.chunks == 0:
            self._run(f"DROP INDEX IF EXISTS search_graph_{row.number:d}")
            self._run("DELETE FROM search_embedders WHERE number = :number", number=row.number)
            row = None
        if row is not None and row.dimension != dimension:
            _log.warning(
                "paper %s has vectors of %d numbers, others of embedder %r have %d: it is found by words only",
                paper.paper,
                dimension,
                paper.embedder,
                row.dimension,
            )
            return None
        if row is None:
            insert = (
                "INSERT INTO search_embedders (name, dimension, chunks, graph) VALUES (:name, :dimension, 0, false)"
            )
            row = self._run(f"{insert} RETURNING number", name=paper.embedder, dimension=dimension).one()
        self._count_vectors(row.number, count)
        return int(row.number)

    def _count_vectors(self, embedder: int | None, change: int) -> None:
        query = "UPDATE search_embedders SET chunks = chunks + :change WHERE number = :number"
        self._run(query, number=embedder, change=change)

    def _insert_names(self, papers: Sequence[Searchable]) -> set[int]:
        rows = sorted(
            {
                (bounded(name_key(name)), storable(fold_spelling(name)), storable(entity.id), paper.paper)
                for paper in papers
                for entity in paper.entities
                for name in (entity.name, *entity.aliases)
            }
        )
        if not rows:
            return set()
        keys, names, entities, owners = zip(*rows, strict=True)
        ids = sorted(set(entities))
        self._run(_INSERT_ENTITIES, ids=ids)
        self._run(_INSERT_NAMES, keys=list(keys), names=list(names), entities=list(entities), papers=list(owners))
        # The words of many titles would displace the terms, so a work is found by its whole name only.
        terms = {storable(entity.id) for paper in papers for entity in paper.entities if entity.type != WORK}
        new: dict[str, set[str]] = defaultdict(set)
        for _, name, entity, _ in rows:
            if entity in terms:
                new[entity].add(name)
        known = self._run("SELECT number, id, names FROM search_entities WHERE id = ANY(:ids)", ids=sorted(new))
        return {row.number for row in known if not new.get(row.id, set()) <= set(row.names.split("\n"))}

    def _refresh_entities(self, *, left: set[int], added: set[int]) -> None:
        """Set the searchable names of entities to those that the papers currently use, and forget unused entities."""
        rows = self._run(_CURRENT_NAMES, numbers=sorted(left | added)).all()
        # An entity that has none is known as a work only.
        changed = [row for row in rows if row.names != row.current and (row.names or row.number in added)]
        gone = [row for row in changed if row.names]
        if gone:
            words = self._tokenizer.postings(
                [row.names for row in gone], numbers=[0] * len(gone), owners=[0] * len(gone)
            )
            self._forget_words("entity", [row.number for row in gone])
            self._resize("entity", texts=-len(gone), words=-sum(words.lengths))
        new = [row for row in changed if row.current]
        if new:
            numbers = [row.number for row in new]
            words = self._tokenizer.postings([row.current for row in new], numbers=numbers, owners=range(len(new)))
            self._insert_words("entity", words, numbers)
            self._resize("entity", texts=len(new), words=sum(words.lengths))
            self._run(_SET_NAMES, numbers=numbers, names=[row.current for row in new])
        if left:
            self._run(_DELETE_ENTITIES, numbers=sorted(left))

    def _insert_words(self, table: WordTable, words: WordRows, owners: Sequence[int]) -> None:
        """Insert postings, whose owners are given by their places in `owners`."""
        if not words.terms:
            return
        sizes = [len(one) for one in words.postings]
        self._run(
            _INSERT_WORDS.format(table=table),
            # Terms consist of letters and digits.
            terms="\n".join(words.terms),
            owners=_integers(owners[place] for place in words.owners),
            texts=_integers(words.texts),
            postings=b"".join(words.postings),
            starts=_integers(accumulate(sizes[:-1], initial=1)),
            sizes=_integers(sizes),
        )
        counts: Counter[str] = Counter()
        for term, texts in zip(words.terms, words.texts, strict=True):
            counts[term] += texts
        ordered = sorted(counts)
        self._run(
            _COUNT_TERMS.format(table=table),
            terms="\n".join(ordered),
            texts=_integers(counts[term] for term in ordered),
        )

    def _forget_words(self, table: WordTable, owners: Sequence[int]) -> None:
        self._run(_FORGET_TERMS.format(table=table), owners=owners)
        self._run(f"DELETE FROM search_{table}_words WHERE owner = ANY(:owners)", owners=owners)  # noqa: S608 # ours

    def _resize(self, table: WordTable, *, texts: int, words: int) -> None:
        column = {"chunk": "chunks", "entity": "entities"}[table]
        change = f"{column} = {column} + :texts, {table}_words = {table}_words + :words"
        self._run(f"UPDATE search_state SET {change}", texts=texts, words=words)  # noqa: S608 # ours


def _integers(values: Iterable[int]) -> str:
    """Return numbers as an array in PostgreSQL's form, which psycopg writes slowly."""
    return f"{{{','.join(map(str, values))}}}"


def _halfvecs(vectors: NDArray[float32]) -> Iterator[str]:
    """Yield vectors in the form in which pgvector reads them."""
    texts = _half_texts()
    for row in vectors.astype(np.float16).view(np.uint16).tolist():
        yield f"[{','.join([texts[bits] for bits in row])}]"


@cache
def _half_texts() -> tuple[str, ...]:
    """Return the text of each number of 16 bits: looking it up takes a tenth of the time of writing it."""
    return tuple(map(str, np.arange(1 << 16, dtype=np.uint16).view(np.float16)))
