"""The library's loop: one loop for every caller."""

import asyncio
import threading

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
