"""The retrieved context: what an answer may rest on. `query.context_csv` renders it and reads it back."""

from dataclasses import dataclass

from paperscope.types.place import Place
from paperscope.types.shown import Shown

__all__ = ["Context", "ContextEntity", "ContextImage", "ContextRelation", "ContextSource"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextEntity:
    """A row of the Entities section; `rank` is the entity's degree in the graph."""

    id: int
    entity: str
    type: str
    description: str
    rank: int
    places: tuple[Place, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextRelation:
    """A row of the Relationships section; `source` and `target` are entity names, `rank` the sum of their degrees."""

    id: int
    source: str
    target: str
    description: str
    weight: float
    rank: int
    places: tuple[Place, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextSource:
    """A row of the Sources section: a passage, table, caption or equation in full, with its element and place.

    Of a table too large for the budget it is an excerpt, whose last line says how much of it is shown.
    """

    id: int
    content: str
    element: str
    place: Place


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextImage:
    """An image worth reading for the question: its element, label, caption, crop (content hash) and place."""

    id: int
    element: str
    label: str
    caption: str
    crop: str
    place: Place


@dataclass(frozen=True, kw_only=True, slots=True)
class Context(Shown):
    """What retrieval hands over. Row ids count from 0 within each section, in the order of relevance."""

    entities: tuple[ContextEntity, ...] = ()
    relations: tuple[ContextRelation, ...] = ()
    sources: tuple[ContextSource, ...] = ()
    images: tuple[ContextImage, ...] = ()
