"""What is asked of an index, and what it proposes."""

from dataclasses import dataclass, field

from numpy import float32
from numpy.typing import NDArray

from paperscope.types.elements import Paper
from paperscope.types.filters import Filters
from paperscope.types.images import PaperImages
from paperscope.types.knowledge import Chunk, Extraction

__all__ = ["Candidates", "Hit", "IndexedPaper", "RetrievalRequest"]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class IndexedPaper:
    """All that one paper adds to the library; `vectors` has a unit-length row for each chunk, shape (chunks, d)."""

    paper: Paper
    chunks: tuple[Chunk, ...]
    extraction: Extraction
    vectors: NDArray[float32]
    images: PaperImages = PaperImages()


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RetrievalRequest:
    """A question as text and as a unit-length vector of shape (d,).

    Of `filters` the papers, sections and kinds restrict what is found, before `limit` cuts it; years don't: whoever
    asks chooses the papers by them.
    """

    text: str
    vector: NDArray[float32]
    filters: Filters = field(default_factory=Filters)
    limit: int = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """An id (of a chunk or entity) with a score; higher is better, comparable within one list only."""

    id: str
    score: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidates:
    """An index's proposals, each list best first: chunks by words and by vectors, entities named in the question,
    and entities reached from them over the graph.

    A chunk's score by words is a share (0 to 1) of what a text that holds the question's words over and over would
    have; by vectors it is the cosine.
    """

    by_words: tuple[Hit, ...] = ()
    by_vectors: tuple[Hit, ...] = ()
    named: tuple[Hit, ...] = ()
    reached: tuple[Hit, ...] = ()
