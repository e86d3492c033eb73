"""LightRAG's document status: every paper is a processed document."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from graph_store.lightrag.reader import ReadingStorage, refuse_to_write
from graph_store.lightrag.view import Row, View

__all__ = ["StatusStorage", "status_rows"]

_SUMMARY = 100


class StatusStorage(ReadingStorage):
    """The rows of LightRAG's `JsonDocStatusStorage`, which has all methods that read them.

    Attributes:
        locks: LightRAG's module of locks.
    """

    locks: Any
    namespace: str
    workspace: str

    def __post_init__(self) -> None:
        self._storage_lock: Any = None

    async def initialize(self) -> None:
        """Take the lock of the rows; there is no file to load."""
        self._storage_lock = self.locks.get_namespace_lock(self.namespace, workspace=self.workspace)

    @property
    def _data(self) -> dict[str, Row]:
        return status_rows(self.reader.view_now())

    async def upsert(self, data: Mapping[str, Row]) -> None:
        """Raises StoreReadOnlyError."""
        if data:
            refuse_to_write("the documents")

    async def delete(self, doc_ids: Sequence[str]) -> None:
        """Raises StoreReadOnlyError."""
        if doc_ids:
            refuse_to_write("the documents")

    async def update_doc_status_fields(self, *_arguments: object, **_options: object) -> bool:
        """Raises StoreReadOnlyError."""
        refuse_to_write("the documents")

    async def repair_source_conflict(self, *_arguments: object, **_options: object) -> int:
        """Raises StoreReadOnlyError."""
        refuse_to_write("the documents")


def status_rows(view: View) -> dict[str, Row]:
    """The rows of all papers, by id."""
    chunks: dict[str, list[str]] = {paper: [] for paper in view.snapshot.papers}
    lengths = dict.fromkeys(chunks, 0)
    for chunk in view.snapshot.chunks.values():
        chunks[chunk.paper].append(chunk.id)
        lengths[chunk.paper] += len(chunk.text)
    # LightRAG requires a time.
    times = {
        paper: datetime.fromtimestamp(view.snapshot.added[paper], UTC).isoformat(timespec="seconds") for paper in chunks
    }
    return {
        entry.id: {
            "content_summary": entry.title[:_SUMMARY],
            "content_length": lengths[entry.id],
            "file_path": view.files[entry.id],
            "status": "processed",
            "created_at": times[entry.id],
            "updated_at": times[entry.id],
            "track_id": "",
            "chunks_count": len(chunks[entry.id]),
            "chunks_list": chunks[entry.id],
            "metadata": {},
            "content_hash": entry.sha256,
        }
        for entry in view.snapshot.papers.values()
    }
