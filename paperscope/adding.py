"""Adds a paper: parse, read images, extract, embed, and commit in one transaction."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal
from weakref import WeakValueDictionary

from markupsafe import Markup

from graph_store import Store
from graph_store.reading import find_entry
from ingest.captioning import ImageCaptioner, add_to_chunks
from ingest.chunking import chunk_paper
from ingest.document.source import read_file
from ingest.extraction import EmbedTexts, TypeSystem, extractor_for
from ingest.formats import content_file
from ingest.parsers import check_size, parser_for, read_paper
from paperscope.originals import Originals, file_name
from paperscope_core.cancellation import run_in_thread
from paperscope_core.errors import BudgetError, PaperFileError, StoreDamagedError
from paperscope_core.models import CachedEmbedder, MeteredModel, Models
from paperscope_core.protocols import EntityExtractor, LanguageModel, Parser, VisionModel
from paperscope_core.settings import Settings
from paperscope_core.types import (
    Chunk,
    Displayable,
    Extraction,
    IndexedPaper,
    Paper,
    PaperEntry,
    PaperFile,
    PaperImages,
    ParsedPaper,
    Shortfall,
    Usage,
    content_hash,
    crops_of,
)
from paperscope_core.types.display import to_html
from paperscope_core.types.html import aside, fragment
from query.extractive import quotable_sentences

__all__ = ["AddRequest", "AddResult", "Adder", "Pipeline", "ProgressCallback", "Stage", "build_pipeline"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """The stage of an add, with its progress.

    Attributes:
        name: "parsing", "reading images", "extracting entities", "embedding" or "storing".
        done: The number of pages or images done.
        total: The number of all pages or images; 0 if they are not counted, or not yet.
    """

    name: str
    done: int = 0
    total: int = 0

    def __str__(self) -> str:
        return f"{self.name} {self.done}/{self.total}" if self.total else self.name


ProgressCallback = Callable[[Stage], None]
"""Called with each stage of an add, possibly from another thread."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AddRequest:
    """A file to add, with options. See `Library.add`."""

    path: Path
    name: str | None = None
    replaces: str | None = None
    password: str | None = None
    sha256: str | None = None
    on_stage: ProgressCallback = lambda _stage: None

    @property
    def file(self) -> PaperFile:
        """The file with its password."""
        return PaperFile(self.path, password=self.password)

    def check_hash(self, sha256: str) -> None:
        """Raise PaperFileError if the content does not have the requested hash."""
        if self.sha256 not in (None, sha256):
            raise PaperFileError(f"{self.path.name!r} was changed or moved while it was read. Add it again.")


@dataclass(frozen=True, kw_only=True, slots=True)
class AddResult(Displayable):
    """The result of adding a file.

    Attributes:
        outcome: "added"; "replaced" (an older version, or an older reading, of the same file); "unchanged".
        usage: The usage of the extracting and the vision model.
        images: The readings of the vision model.
        shortfall: What is missing from the model's extraction.
    """

    paper: Paper
    outcome: Literal["added", "replaced", "unchanged"]
    seconds: float = 0.0
    usage: Usage = Usage()
    images: PaperImages = PaperImages()
    shortfall: Shortfall = field(default_factory=Shortfall)

    def __str__(self) -> str:
        return f"{self.outcome} in {self.seconds:.1f} s: {self.paper}"

    def _repr_html_(self) -> Markup:
        return fragment(aside(f"{self.outcome} in {self.seconds:.1f} s; {self.usage}")) + to_html(self.paper)


@dataclass(frozen=True, kw_only=True)
class Adder:
    """Adds files to a library with its models, and removes papers. It keeps a copy of each uploaded file."""

    store: Store
    originals: Originals
    models: Models
    settings: Settings
    _locks: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary, init=False)

    async def add(self, request: AddRequest) -> AddResult:
        """Add one file. See `Library.add`."""
        older = self.store.entry(request.replaces) if request.replaces is not None else None
        if request.name is None:
            result = await self._run_pipeline(request, older)
        else:
            result = await self._add_upload(request, older, name=request.name)
        if older is not None and older.id != result.paper.id:
            self.originals.drop(older.sha256)
        return result

    async def _add_upload(self, request: AddRequest, older: PaperEntry | None, *, name: str) -> AddResult:
        """Add a copy of the file; the copy is kept if a paper was read from it."""
        check_size(request.path, max_mb=self.settings.limits.max_file_mb, name=file_name(name))
        digest = (await asyncio.to_thread(self.originals.put, request.path, name=name)).parent.name
        # Equal files are added one after another, so that no add deletes the copy that another one uses.
        lock = self._locks.setdefault(digest, asyncio.Lock())
        async with lock:
            # Copy again, because the previous add may have deleted the copy.
            copy = await asyncio.to_thread(self.originals.put, request.path, name=name)
            try:
                return await self._run_pipeline(replace(request, path=copy), older)
            finally:
                known = self.store.entry_by_sha256(digest)
                self.originals.drop(digest, keep=known.file if known else "")

    async def _run_pipeline(self, request: AddRequest, older: PaperEntry | None) -> AddResult:
        extract = MeteredModel(self.models.extract) if self.models.extract else None
        vision = MeteredModel(self.models.vision) if self.models.vision else None
        embedder = CachedEmbedder(self.models.embedder, self.store)
        pipeline = build_pipeline(
            self.store, embedder, self.settings, extract=extract, vision=vision, compare_names=embedder.embed
        )
        try:
            result = await pipeline.add(request, older)
        except BudgetError:
            # Calls in progress are paid for and will be cached. What remains to be done is known only when they have
            # ended.
            await self.models.aclose()
            raise
        return replace(result, usage=sum((model.usage for model in (extract, vision) if model), Usage()))

    def remove(self, name: str) -> PaperEntry:
        """Remove a paper. See `Library.remove`."""
        entry = find_entry(self.store.entries(), name)
        self.store.remove(entry.id)
        self.store.sweep()
        self.originals.drop(entry.sha256)
        self.originals.sweep(keep={one.sha256 for one in self.store.entries()})
        return entry


def build_pipeline(
    store: Store,
    embedder: CachedEmbedder,
    settings: Settings,
    *,
    extract: LanguageModel | None,
    vision: VisionModel | None,
    compare_names: EmbedTexts | None,
) -> "Pipeline":
    """Build the pipeline of a library.

    Args:
        store: Stores the papers.
        embedder: Embeds chunks.
        settings: The library's settings.
        extract: Extracts entities; None for extraction without a model.
        vision: Reads images; None if they are not read.
        compare_names: Embeds names to find variants; None to compare only their letters.
    """
    # The extractive answerer compares questions with sentences. These are embedded in advance if embedding is free and
    # no language model is configured.
    in_advance = not settings.answer.configured and settings.embed.provider == "local"
    return Pipeline(
        store=store,
        parser=parser_for(settings.parser, limits=settings.limits),
        extractor=extractor_for(extract, settings.extract, embed=compare_names, limits=settings.limits),
        asks_model=extract is not None,
        embedder=embedder,
        captioner=ImageCaptioner(vision, types=TypeSystem.of(settings.extract.types)) if vision else None,
        max_words=settings.chunking.max_words,
        max_mb=settings.limits.max_file_mb,
        more_texts=quotable_sentences if in_advance else lambda _paper: (),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Draft:
    """Everything that is stored for a file, except the vectors."""

    parsed: ParsedPaper
    chunks: tuple[Chunk, ...]
    extraction: Extraction
    images: PaperImages
    source: str
    outcome: Literal["added", "replaced"]
    replaces: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Pipeline:
    """Turns a file into a stored paper.

    Model calls and embeddings are cached in the store as they are made, so that an add that was killed can continue.

    Attributes:
        asks_model: Whether the extractor calls a language model.
        captioner: Reads images; None if they are not read.
        max_words: The maximum number of words of running text in a chunk.
        max_mb: The maximum size of a file, in megabytes.
        more_texts: Returns texts of a paper other than its chunks that are embedded in advance for questions.
    """

    store: Store
    parser: Parser
    extractor: EntityExtractor
    embedder: CachedEmbedder
    asks_model: bool = False
    captioner: ImageCaptioner | None = None
    max_words: int
    max_mb: int
    more_texts: Callable[[Paper], Sequence[str]] = lambda _paper: ()

    async def add(self, request: AddRequest, older: PaperEntry | None) -> AddResult:
        """Add one file.

        An unchanged file costs nothing, with two exceptions: images are read that this vision model and prompt have not
        read, and the extracting model is asked again where its reply was unusable.

        Args:
            request: The file and the options.
            older: The paper that it replaces; None for the paper that was added from the same path, if any.

        Raises:
            PaperFileError: The file can't be read as a paper.
            ModelError: A model fails.
            BudgetError: The budget is exhausted.
            StoreError: The library can't be written. After any error, it is unchanged.
        """
        started = time.perf_counter()
        draft = await self._draft(request, older)
        if isinstance(draft, AddResult):
            return replace(draft, seconds=time.perf_counter() - started)
        request.on_stage(Stage(name="embedding"))
        vectors = await self.embedder.embed([chunk.searched for chunk in draft.chunks])
        await self.embedder.embed(await asyncio.to_thread(self.more_texts, draft.parsed.paper))
        request.on_stage(Stage(name="storing"))
        # The last point at which the add can be cancelled.
        await asyncio.sleep(0)
        indexed = IndexedPaper(
            paper=draft.parsed.paper,
            chunks=draft.chunks,
            extraction=draft.extraction,
            vectors=vectors,
            images=draft.images,
        )
        await run_in_thread(
            partial(
                self.store.add,
                indexed,
                crops=draft.parsed.crops,
                source=draft.source,
                embedder=self.embedder.name,
                replaces=draft.replaces,
            )
        )
        return AddResult(
            paper=draft.parsed.paper,
            outcome=draft.outcome,
            images=draft.images,
            shortfall=draft.extraction.shortfall,
            seconds=time.perf_counter() - started,
        )

    async def texts_to_embed(self, request: AddRequest) -> Sequence[str]:
        """The texts that `add` would embed. All earlier stages run, and nothing is stored.

        Raises:
            PaperFileError: The file can't be read as a paper.
            StoreError: The library can't be read.
        """
        draft = await self._draft(request, None)
        if isinstance(draft, AddResult):
            return ()
        chunks = [chunk.searched for chunk in draft.chunks]
        return self.embedder.missing([*chunks, *self.more_texts(draft.parsed.paper)])

    async def _draft(self, request: AddRequest, older: PaperEntry | None) -> _Draft | AddResult:
        """Everything that is stored for a file except the vectors; an AddResult if the library has it already."""
        source, sha256 = await asyncio.to_thread(self._identify, request.path)
        request.check_hash(sha256)
        older = older or self.store.entry_by_source(source)
        stored = await asyncio.to_thread(self._stored, sha256)
        known = stored.paper if stored is not None else None
        images_before = stored.images if stored is not None else PaperImages()
        shortfall = stored.extraction.shortfall if stored is not None else Shortfall()
        replaced = older is not None and (known is None or older.id != known.id)
        current = known if known and not replaced and self.store.embedder_of(known.id) == self.embedder.name else None
        asks_again = self.asks_model and shortfall.can_shrink

        def unchanged(paper: Paper, images: PaperImages) -> AddResult:
            return AddResult(paper=paper, outcome="unchanged", images=images, shortfall=shortfall)

        if current is not None and not asks_again and not self._has_images_to_read(images_before):
            return unchanged(current, images_before)
        parsed = await asyncio.to_thread(self._read_stored, current) if current is not None else None
        if parsed is None:
            parsed = await self._parse(request)
            request.check_hash(parsed.paper.sha256)
        images = await self._read_images(parsed, images_before, request.on_stage)
        if current is not None and not asks_again and images == images_before:
            return unchanged(current, images)
        chunks, extraction = await self._extract(parsed.paper, images, request.on_stage)
        if current is not None and images == images_before and extraction.shortfall == shortfall:
            return unchanged(current, images)
        return _Draft(
            parsed=parsed,
            chunks=chunks,
            extraction=extraction,
            images=images,
            source=source,
            outcome="added" if older is None and current is None else "replaced",
            replaces=older.id if older is not None and older.id != parsed.paper.id else None,
        )

    def _identify(self, file: Path) -> tuple[str, str]:
        """The file's absolute path and the SHA-256 of its content."""
        check_size(file, max_mb=self.max_mb)
        return str(file.resolve()), content_hash(read_file(content_file(file)))

    def _stored(self, sha256: str) -> IndexedPaper | None:
        """The stored paper of a file with this content; None if it is damaged, so that it is read and stored again."""
        entry = self.store.entry_by_sha256(sha256)
        try:
            return self.store.indexed(entry.id) if entry is not None else None
        except (KeyError, StoreDamagedError):
            return None

    def _has_images_to_read(self, before: PaperImages) -> bool:
        """Whether the vision model or its prompt has changed, or images could not be read."""
        return self.captioner is not None and (before.reader != self.captioner.reader or bool(before.unread))

    def _read_stored(self, paper: Paper) -> ParsedPaper | None:
        """A stored paper with its crops; None if crops are missing."""
        try:
            crops = {crop: self.store.crop(crop) for element in paper.elements for crop in crops_of(element)}
        except KeyError:
            return None
        return ParsedPaper(paper=paper, crops=crops)

    async def _parse(self, request: AddRequest) -> ParsedPaper:
        last = 0

        def on_page(done: int, total: int) -> None:
            nonlocal last
            last = done
            request.on_stage(Stage(name="parsing", done=done, total=total))

        request.on_stage(Stage(name="parsing"))
        parsed = await run_in_thread(partial(read_paper, self.parser, request.file, on_page=on_page))
        # Some parsers report no pages.
        if last < (pages := len(parsed.paper.pages)):
            on_page(pages, pages)
        return parsed

    async def _read_images(self, parsed: ParsedPaper, before: PaperImages, on_stage: ProgressCallback) -> PaperImages:
        if self.captioner is None:
            return before
        return await self.captioner.describe(
            parsed.paper,
            parsed.crops,
            before=before,
            on_read=lambda done, total: on_stage(Stage(name="reading images", done=done, total=total)),
        )

    async def _extract(
        self, paper: Paper, images: PaperImages, on_stage: ProgressCallback
    ) -> tuple[tuple[Chunk, ...], Extraction]:
        pictured = {description.element for description in images.descriptions}
        chunks = await asyncio.to_thread(chunk_paper, paper, max_words=self.max_words, pictured=pictured)
        on_stage(Stage(name="extracting entities"))
        extraction = await self.extractor.extract(paper, [chunk for chunk in chunks if chunk.text], images)
        return add_to_chunks(chunks, images) if images.descriptions else chunks, extraction
