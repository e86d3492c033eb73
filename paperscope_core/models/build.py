"""Builds the models that the settings name, with their wrappers."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import lru_cache, partial

from paperscope_core.models.budget import Budget, BudgetedEmbedder, BudgetedModel
from paperscope_core.models.cache import CachedModel
from paperscope_core.models.chat import OpenAIChatModel
from paperscope_core.models.concurrency import FinishingModel, LimitedModel
from paperscope_core.models.embedders import BatchedEmbedder, LocalEmbedder, OpenAIEmbedder
from paperscope_core.models.endpoint import Endpoint
from paperscope_core.models.reranker import CrossEncoderReranker
from paperscope_core.models.retry import RetryingEmbedder, RetryingModel, RetryPolicy
from paperscope_core.models.usage import CountedCache, CountedEmbedder, CountedModel, OnCall
from paperscope_core.models.weights import find_weights
from paperscope_core.protocols import CallCache, Embedder, LanguageModel, Reranker, VisionModel
from paperscope_core.settings import EmbedSettings, RetrievalSettings, RoleSettings, Settings
from paperscope_core.types import ModelCall

__all__ = ["Models", "OnRoleCall", "build_embedder", "build_model", "build_models", "build_reranker"]


OnRoleCall = Callable[[str, ModelCall], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Models:
    """The model of each role; None where a role is not configured."""

    embedder: Embedder
    answer: LanguageModel | None = None
    extract: LanguageModel | None = None
    vision: VisionModel | None = None
    reranker: Reranker | None = None
    drains: tuple[Callable[[], Awaitable[None]], ...] = ()

    async def aclose(self) -> None:
        """Wait until calls whose callers gave up are finished and kept; they are paid. No connection stays open."""
        for drain in self.drains:
            await drain()


def build_models(
    settings: Settings, cache: CallCache, *, budget: Budget | None = None, on_call: OnRoleCall | None = None
) -> Models:
    """Models as set; nothing is loaded or reached yet. All that is paid for comes out of one `budget`, where there is
    one; `on_call` hears of each call to an endpoint as it ends, with its role. Raises `ModelError` where weights are
    missing."""

    def told(role: str) -> OnCall | None:
        return partial(on_call, role) if on_call is not None else None

    answer, extract, vision = (
        build_model(role, cache, budget=budget, on_call=told(name))
        for name, role in (("answer", settings.answer), ("extract", settings.extract), ("vision", settings.vision))
    )
    return Models(
        answer=answer,
        extract=extract,
        vision=vision,
        embedder=build_embedder(settings.embed, budget=budget, on_call=told("embed")),
        reranker=build_reranker(settings.retrieval),
        drains=tuple(model.drain for model in (answer, extract, vision) if model is not None),
    )


def build_reranker(settings: RetrievalSettings) -> Reranker | None:
    """The reranker as set; it loads nothing yet, and is shared as the embedder is. Raises `ModelError` where weights
    are missing."""
    return _local_reranker(find_weights(settings.reranker)) if settings.reranker else None


def build_embedder(settings: EmbedSettings, *, budget: Budget | None = None, on_call: OnCall | None = None) -> Embedder:
    """The embedder as set; it loads or reaches nothing yet. A local one is shared by all who use the same weights: they
    are in memory once, however many libraries are open. Raises `ModelError` where weights are missing."""
    if settings.provider == "local":
        return _local_embedder(find_weights(settings.model))
    # Retries are inside the batches: what is already embedded is not asked for again.
    embedder: Embedder = OpenAIEmbedder(_endpoint(settings), dimension=settings.dimension or 0)
    if on_call is not None:
        embedder = CountedEmbedder(embedder, on_call, price_prompt=settings.price_prompt)
    if budget is not None:
        embedder = BudgetedEmbedder(embedder, budget, price_prompt=settings.price_prompt)
    return BatchedEmbedder(RetryingEmbedder(embedder, RetryPolicy(retries=settings.retries)))


_local_embedder = lru_cache(maxsize=1)(LocalEmbedder)
_local_reranker = lru_cache(maxsize=1)(CrossEncoderReranker)


def build_model(
    role: RoleSettings, cache: CallCache, *, budget: Budget | None = None, on_call: OnCall | None = None
) -> CachedModel | None:
    """One role's model, None where it is not configured.

    Cache outermost, as a kept reply needs no slot; retries outside the limit, as waiting takes no slot; what
    finishes a call that was given up inside the limit, so that it keeps its slot; what counts innermost (the budget,
    and `on_call`), so that it counts what is sent.
    """
    if not role.configured:
        return None
    prices = {"price_prompt": role.price_prompt, "price_completion": role.price_completion}
    model: LanguageModel = OpenAIChatModel(_endpoint(role), **prices)
    if on_call is not None:
        model, cache = CountedModel(model, on_call), CountedCache(cache, on_call)
    if budget is not None:
        model = BudgetedModel(model, budget, **prices)
    limited = LimitedModel(FinishingModel(model), concurrency=role.concurrency)
    return CachedModel(RetryingModel(limited, RetryPolicy(retries=role.retries)), cache)


def _endpoint(settings: RoleSettings | EmbedSettings) -> Endpoint:
    return Endpoint(
        model=settings.model, base_url=settings.base_url, api_key=settings.api_key, timeout=settings.timeout
    )
