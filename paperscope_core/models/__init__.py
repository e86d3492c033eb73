"""Model clients, local models, fakes, and the wrappers that cache, retry, limit and count calls.

Importing this package imports neither torch nor openai: a model does so on first use.
"""

from paperscope_core.models.budget import Budget, BudgetedEmbedder, BudgetedModel
from paperscope_core.models.build import (
    Models,
    RoleCallListener,
    build_embedder,
    build_model,
    build_models,
    build_reranker,
)
from paperscope_core.models.cache import CachedEmbedder, CachedModel
from paperscope_core.models.chat import OpenAIChatModel
from paperscope_core.models.concurrency import FinishingModel, LimitedModel
from paperscope_core.models.embedders import BatchedEmbedder, LocalEmbedder, OpenAIEmbedder
from paperscope_core.models.endpoint import Endpoint
from paperscope_core.models.fakes import FakeEmbedder, FakeModel, FakeReranker
from paperscope_core.models.reranker import CrossEncoderReranker
from paperscope_core.models.retry import RetryingEmbedder, RetryingModel, RetryPolicy
from paperscope_core.models.structured import ask_json, strict_schema
from paperscope_core.models.usage import DryRunModel, MeteredModel
from paperscope_core.models.weights import Weights, find_weights

__all__ = [
    "BatchedEmbedder",
    "Budget",
    "BudgetedEmbedder",
    "BudgetedModel",
    "CachedEmbedder",
    "CachedModel",
    "CrossEncoderReranker",
    "DryRunModel",
    "Endpoint",
    "FakeEmbedder",
    "FakeModel",
    "FakeReranker",
    "FinishingModel",
    "LimitedModel",
    "LocalEmbedder",
    "MeteredModel",
    "Models",
    "OpenAIChatModel",
    "OpenAIEmbedder",
    "RetryPolicy",
    "RetryingEmbedder",
    "RetryingModel",
    "RoleCallListener",
    "Weights",
    "ask_json",
    "build_embedder",
    "build_model",
    "build_models",
    "build_reranker",
    "find_weights",
    "strict_schema",
]
