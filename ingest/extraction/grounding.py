"""What a model says that it found, checked word by word against the chunks it was shown."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, get_args

from pydantic import BaseModel, BeforeValidator

from ingest.extraction.kinds import ModelRelationKind, TermType, type_of_name
from paperscope.types import Chunk, Entity, Extraction, Relation, entity_key

__all__ = ["FoundEntity", "FoundGraph", "FoundRelation", "Grounded", "ground", "stands_in"]


def _known_type(value: object) -> object:
    """A type outside of the set is no reason to throw a reply away."""
    return value if value in get_args(TermType) else "concept"


def _known_kind(value: object) -> object:
    return value if value in get_args(ModelRelationKind) else "related to"


class FoundEntity(BaseModel):
    """An entity as the model names it."""

    chunk: str
    mention: str
    type: Annotated[TermType, BeforeValidator(_known_type)]
    description: str


class FoundRelation(BaseModel):
    """A relation as the model names it; `source` and `target` are mentions."""

    chunk: str
    source: str
    target: str
    kind: Annotated[ModelRelationKind, BeforeValidator(_known_kind)]
    evidence: str


class FoundGraph(BaseModel):
    """A model's reply to a batch of chunks."""

    entities: list[FoundEntity]
    relations: list[FoundRelation]


@dataclass(frozen=True, kw_only=True, slots=True)
class Grounded:
    """What stood the check, and how many entities and relations did not."""

    extraction: Extraction
    dropped: int


def ground(graph: FoundGraph, *, chunks: Mapping[str, Chunk], folded: Mapping[str, str]) -> Grounded:
    """Keep the entities whose mention, and the relations whose evidence, stands in an element of the named chunk.

    `chunks` are under the ids that the model was given, `folded` holds each element's text folded by `entity_key`.
    """
    entities: dict[tuple[str, str], Entity] = {}
    for found in graph.entities:
        sources = _holding(found.mention, chunks.get(found.chunk), folded)
        if sources:
            entity = _entity(found, sources)
            entities[found.chunk, entity.id] = entity
    relations = []
    for relation in graph.relations:
        source = entities.get((relation.chunk, entity_key(relation.source)))
        target = entities.get((relation.chunk, entity_key(relation.target)))
        sources = _holding(relation.evidence, chunks.get(relation.chunk), folded)
        if source and target and sources and source.id != target.id:
            relations.append(_relation(relation, source, target, sources))
    kept = len(entities) + len(relations)
    return Grounded(
        extraction=Extraction(entities=tuple(entities.values()), relations=tuple(relations)),
        dropped=len(graph.entities) + len(graph.relations) - kept,
    )


def _holding(words: str, chunk: Chunk | None, folded: Mapping[str, str]) -> tuple[str, ...]:
    key = entity_key(words)
    elements: Iterable[str] = chunk.elements if chunk and key else ()
    return tuple(element for element in elements if stands_in(key, folded.get(element, "")))


def stands_in(key: str, text: str) -> bool:
    """Whole words only: "ran" does not stand in "random"."""
    start = text.find(key)
    while start >= 0:
        before, after = text[start - 1 : start], text[start + len(key) : start + len(key) + 1]
        if not (before.isalnum() and key[0].isalnum()) and not (after.isalnum() and key[-1].isalnum()):
            return True
        start = text.find(key, start + 1)
    return False


def _entity(found: FoundEntity, sources: tuple[str, ...]) -> Entity:
    mention = " ".join(found.mention.split())
    told = type_of_name(mention)
    return Entity(
        id=entity_key(mention),
        name=mention,
        type=found.type if found.type != "concept" else told,
        description=" ".join(found.description.split()),
        sources=sources,
    )


def _relation(found: FoundRelation, source: Entity, target: Entity, sources: tuple[str, ...]) -> Relation:
    return Relation(
        source=source.id,
        target=target.id,
        kind=found.kind,
        description=" ".join(found.evidence.split()),
        sources=sources,
    )
