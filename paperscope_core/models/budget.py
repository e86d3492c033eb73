"""A budget of calls and cost that several models share."""

from collections.abc import Awaitable, Callable, Sequence

from numpy import float32
from numpy.typing import NDArray

from paperscope_core.errors import BudgetError, ModelRateLimitError
from paperscope_core.models.usage import expected_embedding, expected_usage
from paperscope_core.models.wrapper import streamed
from paperscope_core.protocols import Embedder, LanguageModel
from paperscope_core.types import ModelReply, ModelRequest, Usage

__all__ = ["Budget", "BudgetedEmbedder", "BudgetedModel"]


class Budget:
    """What the models of one command may spend together: calls, and cost in the currency of the prices.

    No more than `max_calls` are sent. A call is sent only if what is spent, what the calls under way are expected to
    cost, and what it is expected to cost itself stay within `max_cost`; so no more than the error of the calls under
    way goes beyond it.
    """

    def __init__(self, *, max_calls: int | None = None, max_cost: float | None = None) -> None:
        self._max_calls = max_calls
        self._max_cost = max_cost
        self._spent = Usage()
        self._reserved = 0.0
        self._under_way = 0

    @property
    def spent(self) -> Usage:
        """What the calls that have ended took."""
        return self._spent

    def take(self, cost: float) -> None:
        """Set a call aside that is expected to cost so much. Raises BudgetError where it would be too much."""
        if self._max_calls is not None and self._spent.calls + self._under_way >= self._max_calls:
            raise BudgetError(f"the budget of {self._max_calls} model calls is spent")
        if self._max_cost is not None and self._spent.cost + self._reserved + cost > self._max_cost:
            raise BudgetError(
                f"the budget of {self._max_cost:g} allows no further call: {self._spent.cost:.4f} is spent, and the "
                f"next call is expected to cost {cost:.4f}"
            )
        self._under_way += 1
        self._reserved += cost

    def settle(self, cost: float, usage: Usage) -> None:
        """Put what a call took in place of what it was expected to cost."""
        self._under_way -= 1
        self._reserved -= cost
        self._spent += usage


class BudgetedModel:
    """Asks only what the budget allows, and raises BudgetError for the rest.

    A call that the server turned down for its rate was not made; one that failed in any other way counts as made and as
    what it was expected to cost, for it may be on the bill. Prices are per million tokens.
    """

    def __init__(
        self, model: LanguageModel, budget: Budget, *, price_prompt: float = 0.0, price_completion: float = 0.0
    ) -> None:
        self._model = model
        self._budget = budget
        self._price_prompt = price_prompt
        self._price_completion = price_completion

    @property
    def name(self) -> str:
        """The wrapped model's name."""
        return self._model.name

    async def complete(self, request: ModelRequest) -> ModelReply:
        """The wrapped model's reply."""
        return await self._within(request, lambda: self._model.complete(request))

    async def stream(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """The wrapped model's reply; see `StreamingModel`."""
        return await self._within(request, lambda: streamed(self._model, request, on_text))

    async def _within(self, request: ModelRequest, call: Callable[[], Awaitable[ModelReply]]) -> ModelReply:
        expected = expected_usage(request, price_prompt=self._price_prompt, price_completion=self._price_completion)
        self._budget.take(expected.cost)
        taken = expected
        try:
            reply = await call()
            taken = reply.usage
        except ModelRateLimitError:
            taken = Usage()
            raise
        finally:
            self._budget.settle(expected.cost, taken)
        return reply


class BudgetedEmbedder:
    """Embeds only what the budget allows, under the same rules; each `embed` is a call."""

    def __init__(self, embedder: Embedder, budget: Budget, *, price_prompt: float = 0.0) -> None:
        self._embedder = embedder
        self._budget = budget
        self._price_prompt = price_prompt

    @property
    def name(self) -> str:
        """The wrapped embedder's name."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """The wrapped embedder's dimension."""
        return self._embedder.dimension

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """The wrapped embedder's rows."""
        taken = expected_embedding(texts, price_prompt=self._price_prompt)
        cost = taken.cost
        self._budget.take(cost)
        try:
            return await self._embedder.embed(texts)
        except ModelRateLimitError:
            taken = Usage()
            raise
        finally:
            self._budget.settle(cost, taken)
