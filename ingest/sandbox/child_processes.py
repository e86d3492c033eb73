"""A pool of child processes with limits of time and memory."""

import json
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import IO, BinaryIO, Generic, TypeVar, cast

from ingest.sandbox.cancellation import on_cancel
from ingest.sandbox.worker import Frame, JobHandler, read_frame
from paperscope_core import errors
from paperscope_core.errors import PaperFileError, PaperscopeError

__all__ = ["ChildPool", "ChildProcess", "error_from_frame"]


Job = TypeVar("Job")

_STARTING = 60.0
_JOBS = 50
_START = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from ingest.sandbox.worker import main; main()"


class ChildPool(Generic[Job]):
    """Child processes for `work`, which is pickled.

    `memory_mb` is how much memory a child may take beyond what it starts with, where the system can limit it.
    `environment` is what it has beside the caller's. A child is kept for the next job; one that failed, or has done
    many, is replaced.
    """

    def __init__(
        self, work: JobHandler[Job], *, memory_mb: int | None, environment: Mapping[str, str] | None = None
    ) -> None:
        self.memory_mb = memory_mb
        self._work = work
        self._environment = dict(environment or {})
        self._idle: list[ChildProcess[Job]] = []
        self._lock = threading.Lock()

    @contextmanager
    def one(self) -> Iterator["ChildProcess[Job]"]:
        """A child for the block; where the work is given up (`ingest.sandbox.cancellation`), it is killed at once."""
        with self._lock:
            child = self._idle.pop() if self._idle else None
        child = child or ChildProcess(self._work, memory_mb=self.memory_mb, environment=self._environment)
        try:
            with on_cancel(child.kill):
                yield child
        except BaseException:
            child.stop()
            raise
        with self._lock:
            if child.jobs < _JOBS and not child.killed and not self._idle:
                self._idle.append(child)
                return
        child.stop()


def error_from_frame(frame: Frame) -> PaperscopeError:
    """The error that a frame of the kind E tells."""
    kind, message = json.loads(frame.data)
    known = getattr(errors, kind, PaperFileError) if kind in errors.__all__ else PaperFileError
    error: PaperscopeError = known(message)
    return error


class ChildProcess(Generic[Job]):
    """A running child process that does one kind of work, job after job."""

    def __init__(self, work: JobHandler[Job], *, memory_mb: int | None, environment: Mapping[str, str]) -> None:
        self.jobs = 0
        self.expired = self.killed = False
        self.waited = 0.0
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 # closed in `_stop`
        self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", _START, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env={**os.environ, **environment},
        )
        self._input = cast("IO[bytes]", self._process.stdin)
        self._output = cast("BinaryIO", self._process.stdout)
        self._finish = weakref.finalize(self, _stop, self._process, self._said)
        self._write(pickle.dumps((work, memory_mb)))
        self.next(within=_STARTING)

    def send(self, job: Job) -> None:
        """Ask for a job."""
        self.jobs += 1
        self._write(pickle.dumps(job))

    def _write(self, data: bytes) -> None:
        # A child that is gone is noticed when it is read.
        try:
            self._input.write(data)
            self._input.flush()
        except OSError:
            return

    def next(self, *, within: float) -> Frame | None:
        """The child's next frame, None where it failed or was stopped for its time: `within` seconds, or as many times
        that as it asks for. How many they were at last is in `waited`."""
        self.waited = within
        while True:
            with self._watched(self.waited):
                frame = read_frame(self._output)
            if frame is None or frame.kind != b"T":
                return frame
            self.waited = within * json.loads(frame.data)

    @contextmanager
    def _watched(self, seconds: float) -> Iterator[None]:
        timer = threading.Timer(seconds, self._expire)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _expire(self) -> None:
        self.expired = True
        self.kill()

    def kill(self) -> None:
        """End the child at once, also while it is read by another thread."""
        self.killed = True
        self._process.kill()

    def last_words(self) -> tuple[int, str]:
        """The exit code of a child that is gone, and the last line of its error output."""
        code = self._process.wait()
        self._said.seek(0)
        lines = self._said.read().decode("utf-8", "replace").strip().splitlines()
        return code, lines[-1] if lines else ""

    def stop(self) -> None:
        """End the child."""
        self._finish()


def _stop(process: "subprocess.Popen[bytes]", said: IO[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout, said):
        with suppress(OSError):
            pipe.close()  # type: ignore[union-attr] # both pipes were asked for
