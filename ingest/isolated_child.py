"""The child process of `ingest.isolated`: parses file after file until its input ends."""

import json
import os
import pickle
import signal
import sys
from pathlib import Path
from typing import BinaryIO

from ingest.frames import write_frame
from ingest.patience import heard_by
from paperscope.codec import to_json
from paperscope.errors import PaperscopeError
from paperscope.protocols import Parser

__all__ = ["main"]


def main() -> None:
    """Take a parser and its limit of memory from the input, then a file a line; answer in frames.

    R: ready; P: pages done and in all; T: how many times as long as usual the next step may take; C: a crop's name and
    bytes; A: the paper; E: an error's kind and message.
    """
    # What a library prints must not get among the frames.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # Ctrl-C ends the child at once, also inside a library that never comes back to Python.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # The input is the parent's own, nothing from a stranger.
    parser, memory_mb = pickle.load(sys.stdin.buffer)  # noqa: S301
    if memory_mb is not None:
        _limit_memory(memory_mb)
    write_frame(out, b"R")
    for line in sys.stdin.buffer:
        _answer(parser, json.loads(line), out)


def _answer(parser: Parser, job: dict[str, str | None], out: BinaryIO) -> None:
    def on_page(done: int, total: int) -> None:
        write_frame(out, b"P", json.dumps([done, total]).encode())

    def on_request(times: float) -> None:
        write_frame(out, b"T", json.dumps(times).encode())

    try:
        with heard_by(on_request):
            parsed = parser.parse(Path(job["file"] or ""), password=job["password"], on_page=on_page)
    except PaperscopeError as error:
        write_frame(out, b"E", json.dumps([type(error).__name__, str(error)]).encode())
        return
    for name, data in parsed.crops.items():
        write_frame(out, b"C", name.encode() + b"\n" + data)
    write_frame(out, b"A", to_json(parsed.paper).encode())


def _limit_memory(megabytes: int) -> None:
    """Let this process take so much more than it has now; systems that can't limit memory are left alone."""
    try:
        import resource

        now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + megabytes * 1_000_000, resource.RLIM_INFINITY))
    except (ImportError, OSError, ValueError):
        return
