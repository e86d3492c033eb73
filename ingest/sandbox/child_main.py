"""The main loop of the child process: runs jobs until its input ends, and answers in frames on a pipe."""

import json
import os
import pickle
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

from paperscope_core.cancellation import handle_time_requests
from paperscope_core.errors import PaperscopeError

__all__ = ["Frame", "JobHandler", "SendFrame", "main", "read_frame"]

# A frame's kind and the length of its data.
_HEADER = struct.Struct(">cQ")
_MEGABYTE = 1_000_000
# A tenth of the processor time that other processes get, if there is too little. A job gets it after this many seconds
# of processor time, so that a small paper is read as if no large one were.
_NICENESS = 10
_FULL_PRIORITY_SECONDS = 1.0
_POLL_SECONDS = 0.25

Job = TypeVar("Job")
SendFrame = Callable[[bytes, bytes], None]
JobHandler = Callable[[Job, SendFrame], None]
"""What a child process does with each job: sends its results as frames, or raises a PaperscopeError. Handler and jobs
are pickled."""


class Frame(NamedTuple):
    """A message on the pipe; `kind` is one byte.

    The kinds of every child: R: ready; T: a step begins, with its multiple of the usual time limit; E: an error's class
    and message. The job handler defines the others.
    """

    kind: bytes
    data: bytes


def write_frame(pipe: BinaryIO, kind: bytes, data: bytes = b"") -> None:
    """Send a frame."""
    pipe.write(_HEADER.pack(kind, len(data)))
    pipe.write(data)
    pipe.flush()


def read_frame(pipe: BinaryIO) -> Frame | None:
    """Return the next frame, None if the other process has exited."""
    header = pipe.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return None
    kind, length = _HEADER.unpack(header)
    data = pipe.read(length)
    return Frame(kind, data) if len(data) == length else None


def main() -> None:
    """Read the handler and its memory limit from the input, then run job after job."""
    # Output printed by libraries must not mix with the frames.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # Ctrl-C ends the child at once, even inside a library that never returns to Python.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    jobs = _jobs(sys.stdin.buffer)
    handler, memory_mb, prepare = next(jobs)
    prepare()
    if memory_mb is not None:
        _limit_memory(memory_mb)
    write_frame(out, b"R")
    run = _run_by_priority if sys.platform == "linux" else _run
    for job in jobs:
        run(handler, job, out)
        # An idle child keeps no file.
        del job


def _jobs(pipe: BinaryIO) -> Iterator[Any]:
    """Yield the jobs sent by the parent process, the only writer to this pipe."""
    with suppress(EOFError):
        while True:
            yield pickle.load(pipe)  # noqa: S301


def _run_by_priority(handler: JobHandler[object], job: object, out: BinaryIO) -> None:
    """Run a job in a thread: Linux can lower its priority, which can't be raised again, without the next job's."""
    started = time.process_time()
    with ThreadPoolExecutor(1) as executor:
        thread = executor.submit(threading.get_native_id).result()
        running = executor.submit(_run, handler, job, out)
        while not running.done() and time.process_time() - started < _FULL_PRIORITY_SECONDS:
            wait([running], timeout=_POLL_SECONDS)
        if not running.done():
            os.setpriority(os.PRIO_PROCESS, thread, _NICENESS)
        running.result()


def _run(handler: JobHandler[object], job: object, out: BinaryIO) -> None:
    def request_time(factor: float) -> None:
        write_frame(out, b"T", json.dumps(factor).encode())

    try:
        with handle_time_requests(request_time):
            handler(job, lambda kind, data: write_frame(out, kind, data))
    except PaperscopeError as error:
        write_frame(out, b"E", json.dumps([type(error).__name__, str(error)]).encode())


def _limit_memory(megabytes: int) -> None:
    """Limit this process to this much memory beyond its current use, on systems that support it."""
    try:
        import resource

        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + megabytes * _MEGABYTE, resource.RLIM_INFINITY))
    except (ImportError, OSError, ValueError):
        return
