"""The library's loop: one loop for every caller."""

import asyncio
import threading
from collections.abc import Callable
from functools import partial

import pytest

from paperscope.event_loop import EventLoopThread
from paperscope_core.errors import StoreError


async def where() -> str:
    await asyncio.sleep(0)
    return threading.current_thread().name


def test_it_runs_work_for_synchronous_code_and_closes_twice() -> None:
    loop = EventLoopThread()
    assert loop.wait(where()) == "paperscope-loop"
    loop.close()
    loop.close()


async def test_it_runs_work_inside_a_running_loop() -> None:
    loop = EventLoopThread()
    assert loop.wait(where()) == "paperscope-loop"
    assert await loop.run(where()) == "paperscope-loop"
    loop.close()


def test_errors_are_raised_in_the_caller() -> None:
    async def fail() -> None:
        raise KeyError("x")

    loop = EventLoopThread()
    with pytest.raises(KeyError):
        loop.wait(fail())
    loop.close()


async def test_close_ends_running_work_with_a_store_error() -> None:
    loop, order = EventLoopThread(), list[str]()

    async def endless(begun: asyncio.Event) -> None:
        here.call_soon_threadsafe(begun.set)
        try:
            await asyncio.sleep(3600)
        finally:
            order.append("ended")

    async def last() -> None:
        order.append("last")

    here, begun = asyncio.get_running_loop(), asyncio.Event()
    awaited = asyncio.create_task(loop.run(endless(begun)))
    await begun.wait()
    waiting = asyncio.create_task(asyncio.to_thread(loop.wait, asyncio.sleep(3600)))
    streaming = asyncio.create_task(anext(loop.iterate(never)))
    await asyncio.sleep(0.1)
    await asyncio.to_thread(loop.close, last)
    for one in (awaited, waiting, streaming):
        with pytest.raises(StoreError, match="the library was closed before this was done"):
            await one
    assert order == ["ended", "last"]
    with pytest.raises(StoreError, match="the library is closed; open it again"):
        await loop.run(where())


async def never(_put: Callable[[int], None]) -> None:
    await asyncio.sleep(3600)


async def test_cancelled_work_has_ended_when_its_caller_continues() -> None:
    loop, begun, ended = EventLoopThread(), threading.Event(), threading.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.sleep(3600)
        finally:
            await asyncio.sleep(0.1)
            ended.set()

    task = asyncio.create_task(loop.run(work()))
    await asyncio.to_thread(begun.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()
    loop.close()


async def test_work_can_be_cancelled_before_it_starts() -> None:
    loop = EventLoopThread()
    task = asyncio.create_task(loop.run(asyncio.sleep(3600)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, timeout=5)
    loop.close()


async def numbers(put: Callable[[int], None], *, stopped: threading.Event) -> None:
    try:
        for number in range(1000):
            await asyncio.sleep(0)
            put(number)
            if number == 3:
                raise KeyError("x")
    finally:
        stopped.set()


async def test_iterating_from_another_loop_yields_items_and_the_error() -> None:
    loop, stopped = EventLoopThread(), threading.Event()
    items = loop.iterate(partial(numbers, stopped=stopped))
    assert [await anext(items) for _ in range(4)] == [0, 1, 2, 3]
    with pytest.raises(KeyError):
        await anext(items)
    loop.close()


async def test_an_abandoned_iterator_is_stopped() -> None:
    loop, stopped = EventLoopThread(), threading.Event()
    items = loop.iterate(partial(numbers, stopped=stopped))
    assert await anext(items) == 0
    await items.aclose()
    loop.close()
    assert stopped.wait(5)
