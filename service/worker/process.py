"""The worker as the service sees it: a process, told by a pipe whose libraries have jobs.

By another pipe it beats while it lives, and tells of each model call."""

import asyncio
import json
import logging
import os
import pickle
import signal
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from pathlib import Path
from typing import Self, cast

from paperscope.codec import from_json
from paperscope.settings import Settings
from service.spending import OnSpent, Spent

__all__ = ["WorkerProcess"]

# The path of modules goes along, as a service may be run from a checkout; everything else goes over the pipe.
_START = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from service.worker.child import main; main()"
_SILENCE_SECONDS = 60.0

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
            sys.executable, "-c", _START, json.dumps(sys.path), stdin=PIPE, stdout=PIPE, start_new_session=True
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

    async def ended(self, on_spent: OnSpent) -> int:
        """Wait until it has ended; its exit code. One that doesn't beat is killed. Nothing that it started is left.

        `on_spent` hears of all model calls that it told of, whatever it ended by.
        """
        try:
            while line := await asyncio.wait_for(self._beats.readline(), _SILENCE_SECONDS):
                # A beat is an empty line; what a library printed while it was imported is none of a call.
                with suppress(ValueError):
                    on_spent(from_json(Spent, line))
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
