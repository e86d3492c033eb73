"""Chunks, and the entities and relations extracted from them."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Self

from paperscope_core.types.images import model_words
from paperscope_core.types.place import Place

__all__ = [
    "SPACES",
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
    "entity_key",
    "singular_key",
]


SPACES = re.compile(r"[\s\-_\u2010-\u2015\u2212]+")
"""What stands between the words of a name: spaces, hyphens and dashes of every kind."""
_OWN = re.compile(r"(?:\s*\((?:ours|our (?:method|model|approach))\)[\s.,;:]*)+$")
_CAPITAL_PLURAL = re.compile(r"(?<=[A-Z]{2})s$")


WORK = "paper"
"""The type of an entity that is a work: a paper of the library, or one that its papers cite."""

STANDS_FOR = "stands for"
"""The kind of a relation from an ambiguous short form to each of the long forms that its paper gives for it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Chunk:
    """What is embedded and quoted. A chunk never cuts a table and keeps a caption with its float.

    `elements` are the ids of the elements it holds, in reading order; `section` is the section's path; `place` is
    that of the element it is there for: its float, or its first passage. Ids are `PAPER/chunk-N`.

    `text` is the paper's own words and nothing else. `seen` is what a vision model saw in its picture: it is searched
    and shown, never quoted.
    """

    id: str
    paper: str
    text: str
    elements: tuple[str, ...]
    section: str
    place: Place
    seen: str = ""

    @property
    def searched(self) -> str:
        """What is embedded and indexed: the first line (a float's caption), what was seen, and the rest."""
        head, _, rest = self.text.partition("\n")
        return "\n".join(part for part in (head, self.seen, rest) if part) if self.seen else self.text

    @property
    def shown(self) -> str:
        """What a reader of a context gets: the text, and what was seen, marked as a model's words."""
        return "\n".join(part for part in (self.text, model_words(self.seen)) if part) if self.seen else self.text


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Mention:
    """Where an element names an entity: the characters from `start` up to `end` of the element's text."""

    element: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Entity:
    """A thing that papers speak of. `sources` are ids of the elements that name it; `id` is `singular_key(name)`, or
    for a table, figure or equation that element's id.

    `mentions` are the exact places that an extractor vouches for, in the order of elements and characters.
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
    """A statement between two entities (their ids), with the elements that it stands on."""

    source: str
    target: str
    kind: str
    description: str
    sources: tuple[str, ...]
    weight: float = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class UnreadChunk:
    """A chunk for which a model gave no reply that can be used, and why; the next add asks for it again."""

    chunk: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class UnjudgedNames:
    """Two names that a model gave no usable verdict about, and why; they stay apart until the next add asks again."""

    names: tuple[str, str]
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class UnsummarisedEntity:
    """An entity that a paper says much of, and that a model gave no usable summary of; the next add asks again."""

    entity: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """Whether two names of a paper mean the same, as a model judged, and its reason."""

    names: tuple[str, str]
    same: bool
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Shortfall:
    """What a model's extraction lacks: chunks without a reply, names without a verdict, entities without a summary,
    and how many entities and relations of its replies were dropped, since they don't stand in their chunk or were too
    many."""

    unread: tuple[UnreadChunk, ...] = ()
    dropped_entities: int = 0
    dropped_relations: int = 0
    unjudged: tuple[UnjudgedNames, ...] = ()
    unsummarised: tuple[UnsummarisedEntity, ...] = ()

    @property
    def can_shrink(self) -> bool:
        """Whether asking the model again may help."""
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
    """One paper's own contribution to the graph; every relation's ends are among its entities. `verdicts` are those of
    a model about names that may mean the same; they are carried out already."""

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]
    shortfall: Shortfall = Shortfall()
    verdicts: tuple[Verdict, ...] = ()


def entity_key(name: str) -> str:
    """Fold a name to the key under which equal names meet: compatibility form, case, hyphens and spaces folded.

    `F1 Score`, `F1-score` and `F1 SCORE` meet; `+` and other signs that tell methods apart are kept. That a table marks
    a method as "(ours)" is no part of its name.
    """
    text = unicodedata.normalize("NFKC", name).casefold()
    text = _OWN.sub("", text) or text
    return SPACES.sub(" ", text).strip(" .,;:")


def singular_key(name: str) -> str:
    """`entity_key` with the last word's plural folded, so that "dice losses" and "Dice loss", "GPUs" and "GPU" meet."""
    head, _, last = entity_key(_CAPITAL_PLURAL.sub("", name.rstrip(" .,;:"))).rpartition(" ")
    return f"{head} {_singular(last)}".strip()


def _singular(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("sses", "xes", "zes", "ches", "shes")) else word[:-1]
