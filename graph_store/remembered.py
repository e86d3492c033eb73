"""What was paid for and is kept: model calls and embeddings."""

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
from numpy import float32
from numpy.typing import NDArray
from sqlalchemy import Connection, delete, select

from graph_store.schema import calls, embeddings, given
from paperscope.codec import from_json, to_json
from paperscope.types import ModelReply

__all__ = [
    "read_call",
    "read_vectors",
    "write_call",
    "write_vectors",
]


def read_call(connection: Connection, key: str) -> ModelReply | None:
    """The reply kept under a key, or None."""
    value = connection.execute(select(calls.c.value).where(calls.c.key == key)).scalar()
    return None if value is None else from_json(ModelReply, value)


def write_call(connection: Connection, key: str, *, model: str, reply: ModelReply) -> None:
    """Keep a reply; a later one under the same key takes its place."""
    connection.execute(delete(calls).where(calls.c.key == key))
    connection.execute(calls.insert().values(key=key, model=model, value=to_json(reply)))


def read_vectors(connection: Connection, embedder: str, texts: Sequence[str]) -> dict[str, NDArray[float32]]:
    """The vectors of those texts that are known."""
    wanted = {_sha256(text): text for text in texts}
    rows = connection.execute(
        select(embeddings.c.sha256, embeddings.c.vector).where(
            embeddings.c.embedder == embedder, embeddings.c.sha256.in_(given("wanted"))
        ),
        {"wanted": list(wanted)},
    )
    return {wanted[row.sha256]: np.frombuffer(row.vector, dtype="<f4").astype(float32) for row in rows}


def write_vectors(connection: Connection, embedder: str, vectors: Mapping[str, NDArray[float32]]) -> None:
    """Keep the vectors of these texts."""
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
