"""In the worker: its beginning, its end, and what it is told by the pipe."""

import asyncio
import json
import os
import pickle
import signal
import sys
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO

from paperscope.codec import to_json
from paperscope.settings import Settings
from service.libraries import Libraries
from service.logs import configure_logs, event_log
from service.spending import Spent, spending
from service.tracing import open_tracing
from service.worker.memory import data_mb, limit_memory
from service.worker.runner import Runner

__all__ = ["main"]

_BEAT_SECONDS = 2.0
_CLOSING_SECONDS = 5.0
_ENDING_SECONDS = 20.0
_OPEN_LIBRARIES = 2
_SPENT = 71
# So much of the memory that may be taken, for so many beats.
_FULL = 0.9
_FULL_BEATS = 3


def main() -> None:
    """Take the settings and a name from the input, then a folder a line; work until the input ends."""
    beats = os.fdopen(os.dup(1), "wb", buffering=0)
    # What a library prints is for the log.
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The input is the service's own, nothing from a stranger.
    settings, owner = pickle.load(sys.stdin.buffer)  # noqa: S301
    configure_logs(settings.service.log)
    threading.excepthook = _thread_ended
    limit_memory(settings.service.worker_memory_mb)
    try:
        asyncio.run(_work(settings, owner, beats))
    except (MemoryError, RuntimeError) as error:
        # Without memory no thread starts, and nothing can be put away; the service puts the jobs back.
        event_log(__name__).warning("the worker can't go on", error=type(error).__name__)
        os._exit(_SPENT)


def _thread_ended(told: threading.ExceptHookArgs) -> None:
    """What an error that ended a thread means: without memory, that somebody waits for its work in vain."""
    if told.exc_type is MemoryError:
        os._exit(_SPENT)
    threading.__excepthook__(told)


async def _work(settings: Settings, owner: str, beats: BinaryIO) -> None:
    libraries = Libraries(settings, most=_OPEN_LIBRARIES, on_call=spending(partial(_tell, beats)))
    tracing = open_tracing(settings.service.otlp_endpoint)
    runner = Runner(settings=settings, libraries=libraries, tracing=tracing, owner=owner)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, runner.stop)
    threading.Thread(target=_listen, args=(loop, runner), daemon=True).start()
    beating = asyncio.create_task(_beat(beats, most_mb=_FULL * settings.service.worker_memory_mb))
    await runner.run()
    beating.cancel()
    await asyncio.to_thread(libraries.close, within=_CLOSING_SECONDS)
    await asyncio.to_thread(tracing.close, within=_CLOSING_SECONDS)
    # A thread that never ends must not keep the process.
    os._exit(0)


def _listen(loop: asyncio.AbstractEventLoop, runner: Runner) -> None:
    """Pass on what the service says; when it is gone, see to it that everything here ends."""
    for line in sys.stdin.buffer:
        loop.call_soon_threadsafe(runner.wake, Path(json.loads(line)))
    loop.call_soon_threadsafe(runner.stop)
    time.sleep(_ENDING_SECONDS)
    os.killpg(0, signal.SIGKILL)


def _tell(beats: BinaryIO, spent: Spent) -> None:
    """Tell the service of a call at once, so that it is counted though this process be killed: a line so short comes
    whole or not at all."""
    with suppress(BrokenPipeError):
        beats.write(to_json(spent).encode() + b"\n")


async def _beat(beats: BinaryIO, *, most_mb: float) -> None:
    """Show that the loop goes on. Where all memory stays taken, end: what waits for a thread that never came would wait
    for ever."""
    full = 0
    while True:
        full = full + 1 if data_mb() > most_mb else 0
        if full == _FULL_BEATS:
            os._exit(_SPENT)
        # The service may be gone; that is for the other pipe to tell.
        with suppress(BrokenPipeError):
            beats.write(b"\n")
        await asyncio.sleep(_BEAT_SECONDS)
