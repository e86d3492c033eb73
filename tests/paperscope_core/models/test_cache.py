"""Cached, metered and batched calls of fakes."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest
from numpy import float32
from numpy.typing import NDArray

from paperscope_core.errors import ModelUnavailableError, StoreFullError
from paperscope_core.models import (
    CachedModel,
    FakeEmbedder,
    FakeModel,
    LimitedModel,
    MeteredModel,
    RetryingModel,
    RetryPolicy,
)
from paperscope_core.models.concurrency import FinishingModel
from paperscope_core.models.embedders import BatchedEmbedder
from paperscope_core.models.retry import RetryingEmbedder
from paperscope_core.protocols import LanguageModel
from paperscope_core.types import Message, ModelReply, ModelRequest, Usage
from tests.paperscope_core.models.doubles import RecordingSleep, SlowModel, settle

DOWN = ModelUnavailableError("down")


def request(text: str = "hello") -> ModelRequest:
    return ModelRequest(messages=(Message(role="user", text=text),))


class MemoryCache:
    """A `CallCache` in a dict."""

    def __init__(self) -> None:
        self.calls: dict[str, tuple[str, ModelReply]] = {}

    def check_room(self) -> None:
        """There is room."""

    def get_call(self, key: str) -> ModelReply | None:
        return self.calls[key][1] if key in self.calls else None

    def put_call(self, key: str, model: str, reply: ModelReply) -> None:
        assert key not in self.calls
        self.calls[key] = (model, reply)


class SharedCache(MemoryCache):
    """A `SharedCallCache` of several models; `held` are the owners of its leases, which last until they end."""

    def __init__(self) -> None:
        super().__init__()
        self.held: dict[str, str] = {}

    def put_call(self, key: str, model: str, reply: ModelReply) -> None:
        super().put_call(key, model, reply)
        self.held.pop(key, None)

    def lease_call(self, key: str, owner: str, *, seconds: float) -> bool:
        assert seconds > 0
        return self.held.setdefault(key, owner) == owner

    def release_call(self, key: str, owner: str) -> None:
        if self.held.get(key) == owner:
            del self.held[key]


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


async def test_equal_requests_of_several_processes_share_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paperscope_core.models.cache._POLL_SECONDS", 0.01)
    slow, cache = SlowModel(), SharedCache()
    waiting = [asyncio.create_task(CachedModel(slow, cache).complete(request())) for _ in range(3)]
    await asyncio.sleep(0.2)
    slow.finish.set()
    replies = await asyncio.gather(*waiting)
    assert slow.calls == 1
    assert sum((reply.usage for reply in replies), Usage()) == Usage(calls=1, cached=2, cost=1.0)
    assert not cache.held


async def test_after_a_failed_call_another_process_makes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paperscope_core.models.cache._POLL_SECONDS", 0.01)
    slow, cache = SlowModel(fails=[DOWN]), SharedCache()
    waiting = [asyncio.create_task(CachedModel(slow, cache).complete(request())) for _ in range(2)]
    slow.finish.set()
    replies = await asyncio.gather(*waiting, return_exceptions=True)
    assert sorted(type(reply).__name__ for reply in replies) == ["ModelReply", "ModelUnavailableError"]
    assert (slow.calls, cache.held) == (2, {})


async def test_a_call_waits_no_longer_than_its_patience_and_can_be_given_up() -> None:
    cache = SharedCache()
    cache.held[request().key("fake")] = "a process that hangs"
    model = FakeModel(["mine"])
    assert (await CachedModel(model, cache, patience=0.1).complete(request())).text == "mine"
    cache.held[request("other").key("fake")] = "a process that hangs"
    waiting = asyncio.create_task(CachedModel(model, cache).complete(request("other")))
    await asyncio.sleep(0.1)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(waiting, 1)
    assert len(model.requests) == 1


async def give_up(model: LanguageModel) -> None:
    caller = asyncio.create_task(model.complete(request()))
    await settle()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller


async def test_a_call_that_was_sent_before_its_caller_gave_up_is_kept() -> None:
    slow, cache = SlowModel(), MemoryCache()
    model = CachedModel(FinishingModel(slow), cache)
    await give_up(model)
    again = asyncio.create_task(model.complete(request()))
    await settle()
    slow.finish.set()
    await model.drain()
    assert len(cache.calls) == 1
    assert ((await again).usage, slow.calls) == (Usage(cached=1), 1)


async def test_a_call_that_was_given_up_is_not_tried_again() -> None:
    slow = SlowModel(fails=[DOWN])
    model = CachedModel(RetryingModel(FinishingModel(slow), RetryPolicy(sleep=RecordingSleep().sleep)), MemoryCache())
    await give_up(model)
    slow.finish.set()
    await model.drain()
    assert slow.calls == 1


async def test_a_call_that_was_given_up_before_its_turn_is_not_sent() -> None:
    slow = SlowModel()
    limited = LimitedModel(FinishingModel(slow), concurrency=1)
    first = asyncio.create_task(limited.complete(request("first")))
    await settle()
    await give_up(CachedModel(limited, MemoryCache()))
    slow.finish.set()
    await first
    await settle()
    assert slow.calls == 1


async def test_a_caller_that_shares_a_cancelled_call_repeats_it() -> None:
    slow = SlowModel(fails=[DOWN])
    model = CachedModel(FinishingModel(slow), MemoryCache())
    await give_up(model)
    other = asyncio.create_task(model.complete(request()))
    await settle()
    slow.finish.set()
    assert ((await other).usage.calls, slow.calls) == (1, 2)


async def test_a_failure_reaches_all_who_share_it_and_is_not_kept() -> None:
    model = CachedModel(FakeModel([DOWN, "fine"]), MemoryCache())
    results = await asyncio.gather(*(model.complete(request()) for _ in range(2)), return_exceptions=True)
    assert results == [DOWN, DOWN]
    assert (await model.complete(request())).text == "fine"


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
    embedder = BatchedEmbedder(RetryingEmbedder(shaky, RecordingSleep().policy()), size=2)
    np.testing.assert_array_equal(await embedder.embed(texts), await FakeEmbedder().embed(texts))
    assert shaky.batches == [2, 2, 2, 1]
    assert embedder.name == "shaky"


async def test_a_meter_adds_up_replies_from_server_and_cache() -> None:
    cache = MemoryCache()
    model = MeteredModel(CachedModel(FakeModel(["three words here"]), cache))
    for _ in range(2):
        await model.complete(request("two words"))
    assert model.usage == Usage(calls=1, cached=1, prompt_tokens=2, completion_tokens=3)
    assert str(model.usage) == "2 model calls (1 from the store), 2 + 3 tokens, cost 0.0000"
    assert str(Usage(calls=1, prompt_tokens=5)) == "1 model call, 5 + 0 tokens, cost 0.0000"
    assert str(Usage()) == "0 model calls"


async def test_a_call_that_could_not_be_kept_is_not_made() -> None:
    class Full(MemoryCache):
        def check_room(self) -> None:
            raise StoreFullError("the disk is full")

    cache, model = Full(), FakeModel("first")
    cache.put_call(request("kept").key(model.name), model.name, ModelReply(text="kept", usage=Usage(calls=1)))
    cached = CachedModel(model, cache)
    assert (await cached.complete(request("kept"))).text == "kept"
    with pytest.raises(StoreFullError):
        await cached.complete(request("new"))
    assert model.requests == []
