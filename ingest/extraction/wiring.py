"""Which extractors a paper goes through."""

import asyncio
from collections.abc import Sequence

from ingest.extraction.local import LocalExtractor
from ingest.extraction.merge import combine
from ingest.extraction.model import ModelExtractor
from paperscope.protocols import EntityExtractor, LanguageModel
from paperscope.types import Chunk, Extraction, Paper

__all__ = ["CombinedExtractor", "extractor_for"]


class CombinedExtractor:
    """Several extractors' findings as one."""

    def __init__(self, *extractors: EntityExtractor) -> None:
        self._extractors = extractors

    async def extract(self, paper: Paper, chunks: Sequence[Chunk]) -> Extraction:
        """All findings combined; the first extractor that raises ends it."""
        return combine(*await asyncio.gather(*(extractor.extract(paper, chunks) for extractor in self._extractors)))


def extractor_for(model: LanguageModel | None) -> EntityExtractor:
    """Rules alone without a model; rules and the model with one."""
    return CombinedExtractor(LocalExtractor(), ModelExtractor(model)) if model else LocalExtractor()
