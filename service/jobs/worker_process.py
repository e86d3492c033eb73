"""The worker's process, and the pipes between it and the service."""

import asyncio
import json
import logging
import os
import pickle
import signal
import sys
import threading
import time
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO, Self, cast

from paperscope_core.codec import from_json, to_json
from paperscope_core.settings import Settings
from service.jobs.worker import Worker, data_mb, limit_memory
from service.libraries import Libraries, ModelUsage, OnUsage, usage_reporter
from service.logs import configure_logs, event_log
from service.tracing import open_tracing

__all__ = ["WorkerProcess", "main"]


# The path of modules goes along, as a service may be run from a checkout; everything else goes over the pipe.
_START_CODE = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from service.jobs.worker_process import main; main()"
)
_HEARTBEAT_TIMEOUT_SECONDS = 60.0

_log = logging.getLogger(__name__)


class WorkerProcess:
    """A running worker. It ends when its pipe does, so that it never outlives the service."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._input = cast("asyncio.StreamWriter", process.stdin)
        self._beats = cast("asyncio.StreamReader", process.stdout)

    @classmethod
    async def start(cls, settings: Settings, *, owner: str) -> Self:
        """Start one that holds its jobs as `owner`. Raises OSError."""
        # A group of its own: what it started ends with it, and Ctrl-C is for the service to pass on.
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", _START_CODE, json.dumps(sys.path), stdin=PIPE, stdout=PIPE, start_new_session=True
        )
        worker = cls(process)
        worker._input.write(pickle.dumps((settings, owner)))
        return worker

    @property
    def id(self) -> int:
        """Its process id."""
        return self._process.pid

    def wake(self, folder: Path) -> None:
        """Let it look at the jobs of a library."""
        self._input.write(json.dumps(str(folder)).encode() + b"\n")

    async def ended(self, on_spent: OnUsage) -> int:
        """Wait until it has ended; its exit code. One that doesn't beat is killed. Nothing that it started is left.

        `on_spent` hears of all model calls that it told of, whatever it ended by.
        """
        try:
            while line := await asyncio.wait_for(self._beats.readline(), _HEARTBEAT_TIMEOUT_SECONDS):
                # A beat is an empty line; what a library printed while it was imported is none of a call.
                with suppress(ValueError):
                    on_spent(from_json(ModelUsage, line))
        except TimeoutError:
            _log.warning("the worker is stuck and is killed")
        self._kill()
        return await self._process.wait()

    async def stop(self, *, within: float) -> None:
        """End it; kill it where it takes longer than so many seconds."""
        self._input.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), within)
        self._kill()
        await self._process.wait()

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)


_HEARTBEAT_SECONDS = 2.0
_CLOSING_SECONDS = 5.0
_EXIT_SECONDS = 20.0
_MAX_OPEN_LIBRARIES = 2
_EXIT_OUT_OF_MEMORY = 71
# So much of the memory that may be taken, for so many beats.
_MEMORY_FULL_SHARE = 0.9
_MEMORY_FULL_HEARTBEATS = 3


def main() -> None:
    """Take the settings and a name from the input, then a folder a line; work until the input ends."""
    beats = os.fdopen(os.dup(1), "wb", buffering=0)
    # What a library prints is for the log.
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The input is the service's own, nothing from a stranger.
    settings, owner = pickle.load(sys.stdin.buffer)  # noqa: S301
    configure_logs(settings.service.log)
    threading.excepthook = _on_thread_error
    limit_memory(settings.service.worker_memory_mb)
    try:
        asyncio.run(_run_worker(settings, owner, beats))
    except (MemoryError, RuntimeError) as error:
        # Without memory no thread starts, and nothing can be put away; the service puts the jobs back.
        event_log(__name__).warning("the worker can't go on", error=type(error).__name__)
        os._exit(_EXIT_OUT_OF_MEMORY)


def _on_thread_error(told: threading.ExceptHookArgs) -> None:
    """What an error that ended a thread means: without memory, that somebody waits for its work in vain."""
    if told.exc_type is MemoryError:
        os._exit(_EXIT_OUT_OF_MEMORY)
    threading.__excepthook__(told)


async def _run_worker(settings: Settings, owner: str, beats: BinaryIO) -> None:
    libraries = Libraries(settings, most=_MAX_OPEN_LIBRARIES, on_call=usage_reporter(partial(_send_usage, beats)))
    tracing = open_tracing(settings.service.otlp_endpoint)
    runner = Worker(settings=settings, libraries=libraries, tracing=tracing, owner=owner)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, runner.stop)
    threading.Thread(target=_listen, args=(loop, runner), daemon=True).start()
    beating = asyncio.create_task(
        _send_heartbeats(beats, most_mb=_MEMORY_FULL_SHARE * settings.service.worker_memory_mb)
    )
    await runner.run()
    beating.cancel()
    await asyncio.to_thread(libraries.close, within=_CLOSING_SECONDS)
    await asyncio.to_thread(tracing.close, within=_CLOSING_SECONDS)
    # A thread that never ends must not keep the process.
    os._exit(0)


def _listen(loop: asyncio.AbstractEventLoop, runner: Worker) -> None:
    """Pass on what the service says; when it is gone, see to it that everything here ends."""
    for line in sys.stdin.buffer:
        loop.call_soon_threadsafe(runner.wake, Path(json.loads(line)))
    loop.call_soon_threadsafe(runner.stop)
    time.sleep(_EXIT_SECONDS)
    os.killpg(0, signal.SIGKILL)


def _send_usage(beats: BinaryIO, spent: ModelUsage) -> None:
    """Tell the service of a call at once, so that it is counted though this process be killed: a line so short comes
    whole or not at all."""
    with suppress(BrokenPipeError):
        beats.write(to_json(spent).encode() + b"\n")


async def _send_heartbeats(beats: BinaryIO, *, most_mb: float) -> None:
    """Show that the loop goes on. Where all memory stays taken, end: what waits for a thread that never came would wait
    for ever."""
    full = 0
    while True:
        full = full + 1 if data_mb() > most_mb else 0
        if full == _MEMORY_FULL_HEARTBEATS:
            os._exit(_EXIT_OUT_OF_MEMORY)
        # The service may be gone; that is for the other pipe to tell.
        with suppress(BrokenPipeError):
            beats.write(b"\n")
        await asyncio.sleep(_HEARTBEAT_SECONDS)
