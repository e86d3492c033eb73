"""The child process: does job after job until its input ends, and answers in frames on a pipe."""

import json
import os
import pickle
import signal
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol, TypeVar

from ingest.sandbox.cancellation import handle_time_requests
from paperscope_core.errors import PaperscopeError

__all__ = ["Frame", "JobHandler", "SendFrame", "main", "read_frame", "write_frame"]


_HEAD = struct.Struct(">cQ")


class Frame(NamedTuple):
    """One message."""

    kind: bytes
    data: bytes


def write_frame(pipe: BinaryIO, kind: bytes, data: bytes = b"") -> None:
    """Send a message; `kind` is one byte."""
    pipe.write(_HEAD.pack(kind, len(data)))
    pipe.write(data)
    pipe.flush()


def read_frame(pipe: BinaryIO) -> Frame | None:
    """The next message, None where the other side has gone."""
    head = pipe.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    kind, length = _HEAD.unpack(head)
    data = pipe.read(length)
    return Frame(kind, data) if len(data) == length else None


Job_contra = TypeVar("Job_contra", contravariant=True)
SendFrame = Callable[[bytes, bytes], None]


class JobHandler(Protocol[Job_contra]):
    """What a child does, job after job; it and its jobs can be pickled."""

    def __call__(self, job: Job_contra, send: SendFrame) -> None:
        """Do a job; what comes of it is sent in frames. Raises `PaperscopeError`."""
        ...


def main() -> None:
    """Take the work and its limit of memory from the input, then job after job; answer in frames.

    R: ready; T: how many times as long as usual the next step may take; E: an error's kind and message; the others are
    the work's own.
    """
    # What a library prints must not get among the frames.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # Ctrl-C ends the child at once, also inside a library that never comes back to Python.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    jobs = _jobs(sys.stdin.buffer)
    work, memory_mb = next(jobs)
    if memory_mb is not None:
        _limit_memory(memory_mb)
    write_frame(out, b"R")
    for job in jobs:
        _do(work, job, out)


def _jobs(pipe: BinaryIO) -> Iterator[Any]:
    """What the parent sends: its own, nothing from a stranger."""
    with suppress(EOFError):
        while True:
            yield pickle.load(pipe)  # noqa: S301


def _do(work: JobHandler[object], job: object, out: BinaryIO) -> None:
    def on_request(times: float) -> None:
        write_frame(out, b"T", json.dumps(times).encode())

    try:
        with handle_time_requests(on_request):
            work(job, lambda kind, data: write_frame(out, kind, data))
    except PaperscopeError as error:
        write_frame(out, b"E", json.dumps([type(error).__name__, str(error)]).encode())


def _limit_memory(megabytes: int) -> None:
    """Let this process take so much more than it has now; systems that can't limit memory are left alone."""
    try:
        import resource

        now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + megabytes * 1_000_000, resource.RLIM_INFINITY))
    except (ImportError, OSError, ValueError):
        return
