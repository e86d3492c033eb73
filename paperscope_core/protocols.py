"""The protocols through which packages use each other.

`paperscope_core.models.fakes` has deterministic fakes of the models.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, runtime_checkable

from numpy import float32
from numpy.typing import NDArray

from paperscope_core.types import (
    Candidates,
    Chunk,
    Element,
    Entity,
    Extraction,
    ModelReply,
    ModelRequest,
    Paper,
    PaperEntry,
    PaperFile,
    PaperImages,
    ParsedPaper,
    Relation,
    RetrievalRequest,
)

__all__ = [
    "CallCache",
    "ContentSource",
    "Corpus",
    "Embedder",
    "EntityExtractor",
    "GraphIndex",
    "LanguageModel",
    "PageCallback",
    "PageImages",
    "Parser",
    "Reranker",
    "SharedCallCache",
    "StreamingModel",
    "VectorCache",
]

PageImages = Callable[[str, int], bytes]
"""Renders a page as PNG, by the paper's id and the page's number. Raises PaperFileError if it can't."""

PageCallback = Callable[[int, int], None]
"""Called with (pages read, pages in total) after each page."""


class LanguageModel(Protocol):
    """Replies to requests; a vision model also reads their images."""

    @property
    def name(self) -> str:
        """The model's name, which is part of every cache key."""
        ...

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Reply to a request.

        Args:
            request: The request. Not every server enforces its schema: callers validate the reply.

        Raises:
            ModelError: There is no reply. A model raises no other errors.
        """
        ...

    def redacted(self, text: str) -> str:
        """Return the start of a text of this model, for messages: the secrets with which it is called are masked."""
        ...


@runtime_checkable
class StreamingModel(LanguageModel, Protocol):
    """A language model that passes a reply on while it is written."""

    async def stream(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """Reply to a request as `complete` does.

        Args:
            on_text: Called with the reply's whole text so far, again and again. If the call is retried, the text starts
                over, and may become shorter.

        Raises:
            ModelError: There is no reply.
        """
        ...


class Embedder(Protocol):
    """Converts texts to unit-length vectors."""

    @property
    def name(self) -> str:
        """Identifies the weights: vectors under different names are never compared."""
        ...

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """Embed texts.

        Returns:
            One unit-length row per text, of shape (len(texts), d); d is the model's, or 0 without texts. A row of zeros
            stands for a text in a language that the model does not know: nothing is near it.

        Raises:
            ModelError: The texts can't be embedded.
        """
        ...


class Reranker(Protocol):
    """Scores texts against a question with a model that reads both together."""

    async def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """Score texts.

        Returns:
            One score per text; higher is better.

        Raises:
            ModelError: The texts can't be scored.
        """
        ...


class CallCache(Protocol):
    """Caches paid calls. A reply is durable when `put_call` returns."""

    def check_room(self) -> None:
        """Check that a reply could be stored; called before a call is sent.

        Raises:
            StoreError: It could not be stored.
        """
        ...

    def get_call(self, key: str) -> ModelReply | None:
        """Return the reply under a `ModelRequest.key`, or None."""
        ...

    def put_call(self, key: str, model: str, reply: ModelReply) -> None:
        """Store a reply of this model."""
        ...


@runtime_checkable
class SharedCallCache(CallCache, Protocol):
    """A `CallCache` of several processes, in which one leases a call while it makes it, so that others wait for its
    reply. `put_call` ends the lease."""

    def lease_call(self, key: str, owner: str, *, seconds: float) -> bool:
        """Lease the call under a key, or extend the owner's lease of it; return False while another's lease lasts."""
        ...

    def release_call(self, key: str, owner: str) -> None:
        """End the owner's lease of a call that gave no reply."""
        ...


class VectorCache(Protocol):
    """Caches embeddings by embedder name and text. A vector is durable when `put_vectors` returns."""

    def get_vectors(self, embedder: str, texts: Sequence[str]) -> Mapping[str, NDArray[float32]]:
        """Return the cached vectors, each of shape (d,), by text; other texts are left out."""
        ...

    def put_vectors(self, embedder: str, vectors: Mapping[str, NDArray[float32]]) -> None:
        """Store the vectors of these texts."""
        ...


class Parser(Protocol):
    """Reads a paper from a file."""

    def parse(self, file: PaperFile, *, on_page: PageCallback | None = None) -> ParsedPaper:
        """Read a paper.

        Args:
            file: The file, with the password if it is encrypted.
            on_page: Called after each page.

        Returns:
            The paper. A page that can't be read is reported as a `PageProblem`.

        Raises:
            PaperFileError: Nothing can be read.
        """
        ...


class EntityExtractor(Protocol):
    """Extracts entities and relations from a paper."""

    async def extract(self, paper: Paper, chunks: Sequence[Chunk], images: PaperImages = PaperImages()) -> Extraction:
        """Extract a paper's contribution to the graph.

        Args:
            images: What a vision model read in its images.

        Raises:
            ModelError: A paid extractor fails.
        """
        ...


@runtime_checkable
class GraphIndex(Protocol):
    """An index that is derived from the store, and can be rebuilt from it without a model call."""

    @property
    def revision(self) -> int:
        """The store's revision that the index reflects."""
        ...

    def catch_up(self) -> None:
        """Apply the store's changes since the index's revision."""
        ...

    def retrieve(self, request: RetrievalRequest) -> Candidates:
        """Find chunks and entities for a question, without a model call."""
        ...

    def close(self) -> None:
        """Release the files; the index can't be used afterwards."""
        ...


class ContentSource(Protocol):
    """Looks up by id what values refer to. `Library` implements it. Unknown ids raise NotFoundError."""

    def crop(self, crop: str) -> bytes:
        """Return a crop's PNG bytes by content hash."""
        ...

    def element(self, element: str) -> Element:
        """Return the element with this id."""
        ...

    def images(self, paper: str) -> PaperImages:
        """Return the readings of a paper's images; empty if no vision model read them."""
        ...

    def entries(self) -> Sequence[PaperEntry]:
        """Return all papers without their elements, in the order they were added."""
        ...


class Corpus(ContentSource, Protocol):
    """What the query engine reads from the library. Unknown ids raise NotFoundError unless they are left out."""

    def paper(self, paper: str) -> Paper:
        """Return the paper with this id."""
        ...

    def elements(self, ids: Sequence[str]) -> Mapping[str, Element]:
        """Return the elements with these ids, in this order."""
        ...

    def chunks(self, ids: Sequence[str]) -> Mapping[str, Chunk]:
        """Return the chunks with these ids, in this order."""
        ...

    def chunks_of(self, elements: Sequence[str]) -> Sequence[Chunk]:
        """Return the chunks that contain any of these elements, without repeats."""
        ...

    def entities(self, ids: Sequence[str], *, papers: Sequence[str] = ()) -> Mapping[str, Entity]:
        """Return the entities as some papers describe them.

        Args:
            papers: The papers' ids; none for all papers.

        Returns:
            The entities by id, without those that none of the papers names.
        """
        ...

    def relations_of(self, entities: Sequence[str], *, papers: Sequence[str] = (), limit: int) -> Sequence[Relation]:
        """Return the relations of some entities, relations between two of the entities first, then by weight.

        Args:
            papers: The papers that state them; none for all papers.
        """
        ...

    def degrees(self, entities: Sequence[str], *, papers: Sequence[str] = ()) -> Mapping[str, int]:
        """Return the number of relations of each entity.

        Args:
            papers: The papers that state the relations; none for all papers.

        Returns:
            The numbers by id; entities without relations are left out.
        """
        ...
