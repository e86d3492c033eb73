"""Caches: paid model calls and embeddings in the library's file, recently used papers in memory."""

import hashlib
import os
import socket
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Self, TypeVar

import numpy as np
from numpy import float32
from numpy.typing import NDArray
from sqlalchemy import BigInteger, Connection, Float, cast, delete, func, select

from graph_store.functions import is_json, json_text
from graph_store.reading import (
    Change,
    Checkpoint,
    paper_of,
    read_changes,
    read_checkpoint,
    read_entries,
    read_paper,
    read_paper_chunks,
    read_paper_revision,
    read_revision,
    read_vector,
)
from graph_store.schema import calls, embeddings, given, papers
from paperscope_core.codec import from_json, to_json
from paperscope_core.types import Chunk, Element, ModelReply, Paper, PaperEntry, Usage

__all__ = [
    "PaperCache",
    "lease_call",
    "read_call",
    "read_usage",
    "read_vectors",
    "release_call",
    "write_call",
    "write_vectors",
]

Value = TypeVar("Value")


def read_call(connection: Connection, key: str) -> ModelReply | None:
    """Return the stored reply of a call, or None if there is none, or it is damaged."""
    value = connection.execute(select(calls.c.value).where(calls.c.key == key)).scalar()
    try:
        return None if value is None else from_json(ModelReply, value)
    except ValueError:
        return None


def write_call(connection: Connection, key: str, *, model: str, reply: ModelReply) -> None:
    """Store a reply, which ends the lease of the call; a later one under the same key replaces it."""
    connection.execute(delete(calls).where(calls.c.key.in_((key, _lease_key(key)))))
    connection.execute(calls.insert().values(key=key, model=model, value=to_json(reply)))


def lease_call(connection: Connection, key: str, *, owner: str, now: float, seconds: float) -> bool:
    """Lease a call, or extend the owner's lease; return False while another's lease lasts and its process, if it is of
    this machine, runs."""
    value = connection.execute(select(calls.c.value).where(calls.c.key == _lease_key(key))).scalar()
    if value is not None:
        end, _, holder = value.partition(" ")
        if holder != _holder(owner) and float(end) > now and not _is_gone(holder):
            return False
        connection.execute(delete(calls).where(calls.c.key == _lease_key(key)))
    connection.execute(calls.insert().values(key=_lease_key(key), model="", value=f"{now + seconds} {_holder(owner)}"))
    return True


def release_call(connection: Connection, key: str, *, owner: str) -> None:
    """End the owner's lease of a call."""
    held = (calls.c.key == _lease_key(key)) & calls.c.value.endswith(f" {_holder(owner)}", autoescape=True)
    connection.execute(delete(calls).where(held))


def _holder(owner: str) -> str:
    return f"{socket.gethostname()} {os.getpid()} {owner}"


def _is_gone(holder: str) -> bool:
    """Return whether the process of a lease is known to have ended."""
    host, process, _ = holder.split(" ")
    if host != socket.gethostname():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        # Another user's.
        return False
    return False


def _lease_key(key: str) -> str:
    """Return the key of the row that holds the lease of a call; its value, an end and an owner, is no reply."""
    return f"lease {key}"


def read_usage(connection: Connection) -> dict[str, Usage]:
    """Return the usage of all calls whose replies are stored, by model."""
    amounts = [
        func.sum(cast(json_text(calls.c.value, f"$.usage.{field}"), kind)).label(field)
        for field, kind in (("prompt_tokens", BigInteger), ("completion_tokens", BigInteger), ("cost", Float))
    ]
    query = select(calls.c.model, func.count().label("calls"), *amounts).group_by(calls.c.model)
    rows = connection.execute(query.where(is_json(calls.c.value)).order_by(calls.c.model)).mappings()
    return {
        row["model"]: Usage(
            calls=row["calls"],
            # PostgreSQL adds integers to a Decimal.
            prompt_tokens=int(row["prompt_tokens"] or 0),
            completion_tokens=int(row["completion_tokens"] or 0),
            cost=row["cost"] or 0.0,
        )
        for row in rows
    }


def read_vectors(connection: Connection, embedder: str, texts: Sequence[str]) -> dict[str, NDArray[float32]]:
    """Return the stored vectors of these texts; other texts, and those with damaged vectors, are left out."""
    wanted = {_sha256(text): text for text in texts}
    rows = connection.execute(
        select(embeddings.c.sha256, embeddings.c.vector).where(
            embeddings.c.embedder == embedder, embeddings.c.sha256.in_(given("wanted"))
        ),
        {"wanted": list(wanted)},
    )
    return {wanted[row.sha256]: vector for row in rows if (vector := read_vector(row.vector)) is not None}


def write_vectors(connection: Connection, embedder: str, vectors: Mapping[str, NDArray[float32]]) -> None:
    """Store the vectors of these texts."""
    rows = [
        {"embedder": embedder, "sha256": _sha256(text), "vector": np.ascontiguousarray(vector, dtype="<f4").tobytes()}
        for text, vector in vectors.items()
    ]
    if rows:
        kept = [row["sha256"] for row in rows]
        connection.execute(delete(embeddings).where(embeddings.c.embedder == embedder, embeddings.c.sha256.in_(kept)))
        connection.execute(embeddings.insert(), rows)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, kw_only=True, slots=True)
class _CachedChunks:
    """A paper's chunks by id, and those that contain an element by its id, in the order of their numbers."""

    by_id: Mapping[str, Chunk]
    by_element: Mapping[str, Sequence[Chunk]]

    @classmethod
    def of(cls, chunks: Sequence[Chunk]) -> Self:
        by_element: dict[str, list[Chunk]] = defaultdict(list)
        for chunk in chunks:
            for element in dict.fromkeys(chunk.elements):
                by_element[element].append(chunk)
        return cls(by_id={chunk.id: chunk for chunk in chunks}, by_element=dict(by_element))


@dataclass(kw_only=True, slots=True)
class _CachedPaper:
    """A paper, with its elements by id, and its chunks once a question needs them."""

    paper: Paper
    elements: Mapping[str, Element]
    chunks: _CachedChunks | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Entries:
    """The papers of a library at a checkpoint, by id, in the order of addition."""

    checkpoint: Checkpoint = field(default_factory=Checkpoint)
    by_id: Mapping[str, PaperEntry] = field(default_factory=dict)
    all: tuple[PaperEntry, ...] = ()

    def caught_up(self, connection: Connection) -> "_Entries":
        """Return the papers now; only those that changed are read, if this checkpoint is in the library's history."""
        known = self.checkpoint.revision
        changed: list[Change] = []
        if known and read_checkpoint(connection, known) == self.checkpoint:
            changed = read_changes(connection, known)
        kept = dict(self.by_id) if changed else {}
        for change in changed:
            kept.pop(change.paper, None)
        since = (papers.c.revision > known,) if changed else ()
        by_id = kept | {entry.id: entry for entry in read_entries(connection, *since)}
        newest = changed[-1].checkpoint if changed else read_checkpoint(connection, read_revision(connection))
        return _Entries(checkpoint=newest or Checkpoint(), by_id=by_id, all=tuple(by_id.values()))


_pinned: ContextVar[tuple["PaperCache", int] | None] = ContextVar("_pinned", default=None)


class PaperCache:
    """Caches the `size` papers used last, and the entries of all papers, so that a question does not decode the whole
    library. A paper that is added again has a new revision and is therefore read again. Unknown ids raise
    NotFoundError.

    Every look-up asks the database for the current revision, except within `pinned`.
    """

    def __init__(self, *, size: int) -> None:
        self._size = size
        self._papers: OrderedDict[tuple[str, int], _CachedPaper] = OrderedDict()
        self._entries = _Entries()
        self._lock = threading.Lock()

    @contextmanager
    def pinned(self, revision: int) -> Iterator[None]:
        """Within the block, look-ups in this context take what is in memory at this revision, as if nothing had changed
        since."""
        token = _pinned.set((self, revision))
        try:
            yield
        finally:
            _pinned.reset(token)

    @property
    def pinned_revision(self) -> int | None:
        """The revision that is pinned in this context, if one is."""
        cache, revision = _pinned.get() or (None, 0)
        return revision if cache is self else None

    def entries(self, connection: Connection) -> Sequence[PaperEntry]:
        """Return all papers without their elements, in the order of addition; the same tuple until one changes."""
        # Every question needs the titles, and another process may have added papers.
        entries = self._entries
        if entries.checkpoint.revision != read_revision(connection):
            # Another thread may set an older state meanwhile.
            entries = self._entries = entries.caught_up(connection)
        return entries.all

    def papers(self, connection: Connection) -> list[Paper]:
        """Return all papers, in the order of addition."""
        return [self._get(connection, entry.id, entry.revision).paper for entry in read_entries(connection)]

    def paper(self, connection: Connection, paper: str) -> Paper:
        """Return the paper with this id."""
        return self._get(connection, paper, read_paper_revision(connection, paper)).paper

    def load_chunks(self, connection: Connection, paper: str) -> None:
        """Cache the chunks of a paper that is in memory."""
        cached = self._get(connection, paper, read_paper_revision(connection, paper))
        if cached.chunks is None:
            cached.chunks = _CachedChunks.of(read_paper_chunks(connection, paper))

    def known_entries(self) -> Sequence[PaperEntry] | None:
        """Return what `entries` returns, if it is pinned and in memory."""
        entries = self._entries
        return entries.all if entries.checkpoint.revision == self.pinned_revision else None

    def known_paper(self, paper: str) -> Paper | None:
        """Return what `paper` returns, if it is pinned and in memory."""
        cached = self._known(paper)
        return None if cached is None else cached.paper

    def known_elements(self, ids: Iterable[str]) -> dict[str, Element]:
        """Return those of these elements that are pinned and in memory."""
        return self._known_values(ids, lambda cached: cached.elements)

    def known_chunks(self, ids: Iterable[str]) -> dict[str, Chunk]:
        """Return those of these chunks that are pinned and in memory."""
        return self._known_values(ids, lambda cached: cached.chunks.by_id if cached.chunks else {})

    def known_chunks_of(self, elements: Iterable[str], load: Callable[[str], None]) -> list[Chunk] | None:
        """Return the chunks that contain any of these elements, without repeats, if their papers are pinned and in
        memory.

        Args:
            elements: The ids of the elements.
            load: Calls `load_chunks` with the id of a paper.
        """
        found: dict[str, Chunk] = {}
        for element in elements:
            paper = paper_of(element)
            cached = self._known(paper)
            if cached is None or element not in cached.elements:
                return None
            if cached.chunks is None:
                load(paper)
            if cached.chunks is None:
                # It was replaced in the meantime.
                return None
            found |= {chunk.id: chunk for chunk in cached.chunks.by_element.get(element, ())}
        return list(found.values())

    def _known_values(
        self, ids: Iterable[str], values: Callable[[_CachedPaper], Mapping[str, Value]]
    ) -> dict[str, Value]:
        found: dict[str, Value] = {}
        for key in ids:
            cached = self._known(paper_of(key))
            if cached is not None and (value := values(cached).get(key)) is not None:
                found[key] = value
        return found

    def _pinned_entries(self) -> Mapping[str, PaperEntry] | None:
        entries = self._entries
        return entries.by_id if entries.checkpoint.revision == self.pinned_revision else None

    def _known(self, paper: str) -> _CachedPaper | None:
        entry = (self._pinned_entries() or {}).get(paper)
        return None if entry is None else self._cached((entry.id, entry.revision))

    def _cached(self, key: tuple[str, int]) -> _CachedPaper | None:
        with self._lock:
            cached = self._papers.get(key)
            if cached is not None:
                self._papers.move_to_end(key)
            return cached

    def _get(self, connection: Connection, paper: str, revision: int) -> _CachedPaper:
        key = (paper, revision)
        cached = self._cached(key)
        if cached is not None:
            return cached
        read = read_paper(connection, paper)
        cached = _CachedPaper(paper=read, elements={element.id: element for element in read.elements})
        with self._lock:
            self._papers[key] = cached
            while len(self._papers) > self._size:
                self._papers.popitem(last=False)
        return cached
