"""How one file becomes part of the library: parse, read its pictures, extract, embed, and commit all at once."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from graph_store import Store
from ingest import (
    ImageDescriber,
    add_to_chunks,
    add_to_graph,
    check_size,
    chunk_paper,
    content_file,
    crops_of,
    read_paper,
)
from paperscope.errors import PaperFileError
from paperscope.protocols import Embedder, EntityExtractor, Parser
from paperscope.types import (
    Chunk,
    Equation,
    Figure,
    IndexedPaper,
    Paper,
    PaperImages,
    ParsedPaper,
    Table,
    Usage,
    content_hash,
)

__all__ = ["Added", "Adder", "OnStage"]

OnStage = Callable[[str], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Added:
    """What adding a file came to: "added", "replaced" (an older version, or an older reading, of the same file went)
    or "unchanged".

    `usage` is what the extracting and the vision model took; `images` is what the latter saw.
    """

    paper: Paper
    outcome: Literal["added", "replaced", "unchanged"]
    seconds: float = 0.0
    usage: Usage = Usage()
    images: PaperImages = PaperImages()


class Adder:
    """Adds files. Everything paid for on the way (model calls, embeddings) is kept in the store at once, so that an
    add that was killed goes on where it stopped."""

    def __init__(
        self,
        *,
        store: Store,
        parser: Parser,
        extractor: EntityExtractor,
        embedder: Embedder,
        describer: ImageDescriber | None,
        max_words: int,
        max_mb: int,
    ) -> None:
        self._store = store
        self._parser = parser
        self._extractor = extractor
        self._embedder = embedder
        self._describer = describer
        self._max_words = max_words
        self._max_mb = max_mb

    async def add(self, file: Path, *, on_stage: OnStage, password: str | None = None) -> Added:
        """Add one file. An unchanged file costs nothing; a changed one replaces its older version.

        Pictures of an unchanged one are read where they have not been: by this vision model and prompt, or at all.
        `password` opens an encrypted file.

        Raises PaperFileError, ModelError or StoreError; the library is then as it was.
        """
        started = time.perf_counter()
        source, sha256 = await asyncio.to_thread(self._identify, file)
        known = self._store.paper_by_sha256(sha256)
        older = self._store.paper_by_source(source)
        before = self._store.images(known.id) if known is not None else PaperImages()
        current = known if known and self._is_current(known) and (older is None or older.id == known.id) else None
        if current is not None and not self._has_images_to_read(before):
            return Added(paper=current, outcome="unchanged", images=before)
        parsed = await asyncio.to_thread(self._stored, current) if current is not None else None
        if parsed is None:
            on_stage("parsing")
            parsed = await asyncio.to_thread(read_paper, self._parser, file, password=password)
        paper = parsed.paper
        images = await self._images(parsed, before, on_stage)
        if current is not None and images == before:
            return Added(paper=paper, outcome="unchanged", images=images, seconds=time.perf_counter() - started)
        indexed = await self._indexed(paper, images, on_stage)
        on_stage("storing")
        await asyncio.to_thread(
            self._store.add,
            indexed,
            crops=parsed.crops,
            source=source,
            embedder=self._embedder.name,
            replaces=older.id if older is not None and older.id != paper.id else None,
        )
        outcome: Literal["added", "replaced"] = "added" if older is None and current is None else "replaced"
        return Added(paper=paper, outcome=outcome, images=images, seconds=time.perf_counter() - started)

    async def _indexed(self, paper: Paper, images: PaperImages, on_stage: OnStage) -> IndexedPaper:
        pictured = {description.element for description in images.descriptions}
        chunks = chunk_paper(paper, max_words=self._max_words, pictured=pictured)
        on_stage("extracting entities")
        extraction = await self._extractor.extract(paper, [chunk for chunk in chunks if chunk.text])
        chunks = add_to_chunks(chunks, images)
        on_stage("embedding")
        return IndexedPaper(
            paper=paper,
            chunks=chunks,
            extraction=add_to_graph(extraction, images) if images.descriptions else extraction,
            vectors=await self._vectors(chunks),
            images=images,
        )

    def _has_images_to_read(self, before: PaperImages) -> bool:
        """Whether the vision model or its prompt is another one than before, or could not read them all."""
        return self._describer is not None and (before.reader != self._describer.reader or bool(before.unread))

    def _stored(self, paper: Paper) -> ParsedPaper | None:
        """A paper with its crops as the store has them; None if some are missing there."""
        pictured = (element for element in paper.elements if isinstance(element, Table | Figure | Equation))
        try:
            crops = {crop: self._store.crop(crop) for element in pictured for crop in crops_of(element)}
        except KeyError:
            return None
        return ParsedPaper(paper=paper, crops=crops)

    async def _images(self, parsed: ParsedPaper, before: PaperImages, on_stage: OnStage) -> PaperImages:
        if self._describer is None:
            return before
        return await self._describer.describe(
            parsed.paper,
            parsed.crops,
            before=before,
            on_read=lambda done, total: on_stage(f"reading images {done}/{total}"),
        )

    def _is_current(self, paper: Paper) -> bool:
        return self._store.embedder_of(paper.id) == self._embedder.name

    def _identify(self, file: Path) -> tuple[str, str]:
        """The paper's absolute path and the SHA-256 of its content."""
        check_size(file, max_mb=self._max_mb)
        try:
            return str(file.resolve()), content_hash(content_file(file).read_bytes())
        except OSError as error:
            raise PaperFileError(f"{file}: can't be read ({error.strerror}); check the path and its rights") from error

    async def _vectors(self, chunks: Sequence[Chunk]) -> NDArray[float32]:
        texts = [chunk.searched for chunk in chunks]
        known = self._store.get_vectors(self._embedder.name, texts)
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            fresh = dict(zip(missing, await self._embedder.embed(missing), strict=True))
            self._store.put_vectors(self._embedder.name, fresh)
            known = {**known, **fresh}
        if not texts:
            return np.zeros((0, self._embedder.dimension), dtype=float32)
        return np.stack([known[text] for text in texts])
