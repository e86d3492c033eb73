"""Renders single pages in a child process, since a malicious page may crash, stall or bloat a library."""

import math
import threading
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from ingest.export.drawing import Mark, draw_marks
from ingest.page_images import open_page_images
from ingest.sandbox.child_processes import ChildPool, error_from_frame
from ingest.sandbox.worker import SendFrame
from paperscope_core.errors import InputError, PaperFileError
from paperscope_core.settings import LimitSettings, ParserSettings
from paperscope_core.types import Box, Page, Paper

__all__ = ["PageRenderer", "page_renderer"]


_MOST_PIXELS = 20_000_000
_DPI = range(18, 601)
_AT_ONCE = 2
_MARKED = (216, 84, 0)


@dataclass(frozen=True, kw_only=True, slots=True)
class _RenderJob:
    """A page to be drawn: `paper` holds no elements, so that it is soon sent."""

    file: Path
    paper: Paper
    page: Page
    dpi: int
    boxes: tuple[Box, ...]
    password: str | None


@dataclass(frozen=True, slots=True)
class _RenderHandler:
    """The child's work. A: the picture."""

    settings: ParserSettings

    def __call__(self, job: _RenderJob, send: SendFrame) -> None:
        with open_page_images(job.file, job.paper, settings=self.settings, password=job.password) as pictures:
            picture = pictures.picture(job.page, dpi=job.dpi)
        marks = [Mark(box=box, color=_MARKED) for box in job.boxes]
        send(b"A", draw_marks(picture, marks, width=job.page.width) if marks else picture)


class PageRenderer:
    """Draws pages with the limits of time and memory that reading them has; two at once, others wait."""

    def __init__(self, settings: ParserSettings, limits: LimitSettings) -> None:
        self._children = ChildPool(_RenderHandler(settings), memory_mb=limits.parse_memory_mb)
        self._seconds = limits.parse_seconds
        self._places = threading.BoundedSemaphore(_AT_ONCE)

    def draw(
        self, file: Path, paper: Paper, page: int, *, dpi: int, boxes: tuple[Box, ...] = (), password: str | None = None
    ) -> bytes:
        """A page of `paper`, which was read from `file`, as PNG, with these boxes (points) marked.

        A page that would take more than 20 million pixels is drawn at a lower resolution. Raises InputError for a page
        that is not there and a resolution out of bounds, PaperFileError where there are no pages, or none can be drawn.
        """
        if dpi not in _DPI:
            raise InputError(f"dpi = {dpi} is out of bounds; ask for {_DPI[0]} to {_DPI[-1]}")
        found = next((one for one in paper.pages if one.number == page), None)
        if found is None:
            raise InputError(f"{paper.file!r} has no page {page}; ask for 1 to {len(paper.pages)}")
        light = replace(paper, elements=(), links=(), sections=(), problems=())
        wanted = _RenderJob(
            file=file.absolute(),
            paper=light,
            page=found,
            dpi=_within(found, dpi),
            boxes=boxes,
            password=password,
        )
        with self._places, self._children.one() as child:
            child.send(wanted)
            frame = child.next(within=self._seconds)
            if frame is None:
                raise self._failure(paper, page, expired=child.expired)
        if frame.kind == b"E":
            raise error_from_frame(frame)
        return frame.data

    def _failure(self, paper: Paper, page: int, *, expired: bool) -> PaperFileError:
        why = (
            f"it took longer than {self._seconds:g} seconds (limits.parse_seconds)"
            if expired
            else "the library that draws it failed, or took too much memory (limits.parse_memory_mb)"
        )
        return PaperFileError(f"page {page} of {paper.file!r} can't be drawn: {why}")


def _within(page: Page, dpi: int) -> int:
    """The resolution, or the highest one at which the page has not too many pixels."""
    inches = max(page.width / 72, 1 / 72) * max(page.height / 72, 1 / 72)
    return max(1, min(dpi, math.floor(math.sqrt(_MOST_PIXELS / inches))))


@lru_cache(maxsize=1)
def page_renderer(settings: ParserSettings, limits: LimitSettings) -> PageRenderer:
    """One for all libraries with the same settings, so that they share its child processes."""
    return PageRenderer(settings, limits)
