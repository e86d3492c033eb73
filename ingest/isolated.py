"""Parsing in a child process, so that a file that crashes or stalls a PDF library leaves the caller alone."""

import json
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO, cast

from ingest.frames import Frame, read_frame
from ingest.stopping import when_stopped
from paperscope import errors
from paperscope.codec import from_json
from paperscope.errors import PaperFileError, PaperscopeError
from paperscope.protocols import Parser
from paperscope.types import Paper, ParsedPaper

__all__ = ["IsolatedParser"]

_STARTING = 60.0
_JOBS = 50
_AFTER = "after its last page"
_START = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from ingest.isolated_child import main; main()"


class IsolatedParser:
    """Round a parser that can be pickled: each file is read in a child process with limits.

    `seconds` is the longest that a step may take: opening the file, reading a page, cutting out the pictures of one;
    `setting` names what sets it. Putting the paper together may take a second a page more, and a step may ask for more
    time (`ingest.patience`), as the recognition of a page's text does. `memory_mb` is how much memory the child may
    take beyond what it starts with, where the system can limit it. `environment` is what the child has beside the
    caller's. The child is kept for the next file; one that failed, or has read many, is replaced.
    """

    def __init__(
        self,
        parser: Parser,
        *,
        seconds: float,
        memory_mb: int | None,
        setting: str = "limits.parse_seconds",
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._parser = parser
        self._seconds = seconds
        self._memory_mb = memory_mb
        self._setting = setting
        self._environment = dict(environment or {})
        self._idle: list[_Child] = []
        self._lock = threading.Lock()

    def parse(
        self, file: Path, *, password: str | None = None, on_page: Callable[[int, int], None] | None = None
    ) -> ParsedPaper:
        """See `Parser.parse`; a child that crashes, stalls or takes too much memory is a `PaperFileError`.

        Where the work is given up (`ingest.stopping`), the child is killed at once.
        """
        with self._lock:
            child = self._idle.pop() if self._idle else None
        child = child or _Child(self._parser, memory_mb=self._memory_mb, environment=self._environment)
        try:
            with when_stopped(child.kill):
                parsed = self._answer(child, file, password=password, on_page=on_page)
        except BaseException:
            child.stop()
            raise
        with self._lock:
            if child.jobs < _JOBS and not child.killed and not self._idle:
                self._idle.append(child)
                return _result(parsed)
        child.stop()
        return _result(parsed)

    def _answer(
        self, child: "_Child", file: Path, *, password: str | None, on_page: Callable[[int, int], None] | None
    ) -> ParsedPaper | PaperscopeError:
        child.send(file, password=password)
        crops: dict[str, bytes] = {}
        where, seconds = "at page 1", self._seconds
        while True:
            frame = child.next(within=seconds)
            if frame is None:
                raise self._failure(child, file, where=where, seconds=seconds)
            if frame.kind == b"P":
                done, total = json.loads(frame.data)
                read = done >= total
                where, seconds = _AFTER if read else f"at page {done + 1}", self._seconds + (total if read else 0)
                if on_page:
                    on_page(done, total)
            elif frame.kind == b"T":
                seconds = self._seconds * json.loads(frame.data)
            elif frame.kind == b"C":
                name, _, data = frame.data.partition(b"\n")
                crops[name.decode()] = data
            elif frame.kind == b"E":
                return _error(*json.loads(frame.data))
            else:
                return ParsedPaper(paper=from_json(Paper, frame.data), crops=crops)

    def _failure(self, child: "_Child", file: Path, *, where: str, seconds: float) -> PaperFileError:
        code, said = child.last_words()
        if child.expired:
            return PaperFileError(
                f"{file.name!r} was given up: a step of reading it, {where}, took longer than "
                f"{seconds:g} seconds. Raise {self._setting}, or fetch the file again."
            )
        if said.startswith("MemoryError"):
            return PaperFileError(
                f"{file.name!r} was given up: reading it takes more than {self._memory_mb} MB of memory. "
                "Raise limits.parse_memory_mb, or fetch the file again."
            )
        why = f"signal {-code}" if code < 0 else said or f"exit code {code}"
        return PaperFileError(
            f"{file.name!r} made the parser fail {where} ({why}). Fetch the file again; if that doesn't help, "
            "set the other parser.backend, and report it with the file."
        )


def _result(parsed: ParsedPaper | PaperscopeError) -> ParsedPaper:
    if isinstance(parsed, PaperscopeError):
        raise parsed
    return parsed


def _error(kind: str, message: str) -> PaperscopeError:
    known = getattr(errors, kind, PaperFileError) if kind in errors.__all__ else PaperFileError
    error: PaperscopeError = known(message)
    return error


class _Child:
    """A running child process."""

    def __init__(self, parser: Parser, *, memory_mb: int | None, environment: Mapping[str, str]) -> None:
        self.jobs = 0
        self.expired = self.killed = False
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
        self._write(pickle.dumps((parser, memory_mb)))
        self.next(within=_STARTING)

    def send(self, file: Path, *, password: str | None) -> None:
        """Ask for a file."""
        self.jobs += 1
        self._write(json.dumps({"file": str(file.absolute()), "password": password}).encode() + b"\n")

    def _write(self, data: bytes) -> None:
        # A child that is gone is noticed when it is read.
        try:
            self._input.write(data)
            self._input.flush()
        except OSError:
            return

    def next(self, *, within: float) -> Frame | None:
        """The child's next frame, None where it failed or was stopped for its time."""
        with self._watched(within):
            return read_frame(self._output)

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
