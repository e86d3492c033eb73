"""Adds a paper: parse, read images, extract, embed, and commit in one transaction."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal, Protocol, Self
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
from paperscope.sources import PaperSource
from paperscope_core.cancellation import run_in_thread
from paperscope_core.errors import BudgetError, NotFoundError, PaperFileError, StoreDamagedError, StoreRefusedError
from paperscope_core.models import CachedEmbedder, MeteredModel, Models
from paperscope_core.protocols import CallCache, EntityExtractor, LanguageModel, Parser, VectorCache, VisionModel
from paperscope_core.settings import Settings
from paperscope_core.text.escaping import is_encodable
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

__all__ = [
    "AddRequest",
    "AddResult",
    "Adder",
    "PaperStore",
    "Pipeline",
    "ProgressCallback",
    "RunPipeline",
    "Stage",
    "build_pipeline",
    "run_pipeline",
]


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
    source: str | None = None
    replaces: str | None = None
    password: str | None = None
    sha256: str | None = None
    on_stage: ProgressCallback = lambda _stage: None

    @classmethod
    def of(cls, source: PaperSource, file: Path, *, password: str | None, on_stage: ProgressCallback) -> Self:
        """The request to add the file of a source, of which the library keeps a copy if it was fetched."""
        fetched = {"name": source.name, "source": source.address} if source.is_remote else {}
        return cls(path=file, password=password, on_stage=on_stage, **fetched)

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


class PaperStore(CallCache, VectorCache, Protocol):
    """What the pipeline needs of a `Store`, whose methods these are."""

    def entry_by_sha256(self, sha256: str) -> PaperEntry | None:
        """See `Store.entry_by_sha256`."""

    def entry_by_source(self, source: str) -> PaperEntry | None:
        """See `Store.entry_by_source`."""

    def indexed(self, paper: str) -> IndexedPaper:
        """See `reading.read_indexed`."""

    def embedder_of(self, paper: str) -> str:
        """See `reading.read_embedder`."""

    def crop(self, crop: str) -> bytes:
        """See `Store.crop`."""

    def add(
        self,
        indexed: IndexedPaper,
        *,
        crops: Mapping[str, bytes],
        source: str,
        embedder: str,
        replaces: str | None = None,
    ) -> int:
        """See `Store.add`."""


RunPipeline = Callable[[AddRequest, PaperEntry | None], Awaitable[AddResult]]
"""Adds a file with the pipeline, in this process or elsewhere; takes the arguments of `Pipeline.add`."""


@dataclass(frozen=True, kw_only=True)
class Adder:
    """Adds files to a library with its models, and removes papers. It keeps a copy of each uploaded file.

    Attributes:
        run: Runs the pipeline; None for this process.
    """

    store: Store
    originals: Originals
    models: Models
    settings: Settings
    run: RunPipeline | None = None
    _locks: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary, init=False)

    async def add(self, request: AddRequest) -> AddResult:
        """Add one file. See `Library.add`."""
        older = self.store.entry(request.replaces) if request.replaces is not None else None
        if older is None and request.source is not None:
            older = self.store.entry_by_source(request.source)
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
        if self.run is not None:
            return await self.run(request, older)
        return await run_pipeline(self.store, self.models, self.settings, request, older)

    async def find_unchanged(self, request: AddRequest, older: PaperEntry | None) -> AddResult | None:
        """See `Pipeline.find_unchanged`."""
        pipeline = build_pipeline(
            self.store,
            CachedEmbedder(self.models.embedder, self.store),
            self.settings,
            extract=self.models.extract,
            vision=self.models.vision,
            compare_names=None,
        )
        return await pipeline.find_unchanged(request, older)

    def remove(self, name: str) -> PaperEntry:
        """Remove a paper. See `Library.remove`."""
        entry = find_entry(self.store.entries(), name)
        self.store.remove(entry.id)
        self.store.sweep()
        self.originals.drop(entry.sha256)
        self.originals.sweep(keep={one.sha256 for one in self.store.entries()})
        return entry


async def run_pipeline(
    store: PaperStore, models: Models, settings: Settings, request: AddRequest, older: PaperEntry | None
) -> AddResult:
    """Add one file to a store; see `Pipeline.add`. The result has the usage of the models."""
    extract = MeteredModel(models.extract) if models.extract else None
    vision = MeteredModel(models.vision) if models.vision else None
    embedder = CachedEmbedder(models.embedder, store)
    pipeline = build_pipeline(store, embedder, settings, extract=extract, vision=vision, compare_names=embedder.embed)
    try:
        result = await pipeline.add(request, older)
    except BudgetError:
        # Calls in progress are paid for and will be cached. What remains to be done is known only when they have
        # ended.
        await models.aclose()
        raise
    return replace(result, usage=sum((model.usage for model in (extract, vision) if model), Usage()))


def build_pipeline(
    store: PaperStore,
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
    in_advance = not settings.answer.configured and settings.embed.local
    return Pipeline(
        store=store,
        parser=parser_for(settings.parser, limits=settings.limits),
        extractor=extractor_for(extract, settings.extract, embed=compare_names, limits=settings.limits),
        asks_model=extract is not None,
        embedder=embedder,
        captioner=ImageCaptioner(vision, types=TypeSystem.of(settings.extract.types)) if vision else None,
        max_mb=settings.limits.max_file_mb,
        more_texts=_quotable_sentences if in_advance else lambda _paper: (),
    )


def _quotable_sentences(paper: Paper) -> Sequence[str]:
    # It takes 0.15 s to import what answers questions.
    from query.extractive import quotable_sentences

    return quotable_sentences(paper)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Known:
    """What the library knows of a file.

    Attributes:
        source: The path or address that it comes from.
        older: The paper that it replaces, if any.
        stored: The paper with the same content, if any.
        current: The same, if its text need not be read again.
        images: The readings of its images.
        asks_again: Whether the extracting model is asked again.
    """

    source: str
    sha256: str
    older: PaperEntry | None
    stored: IndexedPaper | None
    current: Paper | None
    images: PaperImages
    asks_again: bool

    @property
    def shortfall(self) -> Shortfall:
        return self.stored.extraction.shortfall if self.stored is not None else Shortfall()

    def unchanged(self, images: PaperImages) -> AddResult:
        if self.current is None:
            raise AssertionError("a paper that is not stored can't be unchanged")
        return AddResult(paper=self.current, outcome="unchanged", images=images, shortfall=self.shortfall)


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
        max_mb: The maximum size of a file, in megabytes.
        more_texts: Returns texts of a paper other than its chunks that are embedded in advance for questions.
    """

    store: PaperStore
    parser: Parser
    extractor: EntityExtractor
    embedder: CachedEmbedder
    asks_model: bool = False
    captioner: ImageCaptioner | None = None
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
            PaperFileError: The file can't be read as a paper, or what was read of it can't be stored.
            ModelError: A model fails.
            BudgetError: The budget is exhausted.
            StoreError: The library can't be written. After any error, it is unchanged.
        """
        started = time.perf_counter()
        known = await self._know(request, older)
        if not self._is_complete(known):
            # Before work that could not be stored, and calls that would be paid for in vain.
            await asyncio.to_thread(self.store.check_room)
        draft = await self._draft(request, known)
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
        store = partial(
            self.store.add,
            indexed,
            crops=draft.parsed.crops,
            source=draft.source,
            embedder=self.embedder.name,
            replaces=draft.replaces,
        )
        try:
            await run_in_thread(store)
        except StoreRefusedError as error:
            raise PaperFileError(
                f"{request.path.name!r}: what was read of it can't be stored ({error.public}); please report it with "
                "the file",
                where=error.where,
            ) from error
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
        draft = await self._draft(request, await self._know(request, None))
        if isinstance(draft, AddResult):
            return ()
        chunks = [chunk.searched for chunk in draft.chunks]
        return self.embedder.missing([*chunks, *self.more_texts(draft.parsed.paper)])

    async def _draft(self, request: AddRequest, known: _Known) -> _Draft | AddResult:
        """Everything that is stored for a file except the vectors; an AddResult if the library has it already."""
        current, older = known.current, known.older
        if self._is_complete(known):
            return known.unchanged(known.images)
        parsed = await asyncio.to_thread(self._read_stored, current) if current is not None else None
        if parsed is None:
            parsed = await self._parse(request)
            request.check_hash(parsed.paper.sha256)
        images = await self._read_images(parsed, known.images, request.on_stage)
        if current is not None and not known.asks_again and images == known.images:
            return known.unchanged(images)
        chunks, extraction = await self._extract(parsed.paper, images, request.on_stage)
        if current is not None and images == known.images and extraction.shortfall == known.shortfall:
            return known.unchanged(images)
        return _Draft(
            parsed=parsed,
            chunks=chunks,
            extraction=extraction,
            images=images,
            source=known.source,
            outcome="added" if older is None and current is None else "replaced",
            replaces=older.id if older is not None and older.id != parsed.paper.id else None,
        )

    async def find_unchanged(self, request: AddRequest, older: PaperEntry | None) -> AddResult | None:
        """The result of `add` if the library has the file and nothing is left to do for it, else None.

        Raises:
            PaperFileError: The file can't be read.
            StoreError: The library can't be read.
        """
        known = await self._know(request, older)
        return known.unchanged(known.images) if self._is_complete(known) else None

    async def _know(self, request: AddRequest, older: PaperEntry | None) -> _Known:
        source, sha256 = await asyncio.to_thread(self._identify, request)
        request.check_hash(sha256)
        older = older or self.store.entry_by_source(source)
        stored = await asyncio.to_thread(self._stored, sha256)
        paper = stored.paper if stored is not None else None
        replaced = older is not None and (paper is None or older.id != paper.id)
        is_current = paper and not replaced and self.store.embedder_of(paper.id) == self.embedder.name
        return _Known(
            source=source,
            sha256=sha256,
            older=older,
            stored=stored,
            current=paper if is_current else None,
            images=stored.images if stored is not None else PaperImages(),
            asks_again=self.asks_model and stored is not None and stored.extraction.shortfall.can_shrink,
        )

    def _is_complete(self, known: _Known) -> bool:
        return known.current is not None and not known.asks_again and not self._has_images_to_read(known.images)

    def _identify(self, request: AddRequest) -> tuple[str, str]:
        """The file's address or absolute path, and the SHA-256 of its content."""
        check_size(request.path, max_mb=self.max_mb)
        source = request.source or str(request.path.resolve())
        if not is_encodable(source):
            raise PaperFileError(
                f"{source!r}: a path that is not in UTF-8 can't be stored; rename the file or its folder"
            )
        return source, content_hash(read_file(content_file(request.path)))

    def _stored(self, sha256: str) -> IndexedPaper | None:
        """The stored paper of a file with this content; None if it is damaged, so that it is read and stored again."""
        entry = self.store.entry_by_sha256(sha256)
        try:
            return self.store.indexed(entry.id) if entry is not None else None
        except (NotFoundError, StoreDamagedError):
            return None

    def _has_images_to_read(self, before: PaperImages) -> bool:
        """Whether the vision model or its prompt has changed, or images could not be read."""
        return self.captioner is not None and (before.reader != self.captioner.reader or bool(before.unread))

    def _read_stored(self, paper: Paper) -> ParsedPaper | None:
        """A stored paper with its crops; None if crops are missing."""
        try:
            crops = {crop: self.store.crop(crop) for element in paper.elements for crop in crops_of(element)}
        except NotFoundError:
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
        chunks = await asyncio.to_thread(chunk_paper, paper, pictured=pictured)
        on_stage(Stage(name="extracting entities"))
        extraction = await self.extractor.extract(paper, [chunk for chunk in chunks if chunk.text], images)
        return add_to_chunks(chunks, images) if images.descriptions else chunks, extraction
