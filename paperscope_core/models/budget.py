"""A budget of calls and cost that several models share."""

from collections.abc import Sequence

from numpy import float32
from numpy.typing import NDArray

from paperscope_core.errors import BudgetError, ModelRateLimitError
from paperscope_core.models.usage import estimate_embedding, estimate_usage
from paperscope_core.models.wrapper import EmbedderWrapper, ModelWrapper, SendRequest
from paperscope_core.protocols import Embedder, LanguageModel
from paperscope_core.types import ModelReply, ModelRequest, Usage

__all__ = ["Budget", "BudgetedEmbedder", "BudgetedModel"]


class Budget:
    """A limit on what several models spend together.

    A call is sent only if the number of calls stays within `max_calls`, and if the sum of the cost so far, the
    estimates of the calls in progress and its own estimate stays within `max_cost`. The cost therefore exceeds
    `max_cost` at most by the error of the estimates of the calls in progress.

    Args:
        max_calls: The maximum number of calls; None for no limit.
        max_cost: The maximum cost, in the currency of the price settings; None for no limit.
    """

    def __init__(self, *, max_calls: int | None = None, max_cost: float | None = None) -> None:
        self._max_calls = max_calls
        self._max_cost = max_cost
        self._spent = Usage()
        self._reserved = 0.0
        self._in_progress = 0

    @property
    def spent(self) -> Usage:
        """The usage of the calls that have ended."""
        return self._spent

    def reserve(self, cost: float) -> None:
        """Reserve a call with this estimated cost.

        Raises:
            BudgetError: The call does not fit into the budget.
        """
        if self._max_calls is not None and self._spent.calls + self._in_progress >= self._max_calls:
            raise BudgetError(f"the budget of {self._max_calls} model calls is spent")
        if self._max_cost is not None and self._spent.cost + self._reserved + cost > self._max_cost:
            raise BudgetError(
                f"the budget of {self._max_cost:g} allows no further call: {self._spent.cost:.4f} is spent, and the "
                f"next call is expected to cost {cost:.4f}"
            )
        self._in_progress += 1
        self._reserved += cost

    def settle(self, cost: float, usage: Usage) -> None:
        """Replace a call's estimated cost by its actual usage."""
        self._in_progress -= 1
        self._reserved -= cost
        self._spent += usage


class BudgetedModel(ModelWrapper):
    """Sends a language model only the calls that fit into a budget, and raises BudgetError for the others.

    A rate-limited call costs nothing. A call that fails in another way counts with its estimate, because it may be
    billed. Prices are per million tokens.
    """

    def __init__(
        self, model: LanguageModel, budget: Budget, *, price_prompt: float = 0.0, price_completion: float = 0.0
    ) -> None:
        super().__init__(model)
        self._budget = budget
        self._price_prompt = price_prompt
        self._price_completion = price_completion

    async def _call(self, request: ModelRequest, send: SendRequest, /) -> ModelReply:
        estimate = estimate_usage(request, price_prompt=self._price_prompt, price_completion=self._price_completion)
        self._budget.reserve(estimate.cost)
        used = estimate
        try:
            reply = await send()
            used = reply.usage
        except ModelRateLimitError:
            used = Usage()
            raise
        finally:
            self._budget.settle(estimate.cost, used)
        return reply


class BudgetedEmbedder(EmbedderWrapper):
    """Sends an embedder only the calls that fit into a budget, like `BudgetedModel`; each `embed` is one call."""

    def __init__(self, embedder: Embedder, budget: Budget, *, price_prompt: float = 0.0) -> None:
        super().__init__(embedder)
        self._budget = budget
        self._price_prompt = price_prompt

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """Embed texts within the budget. See `Embedder.embed`."""
        used = estimate = estimate_embedding(texts, price_prompt=self._price_prompt)
        self._budget.reserve(estimate.cost)
        try:
            return await self._embedder.embed(texts)
        except ModelRateLimitError:
            used = Usage()
            raise
        finally:
            self._budget.settle(estimate.cost, used)
