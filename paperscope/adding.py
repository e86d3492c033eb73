"""Adds a paper: parse, read images, extract, embed, and commit in one transaction."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal

from numpy import float32
from numpy.typing import NDArray

from graph_store import Store
from ingest import (
    ImageCaptioner,
    add_to_chunks,
    check_size,
    chunk_paper,
    content_file,
    read_file,
    read_paper,
    run_in_thread,
)
from paperscope_core.errors import PaperFileError
from paperscope_core.models import CachedEmbedder
from paperscope_core.protocols import Embedder, EntityExtractor, Parser
from paperscope_core.types import (
    Chunk,
    Displayable,
    Extraction,
    IndexedPaper,
    Paper,
    PaperImages,
    ParsedPaper,
    Shortfall,
    Usage,
    content_hash,
    crops_of,
)
from paperscope_core.types.display import aside, fragment, to_html

__all__ = ["AddResult", "Adder", "ProgressCallback", "Stage"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """What an add is at: "parsing", "reading images", "extracting entities", "embedding" or "storing".

    `done` of `total` are pages or pictures; `total` is 0 where nothing is counted, or not yet.
    """

    name: str
    done: int = 0
    total: int = 0

    def __str__(self) -> str:
        return f"{self.name} {self.done}/{self.total}" if self.total else self.name


ProgressCallback = Callable[[Stage], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class AddResult(Displayable):
    """What adding a file came to: "added", "replaced" (an older version, or an older reading, of the same file went)
    or "unchanged".

    `usage` is what the extracting and the vision model took; `shortfall` is what the former did not read, `images` is
    what the latter saw.
    """

    paper: Paper
    outcome: Literal["added", "replaced", "unchanged"]
    seconds: float = 0.0
    usage: Usage = Usage()
    images: PaperImages = PaperImages()
    shortfall: Shortfall = field(default_factory=Shortfall)

    def __str__(self) -> str:
        return f"{self.outcome} in {self.seconds:.1f} s: {self.paper}"

    def _repr_html_(self) -> str:
        return fragment(aside(f"{self.outcome} in {self.seconds:.1f} s; {self.usage}")) + to_html(self.paper)


def _no_texts(_paper: Paper) -> Sequence[str]:
    return ()


class Adder:
    """Adds files. Everything paid for on the way (model calls, embeddings) is kept in the store at once, so that an
    add that was killed goes on where it stopped. `asks_model` tells whether the extractor asks one, `weighed` which
    texts of a paper questions will be compared with: they are embedded, too, so that no question waits for it."""

    def __init__(
        self,
        *,
        store: Store,
        parser: Parser,
        extractor: EntityExtractor,
        asks_model: bool,
        embedder: Embedder,
        describer: ImageCaptioner | None,
        max_words: int,
        max_mb: int,
        weighed: Callable[[Paper], Sequence[str]] | None = None,
    ) -> None:
        self._store = store
        self._parser = parser
        self._extractor = extractor
        self._asks_model = asks_model
        self._embedder = CachedEmbedder(embedder, store)
        self._describer = describer
        self._max_words = max_words
        self._max_mb = max_mb
        self._weighed = weighed or _no_texts

    async def add(
        self,
        file: Path,
        *,
        on_stage: ProgressCallback,
        older: Paper | None = None,
        password: str | None = None,
        sha256: str | None = None,
    ) -> AddResult:
        """Add one file. An unchanged file costs nothing; a changed one replaces its older version: `older`, or else
        the paper that was added from the same path.

        Of an unchanged one, pictures are read where they have not been (by this vision model and prompt, or at all),
        and chunks, names and entities that the extracting model gave no usable reply about. `password` opens an
        encrypted file; one whose content has another hash than `sha256` is refused.

        Raises PaperFileError, ModelError, BudgetError or StoreError; the library is then as it was.
        """
        started = time.perf_counter()
        draft = await self._draft(file, older, on_stage=on_stage, password=password, wanted=sha256)
        if isinstance(draft, AddResult):
            return replace(draft, seconds=time.perf_counter() - started)
        on_stage(Stage(name="embedding"))
        vectors = await self._embedder.embed([chunk.searched for chunk in draft.chunks])
        await self._embedder.embed(self._weighed(draft.parsed.paper))
        on_stage(Stage(name="storing"))
        # The last moment to cancel: the transaction goes through.
        await asyncio.sleep(0)
        await run_in_thread(partial(self._store_draft, draft, vectors))
        return AddResult(
            paper=draft.parsed.paper,
            outcome=draft.outcome,
            images=draft.images,
            shortfall=draft.extraction.shortfall,
            seconds=time.perf_counter() - started,
        )

    def _store_draft(self, draft: "_Draft", vectors: NDArray[float32]) -> None:
        indexed = IndexedPaper(
            paper=draft.parsed.paper,
            chunks=draft.chunks,
            extraction=draft.extraction,
            vectors=vectors,
            images=draft.images,
        )
        self._store.add(
            indexed,
            crops=draft.parsed.crops,
            source=draft.source,
            embedder=self._embedder.name,
            replaces=draft.replaces,
        )

    async def texts_to_embed(
        self, file: Path, *, on_stage: ProgressCallback, password: str | None = None
    ) -> Sequence[str]:
        """Go through all that `add` does before it embeds, and return what it would embed. Nothing is stored.

        Raises PaperFileError or StoreError.
        """
        draft = await self._draft(file, None, on_stage=on_stage, password=password)
        if isinstance(draft, AddResult):
            return ()
        chunks = [chunk.searched for chunk in draft.chunks]
        return self._embedder.missing([*chunks, *self._weighed(draft.parsed.paper)])

    async def _draft(
        self,
        file: Path,
        older: Paper | None,
        *,
        on_stage: ProgressCallback,
        password: str | None,
        wanted: str | None = None,
    ) -> "_Draft | AddResult":
        """All that is stored of a file but its vectors; `Added` where the library has it already."""
        source, sha256 = await asyncio.to_thread(self._identify, file)
        _check_hash(sha256, wanted, file)
        known, older = self._store.paper_by_sha256(sha256), older or self._store.paper_by_source(source)
        before = self._store.images(known.id) if known is not None else PaperImages()
        lacking = self._store.shortfall(known.id) if known is not None else Shortfall()
        current = known if known and self._is_current(known) and (older is None or older.id == known.id) else None
        rereads = self._asks_model and lacking.can_shrink
        if current is not None and not rereads and not self._has_images_to_read(before):
            return AddResult(paper=current, outcome="unchanged", images=before, shortfall=lacking)
        parsed = await asyncio.to_thread(self._stored, current) if current is not None else None
        if parsed is None:
            parsed = await self._parsed(file, on_stage=on_stage, password=password)
            _check_hash(parsed.paper.sha256, wanted, file)
        images = await self._images(parsed, before, on_stage)
        if current is not None and not rereads and images == before:
            return AddResult(paper=current, outcome="unchanged", images=images, shortfall=lacking)
        chunks, extraction = await self._extracted(parsed.paper, images, on_stage)
        if current is not None and images == before and extraction.shortfall == lacking:
            return AddResult(paper=current, outcome="unchanged", images=images, shortfall=lacking)
        return _Draft(
            parsed=parsed,
            chunks=chunks,
            extraction=extraction,
            images=images,
            source=source,
            outcome="added" if older is None and current is None else "replaced",
            replaces=older.id if older is not None and older.id != parsed.paper.id else None,
        )

    async def _parsed(self, file: Path, *, on_stage: ProgressCallback, password: str | None) -> ParsedPaper:
        def on_page(done: int, total: int) -> None:
            on_stage(Stage(name="parsing", done=done, total=total))

        on_stage(Stage(name="parsing"))
        return await run_in_thread(partial(read_paper, self._parser, file, password=password, on_page=on_page))

    async def _extracted(
        self, paper: Paper, images: PaperImages, on_stage: ProgressCallback
    ) -> tuple[tuple[Chunk, ...], Extraction]:
        pictured = {description.element for description in images.descriptions}
        chunks = chunk_paper(paper, max_words=self._max_words, pictured=pictured)
        on_stage(Stage(name="extracting entities"))
        extraction = await self._extractor.extract(paper, [chunk for chunk in chunks if chunk.text], images)
        return add_to_chunks(chunks, images) if images.descriptions else chunks, extraction

    def _has_images_to_read(self, before: PaperImages) -> bool:
        """Whether the vision model or its prompt is another one than before, or could not read them all."""
        return self._describer is not None and (before.reader != self._describer.reader or bool(before.unread))

    def _stored(self, paper: Paper) -> ParsedPaper | None:
        """A paper with its crops as the store has them; None if some are missing there."""
        try:
            crops = {crop: self._store.crop(crop) for element in paper.elements for crop in crops_of(element)}
        except KeyError:
            return None
        return ParsedPaper(paper=paper, crops=crops)

    async def _images(self, parsed: ParsedPaper, before: PaperImages, on_stage: ProgressCallback) -> PaperImages:
        if self._describer is None:
            return before
        return await self._describer.describe(
            parsed.paper,
            parsed.crops,
            before=before,
            on_read=lambda done, total: on_stage(Stage(name="reading images", done=done, total=total)),
        )

    def _is_current(self, paper: Paper) -> bool:
        return self._store.embedder_of(paper.id) == self._embedder.name

    def _identify(self, file: Path) -> tuple[str, str]:
        """The paper's absolute path and the SHA-256 of its content."""
        check_size(file, max_mb=self._max_mb)
        return str(file.resolve()), content_hash(read_file(content_file(file)))


def _check_hash(sha256: str, wanted: str | None, file: Path) -> None:
    if wanted not in (None, sha256):
        raise PaperFileError(f"{file.name!r} was changed or moved while it was read. Add it again.")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Draft:
    """What is to be stored of a file, but for its vectors."""

    parsed: ParsedPaper
    chunks: tuple[Chunk, ...]
    extraction: Extraction
    images: PaperImages
    source: str
    outcome: Literal["added", "replaced"]
    replaces: str | None
