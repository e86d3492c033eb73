"""The query engine of a library, as its settings want it."""

from graph_store import NativeGraphIndex, Store
from paperscope.models import Models
from paperscope.models.tokens import token_counter
from paperscope.settings import Settings
from query import QueryEngine, RetrievalOptions

__all__ = ["build_engine"]


def build_engine(store: Store, index: NativeGraphIndex, *, models: Models, settings: Settings) -> QueryEngine:
    """The engine that answers over a store. Raises SettingsError where the tokenizer can't be read."""
    retrieval = settings.retrieval
    return QueryEngine(
        store,
        index,
        models.embedder,
        answer_model=models.answer,
        vision_model=models.vision,
        reranker=models.reranker,
        options=RetrievalOptions(
            sources=retrieval.chunks,
            tokens=retrieval.tokens,
            entities=retrieval.entities,
            relations=retrieval.relations,
            images=retrieval.images,
        ),
        count=token_counter(settings.answer.tokenizer),
        decompose=settings.answer.decompose,
    )
