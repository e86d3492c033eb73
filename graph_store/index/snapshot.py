"""A vector index on the disk: one line of JSON that describes it, then chunk numbers and vectors as they lie in memory.

Only numbers are read back, guarded by a digest; a damaged or foreign file is no snapshot.
"""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from graph_store.index.vectors import VectorTable
from graph_store.values import Mark
from paperscope.codec import from_json, to_json
from paperscope.files import replace_file

__all__ = ["load_snapshot", "save_snapshot"]

_FORMAT = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class _Header:
    format: int
    mark: Mark
    embedder: str
    papers: dict[str, tuple[int, ...]]
    rows: int
    columns: int
    digest: str = ""


def save_snapshot(file: Path, table: VectorTable) -> None:
    """Put the content in the place of what `file` held before; a reader sees one or the other. Raises OSError."""
    rows, columns = table.vectors.shape
    body = table.numbers.astype("<i8").tobytes() + table.vectors.astype("<f4").tobytes()
    header = _Header(
        format=_FORMAT,
        mark=table.mark,
        embedder=table.embedder,
        papers=table.papers,
        rows=rows,
        columns=columns,
    )
    header = replace(header, digest=_digest(header, body))
    replace_file(file, to_json(header).encode() + b"\n", body)


def load_snapshot(file: Path) -> VectorTable | None:
    """The content that was saved; None if there is none, or it is damaged or of another format."""
    try:
        head, _, body = file.read_bytes().partition(b"\n")
        header = from_json(_Header, head)
    except (FileNotFoundError, ValueError):
        return None
    split = header.rows * 8
    if (
        header.format != _FORMAT
        or len(body) != split + header.rows * header.columns * 4
        or header.digest != _digest(header, body)
    ):
        return None
    return VectorTable(
        mark=header.mark,
        embedder=header.embedder,
        papers=header.papers,
        numbers=np.frombuffer(body[:split], dtype="<i8").astype(np.int64),
        vectors=np.frombuffer(body[split:], dtype="<f4").astype(np.float32).reshape(header.rows, header.columns),
    )


def _digest(header: _Header, body: bytes) -> str:
    """Of everything but the digest itself."""
    digest = hashlib.blake2b(to_json(replace(header, digest="")).encode(), digest_size=32)
    digest.update(body)
    return digest.hexdigest()
