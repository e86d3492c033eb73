"""The extractor that asks a language model and keeps what it can verify."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Annotated, Any, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, TypeAdapter, WithJsonSchema, create_model

import prompts
from ingest.document.element_text import element_text, table_outline
from ingest.extraction.entity_types import ModelRelationKind, TypeSystem
from ingest.extraction.mentions import FoldedText, strip_footnote_marks
from ingest.extraction.merge import combine
from ingest.extraction.model_batches import gather_replies
from ingest.extraction.name_types import type_of_name
from paperscope_core.errors import ModelError, ModelReplyError
from paperscope_core.models.structured import ask_json
from paperscope_core.models.token_counting import count_tokens
from paperscope_core.protocols import LanguageModel
from paperscope_core.text.words import entity_key
from paperscope_core.types import (
    Chunk,
    Entity,
    Extraction,
    Mention,
    ModelRequest,
    Paper,
    Reference,
    Relation,
    Shortfall,
    Table,
    UnreadChunk,
)

__all__ = [
    "FoundEntity",
    "FoundGraph",
    "FoundRelation",
    "Grounding",
    "ModelExtractor",
    "graph_adapter",
    "pack",
]

# A chunk of 200 words names fewer entities; a longer reply is degenerate.
_MOST = 60
_PLACEHOLDERS = frozenset({"types", "kinds", "mark", "passages"})


# An unknown kind does not invalidate a reply.
_Kind = Annotated[
    ModelRelationKind, BeforeValidator(lambda kind: kind if kind in get_args(ModelRelationKind) else "related to")
]


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
    kind: _Kind
    evidence: str


class FoundGraph(BaseModel):
    """A model's reply to a batch of chunks."""

    entities: Sequence[FoundEntity]
    relations: Sequence[FoundRelation]


Found = TypeVar("Found", FoundEntity, FoundRelation)


def graph_adapter(types: TypeSystem) -> TypeAdapter[FoundGraph]:
    """Validate replies; the schema lists the types, but a reply with another type is accepted."""
    schema = {"type": "string", "enum": list(types.meanings)}
    named: Any = Annotated[str, WithJsonSchema(schema)]
    entity = create_model("FoundEntity", __base__=FoundEntity, type=(named, ...))
    fields: Any = {"entities": (list[entity], ...), "relations": (list[FoundRelation], ...)}  # type: ignore[valid-type]
    return TypeAdapter(create_model("FoundGraph", __base__=FoundGraph, **fields))


@dataclass(frozen=True, kw_only=True, slots=True)
class Grounding:
    """Checks replies against the chunks that the model was shown.

    `chunks` are the chunks by the ids in the prompt, `elements` the texts of their elements, in which mentions are
    located.
    """

    chunks: Mapping[str, Chunk]
    elements: Mapping[str, FoldedText]
    types: TypeSystem

    def check(self, graph: FoundGraph) -> Extraction:
        """Return the entities whose mention occurs in the named chunk, and the relations whose evidence and ends do.

        An entity gets a mention in every chunk that contains it. Others, and entities above the limit of a chunk, are
        dropped and counted.
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
            source, target = (entity_key(strip_footnote_marks(end)) for end in (stated.source, stated.target))
            if (
                places
                and source != target
                and all(end in listed and texts[stated.chunk].find(end) for end in (source, target))
            ):
                words, elements = " ".join(stated.evidence.split()), tuple(place.element for place in places)
                relations.append(
                    Relation(source=source, target=target, kind=stated.kind, description=words, sources=elements)
                )
        return Extraction(
            entities=tuple(entities),
            relations=tuple(relations),
            shortfall=Shortfall(
                dropped_entities=len(graph.entities) - len(entities),
                dropped_relations=len(graph.relations) - len(relations),
            ),
        )

    def _places(self, words: str, name: str, texts: Mapping[str, FoldedText]) -> list[Mention]:
        """Return the first occurrence of `words` in each element of the chunk, if the text shown contains them."""
        if name not in texts or texts[name].find(words) is None:
            return []
        found = ((element, self.elements[element].find(words)) for element in self.chunks[name].elements)
        return [Mention(element=element, start=place[0], end=place[1]) for element, place in found if place]

    def _entity(self, found: FoundEntity, places: Sequence[Mention]) -> Entity:
        name = " ".join(strip_footnote_marks(found.mention).split())
        given = self.types.fit(found.type)
        return Entity(
            id=entity_key(name),
            name=name,
            type=given if given != self.types.rest else self.types.fit(type_of_name(name)),
            description=" ".join(found.description.split()),
            sources=tuple(place.element for place in places),
            mentions=tuple(places),
        )


def _at_most(count: int, found: Sequence[Found]) -> Iterator[Found]:
    """Yield the first `count` of each chunk."""
    listed: Counter[str] = Counter()
    for one in found:
        listed[one.chunk] += 1
        if listed[one.chunk] <= count:
            yield one


def pack(chunks: Sequence[Chunk], *, max_tokens: int) -> Iterator[Sequence[Chunk]]:
    """Pack chunks, in order, into runs of at most `max_tokens`; a longer chunk is a run of its own.

    A run that is too long is cut in its middle half, between the sections that share the fewest levels or, within a
    section, where a hash of the text is least; then the parts are cut likewise. Cuts so depend on titles and texts, not
    on positions: an edit moves only the cuts near it, and the cached calls of other runs stay valid (a treap over the
    cuts; R. Seidel, C. Aragon, "Randomized search trees", Algorithmica 16, 1996).
    """
    ends = [0, *accumulate(count_tokens(chunk.text) for chunk in chunks)]
    ranks = [_rank(before, after) for before, after in pairwise(chunks)]
    waiting = [(0, len(chunks))] if chunks else []
    while waiting:
        start, end = waiting.pop()
        size = ends[end] - ends[start]
        if end - start == 1 or size <= max_tokens:
            yield chunks[start:end]
            continue
        cuts = range(start + 1, end)
        middle = [cut for cut in cuts if size <= 4 * (ends[cut] - ends[start]) <= 3 * size]
        cut = min(middle or cuts, key=lambda cut: ranks[cut - 1])
        waiting += [(cut, end), (start, cut)]


def _rank(before: Chunk, after: Chunk) -> tuple[int, bytes]:
    """Return the sort key of a cut (the smallest comes first): the number of section levels shared, then a hash."""
    shared = 0
    for one, other in zip(before.section.split(" > "), after.section.split(" > "), strict=False):
        if one != other:
            break
        shared += 1
    words = after.text if before.section == after.section else after.section
    return shared, hashlib.sha256(words.encode()).digest()


class ModelExtractor:
    """Asks `model` for the entities and relations of chunks; chunks of near sections are packed, up to `max_tokens` a
    call.

    All calls run at once; wrappers of the model limit them. The chunks of a failed call are listed in the shortfall,
    which also counts entities and relations that do not occur in their chunk.
    """

    def __init__(self, model: LanguageModel, *, types: TypeSystem = TypeSystem(), max_tokens: int = 2500) -> None:
        self._model = model
        self._types = types
        self._adapter = graph_adapter(types)
        self._max_tokens = max_tokens

    async def extract(self, paper: Paper, chunks: Sequence[Chunk]) -> Extraction:
        """Return the entities and relations that the model finds; the bibliography is not sent.

        Raise ModelError if the endpoint gave no reply at all, but only after all calls have ended, so that a cache
        keeps the replies already paid for.
        """
        elements = {element.id: FoldedText.of(element_text(element)) for element in paper.elements}
        cited = {element.id for element in paper.elements if isinstance(element, Reference)}
        tables = {element.id: element for element in paper.elements if isinstance(element, Table)}
        shown = [_shown(chunk, tables) for chunk in chunks if cited.isdisjoint(chunk.elements)]
        packs = list(pack(shown, max_tokens=self._max_tokens))
        outcomes = await gather_replies(self._read(one, elements) for one in packs)
        silent = [one for one in outcomes if isinstance(one, ModelError) and not isinstance(one, ModelReplyError)]
        if silent and len(silent) == len(packs):
            raise silent[0]
        parts = (
            _unread(chunks, outcome) if isinstance(outcome, ModelError) else outcome
            for chunks, outcome in zip(packs, outcomes, strict=True)
        )
        return combine(*parts, types=self._types)

    async def _read(self, chunks: Sequence[Chunk], elements: Mapping[str, FoldedText]) -> Extraction:
        named = {f"C{number}": chunk for number, chunk in enumerate(chunks, start=1)}
        grounding = Grounding(chunks=named, elements=elements, types=self._types)
        graph, _usage = await ask_json(self._model, _request(named, self._types), self._adapter)
        return combine(grounding.check(graph), types=self._types)


def _shown(chunk: Chunk, tables: Mapping[str, Table]) -> Chunk:
    """Return the chunk without the numbers of its tables, which become relations without a model."""
    text = chunk.text
    for table in (tables[element] for element in chunk.elements if element in tables):
        text = text.replace(element_text(table).strip(), table_outline(table).strip())
    return replace(chunk, text=text)


def _unread(chunks: Sequence[Chunk], error: ModelError) -> Extraction:
    unread = tuple(UnreadChunk(chunk=chunk.id, reason=error.public) for chunk in chunks)
    return Extraction(entities=(), relations=(), shortfall=Shortfall(unread=unread))


def _request(chunks: Mapping[str, Chunk], types: TypeSystem) -> ModelRequest:
    """Return the prompt, with each chunk between lines that contain a hash of all texts, so that no text can imitate
    them."""
    mark = hashlib.sha256("\0".join(chunk.text for chunk in chunks.values()).encode()).hexdigest()[:16]
    parts = prompts.load("extract_entities", placeholders=_PLACEHOLDERS).fill(
        types="\n".join(f"  - {name}: {meaning}" for name, meaning in types.meanings.items()),
        kinds=", ".join(get_args(ModelRelationKind)),
        mark=mark,
        passages="\n\n".join(_passage(name, chunk, mark) for name, chunk in chunks.items()),
    )
    return ModelRequest.of(parts, "entities")


def _passage(name: str, chunk: Chunk, mark: str) -> str:
    section = f"[section: {chunk.section}]\n" if chunk.section else ""
    return f"<<<{name} {mark}\n{section}{chunk.text}\n{name} {mark}>>>"
