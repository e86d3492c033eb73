"""Models: adapters for servers and local weights, wrappers round them, fakes beside them, and their wiring.

Importing this package imports neither torch nor openai; an adapter does so when it is first used.
"""

from paperscope.models.batched import BatchedEmbedder
from paperscope.models.budgeted import Budget, BudgetedEmbedder, BudgetedModel
from paperscope.models.cached import CachedModel
from paperscope.models.cached_embedder import CachedEmbedder
from paperscope.models.endpoint import Endpoint
from paperscope.models.fakes import FakeEmbedder, FakeModel, FakeReranker
from paperscope.models.finishing import FinishingModel
from paperscope.models.json_schema import strict_schema
from paperscope.models.limited import LimitedModel
from paperscope.models.local_embedder import LocalEmbedder
from paperscope.models.metered import MeteredModel
from paperscope.models.openai_chat import OpenAIChatModel
from paperscope.models.openai_embedder import OpenAIEmbedder
from paperscope.models.rehearsed import RehearsedModel
from paperscope.models.reranker import CrossEncoderReranker
from paperscope.models.retrying import RetryingEmbedder, RetryingModel, RetryPolicy
from paperscope.models.structured import ask_json
from paperscope.models.weights import Weights, find_weights
from paperscope.models.wiring import Models, OnRoleCall, build_embedder, build_model, build_models, build_reranker

__all__ = [
    "BatchedEmbedder",
    "Budget",
    "BudgetedEmbedder",
    "BudgetedModel",
    "CachedEmbedder",
    "CachedModel",
    "CrossEncoderReranker",
    "Endpoint",
    "FakeEmbedder",
    "FakeModel",
    "FakeReranker",
    "FinishingModel",
    "LimitedModel",
    "LocalEmbedder",
    "MeteredModel",
    "Models",
    "OnRoleCall",
    "OpenAIChatModel",
    "OpenAIEmbedder",
    "RehearsedModel",
    "RetryPolicy",
    "RetryingEmbedder",
    "RetryingModel",
    "Weights",
    "ask_json",
    "build_embedder",
    "build_model",
    "build_models",
    "build_reranker",
    "find_weights",
    "strict_schema",
]
