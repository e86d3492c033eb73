"""The protocols through which packages use each other."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from numpy import float32
from numpy.typing import NDArray

from paperscope_core.types import (
    Candidates,
    Chunk,
    Element,
    Entity,
    Extraction,
    IndexedPaper,
    ModelReply,
    ModelRequest,
    Paper,
    PaperEntry,
    PaperImages,
    ParsedPaper,
    Relation,
    RetrievalRequest,
)

__all__ = [
    "CallCache",
    "Corpus",
    "Embedder",
    "EntityExtractor",
    "GraphIndex",
    "LanguageModel",
    "Parser",
    "Reranker",
    "StreamingModel",
    "VectorCache",
    "VisionModel",
]


class LanguageModel(Protocol):
    """Answers requests. Raises `ModelError` and nothing else when it can't."""

    @property
    def name(self) -> str:
        """The model's name; part of every cache key."""
        ...

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Reply to `request`; the text obeys `request.schema` only as far as the server enforces it."""
        ...


@runtime_checkable
class StreamingModel(LanguageModel, Protocol):
    """A language model that tells a reply as it is written; see `paperscope.models.streaming` for those that don't."""

    async def stream(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """Reply as `complete` does; until then `on_text` hears the reply's text so far, each time from its beginning.

        A later text may be shorter: where a call was made again, it begins anew.
        """
        ...


class VisionModel(LanguageModel, Protocol):
    """A language model that also looks at the images of a request."""


class Embedder(Protocol):
    """Turns texts into unit-length vectors."""

    @property
    def name(self) -> str:
        """Names the weights; vectors under different names are never compared."""
        ...

    @property
    def dimension(self) -> int:
        """The length d of a vector."""
        ...

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """One unit-length row a text: shape (len(texts), d). Raises `ModelError`."""
        ...


class Reranker(Protocol):
    """Scores texts against a question with a model that reads both at once."""

    async def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """One score a text; higher is better."""
        ...


class CallCache(Protocol):
    """Remembers paid calls. A call is durable when `put_call` returns."""

    def check_room(self) -> None:
        """Raise StoreError where a reply could not be kept; asked before one is paid for."""
        ...

    def get_call(self, key: str) -> ModelReply | None:
        """The reply under `ModelRequest.key`, or None if it was never paid for."""
        ...

    def put_call(self, key: str, model: str, reply: ModelReply) -> None:
        """Keep a paid reply."""
        ...


class VectorCache(Protocol):
    """Remembers embeddings by the embedder's name and the text. They are durable when `put_vectors` returns."""

    def get_vectors(self, embedder: str, texts: Sequence[str]) -> Mapping[str, NDArray[float32]]:
        """The vectors of those texts that are known, each of shape (d,), under the text."""
        ...

    def put_vectors(self, embedder: str, vectors: Mapping[str, NDArray[float32]]) -> None:
        """Keep the vectors of these texts."""
        ...


class Parser(Protocol):
    """Reads a paper from a file."""

    def parse(
        self, file: Path, *, password: str | None = None, on_page: Callable[[int, int], None] | None = None
    ) -> ParsedPaper:
        """`password` opens an encrypted file; `on_page(done, total)` is called after each page that was read.

        Raises `PaperFileError` when nothing can be read; a page that fails is a `PageProblem` of the paper.
        """
        ...


class EntityExtractor(Protocol):
    """Draws entities and relations from a paper, its chunks, and what was seen in its pictures."""

    async def extract(self, paper: Paper, chunks: Sequence[Chunk], images: PaperImages = PaperImages()) -> Extraction:
        """The paper's own contribution to the graph. Raises `ModelError` when a paid extractor fails."""
        ...


@runtime_checkable
class GraphIndex(Protocol):
    """An index derived from the store: it can be thrown away and rebuilt without a model call."""

    @property
    def revision(self) -> int:
        """The store's revision that the index has caught up with."""
        ...

    def apply(self, indexed: IndexedPaper, *, revision: int) -> None:
        """Take in one paper; `revision` is the store's after adding it."""
        ...

    def remove(self, paper: str, *, revision: int) -> None:
        """Forget exactly what one paper brought."""
        ...

    def retrieve(self, request: RetrievalRequest) -> Candidates:
        """Propose chunks and entities for a question. No model call."""
        ...

    def rebuild(self, papers: Sequence[IndexedPaper], *, revision: int) -> None:
        """Start anew from the truth."""
        ...

    def close(self) -> None:
        """Release files; the index is unusable afterwards."""
        ...


class Corpus(Protocol):
    """What the query engine reads of the library. Look-ups of unknown ids raise KeyError."""

    def entries(self) -> Sequence[PaperEntry]:
        """All papers without their elements, in the order they were added."""
        ...

    def paper(self, paper: str) -> Paper:
        """The paper with this id."""
        ...

    def element(self, element: str) -> Element:
        """The element with this id."""
        ...

    def elements(self, ids: Sequence[str]) -> Mapping[str, Element]:
        """The elements with these ids, in this order."""
        ...

    def chunks(self, ids: Sequence[str]) -> Mapping[str, Chunk]:
        """The chunks with these ids, in this order."""
        ...

    def chunks_of(self, elements: Sequence[str]) -> Sequence[Chunk]:
        """The chunks that hold any of these elements, without repeats."""
        ...

    def entities(self, ids: Sequence[str], *, papers: Sequence[str] = ()) -> Mapping[str, Entity]:
        """The entities under these ids as these papers (none given: all) contribute to them; those that none of them
        names are left out."""
        ...

    def relations_of(self, entities: Sequence[str], *, papers: Sequence[str] = (), limit: int) -> Sequence[Relation]:
        """What these papers (none given: all) state of any of these entities: relations between two of them first,
        then by weight."""
        ...

    def degrees(self, entities: Sequence[str], *, papers: Sequence[str] = ()) -> Mapping[str, int]:
        """In how many relations of these papers (none given: all) each entity stands; those in none are left out."""
        ...

    def images(self, paper: str) -> PaperImages:
        """What a vision model saw in the paper's pictures; empty where none looked at them."""
        ...

    def crop(self, crop: str) -> bytes:
        """A crop's PNG bytes by content hash."""
        ...
