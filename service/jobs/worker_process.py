"""The worker process: the service starts it and communicates with it over two pipes.

The service writes the settings and then lines of JSON: the place of each library that has jobs, and a pair of job and
password for each password that came with a job. The worker writes an empty line as a heartbeat, and a line of JSON for
each finished model call.
"""

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
from typing import BinaryIO, Self, cast

from paperscope_core.codec import from_json, to_json
from paperscope_core.locations import Location, location_text, parse_location
from paperscope_core.processes import command_of
from paperscope_core.settings import Settings
from service.jobs.job_worker import Worker, data_mb, limit_memory
from service.libraries import Libraries, ModelUsage, OnUsage, share_processor
from service.logs import configure_logs, event_log

__all__ = ["WorkerProcess", "main"]

_HEARTBEAT_SECONDS = 2.0
# Long, because a loaded machine may not schedule the worker for many seconds.
_HEARTBEAT_TIMEOUT_SECONDS = 60.0
_CLOSE_TIMEOUT_SECONDS = 5.0
# The time that the worker has to exit after the service has ended.
_EXIT_TIMEOUT_SECONDS = 20.0
# Few, because an open library keeps its index in memory.
_MAX_OPEN_LIBRARIES = 2
_EXIT_OUT_OF_MEMORY = 71
# Out of memory: this share of the limit is allocated at this many consecutive heartbeats.
_FULL_MEMORY_SHARE = 0.9
_FULL_MEMORY_HEARTBEATS = 3

_log = logging.getLogger(__name__)


class WorkerProcess:
    """A running worker, as the service sees it. It ends when its pipe is closed, so it never outlives the service."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._input = cast("asyncio.StreamWriter", process.stdin)
        self._output = cast("asyncio.StreamReader", process.stdout)

    @classmethod
    async def start(cls, settings: Settings, *, owner: str, service: str, quarantine: bool = False) -> Self:
        """Start a worker of a service that leases jobs as `owner`, from outside the quarantine or from it.

        Raises OSError.
        """
        # Its own process group: it is killed with the processes it started, and Ctrl-C reaches the service only.
        process = await asyncio.create_subprocess_exec(
            *command_of(__name__), stdin=PIPE, stdout=PIPE, start_new_session=True
        )
        worker = cls(process)
        worker._input.write(pickle.dumps((settings, owner, service, quarantine)))
        return worker

    @property
    def id(self) -> int:
        """The process id."""
        return self._process.pid

    def notify(self, folder: Location) -> None:
        """Notify the worker of a library's jobs."""
        self._input.write(json.dumps(location_text(folder)).encode() + b"\n")

    def send_password(self, job: str, password: str) -> None:
        """Send the password that came with a job."""
        self._input.write(json.dumps([job, password]).encode() + b"\n")

    async def wait(self, on_usage: OnUsage) -> int:
        """Wait until the worker ends, report its model usage, and return its exit code.

        A worker without a heartbeat is killed. So are all processes that it started.
        """
        try:
            while line := await asyncio.wait_for(self._output.readline(), _HEARTBEAT_TIMEOUT_SECONDS):
                # Heartbeats and the output of imported libraries are not the JSON of a model call.
                with suppress(ValueError):
                    on_usage(from_json(ModelUsage, line))
        except TimeoutError:
            _log.warning("the worker is stuck and is killed")
        self._kill()
        return await self._process.wait()

    async def stop(self, *, max_wait: float) -> None:
        """End the worker; kill it after `max_wait` seconds."""
        self._input.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), max_wait)
        self._kill()
        await self._process.wait()

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)


def main() -> None:
    """Run the worker in this process, with stdin and stdout as its pipes."""
    output = os.fdopen(os.dup(1), "wb", buffering=0)
    # What a library prints goes to the log.
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Written by the service, not by a caller.
    settings, owner, service, quarantine = pickle.load(sys.stdin.buffer)  # noqa: S301
    # Also for the results of batches, which are files of the library here.
    os.umask(0o077)
    configure_logs(settings.service.log)
    threading.excepthook = _on_thread_error
    share_processor()
    limit_memory(settings.limits.memory_mb)
    try:
        asyncio.run(_run(settings, owner, service, output, quarantine=quarantine))
    except (MemoryError, RuntimeError) as error:
        # Without memory, no thread starts and nothing can be cleaned up; the service requeues the jobs.
        event_log(__name__).warning("the worker can't go on", error=type(error).__name__)
        os._exit(_EXIT_OUT_OF_MEMORY)


def _on_thread_error(error: threading.ExceptHookArgs) -> None:
    """Exit if a thread ran out of memory, because another one may wait for its result forever."""
    if error.exc_type is MemoryError:
        os._exit(_EXIT_OUT_OF_MEMORY)
    threading.__excepthook__(error)


async def _run(settings: Settings, owner: str, service: str, output: BinaryIO, *, quarantine: bool) -> None:
    libraries = Libraries(settings, on_usage=partial(_send_usage, output), max_open=_MAX_OPEN_LIBRARIES)
    worker = Worker(settings=settings, libraries=libraries, owner=owner, service=service, quarantine=quarantine)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, worker.stop)
    threading.Thread(target=_read_notifications, args=(loop, worker), daemon=True).start()
    heartbeats = asyncio.create_task(_send_heartbeats(output, max_mb=_FULL_MEMORY_SHARE * settings.limits.memory_mb))
    await worker.run()
    heartbeats.cancel()
    await asyncio.to_thread(libraries.close, timeout=_CLOSE_TIMEOUT_SECONDS)
    # A thread that never ends must not keep the process alive.
    os._exit(0)


def _read_notifications(loop: asyncio.AbstractEventLoop, worker: Worker) -> None:
    """Forward the service's notifications; stops or kill the worker when the service has ended."""
    for line in sys.stdin.buffer:
        match json.loads(line):
            case [job, password]:
                loop.call_soon_threadsafe(worker.receive_password, job, password)
            case folder:
                loop.call_soon_threadsafe(worker.notify, parse_location(folder))
    loop.call_soon_threadsafe(worker.stop)
    time.sleep(_EXIT_TIMEOUT_SECONDS)
    os.killpg(0, signal.SIGKILL)


def _send_usage(output: BinaryIO, usage: ModelUsage) -> None:
    """Report a model call at once, so that it is counted even if this process is killed."""
    # A short write to a pipe is atomic.
    with suppress(BrokenPipeError):
        output.write(to_json(usage).encode() + b"\n")


async def _send_heartbeats(output: BinaryIO, *, max_mb: float) -> None:
    """Send heartbeats while the event loop runs.

    Exits if memory stays full, because threads may then fail silently.
    """
    full = 0
    while True:
        full = full + 1 if data_mb() > max_mb else 0
        if full == _FULL_MEMORY_HEARTBEATS:
            os._exit(_EXIT_OUT_OF_MEMORY)
        # If the service has ended, `_read_notifications` notices.
        with suppress(BrokenPipeError):
            output.write(b"\n")
        await asyncio.sleep(_HEARTBEAT_SECONDS)
