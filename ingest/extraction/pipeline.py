"""Which extractors a paper goes through."""

from ingest.extraction import CombinedExtractor, LocalExtractor, ModelExtractor
from ingest.extraction.entity_types import TypeSystem
from ingest.extraction.resolver import EmbedTexts, ResolvingExtractor
from paperscope_core.protocols import EntityExtractor, LanguageModel
from paperscope_core.settings import ExtractSettings

__all__ = ["extractor_for"]


def extractor_for(
    model: LanguageModel | None, settings: ExtractSettings | None = None, *, embed: EmbedTexts | None = None
) -> EntityExtractor:
    """Rules alone without a model; rules and the model with one, which then also judges names that may mean the same.

    `settings` may name other types of entities; `embed` gives unit vectors of names, by which such names are found too.
    """
    settings = settings or ExtractSettings()
    types = TypeSystem.of(settings.types)
    local = LocalExtractor(types=types)
    if model is None:
        return ResolvingExtractor(local, None, types=types)
    asking = ModelExtractor(model, types=types, max_tokens=settings.tokens_per_call, gleanings=settings.gleanings)
    return ResolvingExtractor(CombinedExtractor(local, asking, types=types), model, embed=embed, types=types)
