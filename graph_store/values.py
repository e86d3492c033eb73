"""What the store tells about itself and hands to the indexes derived from it."""

from dataclasses import dataclass
from typing import Literal

from numpy import float32, int64
from numpy.typing import NDArray

from paperscope.types import Chunk, Entity

__all__ = ["Change", "Edge", "Mark", "Searchable"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """A point of the library's history; the random `token` tells it from the same revision of another history."""

    revision: int = 0
    token: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """What one revision did to one paper."""

    mark: Mark
    paper: str
    action: Literal["added", "removed"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Edge:
    """All relations from one entity to another, their weights summed."""

    source: str
    target: str
    weight: float


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Searchable:
    """What an index needs of one paper. `numbers` are the chunks' own numbers in the store, in the chunks' order;
    `vectors` has one row a chunk."""

    paper: str
    chunks: tuple[Chunk, ...]
    numbers: NDArray[int64]
    embedder: str
    vectors: NDArray[float32]
    entities: tuple[Entity, ...]
