"""Papers without pages from the documents of a LightRAG working directory, which is read without LightRAG."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from graph_store.lightrag.view import SEPARATOR
from paperscope_core.errors import InputError
from paperscope_core.text.words import singular_key
from paperscope_core.types import (
    Box,
    Chunk,
    Entity,
    Extraction,
    Page,
    Paper,
    Passage,
    Place,
    Relation,
    content_hash,
)

__all__ = ["Document", "ImportPlan", "ImportedPaper", "Item", "WorkingDir", "plan_import", "read_working_dir"]

_CHUNKS, _DOCUMENTS, _STATUS = "kv_store_text_chunks.json", "kv_store_full_docs.json", "kv_store_doc_status.json"
_GRAPH = "graph_chunk_entity_relation.graphml"
_DONE = "processed"
_NO_FILE = {"", "unknown_source", "no-file-path"}
_ID_LENGTH = 12


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
    """Return the folder that has the files: the folder itself, or its only workspace."""
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
    from lxml import etree

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


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedPaper:
    """A document as a paper, still without vectors; `source` names the document."""

    paper: Paper
    chunks: tuple[Chunk, ...]
    extraction: Extraction
    source: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportPlan:
    """The papers to add, and how many things of each sort have no place in them."""

    papers: tuple[ImportedPaper, ...]
    entities: int
    relations: int
    left_out: Mapping[str, int]


def plan_import(found: WorkingDir) -> ImportPlan:
    """Make papers of documents. A chunk becomes a passage and a chunk; entities and relations keep their chunks.

    An entity or relation is stated by every document that has one of its chunks; its weight is divided among them.
    """
    left_out: Counter[str] = Counter()
    papers = {one.paper.id: one for one in map(_paper_of, found.documents, [found] * len(found.documents))}
    left_out["documents with the text of another one"] = len(found.documents) - len(papers)
    left_out["documents that LightRAG has not finished"] = len(found.unfinished)
    homes = {key: home for one, document in _with_documents(papers, found) for key, home in _homes(one, document)}
    entities: dict[str, dict[str, Entity]] = defaultdict(dict)
    for item in found.entities:
        places = _places(item, homes)
        left_out["entities whose chunks are missing"] += not places
        for paper, sources in places.items():
            entity = _entity(item, sources)
            known = entities[paper].get(entity.id)
            left_out["names that mean an entity already named"] += known is not None
            entities[paper][entity.id] = entity if known is None else _merged(known, entity)
    relations: dict[str, list[Relation]] = defaultdict(list)
    for item in found.relations:
        places = _places(item, homes)
        source, target = (_key(end) for end in item.ends)
        stated = {
            paper: sources
            for paper, sources in places.items()
            if source != target and source in entities[paper] and target in entities[paper]
        }
        left_out["relations whose chunks or entities are missing"] += not stated
        for paper, sources in stated.items():
            relations[paper].append(_relation(item, sources, weight=item.weight / len(stated)))
    return ImportPlan(
        papers=tuple(
            replace(
                one,
                extraction=Extraction(entities=tuple(entities[paper].values()), relations=_distinct(relations[paper])),
            )
            for paper, one in papers.items()
        ),
        entities=len({key for own in entities.values() for key in own}),
        relations=len({tuple(sorted((one.source, one.target))) for own in relations.values() for one in own}),
        left_out={what: count for what, count in left_out.items() if count},
    )


def _paper_of(document: Document, found: WorkingDir) -> ImportedPaper:
    sha256 = content_hash("\n".join(document.chunks.values()).encode())
    paper = sha256[:_ID_LENGTH]
    passages: list[Passage] = []
    first = 1
    for order, text in enumerate(document.chunks.values(), start=1):
        last = first + text.count("\n")
        place = Place(paper=paper, page=1, box=Box(0.0, float(first), 0.0, float(last)))
        passages.append(Passage(id=f"{paper}/passage-{order}", place=place, order=order, text=text))
        first = last + 1
    file = document.id if document.file in _NO_FILE else document.file.rpartition("/")[2]
    return ImportedPaper(
        paper=Paper(
            id=paper,
            title=file,
            authors=(),
            sha256=sha256,
            file=file,
            pages=(Page(number=1, width=0.0, height=0.0),),
            sections=(),
            elements=tuple(passages),
            format="text",
        ),
        chunks=tuple(
            Chunk(
                id=f"{paper}/chunk-{one.order}",
                paper=paper,
                text=one.text,
                elements=(one.id,),
                section="",
                place=one.place,
            )
            for one in passages
        ),
        extraction=Extraction(entities=(), relations=()),
        source=str(found.folder.resolve() / document.id),
    )


def _with_documents(papers: Mapping[str, ImportedPaper], found: WorkingDir) -> Iterator[tuple[ImportedPaper, Document]]:
    sources = {one.source: one for one in papers.values()}
    for document in found.documents:
        one = sources.get(str(found.folder.resolve() / document.id))
        if one is not None:
            yield one, document


def _homes(paper: ImportedPaper, document: Document) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the paper and the element of each of LightRAG's chunks."""
    for key, element in zip(document.chunks, paper.paper.elements, strict=True):
        yield key, (paper.paper.id, element.id)


def _places(item: Item, homes: Mapping[str, tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Return the elements that state an item, by paper."""
    found: dict[str, list[str]] = defaultdict(list)
    for chunk in item.chunks:
        if chunk in homes:
            paper, element = homes[chunk]
            found[paper].append(element)
    return {paper: tuple(dict.fromkeys(elements)) for paper, elements in found.items()}


def _key(name: str) -> str:
    return singular_key(name) or name


def _entity(item: Item, sources: Sequence[str]) -> Entity:
    name = item.ends[0]
    return Entity(
        id=_key(name), name=name, type=item.kind.lower(), description=item.description, sources=tuple(sources)
    )


def _merged(one: Entity, other: Entity) -> Entity:
    return replace(
        one,
        aliases=tuple(dict.fromkeys((*one.aliases, other.name))),
        sources=tuple(dict.fromkeys((*one.sources, *other.sources))),
    )


def _relation(item: Item, sources: Sequence[str], *, weight: float) -> Relation:
    source, target = (_key(end) for end in item.ends)
    return Relation(
        source=source,
        target=target,
        kind=item.kind,
        description=item.description,
        sources=tuple(sources),
        weight=max(weight, 0.0),
    )


def _distinct(relations: Sequence[Relation]) -> tuple[Relation, ...]:
    """Return one relation for each pair of entities and kind; names that mean one entity may repeat it."""
    return tuple({(one.source, one.target, one.kind): one for one in relations}.values())
