"""Extracts by rules in a child process, so that a hostile paper takes no processor time from the caller's threads."""

from collections.abc import Callable, Sequence
from functools import partial

from ingest.sandbox.child_processes import ChildPool, error_from_frame
from ingest.sandbox.worker import SendFrame
from ner.examples import Example
from paperscope_core.cancellation import run_in_thread
from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import PaperFileError
from paperscope_core.settings import LimitSettings
from paperscope_core.types import Chunk, Extraction, Paper

__all__ = ["IsolatedExtractor"]

# The time limit of a page counts once for so many letters: five pages. A short paper has it that often, too.
_LETTERS, _LEAST = 15_000, 4.0


Draw = Callable[[Paper, Sequence[Example]], Extraction]
"""Extracts from a paper and what a recognizer found in it."""


def _extract(draw: Draw, given: tuple[Paper, Sequence[Example]], send: SendFrame) -> None:
    """Runs in the child process. Frame A: the extraction."""
    send(b"A", to_json(draw(*given)).encode())


class IsolatedExtractor:
    """Wraps a picklable function: each paper is read in a child process with the limits of parsing.

    `prepare` loads in each child what the function needs; see `ChildPool`.
    """

    def __init__(self, draw: Draw, limits: LimitSettings, *, prepare: Callable[[], None]) -> None:
        self._children = ChildPool(partial(_extract, draw), memory_mb=limits.parse_memory_mb, prepare=prepare)
        self._seconds = limits.parse_seconds

    async def extract(self, paper: Paper, chunks: Sequence[Chunk], found: Sequence[Example] = ()) -> Extraction:
        """Returns what the function extracts. Raises PaperFileError if the child fails, or takes too long."""
        seconds = self._seconds * max(_LEAST, sum(len(chunk.text) for chunk in chunks) / _LETTERS)
        return await run_in_thread(partial(self._extract, paper, found, seconds))

    def _extract(self, paper: Paper, found: Sequence[Example], seconds: float) -> Extraction:
        with self._children.acquire() as child:
            child.send((paper, found))
            frame = child.receive(within=seconds)
            if frame is None:
                late = f"it took longer than {seconds:.0f} seconds (limits.parse_seconds)"
                failed = "the process failed, or took too much memory (limits.parse_memory_mb)"
                reason = late if child.expired else failed
                raise PaperFileError(f"the entities of {paper.file!r} can't be extracted: {reason}")
        if frame.kind == b"E":
            raise error_from_frame(frame)
        return from_json(Extraction, frame.data)
