"""Budgets of calls and cost that several models share, and the wrappers that keep to them and report calls."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

from numpy import float32
from numpy.typing import NDArray

from paperscope_core.errors import BudgetError, ModelRateLimitError, QuestionBudgetError
from paperscope_core.models.usage import CallListener, estimate_embedding, estimate_usage
from paperscope_core.models.wrapper import EmbedderWrapper, ModelWrapper, SendRequest
from paperscope_core.protocols import Embedder, LanguageModel
from paperscope_core.types import ModelCall, ModelReply, ModelRequest, Prices, Usage

__all__ = ["AccountedEmbedder", "AccountedModel", "Accounting", "Budget", "question_budget"]

T = TypeVar("T")


class Budget:
    """A limit on what several models spend together.

    A call is sent only if the number of calls stays within `max_calls`, and if the sum of the cost so far, the
    estimates of the calls in progress and its own estimate stays within `max_cost`. The cost therefore exceeds
    `max_cost` at most by the error of the estimates of the calls in progress.

    Args:
        max_calls: The maximum number of calls; None for no limit.
        max_cost: The maximum cost, in the currency of the price settings; None for no limit.

    Attributes:
        spent: The usage of the calls that have ended.

    Example:
        >>> budget = Budget(max_calls=100, max_cost=0.50)
        >>> budget.spent.calls
        0
    """

    def __init__(
        self,
        *,
        max_calls: int | None = None,
        max_cost: float | None = None,
        error: type[BudgetError] = BudgetError,
    ) -> None:
        self._max_calls = max_calls
        self._max_cost = max_cost
        self._error = error
        self.spent = Usage()
        self._reserved = 0.0
        self._in_progress = 0

    def reserve(self, cost: float) -> None:
        """Reserve a call with this estimated cost.

        Raises:
            BudgetError: The call does not fit into the budget.
        """
        if self._max_calls is not None and self.spent.calls + self._in_progress >= self._max_calls:
            raise self._error(f"the budget of {self._max_calls} model calls is spent")
        if self._max_cost is not None and self.spent.cost + self._reserved + cost > self._max_cost:
            raise self._error(
                f"the budget of {self._max_cost:g} allows no further call: {self.spent.cost:.4f} is spent, and the "
                f"next call is expected to cost {cost:.4f}"
            )
        self._in_progress += 1
        self._reserved += cost

    def settle(self, cost: float, usage: Usage) -> None:
        """Replace a call's estimated cost by its actual usage."""
        self._in_progress -= 1
        self._reserved -= cost
        self.spent += usage


_question: ContextVar[Budget | None] = ContextVar("question_budget", default=None)


@contextmanager
def question_budget(max_cost: float) -> Iterator[None]:
    """Limit what the calls of one question cost, within the block; 0 for no limit. A further call raises
    QuestionBudgetError."""
    if not max_cost:
        yield
        return
    token = _question.set(Budget(max_cost=max_cost, error=QuestionBudgetError))
    try:
        yield
    finally:
        _question.reset(token)


@dataclass(frozen=True, kw_only=True, slots=True)
class Accounting:
    """Admits the calls to one model that fit into a budget and that of the question, and reports each as it ends.

    A rate-limited call costs nothing. A call that fails in another way counts with its estimate, because it may be
    billed.

    Attributes:
        budget: The budget, None for no limit.
        on_call: Called with each call that was sent, including failed and repeated ones.
    """

    budget: Budget | None = None
    on_call: CallListener | None = None
    prices: Prices = Prices()

    async def send(self, call: Callable[[], Awaitable[T]], *, estimate: Usage, usage: Callable[[T], Usage]) -> T:
        """Send a call; a cancelled one counts as failed.

        Raises:
            BudgetError: The call does not fit into the budget; it is not sent.
        """
        budgets = self._reserve(estimate.cost)
        used, ended = estimate, ModelCall(outcome="failed")
        try:
            result = await call()
            used = usage(result)
            ended = ModelCall(outcome="answered", usage=used)
        except ModelRateLimitError:
            used, ended = Usage(), ModelCall(outcome="limited")
            raise
        finally:
            for budget in budgets:
                budget.settle(estimate.cost, used)
            if self.on_call is not None:
                self.on_call(ended)
        return result

    def _reserve(self, cost: float) -> list[Budget]:
        """Reserve a call with this estimated cost in all budgets, or in none; return the budgets."""
        reserved: list[Budget] = []
        try:
            for budget in filter(None, (self.budget, _question.get())):
                budget.reserve(cost)
                reserved.append(budget)
        except BudgetError:
            for budget in reserved:
                budget.settle(cost, Usage())
            raise
        return reserved


class AccountedModel(ModelWrapper):
    """Sends the calls of a language model through an accounting."""

    def __init__(self, model: LanguageModel, accounting: Accounting) -> None:
        super().__init__(model)
        self._accounting = accounting

    async def _call(self, request: ModelRequest, send: SendRequest, /) -> ModelReply:
        estimate = estimate_usage(request, self._accounting.prices)
        return await self._accounting.send(send, estimate=estimate, usage=lambda reply: reply.usage)


class AccountedEmbedder(EmbedderWrapper):
    """Sends the calls of an embedder through an accounting, with their estimated usage; each `embed` is one call."""

    def __init__(self, embedder: Embedder, accounting: Accounting) -> None:
        super().__init__(embedder)
        self._accounting = accounting

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """Embed texts within the budget. See `Embedder.embed`."""
        estimate = estimate_embedding(texts, self._accounting.prices)
        return await self._accounting.send(
            lambda: self._embedder.embed(texts), estimate=estimate, usage=lambda _rows: estimate
        )
