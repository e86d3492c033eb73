"""Estimates of calls, dry runs, and budgets."""

import asyncio
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pydantic import BaseModel, TypeAdapter

from ingest.captioning.captioner import ImageReply
from ingest.extraction.entity_types import TypeSystem
from ingest.extraction.model_extractor import graph_adapter
from paperscope_core.errors import BudgetError, ModelError, ModelRateLimitError, ModelUnavailableError
from paperscope_core.models import (
    Budget,
    CachedModel,
    DryRunModel,
    FakeEmbedder,
    FakeModel,
    LimitedModel,
    RetryingModel,
    RetryPolicy,
    ask_json,
    strict_schema,
)
from paperscope_core.models.budget import AccountedEmbedder, AccountedModel, Accounting
from paperscope_core.models.cache import MemoryCallCache
from paperscope_core.models.token_counting import count_tokens, request_tokens
from paperscope_core.models.usage import estimate_usage, minimal_reply
from paperscope_core.types import Message, ModelCall, ModelReply, ModelRequest, Prices, Usage


def request(text: str = "hello", *images: bytes) -> ModelRequest:
    return ModelRequest(messages=(Message(role="user", text=text, images=images),))


def png(width: int, height: int) -> bytes:
    file = io.BytesIO()
    Image.new("1", (width, height)).save(file, "PNG")
    return file.getvalue()


# Tokens.


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        # As OpenAI's tokenizer cl100k counts them, within a fifth.
        ("", 0),
        ("The quick brown fox jumps over the lazy dog.", 10),
        ("We train the model on four corpora and report the mean of five runs for each of them.", 19),
        ("92.11 | 91.8 | 93.07", 14),
    ],
)
def test_tokens_are_estimated(text: str, tokens: int) -> None:
    assert count_tokens(text) == pytest.approx(tokens, rel=0.2)


@given(st.text(), st.text())
def test_tokens_add_up(one: str, other: str) -> None:
    assert count_tokens(one) <= count_tokens(one + other) <= count_tokens(one) + count_tokens(other)


@pytest.mark.parametrize(
    ("width", "height", "tokens"),
    # The first two are the examples of OpenAI's guide "Images and vision".
    [(1024, 1024, 765), (2048, 4096, 1105), (512, 512, 255), (10, 10, 255)],
)
def test_a_picture_is_counted_by_its_tiles(width: int, height: int, tokens: int) -> None:
    with_image, without = request("", png(width, height)), request("")
    assert request_tokens(with_image) - request_tokens(without) == tokens


def test_the_schema_is_part_of_a_prompt() -> None:
    bare = request()
    asked = ModelRequest(messages=bare.messages, schema={"type": "object"})
    assert request_tokens(asked) == request_tokens(bare) + count_tokens('{"type": "object"}')


# Dry runs.


class Inner(BaseModel):
    label: str
    share: float | None


class Outer(BaseModel):
    count: int
    sure: bool
    inner: Inner
    many: list[Inner]


@pytest.mark.parametrize(
    "adapter",
    [TypeAdapter(Outer), graph_adapter(TypeSystem()), TypeAdapter(ImageReply)],
    ids=["made up", "text", "image"],
)
def test_the_least_reply_obeys_its_schema(adapter: TypeAdapter[object]) -> None:
    adapter.validate_json(json.dumps(minimal_reply(strict_schema(adapter))))


async def test_a_dry_run_counts_each_request_once_and_cached_ones_as_free() -> None:
    cache, fake = MemoryCallCache(), FakeModel(lambda _: "fine")
    await CachedModel(fake, cache).complete(request("kept"))
    prices = Prices(prompt=1.0, completion=2.0)
    model = DryRunModel(fake, cache, prices=prices)
    for text in ("kept", "new", "new", "other"):
        await model.complete(request(text))
    expected = [estimate_usage(request(text), prices) for text in ("new", "other")]
    assert model.usage == sum(expected, Usage(cached=1))
    assert (model.usage.calls, len(fake.requests)) == (2, 1)
    assert model.usage.cost > 0


async def test_a_dry_run_gets_valid_replies() -> None:
    model = DryRunModel(FakeModel([]), MemoryCallCache())
    outer, _ = await ask_json(model, request(), Outer)
    assert (outer.count, outer.many, model.usage.calls) == (0, [], 1)


# Budgets.


class Counting:
    """A model that knows how many calls reached it; each costs 1 and takes a while."""

    name = "counting"

    def __init__(self, *errors: ModelError) -> None:
        self.calls = 0
        self.errors = list(errors)

    def redacted(self, text: str) -> str:
        return text

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        await asyncio.sleep(0.001)
        return ModelReply(text=request.messages[0].text, usage=Usage(calls=1, cost=1.0))


def budgeted(model: Counting, budget: Budget, prices: Prices = Prices()) -> AccountedModel:
    return AccountedModel(model, Accounting(budget=budget, prices=prices))


async def crowd(model: object, count: int) -> list[str]:
    work = (model.complete(request(str(number))) for number in range(count))  # type: ignore[attr-defined]
    results = await asyncio.gather(*work, return_exceptions=True)
    return [result.text if isinstance(result, ModelReply) else type(result).__name__ for result in results]


@pytest.mark.parametrize("concurrency", [1, 3, 50])
async def test_roles_and_concurrent_calls_share_the_limit_of_calls(concurrency: int) -> None:
    budget, one, other = Budget(max_calls=7), Counting(), Counting()
    models = [LimitedModel(budgeted(each, budget), concurrency=concurrency) for each in (one, other)]
    results = [result for part in await asyncio.gather(*(crowd(model, 20) for model in models)) for result in part]
    assert one.calls + other.calls == 7
    assert results.count("BudgetError") == 33
    assert budget.spent == Usage(calls=7, cost=7.0)


async def test_a_cached_reply_needs_no_budget() -> None:
    cache, counting = MemoryCallCache(), Counting()
    assert await crowd(CachedModel(budgeted(counting, Budget(max_calls=2)), cache), 2) == ["0", "1"]
    assert await crowd(CachedModel(budgeted(counting, Budget(max_calls=1)), cache), 4) == [
        "0",
        "1",
        "2",
        "BudgetError",
    ]


async def test_the_estimated_cost_of_calls_in_progress_is_reserved() -> None:
    prices = Prices(completion=1e6 / 300)
    expected = estimate_usage(request("0"), prices).cost
    assert expected == pytest.approx(1.0)
    budget, counting = Budget(max_cost=3.5), Counting()
    model = budgeted(counting, budget, prices)
    results = await crowd(model, 10)
    assert (counting.calls, results.count("BudgetError")) == (3, 7)
    assert budget.spent.cost == 3.0
    with pytest.raises(BudgetError, match=r"budget of 3\.5 allows no further call: 3\.0000 is spent"):
        await model.complete(request())


async def test_a_rate_limited_call_costs_nothing_and_a_failed_one_does() -> None:
    limited, down = ModelRateLimitError("slow down", retry_after=0), ModelUnavailableError("down")
    budget, counting = Budget(max_calls=2), Counting(limited, limited, limited, down)
    policy = RetryPolicy(sleep=lambda _: asyncio.sleep(0))
    model = RetryingModel(budgeted(counting, budget), policy)
    assert (await model.complete(request("fine"))).text == "fine"
    assert (counting.calls, budget.spent.calls) == (5, 2)
    with pytest.raises(BudgetError, match="budget of 2 model calls is spent"):
        await model.complete(request())


async def test_a_call_is_settled_even_if_its_listener_fails() -> None:
    def fail(_call: ModelCall) -> None:
        raise RuntimeError("no listener")

    budget = Budget(max_calls=2)
    model = AccountedModel(FakeModel(["a", "b"]), Accounting(budget=budget, on_call=fail))
    for _ in range(2):
        with pytest.raises(RuntimeError, match="no listener"):
            await model.complete(request())
    assert budget.spent.calls == 2


async def test_an_embedder_spends_from_the_same_budget() -> None:
    budget = Budget(max_calls=1)
    embedder = AccountedEmbedder(FakeEmbedder(), Accounting(budget=budget, prices=Prices(prompt=1e6)))
    assert (await embedder.embed(["some words"])).shape == (1, 64)
    assert budget.spent.cost == budget.spent.prompt_tokens == count_tokens("some words")
    assert embedder.name == "fake-64"
    with pytest.raises(BudgetError):
        await budgeted(Counting(), budget).complete(request())
