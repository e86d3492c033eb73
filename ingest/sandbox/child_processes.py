"""A pool of child processes with limits of time and memory."""

import json
import os
import pickle
import signal
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import IO, BinaryIO, Generic, TypeVar, cast

from ingest.sandbox.child_main import Frame, JobHandler, read_frame
from paperscope_core import errors
from paperscope_core.cancellation import on_cancel, waiting
from paperscope_core.errors import PaperFileError, PaperscopeError
from paperscope_core.processes import command_of

__all__ = ["ATTEMPTS", "ChildPool", "ChildProcess", "error_from_frame"]

ATTEMPTS = 5
"""How often a job is tried whose child another program ended."""

Job = TypeVar("Job")
Result = TypeVar("Result")

_START_SECONDS = 60.0  # Importing the libraries takes seconds on a busy machine.
_KEPT = 4  # As many as jobs that a worker does at once by default.
_JOBS_PER_CHILD = 50  # Limits the effect of memory leaks in the libraries.
# By which other programs, and the system when memory is short, end a process; a handler that crashes gets others.
_ENDING_SIGNALS = (signal.SIGKILL, signal.SIGTERM)


def _do_nothing() -> None:
    """Load nothing: what a child needs before its first job whose handler loads nothing."""


class ChildPool(Generic[Job]):
    """Child processes that run jobs with one handler.

    Some children are kept for the next jobs; one that failed, or has run many jobs, is replaced. While jobs run at
    once, a child is started ahead for the next one, so that it does not wait for a start.

    Args:
        handler: Runs the jobs; it is pickled.
        memory_mb: How much memory a child may take beyond what it starts with, where the system can limit it.
        environment: Environment variables added to the caller's.
        prepare: Called in each child before its first job, to load what every job needs; it is pickled.
    """

    def __init__(
        self,
        handler: JobHandler[Job],
        *,
        memory_mb: int | None,
        environment: Mapping[str, str] | None = None,
        prepare: Callable[[], None] = _do_nothing,
    ) -> None:
        self.memory_mb = memory_mb
        self._start_message = pickle.dumps((handler, memory_mb, prepare))
        self._environment = dict(environment or {})
        self._idle: list[ChildProcess[Job]] = []
        self._running = 0
        # Whether a child is being started ahead, and whether a job waits for it.
        self._starting = self._awaited = False
        self._changed = threading.Condition()

    @contextmanager
    def acquire(self) -> Iterator["ChildProcess[Job]"]:
        """Lend a child for the block, which only waits for it. It is killed at once if the work is cancelled.

        Raises:
            PaperFileError: The system starts no process.
        """
        with waiting():
            child = self._take()
            keep = False
            try:
                with on_cancel(child.kill):
                    yield child
                keep = child.jobs < _JOBS_PER_CHILD and child.is_running
            finally:
                self._release(child, keep=keep)

    def attempt(self, work: "Callable[[ChildProcess[Job]], Result | None]") -> Result | None:
        """Return what `work` returns with a child.

        None stands for a child that another program ended: `work` is then called with another child, five times at
        most.
        """
        for _ in range(ATTEMPTS):
            with self.acquire() as child:
                result = work(child)
            if result is not None:
                return result
        return None

    def run(self, job: Job, *, within: float, failed: str) -> bytes:
        """Return the data of a job whose only frame is its result.

        Args:
            within: How many seconds it may take.
            failed: What to say if it takes longer (`limits.parse_seconds`), or the child fails.

        Raises:
            PaperFileError: The child failed, or took too long.
            PaperscopeError: The handler raised it.
        """
        died = "the process failed, or took too much memory (limits.memory_mb)"

        def work(child: ChildProcess[Job]) -> Frame | None:
            child.send(job)
            frame = child.receive(within=within)
            if frame is None and not child.ended_from_outside:
                late = f"it took longer than {within:g} seconds (limits.parse_seconds)"
                raise PaperFileError(f"{failed}: {late if child.expired else died}")
            return frame

        frame = self.attempt(work)
        if frame is None:
            raise PaperFileError(f"{failed}: {died}")
        if frame.kind == b"E":
            raise error_from_frame(frame)
        return frame.data

    def _take(self) -> "ChildProcess[Job]":
        with self._changed:
            if not self._idle and self._starting and not self._awaited:
                self._awaited = True
                self._changed.wait_for(lambda: bool(self._idle) or not self._starting)
                self._awaited = False
            child = self._idle.pop() if self._idle else None
        child = child or self._start()
        with self._changed:
            self._running += 1
            self._start_ahead(running=self._running)
        return child

    def _release(self, child: "ChildProcess[Job]", *, keep: bool) -> None:
        with self._changed:
            self._running -= 1
            if keep := keep and len(self._idle) < _KEPT:
                self._idle.append(child)
                self._changed.notify_all()
            # As if the next job had begun.
            self._start_ahead(running=self._running + 1)
        if not keep:
            child.close()

    def _start(self) -> "ChildProcess[Job]":
        return ChildProcess(self._start_message, environment=self._environment)

    def _start_ahead(self, *, running: int) -> None:
        """Start a child in a thread if jobs run at once and no child is idle. The lock must be held."""
        if running > 1 and not self._idle and not self._starting:
            threading.Thread(target=self._add_idle, name="start a child process", daemon=True).start()
            self._starting = True

    def _add_idle(self) -> None:
        child = None
        # A child that can't be started is the error of a job that needs one.
        with suppress(PaperFileError):
            child = self._start()
        with self._changed:
            self._starting = False
            if child is not None:
                self._idle.append(child)
            self._changed.notify_all()


class ChildProcess(Generic[Job]):
    """A running child process.

    `expired` is true if it was killed because it exceeded its time limit; `time_limit` is the last limit.
    """

    def __init__(self, start_message: bytes, *, environment: Mapping[str, str]) -> None:
        self.jobs = 0
        self.expired = self.killed = False
        self.time_limit = 0.0
        self._process, self._stderr = _start_process(environment)
        self._input = cast("IO[bytes]", self._process.stdin)
        self._output = cast("BinaryIO", self._process.stdout)
        self._finalizer = weakref.finalize(self, _close, self._process, self._stderr)
        with suppress(OSError):
            self._input.write(start_message)
            self._input.flush()
        self.receive(within=_START_SECONDS)

    def send(self, job: Job) -> None:
        """Start a job."""
        self.jobs += 1
        # `receive` notices a child that has exited. The bytes of a large file go to the pipe without a copy.
        with suppress(OSError):
            pickle.dump(job, self._input)
            self._input.flush()

    def receive(self, *, within: float) -> Frame | None:
        """Return the child's next frame, None if it failed or was killed for taking too long.

        The limit is `within` seconds, or the multiple of it that the child asks for (`extend_time_limit`).
        """
        self.time_limit = within
        while True:
            with self._watched(self.time_limit):
                frame = read_frame(self._output)
            if frame is None or frame.kind != b"T":
                return frame
            self.time_limit = within * json.loads(frame.data)

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

    @property
    def is_running(self) -> bool:
        """Whether the child can take a further job."""
        return not self.killed and self._process.poll() is None

    @property
    def ended_from_outside(self) -> bool:
        """Whether another program, or the system when memory is short, ended the child that sent no further frame."""
        return not self.killed and -self._process.wait() in _ENDING_SIGNALS

    def kill(self) -> None:
        """Kill the child, even while another thread reads from it."""
        self.killed = True
        self._process.kill()

    def exit_status(self) -> tuple[int, str]:
        """Return the exit code of a child that has ended, and the last line of its error output."""
        code = self._process.wait()
        self._stderr.seek(0)
        lines = self._stderr.read().decode("utf-8", "replace").strip().splitlines()
        return code, lines[-1] if lines else ""

    def close(self) -> None:
        """End the child and release its pipes."""
        self._finalizer()


def error_from_frame(frame: Frame) -> PaperscopeError:
    """Rebuild the error that a frame of the kind E carries."""
    name, message = json.loads(frame.data)
    known = getattr(errors, name, PaperFileError) if name in errors.__all__ else PaperFileError
    error: PaperscopeError = known(message)
    return error


def _start_process(environment: Mapping[str, str]) -> "tuple[subprocess.Popen[bytes], IO[bytes]]":
    """Return a process that waits for its start message, and the file of its error output."""
    with ExitStack() as opened:
        try:
            stderr = opened.enter_context(tempfile.TemporaryFile())
            process = subprocess.Popen(  # noqa: S603
                command_of("ingest.sandbox.child_main"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env={**os.environ, **environment},
            )
        except OSError as error:
            raise PaperFileError(
                f"the system starts no process to read it ({error.strerror or error}); end other programs, or read "
                "fewer papers at once, and try again"
            ) from error
        opened.pop_all()  # `_close` closes it.
    return process, stderr


def _close(process: "subprocess.Popen[bytes]", stderr: IO[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout, stderr):
        with suppress(OSError):
            pipe.close()  # type: ignore[union-attr] # both pipes were asked for
