"""Several extractors as one."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from ingest.extraction.cooccurrence import link_isolated_entities
from ingest.extraction.entity_types import TypeSystem
from ingest.extraction.merge import combine
from paperscope_core.types import Chunk, Extraction, Paper

__all__ = ["CombinedExtractor", "TextExtractor"]


class TextExtractor(Protocol):
    """Draws entities and relations from a paper's text."""

    async def extract(self, paper: Paper, chunks: Sequence[Chunk]) -> Extraction:
        """See `EntityExtractor`, but for pictures."""
        ...


class CombinedExtractor:
    """Several extractors' findings as one."""

    def __init__(self, *extractors: TextExtractor, types: TypeSystem | None = None) -> None:
        self._extractors = extractors
        self._types = types

    async def extract(self, paper: Paper, chunks: Sequence[Chunk]) -> Extraction:
        """All findings combined, each entity with a relation; the first extractor that raises ends it."""
        parts = await asyncio.gather(*(extractor.extract(paper, chunks) for extractor in self._extractors))
        return link_isolated_entities(paper, combine(*parts, types=self._types), types=self._types)
