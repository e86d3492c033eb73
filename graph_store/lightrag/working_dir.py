"""Reads a working directory of LightRAG, without LightRAG and without writing to it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lxml import etree

from graph_store.lightrag.view import SEPARATOR
from paperscope_core.errors import InputError

__all__ = ["Document", "Item", "WorkingDir", "read_working_dir"]

_CHUNKS, _DOCUMENTS, _STATUS = "kv_store_text_chunks.json", "kv_store_full_docs.json", "kv_store_doc_status.json"
_GRAPH = "graph_chunk_entity_relation.graphml"
_DONE = "processed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """A processed document: its file's name, and its chunks' texts by id, in order."""

    id: str
    file: str
    chunks: Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """An entity, or a relation of two: `ends` are one or two names, `kind` is the type or the keywords."""

    ends: tuple[str, ...]
    kind: str
    description: str
    chunks: tuple[str, ...]
    weight: float = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkingDir:
    """What a working directory holds; `unfinished` are the documents that LightRAG had not processed, with their
    status."""

    folder: Path
    documents: tuple[Document, ...]
    entities: tuple[Item, ...]
    relations: tuple[Item, ...]
    unfinished: Mapping[str, str]


def read_working_dir(folder: Path) -> WorkingDir:
    """Read LightRAG's files (JSON and GraphML, as its default storages of releases 1.4 and 1.5 write them).

    Args:
        folder: The working directory, or that of a workspace in it.

    Raises:
        InputError: It is none, of another version, half-written, or changed while it was read.
    """
    folder = _data_folder(folder)
    before = _state(folder)
    chunks, documents, status = (_read_json(folder / name) for name in (_CHUNKS, _DOCUMENTS, _STATUS))
    graph = _read_graph(folder / _GRAPH)
    unfinished = {key: str(row.get("status")) for key, row in status.items() if row.get("status") != _DONE}
    found = WorkingDir(
        folder=folder,
        documents=_documents(folder, chunks, documents, leave_out=unfinished),
        entities=tuple(
            _item(folder / _GRAPH, (name,), data, kind="entity_type") for name, data in graph.nodes(data=True)
        ),
        relations=tuple(
            _item(folder / _GRAPH, (one, other), data, kind="keywords") for one, other, data in graph.edges(data=True)
        ),
        unfinished=unfinished,
    )
    if _state(folder) != before:
        raise InputError("changed while it was read: another process has it open; stop it and try again", where=folder)
    return found


def _data_folder(folder: Path) -> Path:
    """The folder that has the files: the folder itself, or its only workspace."""
    if not folder.is_dir():
        raise InputError("is no folder; name a working directory of LightRAG", where=folder)
    if (folder / _CHUNKS).is_file():
        return folder
    workspaces = sorted(one for one in folder.iterdir() if (one / _CHUNKS).is_file())
    if len(workspaces) > 1:
        names = ", ".join(repr(one.name) for one in workspaces)
        raise InputError(f"has several workspaces ({names}); name the folder of one of them", where=folder)
    if not workspaces:
        raise InputError(
            f"is no working directory of LightRAG with its default storages: it has no {_CHUNKS}", where=folder
        )
    return workspaces[0]


def _state(folder: Path) -> dict[str, tuple[int, int]]:
    stats = {one.name: one.stat() for one in folder.iterdir() if one.is_file()}
    return {name: (stat.st_size, stat.st_mtime_ns) for name, stat in stats.items()}


def _read_json(file: Path) -> dict[str, dict[str, Any]]:
    try:
        rows = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    except (OSError, ValueError) as error:
        raise InputError(f"can't be read ({error}); it is damaged or half-written", where=file) from error
    if not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values()):
        raise _another_version(file, "rows are not objects")
    return rows


def _read_graph(file: Path) -> Any:  # noqa: ANN401 # networkx has no types
    import networkx as nx

    try:
        return nx.read_graphml(file) if file.is_file() else nx.Graph()
    except (OSError, ValueError, KeyError, nx.NetworkXException, SyntaxError, etree.LxmlError) as error:
        raise InputError(f"can't be read ({error}); it is damaged or half-written", where=file) from error


def _documents(
    folder: Path,
    chunks: Mapping[str, Mapping[str, Any]],
    documents: Mapping[str, Mapping[str, Any]],
    *,
    leave_out: Mapping[str, str],
) -> tuple[Document, ...]:
    texts: dict[str, list[tuple[int, str, str, str]]] = {}
    for key, row in chunks.items():
        try:
            owner, order, text = str(row["full_doc_id"]), int(row["chunk_order_index"]), str(row["content"])
        except (KeyError, TypeError, ValueError) as error:
            raise _another_version(folder / _CHUNKS, f"chunk {key!r} lacks {error}") from error
        if owner not in leave_out:
            texts.setdefault(owner, []).append((order, key, text, str(row.get("file_path") or "")))
    return tuple(
        Document(
            id=owner,
            file=str(documents.get(owner, {}).get("file_path") or rows[0][3] or owner),
            chunks={key: text for _, key, text, _ in sorted(rows)},
        )
        for owner, rows in texts.items()
    )


def _item(file: Path, ends: tuple[str, ...], data: Mapping[str, Any], *, kind: str) -> Item:
    try:
        return Item(
            ends=ends,
            kind=str(data.get(kind) or ""),
            description=str(data.get("description") or ""),
            chunks=tuple(one for one in str(data["source_id"]).split(SEPARATOR) if one),
            weight=float(data.get("weight") or 1.0),
        )
    except (KeyError, ValueError) as error:
        raise _another_version(file, f"{' - '.join(ends)!r} lacks {error}") from error


def _another_version(file: Path, why: str) -> InputError:
    return InputError(f"has another form ({why}); Paperscope reads what LightRAG 1.4 and 1.5 write", where=file)
