"""What adds papers to a library and what answers over it, as its settings want them."""

from graph_store import NativeGraphIndex, Store
from ingest import EmbedTexts, ImageDescriber, TypeSystem, extractor_for, parser_for
from paperscope.library.adding import Adder
from paperscope.library.estimating import Estimator
from paperscope.library.memory import MemoryVectors
from paperscope.models import CachedEmbedder, Models, RehearsedModel
from paperscope.models.tokens import token_counter
from paperscope.protocols import Embedder, LanguageModel, VisionModel
from paperscope.settings import RoleSettings, Settings
from query import QueryEngine, RetrievalOptions
from query.embedded import weighed_texts

__all__ = ["build_adder", "build_engine", "build_estimator"]

# Sentences and questions whose vectors an open library remembers: some 20 MB.
_REMEMBERED = 8192


def build_adder(
    store: Store,
    embedder: Embedder,
    settings: Settings,
    *,
    extract: LanguageModel | None,
    vision: VisionModel | None,
    embed: EmbedTexts | None,
) -> Adder:
    """What adds papers to a store with these models; `embed` compares names, None: by their letters only."""
    types = TypeSystem.of(settings.extract.types)
    # A language model reads sentences itself, and a server's embedder is paid: they are embedded when it comes to it.
    beforehand = not settings.answer.configured and settings.embed.provider == "local"
    return Adder(
        store=store,
        parser=parser_for(settings.parser, limits=settings.limits),
        extractor=extractor_for(extract, settings.extract, embed=embed),
        asks_model=extract is not None,
        embedder=embedder,
        describer=ImageDescriber(vision, types=types) if vision else None,
        max_words=settings.chunking.max_words,
        max_mb=settings.limits.max_file_mb,
        weighed=weighed_texts if beforehand else None,
    )


def build_estimator(store: Store, models: Models, settings: Settings) -> Estimator:
    """What tells what adding would cost: with rehearsed models, so that nothing is sent."""

    def rehearsed(model: LanguageModel, role: RoleSettings) -> RehearsedModel:
        return RehearsedModel(model, store, price_prompt=role.price_prompt, price_completion=role.price_completion)

    roles = (("extract", models.extract), ("vision", models.vision))
    made = {role: rehearsed(model, getattr(settings, role)) for role, model in roles if model}
    # A server's embedder would be paid: without one, names are compared by their letters only.
    embed = models.embedder.embed if settings.embed.provider == "local" else None
    adder = build_adder(
        store, models.embedder, settings, extract=made.get("extract"), vision=made.get("vision"), embed=embed
    )
    return Estimator(adder, made, settings.embed)


def build_engine(store: Store, index: NativeGraphIndex, *, models: Models, settings: Settings) -> QueryEngine:
    """The engine that answers over a store; it remembers the vectors of sentences that it weighed.

    Raises SettingsError where the tokenizer can't be read.
    """
    retrieval = settings.retrieval
    return QueryEngine(
        store,
        index,
        CachedEmbedder(models.embedder, MemoryVectors(store, most=_REMEMBERED)),
        answer_model=models.answer,
        vision_model=models.vision,
        reranker=models.reranker,
        options=RetrievalOptions(
            sources=retrieval.chunks,
            tokens=retrieval.tokens,
            entities=retrieval.entities,
            relations=retrieval.relations,
            images=retrieval.images,
            graph=retrieval.graph,
        ),
        count=token_counter(settings.answer.tokenizer),
        decompose=settings.answer.decompose,
    )
