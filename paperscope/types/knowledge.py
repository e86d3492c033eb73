"""Chunks, and the entities and relations drawn from them."""

import re
import unicodedata
from dataclasses import dataclass

from paperscope.types.images import model_words
from paperscope.types.place import Place

__all__ = ["Chunk", "Entity", "Extraction", "Relation", "entity_key"]


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Entity:
    """A thing that papers speak of. `sources` are ids of the elements that name it; `id` is `entity_key(name)`."""

    id: str
    name: str
    type: str
    description: str
    sources: tuple[str, ...]
    aliases: tuple[str, ...] = ()


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
class Extraction:
    """One paper's own contribution to the graph; every relation's ends are among its entities."""

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]


def entity_key(name: str) -> str:
    """Fold a name to the key under which equal names meet: compatibility form, case, hyphens and spaces folded.

    `F1 Score`, `F1-score` and `F1 SCORE` meet; `+` and other signs that tell methods apart are kept.
    """
    text = unicodedata.normalize("NFKC", name).casefold()
    text = re.sub(r"[\s\-_\u2010-\u2015\u2212]+", " ", text)
    return text.strip(" .,;:")
