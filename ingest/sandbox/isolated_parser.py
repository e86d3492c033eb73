"""Parses in a child process, so that a crash or stall caused by a file does not affect the caller."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from ingest.sandbox.child_main import Frame, SendFrame
from ingest.sandbox.child_processes import ATTEMPTS, ChildPool, ChildProcess, error_from_frame
from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import PaperFileError
from paperscope_core.protocols import PageCallback, Parser
from paperscope_core.types import Paper, PaperFile, ParsedPaper

__all__ = ["IsolatedParser"]

# How Python, NumPy, C++ and the system report a lack of memory.
_OUT_OF_MEMORY = ("MemoryError", "bad_alloc", "Cannot allocate memory")
# Assembling a paper after its last page takes at most this long for each page.
_ASSEMBLY_SECONDS_PER_PAGE = 1.0


def _parse(parser: Parser, file: PaperFile, send: SendFrame) -> None:
    """Run in the child process. Frames: P, pages done and in total; C, a crop's name and bytes; A, the paper."""

    def on_page(done: int, total: int) -> None:
        send(b"P", json.dumps([done, total]).encode())

    parsed = parser.parse(file, on_page=on_page)
    for name, data in parsed.crops.items():
        send(b"C", name.encode() + b"\n" + data)
    send(b"A", to_json(parsed.paper).encode())


class IsolatedParser:
    """Wraps a picklable parser: each file is read in a child process with limits.

    The child is kept for the next file; one that failed, or has read many files, is replaced.

    Args:
        seconds: The time limit of a step: opening the file, reading a page, rendering the crops of a page. A step may
            ask for more (`extend_time_limit`), as text recognition does.
        memory_mb: How much memory the child may take beyond what it starts with, where the system can limit it.
        environment: Environment variables added to the caller's.
    """

    def __init__(
        self,
        parser: Parser,
        *,
        seconds: float,
        memory_mb: int | None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._children = ChildPool(partial(_parse, parser), memory_mb=memory_mb, environment=environment)
        self._seconds = seconds

    def parse(self, file: PaperFile, *, on_page: PageCallback | None = None) -> ParsedPaper:
        """See `Parser.parse`; a child that crashes, stalls or takes too much memory raises `PaperFileError`.

        A file whose child another program ended is read again, four times at most.
        """
        result = self._children.attempt(lambda child: self._result(child, file, on_page))
        if result is None:
            raise PaperFileError(
                f"{file.name!r} could not be read: the process that reads it was ended {ATTEMPTS} times from outside, "
                "as the system does when memory is short. Close other programs, and add it again."
            )
        frame, crops = result
        if frame.kind == b"E":
            raise error_from_frame(frame)
        return ParsedPaper(paper=from_json(Paper, frame.data), crops=crops)

    def _result(
        self, child: ChildProcess[PaperFile], file: PaperFile, on_page: PageCallback | None
    ) -> tuple[Frame, dict[str, bytes]] | None:
        """Return the last frame, and the crops before it; None if another program ended the child."""
        child.send(replace(file, path=file.path.absolute()))
        crops: dict[str, bytes] = {}
        where, seconds = "at page 1", self._seconds
        while True:
            frame = child.receive(within=seconds)
            if frame is None and child.ended_from_outside:
                return None
            if frame is None:
                raise self._failure(child, file, where=where)
            if frame.kind == b"P":
                done, total = json.loads(frame.data)
                where, seconds = f"at page {done + 1}", self._seconds
                if done >= total:
                    where, seconds = "after its last page", self._seconds + _ASSEMBLY_SECONDS_PER_PAGE * total
                if on_page:
                    on_page(done, total)
            elif frame.kind == b"C":
                name, _, data = frame.data.partition(b"\n")
                crops[name.decode()] = data
            else:
                return frame, crops

    def _failure(self, child: ChildProcess[PaperFile], file: PaperFile, *, where: str) -> PaperFileError:
        code, message = child.exit_status()
        if child.expired:
            return PaperFileError(
                f"{file.name!r} was given up: a step of reading it, {where}, took longer than "
                f"{child.time_limit:g} seconds. Raise limits.parse_seconds, or fetch the file again."
            )
        if any(word in message for word in _OUT_OF_MEMORY):
            return PaperFileError(
                f"{file.name!r} was given up: reading it takes more than {self._children.memory_mb} MB of memory. "
                "Raise limits.memory_mb, or fetch the file again."
            )
        reason = f"signal {-code}" if code < 0 else message or f"exit code {code}"
        return PaperFileError(
            f"{file.name!r} made the parser fail {where} ({reason}). Fetch the file again; if that doesn't help, "
            "report it with the file."
        )
