"""How one file becomes part of the library: parse, cut into chunks, extract, embed, and commit all at once."""

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
from ingest import check_size, chunk_paper, content_file, read_paper
from paperscope.errors import PaperFileError
from paperscope.protocols import Embedder, EntityExtractor, Parser
from paperscope.types import Chunk, IndexedPaper, Paper, Usage, content_hash

__all__ = ["Added", "Adder", "OnStage"]

OnStage = Callable[[str], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Added:
    """What adding a file came to: "added", "replaced" (an older version of the same file went) or "unchanged".

    `usage` is what the extracting model took.
    """

    paper: Paper
    outcome: Literal["added", "replaced", "unchanged"]
    seconds: float = 0.0
    usage: Usage = Usage()


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
        max_words: int,
        max_mb: int,
    ) -> None:
        self._store = store
        self._parser = parser
        self._extractor = extractor
        self._embedder = embedder
        self._max_words = max_words
        self._max_mb = max_mb

    async def add(self, file: Path, *, on_stage: OnStage, password: str | None = None) -> Added:
        """Add one file. An unchanged file costs nothing; a changed one replaces its older version.

        `password` opens an encrypted one.

        Raises PaperFileError, ModelError or StoreError; the library is then as it was.
        """
        started = time.perf_counter()
        source, sha256 = await asyncio.to_thread(self._identify, file)
        known = self._store.paper_by_sha256(sha256)
        older = self._store.paper_by_source(source)
        if known is not None and self._is_current(known) and (older is None or older.id == known.id):
            return Added(paper=known, outcome="unchanged")
        on_stage("parsing")
        parsed = await asyncio.to_thread(read_paper, self._parser, file, password=password)
        paper = parsed.paper
        chunks = chunk_paper(paper, max_words=self._max_words)
        on_stage("extracting entities")
        extraction = await self._extractor.extract(paper, chunks)
        on_stage("embedding")
        vectors = await self._vectors(chunks)
        on_stage("storing")
        await asyncio.to_thread(
            self._store.add,
            IndexedPaper(paper=paper, chunks=chunks, extraction=extraction, vectors=vectors),
            crops=parsed.crops,
            source=source,
            embedder=self._embedder.name,
            replaces=older.id if older is not None and older.id != paper.id else None,
        )
        outcome: Literal["added", "replaced"] = "added" if older is None else "replaced"
        return Added(paper=paper, outcome=outcome, seconds=time.perf_counter() - started)

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
        texts = [chunk.text for chunk in chunks]
        known = self._store.get_vectors(self._embedder.name, texts)
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            fresh = dict(zip(missing, await self._embedder.embed(missing), strict=True))
            self._store.put_vectors(self._embedder.name, fresh)
            known = {**known, **fresh}
        if not texts:
            return np.zeros((0, self._embedder.dimension), dtype=float32)
        return np.stack([known[text] for text in texts])
