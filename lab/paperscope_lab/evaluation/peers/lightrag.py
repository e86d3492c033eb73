"""LightRAG on our chunks and our graph, without a language model."""

import asyncio
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from paperscope_core.types import Entity, Relation
from paperscope_lab.evaluation.peers.protocol import (
    Found,
    Index,
    PeerCorpus,
    PeerDocument,
    System,
    load_encoder,
    units_with_text,
)

__all__ = ["Merged", "lightrag_system", "merged_entities", "merged_relations"]


# LightRAG's separator between merged descriptions.
_SEPARATOR = "<SEP>"
Named = Callable[[str], str]
_MAX_SOURCES = 200  # LightRAG's limit on chunks per entity or relation
_DEFAULT_CHUNKS = 20  # per query
_ENOUGH_TOKENS = 10_000_000  # never drops a requested chunk for its length


@dataclass(kw_only=True, slots=True)
class Merged:
    """An entity, or an undirected relation of two entities, merged over all documents.

    `kinds` are the types or keywords with their numbers; the descriptions and units are distinct, in order of first
    appearance.
    """

    kinds: Counter[str] = field(default_factory=Counter)
    descriptions: dict[str, None] = field(default_factory=dict)
    units: dict[str, None] = field(default_factory=dict)
    weight: float = 0.0

    def add(self, item: Entity | Relation, *, kind: str, default_description: str) -> None:
        """Merge the kind, description and units of another occurrence."""
        self.kinds[kind] += 1
        self.descriptions[item.description or default_description] = None
        self.units.update(dict.fromkeys(item.sources))

    @property
    def type(self) -> str:
        """The most frequent type; the first one of a tie."""
        return self.kinds.most_common(1)[0][0] or "UNKNOWN"

    @property
    def description(self) -> str:
        """All descriptions, joined."""
        return _SEPARATOR.join(self.descriptions)


def merged_entities(documents: Iterable[PeerDocument], *, named: Named) -> dict[str, Merged]:
    """Return one entity per name, in order of first appearance; `named` folds a name and returns "" to drop it."""
    merged: dict[str, Merged] = {}
    for document in documents:
        for entity in document.entities:
            if name := named(entity.name):
                merged.setdefault(name, Merged()).add(entity, kind=entity.type, default_description=entity.name)
    return merged


def merged_relations(documents: Iterable[PeerDocument], *, named: Named) -> dict[tuple[str, str], Merged]:
    """Return one relation per pair of distinct entities, in order and direction of first appearance."""
    merged: dict[tuple[str, str], Merged] = {}
    for document in documents:
        names = {entity.id: named(entity.name) for entity in document.entities}
        for relation in document.relations:
            source, target = names[relation.source], names[relation.target]
            if source and target and source != target:
                pair = (target, source) if (target, source) in merged else (source, target)
                into = merged.setdefault(pair, Merged())
                into.add(relation, kind=relation.kind, default_description=relation.kind)
                into.weight += relation.weight
    return merged


class _WordPieces:
    """The embedder's tokenizer, used instead of a vocabulary that LightRAG would download."""

    def __init__(self, weights: Path) -> None:
        self._tokenizer: Any = import_module("tokenizers").Tokenizer.from_file(str(weights / "tokenizer.json"))
        self._tokenizer.no_truncation()

    def encode(self, content: str) -> list[int]:
        """Return token ids without the start and end tokens."""
        return list(self._tokenizer.encode(content, add_special_tokens=False).ids)

    def decode(self, tokens: list[int]) -> str:
        """Return the text of token ids."""
        return str(self._tokenizer.decode(tokens))


def lightrag_system(weights: Path) -> System:
    """Return LightRAG in its mode mix; each corpus gets a workspace, because stores of equal names are shared."""
    encoder = load_encoder(weights)

    @contextmanager
    def index(corpus: PeerCorpus) -> Iterator[Index]:
        units = units_with_text(corpus)
        with tempfile.TemporaryDirectory() as folder, asyncio.Runner() as runner:
            rag = _with_minilm(encoder, weights, Path(folder))
            runner.run(rag.initialize_storages())
            chunks = _chunks(units)
            runner.run(_fill(rag, corpus, units))

            def search(question: str, limit: int) -> list[Found]:
                found = runner.run(_search_chunks(rag, question, limit=limit))
                return [unit for chunk in found for unit in chunks[chunk]]

            yield Index(search=search, units=len(units))
            runner.run(rag.finalize_storages())

    return index


def _with_minilm(encoder: Any, weights: Path, folder: Path) -> Any:  # noqa: ANN401
    """Return LightRAG without a language model, with its stores in the folder."""
    lightrag: Any = import_module("lightrag")
    utils: Any = import_module("lightrag.utils")

    async def embed(texts: list[str]) -> Any:  # noqa: ANN401
        return encoder.encode(texts, normalize_embeddings=True, show_progress_bar=False)

    async def no_model(*_arguments: object, **_options: object) -> str:
        raise RuntimeError("LightRAG asked a model, and there is none")

    return lightrag.LightRAG(
        working_dir=str(folder),
        workspace=folder.name,
        embedding_func=utils.EmbeddingFunc(embedding_dim=encoder.get_embedding_dimension(), func=embed),
        llm_model_func=no_model,
        tokenizer=utils.Tokenizer("word pieces", _WordPieces(weights)),
        enable_llm_cache=False,
    )


def _chunks(units: Sequence[Found]) -> dict[str, list[Found]]:
    """Return the units by LightRAG's id of their text; equal texts are one chunk and are returned one after the
    other."""
    chunks: dict[str, list[Found]] = {}
    for unit in units:
        chunks.setdefault(_chunk_id(unit.text), []).append(unit)
    return chunks


def _chunk_id(text: str) -> str:
    utils: Any = import_module("lightrag.utils")
    return str(utils.compute_mdhash_id(utils.sanitize_text_for_encoding(text), prefix="chunk-"))


async def _fill(rag: Any, corpus: PeerCorpus, units: Sequence[Found]) -> None:  # noqa: ANN401
    """Insert the units as chunks, and the documents' entities and relations merged as LightRAG merges them."""
    utils: Any = import_module("lightrag.utils")
    entities = merged_entities(corpus.documents, named=utils.normalize_entity_name)
    relations = merged_relations(corpus.documents, named=utils.normalize_entity_name)
    clean = utils.sanitize_text_for_encoding
    await rag.ainsert_custom_kg(
        {
            "chunks": [{"content": unit.text, "source_id": unit.unit, "file_path": unit.document} for unit in units],
            "entities": [
                {
                    "entity_name": name,
                    "entity_type": entity.type,
                    "description": clean(entity.description),
                    "source_id": next(iter(entity.units), ""),
                }
                for name, entity in entities.items()
            ],
            "relationships": [
                {
                    "src_id": source,
                    "tgt_id": target,
                    "description": clean(relation.description),
                    "keywords": clean(",".join(relation.kinds)),
                    "weight": max(relation.weight, 1.0),
                    "source_id": next(iter(relation.units), ""),
                }
                for (source, target), relation in relations.items()
            ],
        }
    )
    await _name_all_sources(rag, entities, relations, ids={unit.unit: _chunk_id(unit.text) for unit in units})


async def _name_all_sources(
    rag: Any,  # noqa: ANN401
    entities: dict[str, Merged],
    relations: dict[tuple[str, str], Merged],
    *,
    ids: dict[str, str],
) -> None:
    """Record all sources of each entity and relation.

    A custom graph takes one chunk per entity or relation; LightRAG's own extraction records all of them.
    """
    separator: str = import_module("lightrag.constants").GRAPH_FIELD_SEP
    graph = rag.chunk_entity_relation_graph

    def sources(merged: Merged) -> list[str]:
        return list(dict.fromkeys(ids[unit] for unit in merged.units if unit in ids))[:_MAX_SOURCES]

    nodes = await graph.get_nodes_batch(list(entities))
    for name, entity in entities.items():
        await graph.upsert_node(name, {**nodes[name], "source_id": separator.join(sources(entity))})
    edges = await graph.get_edges_batch([{"src": source, "tgt": target} for source, target in relations])
    for pair, relation in relations.items():
        found = sources(relation)
        values = {"source_id": separator.join(found), "weight": max(relation.weight, float(len(found)))}
        await graph.upsert_edge(*pair, {**edges[pair], **values})
    await graph.index_done_callback()


async def _search_chunks(rag: Any, question: str, *, limit: int) -> list[str]:  # noqa: ANN401
    """Return the ids of the chunks, best first.

    Raises RuntimeError if LightRAG reports a failure other than an empty result.
    """
    param = import_module("lightrag").QueryParam(
        mode="mix",
        chunk_top_k=max(limit, _DEFAULT_CHUNKS),
        max_total_tokens=_ENOUGH_TOKENS,
        hl_keywords=[question],
        ll_keywords=[question],
        enable_rerank=False,
    )
    reply = await rag.aquery_data(question, param)
    if reply["status"] != "success":
        if reply.get("metadata", {}).get("failure_reason") == "no_results":
            return []
        raise RuntimeError(reply["message"])
    return [chunk["chunk_id"] for chunk in reply["data"]["chunks"]]
