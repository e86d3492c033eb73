import asyncio
from contextlib import AsyncExitStack

import pytest

from service.http.limits import FairQueue, RateLimiter
from service.http.problems import ProblemError


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Questions:
    """Questions in a queue, which end when the test says so; `order` is the order in which they started."""

    def __init__(self, gate: FairQueue) -> None:
        self.gate = gate
        self.order: list[str] = []
        self.answered: dict[str, asyncio.Event] = {}

    async def _ask(self, caller: str, name: str) -> None:
        async with self.gate.slot(caller):
            self.order.append(name)
            await self.answered[name].wait()

    async def ask(self, caller: str, name: str) -> asyncio.Task[None]:
        self.answered[name] = asyncio.Event()
        task = asyncio.create_task(self._ask(caller, name))
        await asyncio.sleep(0)
        return task

    async def answer(self, name: str) -> None:
        self.answered[name].set()
        for _ in range(4):
            await asyncio.sleep(0)


async def test_callers_take_turns_regardless_of_earlier_requests() -> None:
    questions = Questions(FairQueue(concurrency=1, max_waiting=200))
    tasks = [await questions.ask("many", f"many-{number}") for number in range(101)]
    tasks += [await questions.ask("few", f"few-{number}") for number in range(2)]
    # The few need not wait for the end of the first of the many.
    assert questions.order == ["many-0", "few-0"]
    assert (questions.gate.running, questions.gate.waiting) == (2, 101)
    for name in ("few-0", "many-0", "many-1", "few-1"):
        await questions.answer(name)
    assert questions.order == ["many-0", "few-0", "few-1", "many-1", "many-2"]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert (questions.gate.running, questions.gate.waiting) == (0, 0)


async def test_one_too_many_is_refused_with_retry_after() -> None:
    clock = Clock()
    gate = FairQueue(concurrency=2, max_waiting=1, clock=clock)
    for _ in range(30):
        async with gate.slot("a"):
            clock.now += 20
    questions = Questions(gate)
    tasks = [await questions.ask("a", str(number)) for number in range(3)]
    with pytest.raises(ProblemError, match="2 questions are being answered and 1 more wait") as refused:
        await asyncio.wait_for(await questions.ask("a", "one too many"), 1)
    assert refused.value.status_code == 429
    assert refused.value.headers is not None
    assert refused.value.headers["Retry-After"] == "20"  # two wait for two places, of 20 s each
    for name in "012":
        await questions.answer(name)
    await asyncio.gather(*tasks)
    assert gate.running == 0


async def test_a_full_queue_drops_from_the_caller_with_most() -> None:
    questions = Questions(FairQueue(concurrency=1, max_waiting=4))
    tasks = [await questions.ask("many", f"many-{number}") for number in range(5)]
    others = [await questions.ask("few", f"few-{number}") for number in range(3)]
    # Those of the few that wait take the places of the newest of the many.
    for refused in tasks[3:]:
        with pytest.raises(ProblemError) as error:
            await refused
        assert error.value.status_code == 429
    with pytest.raises(ProblemError):
        await (await questions.ask("few", "few-3"))
    for name in ("many-0", "few-0", "many-1", "few-1", "many-2", "few-2"):
        await questions.answer(name)
    await asyncio.gather(*tasks[:3], *others)


async def test_a_cancelled_waiter_leaves_the_queue() -> None:
    questions = Questions(FairQueue(concurrency=1, max_waiting=2))
    first, second, third = [await questions.ask("a", name) for name in ("first", "second", "third")]
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    assert questions.gate.waiting == 1
    await questions.answer("first")
    assert questions.order == ["first", "third"]
    await questions.answer("third")
    await asyncio.gather(first, third)


async def test_a_turn_that_is_given_up_as_it_comes_goes_to_the_next() -> None:
    questions = Questions(FairQueue(concurrency=1, max_waiting=2))
    first, second, third = [await questions.ask("a", name) for name in ("first", "second", "third")]
    questions.answered["first"].set()
    await asyncio.sleep(0)  # the first ends, and the second's turn has come, but it has not run yet
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    await asyncio.sleep(0)
    assert questions.order == ["first", "third"]
    await questions.answer("third")
    await asyncio.gather(first, third)
    assert questions.gate.running == 0


async def test_a_question_that_fails_gives_its_place_back() -> None:
    gate = FairQueue(concurrency=1, max_waiting=0)
    async with AsyncExitStack() as stack:
        with pytest.raises(ZeroDivisionError):
            async with gate.slot("a"):
                raise ZeroDivisionError
        await stack.enter_async_context(gate.slot("b"))
        assert gate.running == 1
    assert gate.running == 0


def test_a_minute_of_requests_may_come_at_once_and_then_one_at_a_time() -> None:
    clock = Clock()
    rates = RateLimiter(per_minute=30, clock=clock)
    for _ in range(30):
        rates.take("a")
    with pytest.raises(ProblemError, match="More than 30 requests") as refused:
        rates.take("a")
    assert (refused.value.status_code, refused.value.headers) == (429, {"Retry-After": "2"})
    rates.take("b")
    clock.now = 2
    rates.take("a")
    with pytest.raises(ProblemError):
        rates.take("a")


def test_the_number_of_buckets_is_limited() -> None:
    rates = RateLimiter(per_minute=1)
    for number in range(10_100):
        rates.take(str(number))
    assert len(rates._buckets) == 10_000


def test_no_limit_counts_nobody() -> None:
    rates = RateLimiter(per_minute=0)
    rates.take("a")
    assert not rates._buckets
