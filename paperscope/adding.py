"""Adds papers: read the file, parse, read images, extract, embed, and commit in one transaction.

The packages that read papers are imported when one is added: a question needs none of them.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self
from weakref import WeakValueDictionary

from markupsafe import Markup

from paperscope.display import to_html
from paperscope.html_blocks import aside, fragment
from paperscope.originals import Originals, file_name
from paperscope.other_files import join_stored, stored_reading
from paperscope.sources import PaperSource
from paperscope_core.cancellation import run_in_thread
from paperscope_core.errors import BudgetError, NotFoundError, PaperFileError, StoreDamagedError, StoreRefusedError
from paperscope_core.models import CachedEmbedder, MeteredModel, Models
from paperscope_core.protocols import PageCallback
from paperscope_core.publication import looked_up, with_record
from paperscope_core.settings import Settings
from paperscope_core.text.escaping import is_encodable
from paperscope_core.types import (
    BibRecord,
    Chunk,
    Displayable,
    Extraction,
    IndexedPaper,
    OtherFile,
    Paper,
    PaperEntry,
    PaperFile,
    PaperImages,
    ParsedPaper,
    Shortfall,
    Usage,
)

if TYPE_CHECKING:
    from graph_store import Store
    from ingest.captioning import ImageCaptioner
    from ingest.extraction import EmbedTexts

__all__ = ["AddRequest", "AddResult", "Adder", "ProgressCallback", "Stage"]


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

    file: PaperFile
    name: str | None = None
    source: str | None = None
    replaces: str | None = None
    sha256: str | None = None
    record: BibRecord | None = None
    on_stage: ProgressCallback = lambda _stage: None

    @classmethod
    def of(cls, source: PaperSource, *, max_mb: int, password: str | None, on_stage: ProgressCallback) -> Self:
        """Return the request to add the paper of a source, which is fetched if it is remote. See `PaperSource.file`."""
        file, record = source.read(max_mb=max_mb, password=password)
        if source.is_remote:
            return cls(file=file, name=file.name, source=source.address, record=record, on_stage=on_stage)
        return cls(file=file, record=record, on_stage=on_stage)


@dataclass(frozen=True, kw_only=True, slots=True)
class AddResult(Displayable):
    """The result of adding a file.

    Attributes:
        outcome: "added"; "replaced" (an older version, or an older reading, of the same file, or a reading of another
            file of the same paper: `paper.others`); "unchanged".
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


@dataclass(frozen=True, kw_only=True, slots=True)
class _Known:
    """What the library knows of a file.

    Attributes:
        source: The path or address that it comes from.
        older: The paper that it replaces, if any.
        current: The paper with the same content, if its text need not be read again.
        records: What records say of the paper: those of the same content or of the older one, and the request's.
        images: The readings of its images.
        shortfall: What is missing from its extraction.
        asks_again: Whether the extracting model is asked again.
        is_complete: Whether nothing is left to do.
    """

    source: str
    older: PaperEntry | None
    current: Paper | None
    records: Sequence[BibRecord]
    images: PaperImages
    shortfall: Shortfall
    asks_again: bool
    is_complete: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class _Draft:
    """What is stored for a file, except the vectors; `known` is what the library knows of its paper."""

    known: _Known
    parsed: ParsedPaper
    chunks: tuple[Chunk, ...]
    extraction: Extraction
    images: PaperImages


class Adder:
    """Adds papers to a library with its models.

    Model calls and embeddings are cached in the store as they are made, so that an add that was killed can continue.

    Args:
        originals: Keeps a copy of each uploaded file; None if all files are added from where they are.
    """

    def __init__(
        self,
        store: "Store",
        models: Models,
        settings: Settings,
        *,
        originals: Originals | None = None,
    ) -> None:
        self.store = store
        self.models = models
        self.settings = settings
        self.originals = originals
        self._embedder = CachedEmbedder(models.embedder, store)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def add(self, request: AddRequest) -> AddResult:
        """Add one file.

        An unchanged file costs nothing, with two exceptions: images are read that this vision model and prompt have not
        read, and the extracting model is asked again where its reply was unusable.

        Raises:
            PaperFileError: The file can't be read as a paper, or what was read of it can't be stored.
            UnknownPaperError: There is no paper to replace.
            ModelError: A model fails.
            BudgetError: The budget is exhausted.
            StoreError: The library can't be written. After any error, it is unchanged.
        """
        older = self.store.entry(request.replaces) if request.replaces is not None else None
        file = await self._read(request)
        # Of equal files, the second is then found unchanged, and no add deletes the copy that another one uses.
        lock = self._locks.setdefault(file.sha256, asyncio.Lock())
        async with lock:
            if request.name is None or self.originals is None:
                return await self._add(replace(request, file=file), older)
            put = partial(self.originals.put, file.content or b"", sha256=file.sha256, name=request.name)
            try:
                copy = await asyncio.to_thread(put)
                return await self._add(replace(request, file=replace(file, path=copy)), older)
            finally:
                entry = self.store.entry_by_sha256(file.sha256)
                if entry is None or entry.sha256 == file.sha256:
                    self.originals.drop(file.sha256, keep=entry.file if entry else "")

    def put_records(self, paper: Paper, records: Iterable[BibRecord]) -> Paper:
        """Store what records say of a paper that the library has; return the paper."""
        completed = reduce(with_record, records, paper)
        if completed != paper:
            self.store.put_record(completed)
        return completed

    async def _add(self, request: AddRequest, older: PaperEntry | None) -> AddResult:
        """Add a file whose content is in the request."""
        started = time.perf_counter()
        known = await asyncio.to_thread(self._look_up, request, older)
        if known.current is not None:
            known = replace(known, current=await asyncio.to_thread(self.put_records, known.current, known.records))
        if known.is_complete:
            result = _unchanged(known, seconds=time.perf_counter() - started)
        else:
            result = replace(await self._run(request, known), seconds=time.perf_counter() - started)
        if self.originals and known.older is not None and known.older.id != result.paper.id:
            self.originals.drop(known.older.sha256)
        return result

    async def _run(self, request: AddRequest, known: _Known) -> AddResult:
        """Run all stages for a file that the library does not have completely."""
        # Before work that could not be stored, and calls that would be paid for in vain.
        await asyncio.to_thread(self.store.check_room)
        extract = MeteredModel(self.models.extract) if self.models.extract else None
        vision = MeteredModel(self.models.vision) if self.models.vision else None
        models = replace(self.models, extract=extract, vision=vision)
        try:
            draft = await self._draft(request, known, models=models, compare_names=self._embedder.embed)
            result = _unchanged(known) if draft is None else await self._store(request, draft)
        except BudgetError:
            # Calls in progress are paid for and will be cached. What remains to be done is known only when they have
            # ended.
            await self.models.aclose()
            raise
        return replace(result, usage=sum((model.usage for model in (extract, vision) if model), Usage()))

    async def texts_to_embed(self, request: AddRequest, *, compare_names: "EmbedTexts | None") -> Sequence[str]:
        """Return the texts that `add` would embed. All earlier stages run, and nothing is stored.

        Args:
            compare_names: Embeds names to find variants; None to compare only their letters.

        Raises:
            PaperFileError: The file can't be read as a paper.
            StoreError: The library can't be read.
        """
        request = replace(request, file=await self._read(request))
        known = await asyncio.to_thread(self._look_up, request, None)
        if known.is_complete:
            return ()
        draft = await self._draft(request, known, models=self.models, compare_names=compare_names)
        if draft is None:
            return ()
        return self._embedder.missing([chunk.searched for chunk in draft.chunks])

    async def _read(self, request: AddRequest) -> PaperFile:
        from ingest.parsers import read_once

        name = "" if request.name is None else file_name(request.name)
        file = await asyncio.to_thread(read_once, request.file, max_mb=self.settings.limits.max_file_mb, name=name)
        if request.sha256 not in (None, file.sha256):
            raise PaperFileError(f"{file.name!r} was changed or moved while it was read. Add it again.")
        return file

    def _look_up(self, request: AddRequest, older: PaperEntry | None) -> _Known:
        file, source = request.file, request.source or str(request.file.path.resolve())
        if not is_encodable(source):
            raise PaperFileError(
                f"{source!r}: a path that is not in UTF-8 can't be stored; rename the file or its folder"
            )
        if older is None and (found := self.store.entry_by_source(source)) is not None and found.source == source:
            older = found
        stored = self._stored(file.sha256)
        images = stored.images if stored is not None else PaperImages()
        shortfall = stored.extraction.shortfall if stored is not None else Shortfall()
        current = stored.paper if stored is not None and (older is None or older.id == stored.paper.id) else None
        if current is not None and self.store.embedder_of(current.id) != self._embedder.name:
            current = None
        before = stored or (self._stored(older.sha256) if older is not None else None)
        asks_again = self.models.extract is not None and shortfall.can_shrink
        captioner = self._captioner(self.models)
        # The vision model or its prompt has changed, or images could not be read.
        has_images = captioner is not None and (images.reader != captioner.reader or bool(images.unread))
        return _Known(
            source=source,
            older=older,
            current=current,
            records=[*(looked_up(before.paper) if before else ()), *([request.record] if request.record else ())],
            images=images,
            shortfall=shortfall,
            asks_again=asks_again,
            is_complete=current is not None and not asks_again and not has_images,
        )

    def _stored(self, sha256: str) -> IndexedPaper | None:
        """Return the paper of a file with this content; None if it is damaged, so that it is read and stored again."""
        entry = self.store.entry_by_sha256(sha256)
        try:
            return self.store.indexed(entry.id) if entry is not None else None
        except (NotFoundError, StoreDamagedError):
            return None

    async def _draft(
        self, request: AddRequest, known: _Known, *, models: Models, compare_names: "EmbedTexts | None"
    ) -> _Draft | None:
        """Parse a file, read its images and extract; return None if the library has the results already."""
        from ingest.captioning import add_to_chunks
        from ingest.chunking import chunk_paper
        from ingest.extraction import extractor_for

        current = known.current
        stored = await asyncio.to_thread(stored_reading, self.store, current) if current is not None else None
        if stored is None:
            read = await self._parse(request, known)
            parsed, known = await asyncio.to_thread(self._joined, read, known, request.file.name)
            current = known.current
        else:
            parsed = stored
        images = await self._read_images(parsed, known.images, models, request.on_stage)
        if current is not None and not known.asks_again and images == known.images:
            return None
        pictured = {description.element for description in images.descriptions}
        chunks = await asyncio.to_thread(chunk_paper, parsed.paper, pictured=pictured)
        request.on_stage(Stage(name="extracting entities"))
        settings = self.settings
        extractor = extractor_for(models.extract, settings.extract, embed=compare_names, limits=settings.limits)
        extraction = await extractor.extract(parsed.paper, [chunk for chunk in chunks if chunk.text], images)
        if current is not None and images == known.images and extraction.shortfall == known.shortfall:
            return None
        chunks = add_to_chunks(chunks, images) if images.descriptions else chunks
        return _Draft(known=known, parsed=parsed, chunks=chunks, extraction=extraction, images=images)

    def _joined(self, parsed: ParsedPaper, known: _Known, name: str) -> tuple[ParsedPaper, _Known]:
        """Join a reading with those of the paper's other files; return what is stored, and what is known of it."""
        stored = self._stored(known.older.sha256 if known.older is not None else parsed.paper.sha256)
        file = OtherFile(file=name, source=known.source, sha256=parsed.paper.sha256)
        joined, other = join_stored(
            self.store, parsed, file, others=stored.paper.others if stored else (), read=self._read_other
        )
        if other is None:
            return joined, known
        entry = self.store.entry(other.paper.id)
        if joined.paper.id == parsed.paper.id:
            return joined, replace(known, older=known.older or entry, current=None)
        return joined, replace(
            known,
            source=entry.source,
            older=entry,
            current=None,
            images=other.images,
            shortfall=other.extraction.shortfall,
        )

    def _read_other(self, file: OtherFile) -> Paper:
        return self._parsed(PaperFile(self.originals.of(file) if self.originals else Path(file.source))).paper

    async def _parse(self, request: AddRequest, known: _Known) -> ParsedPaper:
        last = 0

        def on_page(done: int, total: int) -> None:
            nonlocal last
            last = done
            request.on_stage(Stage(name="parsing", done=done, total=total))

        request.on_stage(Stage(name="parsing"))
        parsed = await run_in_thread(partial(self._parsed, request.file, on_page=on_page))
        # Some parsers report no pages.
        if last < (pages := len(parsed.paper.pages)):
            on_page(pages, pages)
        return replace(parsed, paper=reduce(with_record, known.records, parsed.paper))

    def _parsed(self, file: PaperFile, on_page: PageCallback = lambda _done, _total: None) -> ParsedPaper:
        from ingest.parsers import parser_for, read_paper

        parser = parser_for(self.settings.parser, limits=self.settings.limits)
        return read_paper(parser, file, on_page=on_page)

    def _captioner(self, models: Models) -> "ImageCaptioner | None":
        from ingest.captioning import ImageCaptioner
        from ingest.extraction import TypeSystem

        types = TypeSystem.of(self.settings.extract.types)
        return ImageCaptioner(models.vision, types=types) if models.vision else None

    async def _read_images(
        self, parsed: ParsedPaper, before: PaperImages, models: Models, on_stage: ProgressCallback
    ) -> PaperImages:
        captioner = self._captioner(models)
        if captioner is None:
            return before
        return await captioner.describe(
            parsed.paper,
            parsed.crops,
            before=before,
            on_read=lambda done, total: on_stage(Stage(name="reading images", done=done, total=total)),
        )

    async def _store(self, request: AddRequest, draft: _Draft) -> AddResult:
        paper, known, older = draft.parsed.paper, draft.known, draft.known.older
        request.on_stage(Stage(name="embedding"))
        vectors = await self._embedder.embed([chunk.searched for chunk in draft.chunks])
        request.on_stage(Stage(name="storing"))
        # The last point at which the add can be cancelled.
        await asyncio.sleep(0)
        indexed = IndexedPaper(
            paper=paper, chunks=draft.chunks, extraction=draft.extraction, vectors=vectors, images=draft.images
        )
        store = partial(
            self.store.add,
            indexed,
            crops=draft.parsed.crops,
            source=known.source,
            embedder=self._embedder.name,
            replaces=older.id if older is not None and older.id != paper.id else None,
        )
        try:
            await run_in_thread(store)
        except StoreRefusedError as error:
            raise PaperFileError(
                f"{request.file.name!r}: what was read of it can't be stored ({error.public}); please report it with "
                "the file",
                where=error.where,
            ) from error
        return AddResult(
            paper=paper,
            outcome="added" if older is None and known.current is None else "replaced",
            images=draft.images,
            shortfall=draft.extraction.shortfall,
        )


def _unchanged(known: _Known, *, seconds: float = 0.0) -> AddResult:
    if known.current is None:
        raise AssertionError("a paper that is not stored can't be unchanged")
    return AddResult(
        paper=known.current,
        outcome="unchanged",
        seconds=seconds,
        images=known.images,
        shortfall=known.shortfall,
    )
