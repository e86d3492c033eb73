import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from pathlib import Path

import httpx2
import pytest
from fastapi import APIRouter

from graph_store.service_state import ServiceState
from paperscope_core.types import Answer
from service.http.auth import ComputingLibraryOf
from service.http.background import Background, Tell
from service.http.limits import FairQueue, RateLimiter
from service.http.problems import ProblemError
from service.keys import KeyStore
from tests.service.conftest import settings_in
from tests.service.servers import serve_app


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


async def test_little_of_one_callers_work_runs_at_a_time_even_where_nobody_else_waits() -> None:
    questions = Questions(FairQueue(concurrency=4, of_one=2, max_waiting=200))
    tasks = [await questions.ask("many", f"many-{number}") for number in range(4)]
    tasks.append(await questions.ask("few", "few"))
    assert questions.order == ["many-0", "many-1", "few"]
    await questions.answer("many-0")
    assert questions.order == ["many-0", "many-1", "few", "many-2"]
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


async def test_a_minute_of_requests_may_come_at_once_and_then_one_at_a_time(tmp_path: Path) -> None:
    clock = Clock()
    # Two processes share the buckets.
    states = [ServiceState(tmp_path, folder=tmp_path, clock=clock) for _ in range(2)]
    rates, others = (RateLimiter(state, per_minute=30) for state in states)
    for _ in range(15):
        await rates.take("a")
        await others.take("a")
    with pytest.raises(ProblemError, match="More than 30 requests") as refused:
        await rates.take("a")
    assert (refused.value.status_code, refused.value.headers) == (429, {"Retry-After": "2"})
    await rates.take("b")
    clock.now = 2
    await others.take("a")
    with pytest.raises(ProblemError):
        await rates.take("a")
    for state in states:
        state.close()


async def test_no_limit_counts_nobody(tmp_path: Path) -> None:
    state = ServiceState(tmp_path, folder=tmp_path / "absent")
    await RateLimiter(state, per_minute=0).take("a")
    assert not (tmp_path / "absent").exists()


async def endless(_tell: Tell) -> Answer:
    await asyncio.sleep(3600)
    raise AssertionError("it is cancelled before")


async def test_work_is_cancelled_from_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.http.background._WATCH_SECONDS", 0.01)
    clock = Clock()
    clock.now = 1.0
    states = [ServiceState(tmp_path, folder=tmp_path, clock=clock) for _ in range(2)]

    here, there = map(Background, states)
    await there.cancel("a conversation")
    work, other = [await here.begin(endless, about=about) for about in ("a conversation", "another one")]
    await asyncio.sleep(0.1)
    assert not work.task.done()
    # The old request to stop is forgotten.
    clock.now += 3600
    await there.cancel("a third one")
    await asyncio.sleep(0.1)
    assert not work.task.done()
    await there.cancel("a conversation")
    with pytest.raises(ProblemError, match="was stopped"):
        await work.answer()
    assert not other.task.done()
    await here.close()
    for state in states:
        state.close()


async def test_work_is_cancelled_however_soon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.http.background._WATCH_SECONDS", 0.01)
    states = [ServiceState(tmp_path, folder=tmp_path) for _ in range(2)]

    work = await Background(states[0]).begin(endless, about="a conversation")
    # Before the task has begun.
    states[1].stop("a conversation")
    with pytest.raises(ProblemError, match="was stopped"):
        await work.answer()
    for state in states:
        state.close()


def test_a_route_that_computes_takes_turns_with_other_callers(tmp_path: Path) -> None:
    keys = KeyStore.open(tmp_path / "keys.json")
    (_, one), (_, other) = (keys.create(name, tmp_path / name) for name in ("alice", "bob"))
    headers = [{"X-API-Key": key.get_secret_value()} for key in (one, other)]
    released, running = threading.Event(), threading.Semaphore(0)
    router = APIRouter()

    @router.get("/v1/computes")
    def computes(_library: ComputingLibraryOf) -> str:
        running.release()
        released.wait(30)
        return "done"

    with serve_app(settings_in(tmp_path), routes=router) as address, ThreadPoolExecutor(60) as threads:
        # More than there are threads for routes.
        many = [threads.submit(httpx2.get, f"{address}/v1/computes", headers=headers[0], timeout=60) for _ in range(50)]
        for _ in range(2):
            assert running.acquire(timeout=30)
        assert httpx2.get(f"{address}/v1/papers", headers=headers[1], timeout=20).status_code == 200
        assert not any(one.done() for one in many)
        released.set()
        assert {one.result().status_code for one in many} == {200}
