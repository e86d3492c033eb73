"""The library's loop: one loop for every caller."""

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest

from paperscope.library.loop import LoopThread


async def where() -> str:
    await asyncio.sleep(0)
    return threading.current_thread().name


def test_waits_from_plain_code_and_closes_twice() -> None:
    loop = LoopThread()
    assert loop.wait(where()) == "paperscope-loop"
    loop.close()
    loop.close()


async def test_waits_and_awaits_inside_a_running_loop() -> None:
    loop = LoopThread()
    assert loop.wait(where()) == "paperscope-loop"
    assert await asyncio.wrap_future(loop.submit(where())) == "paperscope-loop"
    loop.close()


def test_errors_come_through() -> None:
    async def fail() -> None:
        raise KeyError("x")

    loop = LoopThread()
    with pytest.raises(KeyError):
        loop.wait(fail())
    loop.close()


def test_close_cancels_what_still_runs() -> None:
    loop = LoopThread()
    endless = loop.submit(asyncio.sleep(3600))
    loop.close()
    assert endless.cancelled()


async def numbers(stopped: threading.Event) -> AsyncIterator[int]:
    try:
        for number in range(1000):
            await asyncio.sleep(0)
            yield number
            if number == 3:
                raise KeyError("x")
    finally:
        stopped.set()


async def test_items_of_the_loop_come_to_another_one_with_the_error_at_their_end() -> None:
    loop, stopped = LoopThread(), threading.Event()
    items = loop.iterate(numbers(stopped))
    assert [await anext(items) for _ in range(4)] == [0, 1, 2, 3]
    with pytest.raises(KeyError):
        await anext(items)
    loop.close()


async def test_an_iterator_that_is_left_is_stopped() -> None:
    loop, stopped = LoopThread(), threading.Event()
    items = loop.iterate(numbers(stopped))
    assert await anext(items) == 0
    await items.aclose()
    loop.close()
    assert stopped.wait(5)
