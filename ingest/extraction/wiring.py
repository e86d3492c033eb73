"""Which extractors a paper goes through."""

import asyncio
from collections.abc import Sequence

from ingest.extraction.local import LocalExtractor
from ingest.extraction.lonely import link_lonely
from ingest.extraction.merge import combine
from ingest.extraction.model import ModelExtractor
from ingest.extraction.type_system import TypeSystem
from paperscope.protocols import EntityExtractor, LanguageModel
from paperscope.settings import ExtractSettings
from paperscope.types import Chunk, Extraction, Paper

__all__ = ["CombinedExtractor", "extractor_for"]


class CombinedExtractor:
    """Several extractors' findings as one."""

    def __init__(self, *extractors: EntityExtractor, types: TypeSystem | None = None) -> None:
        self._extractors = extractors
        self._types = types

    async def extract(self, paper: Paper, chunks: Sequence[Chunk]) -> Extraction:
        """All findings combined, each entity with a relation; the first extractor that raises ends it."""
        parts = await asyncio.gather(*(extractor.extract(paper, chunks) for extractor in self._extractors))
        return link_lonely(paper, combine(*parts, types=self._types), types=self._types)


def extractor_for(model: LanguageModel | None, settings: ExtractSettings | None = None) -> EntityExtractor:
    """Rules alone without a model; rules and the model with one. `settings` may name other types of entities."""
    settings = settings or ExtractSettings()
    types = TypeSystem.of(settings.types)
    local = LocalExtractor(types=types)
    if model is None:
        return local
    asking = ModelExtractor(model, types=types, max_tokens=settings.tokens_per_call, gleanings=settings.gleanings)
    return CombinedExtractor(local, asking, types=types)
