"""Caches: paid model calls and embeddings in the library's file, recently used papers in memory."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence

import numpy as np
from numpy import float32
from numpy.typing import NDArray
from sqlalchemy import BigInteger, Connection, Float, cast, delete, func, select

from graph_store.functions import is_json, json_text
from graph_store.reading import read_entries, read_entry, read_paper, read_revision, read_vector
from graph_store.schema import calls, embeddings, given
from paperscope_core.codec import from_json, to_json
from paperscope_core.types import ModelReply, Paper, PaperEntry, Usage

__all__ = ["PaperCache", "read_call", "read_usage", "read_vectors", "write_call", "write_vectors"]


def read_call(connection: Connection, key: str) -> ModelReply | None:
    """The stored reply of a call, or None if there is none, or it is damaged."""
    value = connection.execute(select(calls.c.value).where(calls.c.key == key)).scalar()
    try:
        return None if value is None else from_json(ModelReply, value)
    except ValueError:
        return None


def write_call(connection: Connection, key: str, *, model: str, reply: ModelReply) -> None:
    """Store a reply; a later one under the same key replaces it."""
    connection.execute(delete(calls).where(calls.c.key == key))
    connection.execute(calls.insert().values(key=key, model=model, value=to_json(reply)))


def read_usage(connection: Connection) -> dict[str, Usage]:
    """The usage of all calls whose replies are stored, by model."""
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
    """The stored vectors of these texts; other texts, and those with damaged vectors, are left out."""
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


class PaperCache:
    """Caches the `size` papers used last, and the entries of all papers, so that a question does not decode the whole
    library. A paper that is added again has a new revision and is therefore read again. Unknown ids raise KeyError."""

    def __init__(self, *, size: int) -> None:
        self._size = size
        self._papers: OrderedDict[tuple[str, int], Paper] = OrderedDict()
        self._entries: tuple[int, tuple[PaperEntry, ...]] = (0, ())
        self._lock = threading.Lock()

    def entries(self, connection: Connection) -> Sequence[PaperEntry]:
        """All papers without their elements, in the order of addition."""
        revision = read_revision(connection)
        # Every question needs the titles, and another process may have added papers.
        if self._entries[0] != revision:
            self._entries = (revision, tuple(read_entries(connection)))
        return self._entries[1]

    def papers(self, connection: Connection) -> list[Paper]:
        """All papers, in the order of addition."""
        return [self._get(connection, entry) for entry in read_entries(connection)]

    def paper(self, connection: Connection, paper: str) -> Paper:
        """The paper with this id."""
        return self._get(connection, read_entry(connection, paper))

    def _get(self, connection: Connection, entry: PaperEntry) -> Paper:
        key = (entry.id, entry.revision)
        with self._lock:
            paper = self._papers.get(key)
            if paper is not None:
                self._papers.move_to_end(key)
                return paper
        paper = read_paper(connection, entry.id)
        with self._lock:
            self._papers[key] = paper
            while len(self._papers) > self._size:
                self._papers.popitem(last=False)
        return paper
