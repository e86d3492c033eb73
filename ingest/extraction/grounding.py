"""What a model says that it found, checked word by word against the chunks it was shown."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, TypeAdapter, WithJsonSchema, create_model

from ingest.extraction.folded import FoldedText, without_marks
from ingest.extraction.kinds import ModelRelationKind, type_of_name
from ingest.extraction.type_system import TypeSystem
from paperscope.types import Chunk, Entity, Extraction, Mention, Relation, Shortfall, entity_key

__all__ = ["FoundEntity", "FoundGraph", "FoundRelation", "Grounding", "graph_adapter"]

# A passage of 200 words names no more things than these; a reply that lists more has lost its way.
_MOST = 60


def _known_kind(value: object) -> object:
    """A kind outside of the set is no reason to throw a reply away."""
    return value if value in get_args(ModelRelationKind) else "related to"


class FoundEntity(BaseModel):
    """An entity as the model names it."""

    chunk: str
    mention: str
    type: str
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

    entities: Sequence[FoundEntity]
    relations: Sequence[FoundRelation]


Found = TypeVar("Found", FoundEntity, FoundRelation)


def graph_adapter(types: TypeSystem) -> TypeAdapter[FoundGraph]:
    """Reads replies; its schema names the types to choose from, and a reply with another one is read all the same."""
    schema = {"type": "string", "enum": list(types.meanings)}
    named: Any = Annotated[str, WithJsonSchema(schema)]
    entity = create_model("FoundEntity", __base__=FoundEntity, type=(named, ...))
    fields: Any = {"entities": (list[entity], ...), "relations": (list[FoundRelation], ...)}  # type: ignore[valid-type]
    return TypeAdapter(create_model("FoundGraph", __base__=FoundGraph, **fields))


@dataclass(frozen=True, kw_only=True, slots=True)
class Grounding:
    """Checks replies against `chunks`, under the ids that the model was given.

    `elements` are the texts of the chunks' elements: a mention is placed in each that holds it.
    """

    chunks: Mapping[str, Chunk]
    elements: Mapping[str, FoldedText]
    types: TypeSystem

    def check(self, graph: FoundGraph) -> Extraction:
        """The entities whose mention stands in the named chunk, and the relations whose evidence and ends do.

        An entity is placed in every chunk shown that holds it. What does not stand where it should, and what of a
        chunk is beyond measure, is dropped and counted.
        """
        texts = {name: FoldedText.of(chunk.text) for name, chunk in self.chunks.items()}
        entities = []
        for found in _at_most(_MOST, graph.entities):
            if found.chunk in texts and texts[found.chunk].find(found.mention):
                places = [place for name in texts for place in self._places(found.mention, name, texts)]
                if places:
                    entities.append(self._entity(found, sorted(set(places))))
        listed = {entity.id for entity in entities}
        relations = []
        for stated in _at_most(_MOST, graph.relations):
            places = self._places(stated.evidence, stated.chunk, texts)
            source, target = (entity_key(without_marks(end)) for end in (stated.source, stated.target))
            if (
                places
                and source != target
                and all(end in listed and texts[stated.chunk].find(end) for end in (source, target))
            ):
                relations.append(_relation(stated, source, target, places))
        return Extraction(
            entities=tuple(entities),
            relations=tuple(relations),
            shortfall=Shortfall(
                dropped_entities=len(graph.entities) - len(entities),
                dropped_relations=len(graph.relations) - len(relations),
            ),
        )

    def _places(self, words: str, name: str, texts: Mapping[str, FoldedText]) -> list[Mention]:
        """The first place of `words` in each element of the chunk, if they stand in what of it was shown."""
        if name not in texts or texts[name].find(words) is None:
            return []
        found = ((element, self.elements[element].find(words)) for element in self.chunks[name].elements)
        return [Mention(element=element, start=place[0], end=place[1]) for element, place in found if place]

    def _entity(self, found: FoundEntity, places: Sequence[Mention]) -> Entity:
        name = " ".join(without_marks(found.mention).split())
        told = self.types.fit(found.type)
        return Entity(
            id=entity_key(name),
            name=name,
            type=told if told != self.types.rest else self.types.fit(type_of_name(name)),
            description=" ".join(found.description.split()),
            sources=tuple(place.element for place in places),
            mentions=tuple(places),
        )


def _relation(stated: FoundRelation, source: str, target: str, places: Sequence[Mention]) -> Relation:
    return Relation(
        source=source,
        target=target,
        kind=stated.kind,
        description=" ".join(stated.evidence.split()),
        sources=tuple(place.element for place in places),
    )


def _at_most(count: int, found: Sequence[Found]) -> Iterator[Found]:
    """The first so many of each chunk."""
    listed: Counter[str] = Counter()
    for one in found:
        listed[one.chunk] += 1
        if listed[one.chunk] <= count:
            yield one
