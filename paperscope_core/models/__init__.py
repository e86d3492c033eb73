"""Model clients, local models, fakes, and the wrappers that cache, retry, limit and count calls.

Importing this package imports neither torch nor openai: a model does so on first use.
"""

from paperscope_core.models.budget import Budget
from paperscope_core.models.build import (
    Models,
    RoleCallListener,
    build_embedder,
    build_model,
    build_models,
    build_reranker,
)
from paperscope_core.models.cache import CachedEmbedder, CachedModel
from paperscope_core.models.concurrency import LimitedModel
from paperscope_core.models.fakes import FakeEmbedder, FakeModel, FakeReranker
from paperscope_core.models.retry import RetryingModel, RetryPolicy
from paperscope_core.models.structured import ask_json, strict_schema
from paperscope_core.models.usage import DryRunModel, MeteredModel
from paperscope_core.models.weights import find_weights

__all__ = [
    "Budget",
    "CachedEmbedder",
    "CachedModel",
    "DryRunModel",
    "FakeEmbedder",
    "FakeModel",
    "FakeReranker",
    "LimitedModel",
    "MeteredModel",
    "Models",
    "RetryPolicy",
    "RetryingModel",
    "RoleCallListener",
    "ask_json",
    "build_embedder",
    "build_model",
    "build_models",
    "build_reranker",
    "find_weights",
    "strict_schema",
]
