"""The main loop of the child process: runs jobs until its input ends, and answers in frames on a pipe."""

import json
import os
import pickle
import signal
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

from paperscope_core.cancellation import handle_time_requests
from paperscope_core.errors import PaperscopeError

__all__ = ["Frame", "JobHandler", "SendFrame", "main", "read_frame", "write_frame"]

# A frame's kind and the length of its data.
_HEADER = struct.Struct(">cQ")
_MEGABYTE = 1_000_000
# A tenth of the processor time that other processes get, if there is too little.
_NICENESS = 10

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
    """Sends a frame."""
    pipe.write(_HEADER.pack(kind, len(data)))
    pipe.write(data)
    pipe.flush()


def read_frame(pipe: BinaryIO) -> Frame | None:
    """Returns the next frame, None if the other process has exited."""
    header = pipe.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return None
    kind, length = _HEADER.unpack(header)
    data = pipe.read(length)
    return Frame(kind, data) if len(data) == length else None


def main() -> None:
    """Reads the handler and its memory limit from the input, then runs job after job."""
    # Output printed by libraries must not mix with the frames.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # Ctrl-C ends the child at once, even inside a library that never returns to Python.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    jobs = _jobs(sys.stdin.buffer)
    handler, memory_mb = next(jobs)
    if memory_mb is not None:
        _limit_memory(memory_mb)
    write_frame(out, b"R")
    # Started as fast as possible; then what waits for other work goes first.
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    for job in jobs:
        _run(handler, job, out)


def _jobs(pipe: BinaryIO) -> Iterator[Any]:
    """Yields the jobs sent by the parent process, the only writer to this pipe."""
    with suppress(EOFError):
        while True:
            yield pickle.load(pipe)  # noqa: S301


def _run(handler: JobHandler[object], job: object, out: BinaryIO) -> None:
    def request_time(factor: float) -> None:
        write_frame(out, b"T", json.dumps(factor).encode())

    try:
        with handle_time_requests(request_time):
            handler(job, lambda kind, data: write_frame(out, kind, data))
    except PaperscopeError as error:
        write_frame(out, b"E", json.dumps([type(error).__name__, str(error)]).encode())


def _limit_memory(megabytes: int) -> None:
    """Limits this process to this much memory beyond its current use, on systems that support it."""
    try:
        import resource

        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + megabytes * _MEGABYTE, resource.RLIM_INFINITY))
    except (ImportError, OSError, ValueError):
        return
