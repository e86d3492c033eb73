"""Chunks, and the entities and relations extracted from them."""

from dataclasses import dataclass
from typing import Self

from paperscope_core.types.image_findings import model_words
from paperscope_core.types.place import Place

__all__ = [
    "STANDS_FOR",
    "WORK",
    "Chunk",
    "Entity",
    "Extraction",
    "Mention",
    "Relation",
    "Shortfall",
    "UnjudgedNames",
    "UnreadChunk",
    "UnsummarisedEntity",
    "Verdict",
]

WORK = "paper"
"""The type of an entity that is a paper: of the library, or cited by its papers."""

STANDS_FOR = "stands for"
"""The kind of a relation from an ambiguous acronym to each of the long forms that its paper gives for it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Chunk:
    """A part of a paper that is embedded, indexed and quoted.

    A chunk never splits a table, and keeps a caption with its table or figure.

    Attributes:
        id: `PAPER/chunk-N`.
        text: The paper's text, without any model output.
        elements: The ids of its elements in reading order.
        place: The place of its table, figure or equation, or where the text of its first passage begins.
        more_places: The other places of its elements, or of their parts that it contains, and of the captions.
        heading: The path of its section, or the paper's title, if the text alone does not say what it is about:
            searched, but neither shown nor quoted.
        seen: What a vision model read in its image: searched and shown, but never quoted.
    """

    id: str
    paper: str
    text: str
    elements: tuple[str, ...]
    section: str
    place: Place
    seen: str = ""
    more_places: tuple[Place, ...] = ()
    heading: str = ""

    @property
    def searched(self) -> str:
        """The text to embed and index: the heading, the first line (a caption), the reading of its image, and the
        rest."""
        head, _, rest = self.text.partition("\n")
        text = "\n".join(part for part in (head, self.seen, rest) if part) if self.seen else self.text
        return f"{self.heading}\n{text}" if self.heading else text

    @property
    def shown(self) -> str:
        """The text for a context, followed by the reading of its image, marked as a model's words."""
        return "\n".join(part for part in (self.text, model_words(self.seen)) if part) if self.seen else self.text


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Mention:
    """Where an element names an entity: the characters from `start` up to `end` of the element's text."""

    element: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Entity:
    """A concept that papers name.

    Attributes:
        id: `singular_key(name)`, or an element's id if it is a table, figure or equation.
        name: The most common name.
        type: Its type, such as "method" or "dataset".
        description: What the papers say about it.
        sources: The ids of the elements that name it.
        mentions: Its exact mentions, in the order of elements and characters.
    """

    id: str
    name: str
    type: str
    description: str
    sources: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    mentions: tuple[Mention, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Relation:
    """A statement about two entities (given by id), with the ids of the elements that make it."""

    source: str
    target: str
    kind: str
    description: str
    sources: tuple[str, ...]
    weight: float = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class UnreadChunk:
    """A chunk for which the model gave no usable reply, with the reason; the next add asks again."""

    chunk: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class UnjudgedNames:
    """Two names for which the model gave no usable verdict, with the reason; the next add asks again."""

    names: tuple[str, str]
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class UnsummarisedEntity:
    """An entity for which the model gave no usable summary, with the reason; the next add asks again."""

    entity: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """A model's verdict on whether two names of a paper mean the same, with its reason."""

    names: tuple[str, str]
    same: bool
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Shortfall:
    """What is missing from a model's extraction.

    Attributes:
        unread: Chunks without a usable reply.
        dropped_entities: The number of entities dropped from replies: not in their chunk, or too many.
        dropped_relations: The number of relations dropped for the same reasons.
        unjudged: Names without a verdict.
        unsummarised: Entities without a summary.
    """

    unread: tuple[UnreadChunk, ...] = ()
    dropped_entities: int = 0
    dropped_relations: int = 0
    unjudged: tuple[UnjudgedNames, ...] = ()
    unsummarised: tuple[UnsummarisedEntity, ...] = ()

    @property
    def can_shrink(self) -> bool:
        """Whether asking the model again may fill a gap."""
        return bool(self.unread or self.unjudged or self.unsummarised)

    def __add__(self, other: Self) -> "Shortfall":
        return Shortfall(
            unread=self.unread + other.unread,
            dropped_entities=self.dropped_entities + other.dropped_entities,
            dropped_relations=self.dropped_relations + other.dropped_relations,
            unjudged=self.unjudged + other.unjudged,
            unsummarised=self.unsummarised + other.unsummarised,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Extraction:
    """One paper's contribution to the graph.

    Attributes:
        relations: Its relations; their ends are among the entities.
        verdicts: A model's verdicts on names that may mean the same; the entities are merged already.
    """

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]
    shortfall: Shortfall = Shortfall()
    verdicts: tuple[Verdict, ...] = ()
