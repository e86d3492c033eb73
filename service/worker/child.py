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
from pathlib import Path
from typing import BinaryIO

from paperscope.settings import Settings
from service.libraries import Libraries
from service.logs import configure_logs
from service.tracing import open_tracing
from service.worker.memory import limit_memory
from service.worker.runner import Runner

__all__ = ["main"]

_BEAT_SECONDS = 2.0
_CLOSING_SECONDS = 5.0
_ENDING_SECONDS = 20.0
_OPEN_LIBRARIES = 2


def main() -> None:
    """Take the settings and a name from the input, then a folder a line; work until the input ends."""
    beats = os.fdopen(os.dup(1), "wb", buffering=0)
    # What a library prints is for the log.
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The input is the service's own, nothing from a stranger.
    settings, owner = pickle.load(sys.stdin.buffer)  # noqa: S301
    configure_logs(settings.service.log)
    limit_memory(settings.service.worker_memory_mb)
    asyncio.run(_work(settings, owner, beats))


async def _work(settings: Settings, owner: str, beats: BinaryIO) -> None:
    libraries = Libraries(settings, most=_OPEN_LIBRARIES)
    tracing = open_tracing(settings.service.otlp_endpoint)
    runner = Runner(settings=settings, libraries=libraries, tracing=tracing, owner=owner)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, runner.stop)
    threading.Thread(target=_listen, args=(loop, runner), daemon=True).start()
    beating = asyncio.create_task(_beat(beats))
    await runner.run()
    beating.cancel()
    await asyncio.to_thread(libraries.close, within=_CLOSING_SECONDS)
    with suppress(TimeoutError):
        await asyncio.wait_for(asyncio.to_thread(tracing.close), _CLOSING_SECONDS)
    # A thread that never ends must not keep the process.
    os._exit(0)


def _listen(loop: asyncio.AbstractEventLoop, runner: Runner) -> None:
    """Pass on what the service says; when it is gone, see to it that everything here ends."""
    for line in sys.stdin.buffer:
        loop.call_soon_threadsafe(runner.wake, Path(json.loads(line)))
    loop.call_soon_threadsafe(runner.stop)
    time.sleep(_ENDING_SECONDS)
    os.killpg(0, signal.SIGKILL)


async def _beat(beats: BinaryIO) -> None:
    while True:
        # The service may be gone; that is for the other pipe to tell.
        with suppress(BrokenPipeError):
            beats.write(b".")
        await asyncio.sleep(_BEAT_SECONDS)
