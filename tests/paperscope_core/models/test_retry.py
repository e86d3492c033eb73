"""Retries with backoff, and limits on concurrent calls."""

import asyncio

import pytest

from paperscope_core.errors import ModelError, ModelRateLimitError, ModelRefusedError, ModelUnavailableError
from paperscope_core.models import CachedModel, FakeModel, LimitedModel, RetryingModel, RetryPolicy
from paperscope_core.models.cache import MemoryCallCache
from paperscope_core.models.concurrency import FinishingModel
from paperscope_core.types import Message, ModelReply, ModelRequest
from tests.paperscope_core.models.doubles import RecordingSleep, SlowModel, settle

DOWN = ModelUnavailableError("down")


def request(text: str = "hello") -> ModelRequest:
    return ModelRequest(messages=(Message(role="user", text=text),))


# Retrying.


async def test_waits_double_up_to_the_longest() -> None:
    clock = RecordingSleep()
    model = RetryingModel(FakeModel([DOWN, DOWN, DOWN, "fine"]), clock.policy())
    assert (await model.complete(request())).text == "fine"
    assert clock.waits == [1.0, 2.0, 3.0]


async def test_chance_shortens_a_wait_by_half_at_most() -> None:
    clock = RecordingSleep()
    model = RetryingModel(FakeModel([DOWN, DOWN, "fine"]), clock.policy(jitter=1.0))
    await model.complete(request())
    assert clock.waits == [0.5, 1.0]


@pytest.mark.parametrize("retries", [0, 2])
async def test_it_gives_up_with_the_last_error(retries: int) -> None:
    fake = FakeModel([ModelUnavailableError(str(n)) for n in range(5)])
    with pytest.raises(ModelUnavailableError, match=f"^{retries}$"):
        await RetryingModel(fake, RecordingSleep().policy(retries=retries)).complete(request())
    assert len(fake.requests) == retries + 1


async def test_a_refusal_is_final() -> None:
    fake, clock = FakeModel([ModelRefusedError("no"), "fine"]), RecordingSleep()
    with pytest.raises(ModelRefusedError):
        await RetryingModel(fake, clock.policy()).complete(request())
    assert clock.waits == []


@pytest.mark.parametrize(("asked", "waits"), [(2.5, [2.5]), (0.1, [1.0]), (None, [1.0])])
async def test_a_server_may_ask_for_a_longer_wait(asked: float | None, waits: list[float]) -> None:
    clock = RecordingSleep()
    limit: ModelError = ModelRateLimitError("slow down", retry_after=asked)
    await RetryingModel(FakeModel([limit, "fine"]), clock.policy()).complete(request())
    assert clock.waits == waits


async def test_a_rate_limit_slows_and_never_fails() -> None:
    clock = RecordingSleep()
    limits: list[str | ModelError] = [ModelRateLimitError("slow down", retry_after=2.0) for _ in range(50)]
    model = RetryingModel(FakeModel([*limits, DOWN, "fine"]), clock.policy(retries=1))
    assert (await model.complete(request())).text == "fine"
    assert clock.waits == [2.0, 2.0, *[3.0] * 48, 1.0]


async def test_a_long_wait_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    limits: list[str | ModelError] = [ModelRateLimitError("slow down", retry_after=seconds) for seconds in (2.0, 30.0)]
    await RetryingModel(FakeModel([*limits, "fine"]), RecordingSleep().policy()).complete(request())
    assert caplog.messages == ["slow down; waiting for 30 s"]


async def test_a_wait_beyond_patience_is_not_begun() -> None:
    clock = RecordingSleep()
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

    def redacted(self, text: str) -> str:
        return text

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


async def test_concurrency_follows_the_rate_limit_of_the_server() -> None:
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
    model = CachedModel(LimitedModel(FakeModel(lambda _: "fine"), concurrency=1), MemoryCallCache())

    async def crowd(name: str) -> list[str]:
        replies = await asyncio.gather(*(model.complete(request(f"{name}{n}")) for n in range(4)))
        return [reply.text for reply in replies]

    for name in "abc":
        assert asyncio.run(crowd(name)) == ["fine"] * 4


async def test_a_cancelled_call_that_waits_for_a_slot_is_not_sent() -> None:
    slow = SlowModel()
    model = CachedModel(LimitedModel(FinishingModel(slow), concurrency=1), MemoryCallCache())
    first, shared, gone, stays = (
        asyncio.create_task(model.complete(request(text))) for text in ("one", "two", "two", "three")
    )
    await settle()
    for caller in (first, gone):
        caller.cancel()
    await settle()
    shared.cancel()
    await settle()
    again = asyncio.create_task(model.complete(request("two")))
    slow.finish.set()
    assert [(await caller).text for caller in (stays, again)] == ["three", "two"]
    await model.drain()
    assert slow.calls == 3
    assert (await model.complete(request("one"))).usage.cached == 1
    assert all(caller.cancelled() for caller in (first, shared, gone))
