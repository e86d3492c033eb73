"""Writes a library as a working directory of LightRAG, through LightRAG's storages."""

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from numpy import float32
from numpy.typing import NDArray

from graph_store.lightrag.adapter import import_lightrag, make_lightrag
from graph_store.lightrag.kv_storage import rows_of
from graph_store.lightrag.reader import LibraryReader
from graph_store.lightrag.status_storage import status_rows
from graph_store.lightrag.vector_storage import row_of
from graph_store.lightrag.view import Row, VectorKind, View
from paperscope_core.errors import InputError, OutputError
from paperscope_core.files import output_errors
from paperscope_core.types import Figure, Table, crops_of

__all__ = ["ExportReport", "Storages", "export_library"]

_NAMESPACES = ("full_docs", "text_chunks", "full_entities", "full_relations", "entity_chunks", "relation_chunks")


@dataclass(frozen=True, kw_only=True, slots=True)
class Storages:
    """The names of LightRAG's storages to write to, and the workspace in them. Files are written by default; other
    storages take their address from LightRAG's environment variables."""

    kv: str = "JsonKVStorage"
    vectors: str = "NanoVectorDBStorage"
    graph: str = "NetworkXStorage"
    status: str = "JsonDocStatusStorage"
    workspace: str = ""

    @property
    def in_files(self) -> bool:
        """Whether all of them are files."""
        return self == Storages(vectors=self.vectors) and self.vectors in (
            "NanoVectorDBStorage",
            "FaissVectorDBStorage",
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ExportReport:
    """What was written, and what LightRAG has no place for."""

    papers: int
    chunks: int
    entities: int
    relations: int
    losses: Mapping[str, int]


def export_library(reader: LibraryReader, folder: Path, storages: Storages = Storages()) -> ExportReport:
    """Write the newest revision into a folder, which must be missing or empty.

    The folder appears complete or not at all. Other storages than files may be left half-written by a failure.

    Raises:
        OutputError: The folder is not empty, or can't be written.
        InputError: The library is empty; LightRAG is not installed, or of another release.
        StoreDamagedError: All papers are damaged.
        ModelError: The embedder fails.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise OutputError("is not empty; name a new folder for the export", where=folder)
    with output_errors(folder), reader.held() as view:
        if not view.snapshot.papers:
            raise InputError("the library has no papers; add one first, or name another library")
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as name:
            # LightRAG shares data between workspaces of one name in a process.
            workspace = f"export_{uuid.uuid4().hex}" if storages.in_files else storages.workspace
            work = _write(reader, view, Path(name), storages, workspace=workspace)
            # A loop of its own, whether or not the caller's thread runs one.
            with ThreadPoolExecutor(1) as executor:
                executor.submit(asyncio.run, work).result()
            written = Path(name) / workspace
            written.mkdir(exist_ok=True)
            if folder.exists():
                folder.rmdir()
            written.rename(folder)
    return _report(reader, view)


async def _write(reader: LibraryReader, view: View, folder: Path, storages: Storages, *, workspace: str) -> None:
    chunks = view.table("chunks")
    # LightRAG embeds the chunks as they are shown, we as they are searched: the vectors are the library's.
    known: dict[str, NDArray[float32]] = {
        _clean(view.text("chunks", key)): chunks.vector(number) for number, key in enumerate(chunks.keys)
    }
    rag = make_lightrag(
        reader,
        known_vectors=known,
        working_dir=str(folder),
        workspace=workspace,
        kv_storage=storages.kv,
        vector_storage=storages.vectors,
        graph_storage=storages.graph,
        doc_status_storage=storages.status,
    )
    await rag.initialize_storages()
    stores: dict[VectorKind, Any] = {
        "chunks": rag.chunks_vdb,
        "entities": rag.entities_vdb,
        "relationships": rag.relationships_vdb,
    }
    for namespace in _NAMESPACES:
        await getattr(rag, namespace).upsert(_clean(dict(rows_of(view, namespace))))
    for kind, store in stores.items():
        await store.upsert(_clean(_vector_rows(view, kind)))
    graph = rag.chunk_entity_relation_graph
    await graph.upsert_nodes_batch([(_clean(name), _clean(view.node(name))) for name in view.nodes])
    await graph.upsert_edges_batch([(*_clean(edge), _clean(view.edge(edge))) for edge in view.edges])
    await rag.doc_status.upsert(_clean(status_rows(view)))
    for store in (*(getattr(rag, one) for one in _NAMESPACES), *stores.values(), graph, rag.doc_status):
        await store.index_done_callback()
    await rag.finalize_storages()


def _vector_rows(view: View, kind: VectorKind) -> dict[str, Row]:
    """The rows of a kind as LightRAG stores them, by its ids."""
    table = view.table(kind)
    rows = [row_of(view, kind, table, number) for number in range(len(table.keys))]
    if kind == "chunks":
        # PostgreSQL keeps a chunk's size and order beside its vector, too.
        rows = [{**view.chunk(str(row["id"])), **row} for row in rows]
    return {str(row["id"]): {name: row[name] for name in row if name not in ("id", "created_at")} for row in rows}


def _clean(value: Any) -> Any:  # noqa: ANN401
    """The same value without characters that XML and UTF-8 can't hold."""
    if isinstance(value, str):
        return import_lightrag("lightrag.utils").sanitize_text_for_encoding(value)
    if isinstance(value, Mapping):
        return {key: _clean(one) for key, one in value.items()}
    if isinstance(value, Sequence):
        return type(value)(_clean(one) for one in value) if isinstance(value, list | tuple) else value
    return value


def _report(reader: LibraryReader, view: View) -> ExportReport:
    papers = [reader.store.paper(paper) for paper in view.snapshot.papers]
    elements = [element for paper in papers for element in paper.elements]
    entities = view.nodes.values()
    losses = {
        "tables, of which only the text is kept": sum(isinstance(one, Table) for one in elements),
        "pictures of tables, figures and equations": len({crop for one in elements for crop in crops_of(one)}),
        "figures, of which only the caption is kept": sum(isinstance(one, Figure) for one in elements),
        "positions of entities in the text": sum(len(one.mentions) for one in entities),
        "other names of entities": sum(len(one.aliases) for one in entities),
        "relations that share an edge with another one": sum(len(one) - 1 for one in view.edges.values()),
    }
    return ExportReport(
        papers=len(papers),
        chunks=len(view.snapshot.chunks),
        entities=len(view.nodes),
        relations=len(view.edges),
        losses={what: count for what, count in losses.items() if count},
    )
