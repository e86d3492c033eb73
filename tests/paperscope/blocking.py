"""A parser, a model and an embedder that block until they are released."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from numpy import float32
from numpy.typing import NDArray

from ingest.pdf import PdfParser
from paperscope_core.models import FakeEmbedder
from paperscope_core.protocols import PageCallback
from paperscope_core.types import ModelReply, ModelRequest, PaperFile, ParsedPaper

__all__ = ["BlockingEmbedder", "BlockingModel", "BlockingParser"]


_LONG = 300


@dataclass(frozen=True)
class BlockingParser:
    """Reads a PDF, but sleeps after its first page while the file `blocked` exists; runs in a child process."""

    blocked: Path

    def parse(self, file: PaperFile, *, on_page: PageCallback | None = None) -> ParsedPaper:
        def told(done: int, total: int) -> None:
            if on_page:
                on_page(done, total)
            if self.blocked.exists():
                time.sleep(_LONG)

        return PdfParser(dpi=72).parse(file, on_page=told)


class BlockingModel:
    """Always gives the same reply, but not while it is blocked."""

    name = "blocked"

    def __init__(self, text: str = "") -> None:
        self.blocked = False
        self._text = text

    def redacted(self, text: str) -> str:
        return text

    async def complete(self, request: ModelRequest) -> ModelReply:
        while self.blocked:  # noqa: ASYNC110 -- it is set from another thread
            await asyncio.sleep(0.01)
        return ModelReply(text=self._text)


class BlockingEmbedder(FakeEmbedder):
    """Embeds like the fake, but not while it is blocked."""

    def __init__(self) -> None:
        super().__init__()
        self.blocked = False

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        if self.blocked:
            await asyncio.sleep(_LONG)
        return await super().embed(texts)
