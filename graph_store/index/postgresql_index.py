"""The index of a library in PostgreSQL, in tables beside the library's own, which all processes share."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Self, TypeVar

from sqlalchemy import Connection, text

from graph_store.database_checks import count_chunks
from graph_store.index.finding import check_dimension, find_candidates, find_named
from graph_store.index.graph_walk import EdgeArrays, WalkedGraph
from graph_store.index.postgresql_search import (
    COMPARED,
    Scope,
    build_graph,
    nearest_chunks,
    search_chunks,
    search_names,
)
from graph_store.index.postgresql_tables import (
    FORMAT,
    State,
    Vectors,
    Writer,
    clear,
    create,
    drop,
    read_damage,
    read_state,
    read_vectors,
    write_checkpoint,
)
from graph_store.index.text_terms import Tokenizer
from graph_store.postgresql import PostgresDatabase, sqlstate_of, take_lock
from graph_store.reading import (
    Checkpoint,
    Searchable,
    read_changes,
    read_checkpoint,
    read_newest_embedder,
    read_revision,
    read_searchable,
)
from graph_store.store import Store
from paperscope_core.errors import InputError, StoreDamagedError, StoreError, StoreVersionError
from paperscope_core.types import Candidates, Filters, Hit, RetrievalRequest

__all__ = ["PostgresGraphIndex"]

T = TypeVar("T")

_log = logging.getLogger(__name__)

# pgvector builds no graph of longer vectors.
_WIDEST = 4000
_EXTENSION, _LEAST_VERSION = "vector", (0, 8)
# How many papers are applied in one transaction.
_BATCH = 20
# A question waits for another process that updates the index, but not until a graph is built.
_MOST_WAIT, _LEAST_WAIT = 10.0, 0.5
_BUSY, _MISSING = "55P03", "42P01"
_REMEDY = (
    "its search in PostgreSQL needs the extension pgvector 0.8 or later: install it on the server, then run "
    "CREATE EXTENSION vector in the database as a superuser, or set retrieval.index to native"
)


class _NotBuiltError(StoreError):
    """There are no tables, perhaps because another process is making them anew."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Pending:
    """The papers that changed since a revision, with their last changes, in order."""

    since: int
    papers: Sequence[tuple[str, Checkpoint]]


class PostgresGraphIndex:
    """Implements the protocol `GraphIndex` by tables in the library's database: postings of words, and vectors in
    pgvector.

    All processes share the tables; one at a time brings them up to date, while others search what is there. Safe for
    several threads. Raises StoreError.
    """

    def __init__(self, store: Store, database: PostgresDatabase, *, embedder: str | None, vector_schema: str) -> None:
        self._store = store
        self._database = database
        self._fixed_embedder = embedder
        self._vector_schema = vector_schema
        self._tokenizer = Tokenizer()

    @classmethod
    def open(cls, store: Store, *, embedder: str | None = None) -> Self:
        """Open the index and catch up with the store. Tables that are missing or of another library are built.

        Args:
            embedder: The embedder of the questions' vectors, by default that of the newest paper. Papers of another
                embedder are found by words only.

        Raises:
            InputError: The library is not in PostgreSQL.
            StoreError: pgvector is missing, or the tables can't be created.
        """
        database = _server_of(store)
        index = cls(store, database, embedder=embedder, vector_schema=_vector_schema(database))
        index.catch_up()
        return index

    @classmethod
    def rebuild(cls, store: Store, *, embedder: str | None = None) -> Self:
        """Delete the tables, and build them again; see `open`."""
        database = _server_of(store)
        with database.creating("index") as connection:
            drop(connection)
        return cls.open(store, embedder=embedder)

    @classmethod
    def damage(cls, store: Store) -> list[str]:
        """Return what is wrong with the tables; see `index_damage`. Raises StoreError if pgvector is missing."""
        database = _server_of(store)
        with database.read() as connection:
            if (vector := _find_vector(connection)) is None or vector[1] < _LEAST_VERSION:
                raise StoreError(_REMEDY, where=database.where)
            state = read_state(connection)
            if state is None:
                return []
            if state.format > FORMAT:
                return ["its search was built by a newer Paperscope"]
            if not _is_sound(connection, state):
                return []
            found = read_damage(connection)
            stored = count_chunks(connection)
            if state.checkpoint.revision == read_revision(connection) and state.texts["chunk"] < stored:
                found.append(f"the search in PostgreSQL has {state.texts['chunk']} chunks, the library {stored}")
        return found

    def close(self) -> None:
        """Release the memory; the index can't be used afterwards."""
        self._tokenizer.close()

    @property
    def revision(self) -> int:
        """The store's revision that the index reflects."""
        with self._database.read() as connection:
            return self._state(connection).checkpoint.revision

    def catch_up(self) -> None:
        """Apply the store's changes since the index's revision, and build a graph of vectors that have become many."""
        if self._store.read_only:
            return
        self._apply_changes()
        self._build_graphs()

    def retrieve(self, request: RetrievalRequest) -> Candidates:
        """Find candidate chunks and entities for a question; see `find_candidates`.

        Raises SettingsError if the vector is of another embedder than the papers' vectors.
        """
        return self._with_tables(partial(self._retrieve, request))

    def named(self, text: str, *, papers: Sequence[str] = (), limit: int = 20) -> tuple[Hit, ...]:
        """Return the entities that a text names; see `find_named`."""
        return self._with_tables(partial(self._named, text, papers, limit))

    def _with_tables(self, work: Callable[[], T]) -> T:
        """Call `work`, and call it again with new tables if they were deleted meanwhile."""
        try:
            return work()
        except StoreError as error:
            if sqlstate_of(error) != _MISSING and not isinstance(error, _NotBuiltError):
                raise
        return work()

    def _retrieve(self, request: RetrievalRequest) -> Candidates:
        question, limit = request.text, max(request.limit, 0)
        with self._current() as (connection, state):
            scope = Scope.of(connection, request.filters)
            names = search_names(connection, state, question, scope=scope, limit=limit, tokenizer=self._tokenizer)
            by_words = search_chunks(connection, state, question, scope=scope, limit=limit, tokenizer=self._tokenizer)
            by_vectors = self._nearest(connection, request, scope, limit=limit)
        return find_candidates(
            self._store, request, by_words=by_words, by_vectors=by_vectors, names=names, graph=self._graph
        )

    def _graph(self, papers: Sequence[str]) -> WalkedGraph:
        edges = self._store.edges(papers)
        return WalkedGraph({paper: EdgeArrays.of(found) for paper, found in edges.items()}, self._store.homes(papers))

    def _nearest(self, connection: Connection, request: RetrievalRequest, scope: Scope, *, limit: int) -> list[Hit]:
        embedder = read_newest_embedder(connection) if self._fixed_embedder is None else self._fixed_embedder
        vectors = read_vectors(connection, embedder)
        if vectors is None or limit == 0:
            return []
        check_dimension(request.vector, vectors.dimension, embedder=embedder)
        return nearest_chunks(
            connection, vectors, request.vector, scope=scope, limit=limit, vector_schema=self._vector_schema
        )

    def _named(self, question: str, papers: Sequence[str], limit: int) -> tuple[Hit, ...]:
        with self._current() as (connection, state):
            scope = Scope.of(connection, Filters(papers=tuple(papers)))
            names = search_names(connection, state, question, scope=scope, limit=limit, tokenizer=self._tokenizer)
        return find_named(self._store, names, papers=papers, limit=limit)

    @contextmanager
    def _current(self) -> Iterator[tuple[Connection, State]]:
        """Begin a transaction that sees the index at the store's newest revision, unless it can't be brought there."""
        with self._database.read() as connection:
            if self._store.read_only or _is_current(connection):
                yield connection, self._state(connection)
                return
        self._apply_changes()
        with self._database.read() as connection:
            yield connection, self._state(connection)

    def _state(self, connection: Connection) -> State:
        state = read_state(connection)
        if state is None:
            raise _NotBuiltError(
                "its search was not built yet; open the library once as a user who may create tables, or set "
                "retrieval.index to native",
                where=self._database.where,
            )
        return state

    def _apply_changes(self) -> None:
        """Bring the tables to the store's newest revision, unless another process locks them for long."""
        try:
            while (pending := self._pending()).papers:
                for first in range(0, len(pending.papers), _BATCH):
                    if not self._apply(dict(pending.papers[first : first + _BATCH]), since=pending.since):
                        break
        except StoreError as error:
            if sqlstate_of(error) != _BUSY:
                raise
            _log.warning("another process is updating the index; papers added meanwhile are not searched yet")

    def _prepare(self) -> None:
        """Create the tables if they are missing or of another format, and clear those of another history."""
        with self._database.read() as connection:
            state = read_state(connection)
            if state is not None and _is_sound(connection, state):
                return
        with self._database.creating("index") as connection:
            state = read_state(connection)
            if state is not None and state.format > FORMAT:
                raise StoreVersionError(
                    "its search was built by a newer Paperscope; update Paperscope, or set retrieval.index to native",
                    where=self._database.where,
                )
            if state is None or state.format < FORMAT:
                drop(connection)
                create(connection, vector_schema=self._vector_schema)
            elif not _is_sound(connection, state):
                clear(connection)

    def _pending(self) -> _Pending:
        self._prepare()
        with self._database.read() as connection:
            since = self._state(connection).checkpoint.revision
            changes = read_changes(connection, since)
        last = {change.paper: change.checkpoint for change in changes}
        return _Pending(since=since, papers=sorted(last.items(), key=lambda item: item[1].revision))

    def _apply(self, batch: Mapping[str, Checkpoint], *, since: int) -> bool:
        """Apply the last changes of some papers, all others of which since a revision were applied before; returns
        whether that is so.

        Papers are read in their current state, so a concurrent change may be applied twice, which is harmless.
        """
        with self._database.write(lock=None) as connection:
            take_lock(connection, "index", seconds=_MOST_WAIT)
            state = self._state(connection)
            # Another process may have gone on, or built the tables again.
            if state.checkpoint.revision < since or not _is_sound(connection, state):
                return False
            todo = [paper for paper, checkpoint in batch.items() if checkpoint.revision > state.checkpoint.revision]
            if todo:
                writer = Writer(connection, tokenizer=self._tokenizer, vector_schema=self._vector_schema)
                writer.replace({paper: _searchable(connection, paper) for paper in todo})
                write_checkpoint(connection, batch[todo[-1]])
        return True

    def _build_graphs(self) -> None:
        """Build the graphs that are missing. Without one, a question is compared with all vectors, which is slower."""
        with self._database.read() as connection:
            if not _graphless(connection):
                return
        # Processes share memory, of which a container by default has too little.
        for parallel in (True, False):
            try:
                with self._database.creating(lock=None) as connection:
                    take_lock(connection, "index", seconds=_LEAST_WAIT)
                    for vectors in _graphless(connection):
                        _log.info("building the graph of %d vectors", vectors.chunks)
                        build_graph(connection, vectors, vector_schema=self._vector_schema, parallel=parallel)
            except StoreError as error:
                if sqlstate_of(error) == _BUSY:
                    # Another process may be building it.
                    return
                _log.warning("the graph of vectors can't be built%s: %s", " in parallel" if parallel else "", error)
            else:
                return


def _server_of(store: Store) -> PostgresDatabase:
    if not isinstance(store.database, PostgresDatabase):
        raise InputError(
            'retrieval.index "postgresql" needs a library in PostgreSQL; set it to native, or copy the library there '
            "with `paperscope migrate`"
        )
    return store.database


def _vector_schema(database: PostgresDatabase) -> str:
    """Return the quoted name of the schema of pgvector, which is created if it is installed on the server."""
    with database.read() as connection:
        found = _find_vector(connection)
    if found is None and not database.read_only:
        try:
            with database.creating("index") as connection:
                connection.execute(text(f"CREATE EXTENSION IF NOT EXISTS {_EXTENSION} SCHEMA public"))
                found = _find_vector(connection)
        except StoreError as error:
            raise StoreError(_REMEDY, where=error.where) from error
    if found is None:
        raise StoreError(_REMEDY, where=database.where)
    schema, version = found
    if version < _LEAST_VERSION:
        raise StoreError(
            f"the server has pgvector {'.'.join(map(str, version))}; {_REMEDY} (ALTER EXTENSION vector UPDATE)",
            where=database.where,
        )
    return schema


def _find_vector(connection: Connection) -> tuple[str, tuple[int, ...]] | None:
    query = """
    SELECT quote_ident(nspname), extversion FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace
    WHERE extname = :name
    """
    row = connection.execute(text(query), {"name": _EXTENSION}).first()
    return None if row is None else (row[0], tuple(int(part) for part in row[1].split(".")[:2]))


def _is_current(connection: Connection) -> bool:
    state = read_state(connection)
    if state is None or state.checkpoint.revision != read_revision(connection):
        return False
    return _is_sound(connection, state)


def _is_sound(connection: Connection, state: State) -> bool:
    """Return whether the tables are of this format and of a state of this library."""
    known = read_checkpoint(connection, state.checkpoint.revision)
    return state.format == FORMAT and known == state.checkpoint


def _graphless(connection: Connection) -> list[Vectors]:
    query = """
    SELECT number AS embedder, dimension, chunks, graph FROM search_embedders
    WHERE chunks > :most AND dimension <= :widest AND NOT graph
    """
    values = {"most": COMPARED, "widest": _WIDEST}
    return [Vectors(**row) for row in connection.execute(text(query), values).mappings()]


def _searchable(connection: Connection, paper: str) -> Searchable | None:
    """Return what is searched of a paper; None if it is removed or damaged."""
    try:
        return read_searchable(connection, paper)
    except KeyError:
        return None
    except StoreDamagedError as error:
        _log.warning("%s; until then, it is not searched", error)
        return None
