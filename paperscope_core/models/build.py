"""Builds the models that the settings name, with their wrappers."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import lru_cache, partial

from paperscope_core.models.budget import AccountedEmbedder, AccountedModel, Accounting, Budget
from paperscope_core.models.cache import CachedModel
from paperscope_core.models.chat import OpenAIChatModel
from paperscope_core.models.concurrency import FinishingModel, LimitedModel
from paperscope_core.models.embedders import BatchedEmbedder, LocalEmbedder, OpenAIEmbedder
from paperscope_core.models.endpoint import Endpoint
from paperscope_core.models.reranker import CrossEncoderReranker
from paperscope_core.models.retry import RetryingEmbedder, RetryingModel, RetryPolicy
from paperscope_core.models.server_habits import habits_of
from paperscope_core.models.usage import CallListener
from paperscope_core.models.weights import find_weights
from paperscope_core.protocols import CallCache, Embedder, LanguageModel, Reranker
from paperscope_core.settings import (
    CallSettings,
    EmbedSettings,
    RetrievalSettings,
    RoleSettings,
    Settings,
)
from paperscope_core.types import ModelCall, Prices

__all__ = ["Models", "RoleCallListener", "build_embedder", "build_model", "build_models", "build_reranker"]

RoleCallListener = Callable[[str, ModelCall], None]
"""Called on any thread with the role ("answer", "extract", "vision", "embed") of each call as it ends."""

# Shared by all libraries of a process that use the same weights, which are then loaded only once.
_local_embedder = lru_cache(maxsize=1)(LocalEmbedder)
_local_reranker = lru_cache(maxsize=1)(CrossEncoderReranker)


@dataclass(frozen=True, kw_only=True, slots=True)
class Models:
    """The model of each role; None if a role is not configured."""

    embedder: Embedder
    answer: LanguageModel | None = None
    extract: LanguageModel | None = None
    vision: LanguageModel | None = None
    reranker: Reranker | None = None
    drains: tuple[Callable[[], Awaitable[None]], ...] = ()

    async def aclose(self) -> None:
        """Wait for calls whose callers were cancelled: they are paid for, and their replies are cached."""
        for drain in self.drains:
            await drain()


def build_models(
    settings: Settings, cache: CallCache, *, budget: Budget | None = None, on_call: RoleCallListener | None = None
) -> Models:
    """Build the model of each role. Nothing is loaded or sent yet.

    Args:
        budget: The budget that all roles share.
        on_call: Called with every call to an endpoint.

    Raises:
        ModelError: Weights of a local model are missing.
    """

    def listener(role: str) -> CallListener | None:
        return partial(on_call, role) if on_call is not None else None

    answer, extract, vision = (
        build_model(role, cache, calls=settings.calls, budget=budget, on_call=listener(name))
        for name, role in (("answer", settings.answer), ("extract", settings.extract), ("vision", settings.vision))
    )
    return Models(
        answer=answer,
        extract=extract,
        vision=vision,
        embedder=build_embedder(settings.embed, calls=settings.calls, budget=budget, on_call=listener("embed")),
        reranker=build_reranker(settings.retrieval),
        drains=tuple(model.drain for model in (answer, extract, vision) if model is not None),
    )


def build_reranker(settings: RetrievalSettings) -> Reranker | None:
    """Build the reranker; None if none is configured.

    Raises:
        ModelError: Its weights are missing.
    """
    return _local_reranker(find_weights(settings.reranker)) if settings.reranker else None


def build_embedder(
    settings: EmbedSettings,
    *,
    calls: CallSettings = CallSettings(),
    budget: Budget | None = None,
    on_call: CallListener | None = None,
) -> Embedder:
    """Build the embedder; the other arguments apply only to one on a server.

    Raises:
        ModelError: The weights of a local one are missing.
    """
    if settings.local:
        return _local_embedder(find_weights(settings.model))
    # Each batch is retried by itself, so that successful batches are not sent again.
    embedder = OpenAIEmbedder(_endpoint(settings, calls))
    accounting = Accounting(budget=budget, on_call=on_call, prices=Prices(prompt=settings.price_prompt))
    accounted = AccountedEmbedder(embedder, accounting)
    retrying = RetryingEmbedder(accounted, RetryPolicy(retries=calls.retries))
    return BatchedEmbedder(retrying, habits=habits_of(settings.base_url, settings.model))


def build_model(
    role: RoleSettings,
    cache: CallCache,
    *,
    calls: CallSettings = CallSettings(),
    budget: Budget | None = None,
    on_call: CallListener | None = None,
) -> CachedModel | None:
    """Build the model of one role; None if it is not configured.

    The order of the wrappers matters. The cache is outermost, because a cached reply needs no slot. Retries are outside
    the concurrency limit, so that a call waiting for a retry occupies no slot. `FinishingModel` is inside the limit, so
    that a cancelled call keeps its slot until it ends. The accounting is innermost and sees every call that is sent.
    """
    if not role.configured:
        return None
    model = OpenAIChatModel(_endpoint(role, calls), prices=role.prices, extra=role.extra)
    accounted = AccountedModel(model, Accounting(budget=budget, on_call=on_call, prices=role.prices))
    limited = LimitedModel(FinishingModel(accounted), concurrency=calls.concurrency)
    retrying = RetryingModel(limited, RetryPolicy(retries=calls.retries))
    return CachedModel(retrying, cache, on_call=on_call, patience=calls.timeout)


def _endpoint(settings: RoleSettings | EmbedSettings, calls: CallSettings) -> Endpoint:
    return Endpoint(model=settings.model, base_url=settings.base_url, api_key=settings.api_key, timeout=calls.timeout)
