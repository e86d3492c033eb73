"""Caching, retrying, limiting and batching, each round a fake."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest
from numpy import float32
from numpy.typing import NDArray

from paperscope.errors import ModelError, ModelRateLimitError, ModelRefusedError, ModelUnavailableError
from paperscope.models import (
    BatchedEmbedder,
    CachedModel,
    FakeEmbedder,
    FakeModel,
    LimitedModel,
    MeteredModel,
    RetryingEmbedder,
    RetryingModel,
    RetryPolicy,
)
from paperscope.types import Message, ModelReply, ModelRequest, Usage

DOWN = ModelUnavailableError("down")


def request(text: str = "hello") -> ModelRequest:
    return ModelRequest(messages=(Message(role="user", text=text),))


class MemoryCache:
    """A `CallCache` in a dict."""

    def __init__(self) -> None:
        self.calls: dict[str, tuple[str, ModelReply]] = {}

    def get_call(self, key: str) -> ModelReply | None:
        return self.calls[key][1] if key in self.calls else None

    def put_call(self, key: str, model: str, reply: ModelReply) -> None:
        assert key not in self.calls
        self.calls[key] = (model, reply)


class SlowModel:
    """A model whose calls last until `finish` is set; knows how many were under way at once."""

    name = "slow"

    def __init__(self) -> None:
        self.calls = self.now = self.most = 0
        self.finish = asyncio.Event()

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.calls += 1
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await self.finish.wait()
        finally:
            self.now -= 1
        return ModelReply(text=request.messages[0].text, usage=Usage(calls=1, cost=1.0))


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


# Caching.


async def test_a_call_is_paid_once_and_a_kept_reply_costs_nothing() -> None:
    cache, model = MemoryCache(), FakeModel(lambda asked: asked.messages[0].text.upper())
    first = await CachedModel(model, cache).complete(request())
    again = await CachedModel(model, cache).complete(request())
    assert (first.text, again.text) == ("HELLO", "HELLO")
    assert first.usage.calls == 1
    assert again.usage == Usage(cached=1)
    assert len(model.requests) == 1
    ((key, (name, kept)),) = cache.calls.items()
    assert (key, name, kept) == (request().key("fake"), "fake", first)


async def test_another_request_or_model_is_another_call() -> None:
    cache = MemoryCache()
    for name in ("a", "b"):
        for text in ("x", "y"):
            reply = await CachedModel(FakeModel([name + text], name=name), cache).complete(request(text))
            assert reply.text == name + text
    assert len(cache.calls) == 4


async def test_equal_requests_at_once_share_a_call() -> None:
    slow = SlowModel()
    model = CachedModel(slow, MemoryCache())
    waiting = [asyncio.create_task(model.complete(request())) for _ in range(5)]
    await settle()
    slow.finish.set()
    replies = await asyncio.gather(*waiting)
    assert slow.calls == 1
    assert sum((reply.usage for reply in replies), Usage()) == Usage(calls=1, cached=4, cost=1.0)


async def test_a_call_whose_caller_gave_up_is_kept() -> None:
    slow, cache = SlowModel(), MemoryCache()
    model = CachedModel(slow, cache)
    caller = asyncio.create_task(model.complete(request()))
    await settle()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    slow.finish.set()
    await model.drain()
    assert len(cache.calls) == 1


async def test_a_failure_reaches_all_who_share_it_and_is_not_kept() -> None:
    model = CachedModel(FakeModel([DOWN, "fine"]), MemoryCache())
    results = await asyncio.gather(*(model.complete(request()) for _ in range(2)), return_exceptions=True)
    assert results == [DOWN, DOWN]
    assert (await model.complete(request())).text == "fine"


# Retrying.


class Clock:
    """A sleep that only takes notes."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    def policy(self, *, retries: int = 3, jitter: float = 0.0) -> RetryPolicy:
        return RetryPolicy(retries=retries, first=1.0, longest=3.0, sleep=self.sleep, jitter=lambda: jitter)


async def test_waits_double_up_to_the_longest() -> None:
    clock = Clock()
    model = RetryingModel(FakeModel([DOWN, DOWN, DOWN, "fine"]), clock.policy())
    assert (await model.complete(request())).text == "fine"
    assert clock.waits == [1.0, 2.0, 3.0]


async def test_chance_shortens_a_wait_by_half_at_most() -> None:
    clock = Clock()
    model = RetryingModel(FakeModel([DOWN, DOWN, "fine"]), clock.policy(jitter=1.0))
    await model.complete(request())
    assert clock.waits == [0.5, 1.0]


@pytest.mark.parametrize("retries", [0, 2])
async def test_it_gives_up_with_the_last_error(retries: int) -> None:
    fake = FakeModel([ModelUnavailableError(str(n)) for n in range(5)])
    with pytest.raises(ModelUnavailableError, match=f"^{retries}$"):
        await RetryingModel(fake, Clock().policy(retries=retries)).complete(request())
    assert len(fake.requests) == retries + 1


async def test_a_refusal_is_final() -> None:
    fake, clock = FakeModel([ModelRefusedError("no"), "fine"]), Clock()
    with pytest.raises(ModelRefusedError):
        await RetryingModel(fake, clock.policy()).complete(request())
    assert clock.waits == []


@pytest.mark.parametrize(("asked", "waits"), [(2.5, [2.5]), (0.1, [1.0]), (None, [1.0])])
async def test_a_server_may_ask_for_a_longer_wait(asked: float | None, waits: list[float]) -> None:
    clock = Clock()
    limit: ModelError = ModelRateLimitError("slow down", retry_after=asked)
    await RetryingModel(FakeModel([limit, "fine"]), clock.policy()).complete(request())
    assert clock.waits == waits


async def test_a_rate_limit_slows_and_never_fails() -> None:
    clock = Clock()
    limits: list[str | ModelError] = [ModelRateLimitError("slow down", retry_after=2.0) for _ in range(50)]
    model = RetryingModel(FakeModel([*limits, DOWN, "fine"]), clock.policy(retries=1))
    assert (await model.complete(request())).text == "fine"
    assert clock.waits == [2.0, 2.0, *[3.0] * 48, 1.0]


async def test_a_long_wait_is_told(caplog: pytest.LogCaptureFixture) -> None:
    limits: list[str | ModelError] = [ModelRateLimitError("slow down", retry_after=seconds) for seconds in (2.0, 30.0)]
    await RetryingModel(FakeModel([*limits, "fine"]), Clock().policy()).complete(request())
    assert caplog.messages == ["slow down; waiting for 30 s"]


async def test_a_wait_beyond_patience_is_not_begun() -> None:
    clock = Clock()
    limit = ModelRateLimitError("come back tomorrow", retry_after=86400)
    with pytest.raises(ModelRateLimitError):
        await RetryingModel(FakeModel([limit, "fine"]), clock.policy()).complete(request())
    assert clock.waits == []


# Limiting.


async def test_no_more_calls_are_under_way_than_allowed() -> None:
    slow = SlowModel()
    model = LimitedModel(slow, concurrency=2)
    waiting = [asyncio.create_task(model.complete(request(str(n)))) for n in range(6)]
    await settle()
    assert slow.now == 2
    slow.finish.set()
    assert [reply.text for reply in await asyncio.gather(*waiting)] == list("012345")
    assert (slow.calls, slow.most) == (6, 2)


class RateLimited:
    """A server that takes `room` calls at once, and turns further ones down."""

    name = "busy"

    def __init__(self, *, room: int) -> None:
        self.room = room
        self.now = self.calls = self.refused = 0
        self.most: list[int] = []

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.calls += 1
        if self.now >= self.room:
            self.refused += 1
            raise ModelRateLimitError("too many at once", retry_after=0.0)
        self.now += 1
        self.most.append(self.now)
        await settle()
        self.now -= 1
        return ModelReply(text=request.messages[0].text)


async def test_a_limit_narrows_to_what_the_server_takes_and_widens_again() -> None:
    server = RateLimited(room=2)
    policy = RetryPolicy(retries=0, sleep=lambda _: settle(), jitter=lambda: 0.0)
    model = RetryingModel(LimitedModel(server, concurrency=8), policy)
    replies = await asyncio.gather(*(model.complete(request(str(n))) for n in range(200)))
    assert [reply.text for reply in replies] == [str(n) for n in range(200)]
    assert server.refused < 40, "with eight calls at once, six of eight would be turned down"
    server.room, server.most = 8, []
    await asyncio.gather(*(model.complete(request(str(n))) for n in range(400)))
    assert max(server.most) == 8


def test_a_limit_serves_one_event_loop_after_another() -> None:
    model = CachedModel(LimitedModel(FakeModel(lambda _: "fine"), concurrency=1), MemoryCache())

    async def crowd(name: str) -> list[str]:
        replies = await asyncio.gather(*(model.complete(request(f"{name}{n}")) for n in range(4)))
        return [reply.text for reply in replies]

    for name in "abc":
        assert asyncio.run(crowd(name)) == ["fine"] * 4


# Embedders.


class Shaky:
    """A fake embedder that fails now and then."""

    dimension = 64
    name = "shaky"

    def __init__(self, *, failures: set[int]) -> None:
        self.failures = failures
        self.batches: list[int] = []

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        self.batches.append(len(texts))
        if len(self.batches) in self.failures:
            raise DOWN
        return await FakeEmbedder().embed(texts)


async def test_only_the_batch_that_failed_is_embedded_again() -> None:
    shaky, texts = Shaky(failures={2}), [f"text {n}" for n in range(5)]
    embedder = BatchedEmbedder(RetryingEmbedder(shaky, Clock().policy()), size=2)
    np.testing.assert_array_equal(await embedder.embed(texts), await FakeEmbedder().embed(texts))
    assert shaky.batches == [2, 2, 2, 1]
    assert (embedder.name, embedder.dimension) == ("shaky", 64)


async def test_a_meter_adds_up_replies_from_server_and_cache() -> None:
    cache = MemoryCache()
    model = MeteredModel(CachedModel(FakeModel(["three words here"]), cache))
    for _ in range(2):
        await model.complete(request("two words"))
    assert model.usage == Usage(calls=1, cached=1, prompt_tokens=2, completion_tokens=3)
    assert str(model.usage) == "2 model calls (1 from the store), 2 + 3 tokens, cost 0.0000"
