"""Parsing in a child process, so that a file that crashes or stalls a library leaves the caller alone."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ingest.sandbox.child_processes import ChildPool, ChildProcess, error_from_frame
from ingest.sandbox.worker import SendFrame
from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import PaperFileError, PaperscopeError
from paperscope_core.protocols import Parser
from paperscope_core.types import Paper, ParsedPaper

__all__ = ["IsolatedParser"]


_AFTER = "after its last page"
# What Python, NumPy, C++ and the system say.
_NO_MEMORY = ("MemoryError", "bad_alloc", "Cannot allocate memory")


@dataclass(frozen=True, kw_only=True, slots=True)
class _ParseJob:
    path: Path
    password: str | None


@dataclass(frozen=True, slots=True)
class _ParseHandler:
    """The child's work. P: pages done and in all; C: a crop's name and bytes; A: the paper."""

    parser: Parser

    def __call__(self, job: _ParseJob, send: SendFrame) -> None:
        def on_page(done: int, total: int) -> None:
            send(b"P", json.dumps([done, total]).encode())

        parsed = self.parser.parse(job.path, password=job.password, on_page=on_page)
        for name, data in parsed.crops.items():
            send(b"C", name.encode() + b"\n" + data)
        send(b"A", to_json(parsed.paper).encode())


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
        self._children = ChildPool(_ParseHandler(parser), memory_mb=memory_mb, environment=environment)
        self._seconds = seconds
        self._setting = setting

    def parse(
        self, file: Path, *, password: str | None = None, on_page: Callable[[int, int], None] | None = None
    ) -> ParsedPaper:
        """See `Parser.parse`; a child that crashes, stalls or takes too much memory is a `PaperFileError`.

        Where the work is given up (`ingest.sandbox.cancellation`), the child is killed at once.
        """
        with self._children.one() as child:
            parsed = self._answer(child, file, password=password, on_page=on_page)
        if isinstance(parsed, PaperscopeError):
            raise parsed
        return parsed

    def _answer(
        self,
        child: ChildProcess[_ParseJob],
        file: Path,
        *,
        password: str | None,
        on_page: Callable[[int, int], None] | None,
    ) -> ParsedPaper | PaperscopeError:
        child.send(_ParseJob(path=file.absolute(), password=password))
        crops: dict[str, bytes] = {}
        where, seconds = "at page 1", self._seconds
        while True:
            frame = child.next(within=seconds)
            if frame is None:
                raise self._failure(child, file, where=where)
            if frame.kind == b"P":
                done, total = json.loads(frame.data)
                read = done >= total
                where, seconds = _AFTER if read else f"at page {done + 1}", self._seconds + (total if read else 0)
                if on_page:
                    on_page(done, total)
            elif frame.kind == b"C":
                name, _, data = frame.data.partition(b"\n")
                crops[name.decode()] = data
            elif frame.kind == b"E":
                return error_from_frame(frame)
            else:
                return ParsedPaper(paper=from_json(Paper, frame.data), crops=crops)

    def _failure(self, child: ChildProcess[_ParseJob], file: Path, *, where: str) -> PaperFileError:
        code, said = child.last_words()
        if child.expired:
            return PaperFileError(
                f"{file.name!r} was given up: a step of reading it, {where}, took longer than "
                f"{child.waited:g} seconds. Raise {self._setting}, or fetch the file again."
            )
        if any(word in said for word in _NO_MEMORY):
            return PaperFileError(
                f"{file.name!r} was given up: reading it takes more than {self._children.memory_mb} MB of memory. "
                "Raise limits.parse_memory_mb, or fetch the file again."
            )
        why = f"signal {-code}" if code < 0 else said or f"exit code {code}"
        return PaperFileError(
            f"{file.name!r} made the parser fail {where} ({why}). Fetch the file again; if that doesn't help, "
            "report it with the file, and read a PDF with the other parser.backend."
        )
