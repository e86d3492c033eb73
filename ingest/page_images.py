"""Images of the pages of a paper's file, rendered in this process or in a sandboxed child process."""

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from ingest.document.pages import Document, PageReadError
from ingest.document.source import read_file
from ingest.export.drawing import Mark, RenderPage, draw_marks
from ingest.pdf import PdfBackend
from ingest.pdf.salvage import salvaged
from ingest.readers.image_files import ImageBackend
from ingest.sandbox.child_main import SendFrame
from ingest.sandbox.child_processes import ChildPool
from paperscope_core.errors import InputError, PaperFileError
from paperscope_core.settings import LimitSettings
from paperscope_core.types import Box, Page, Paper, PaperFile

__all__ = ["PageRenderer", "open_page_images", "page_renderer"]

# Bounds the memory that one request can take; A4 at 600 dpi has 35 million pixels.
_MAX_PIXELS = 20_000_000
_DPI = range(18, 601)
_CHILDREN = 2
_HIGHLIGHT = (216, 84, 0)


@contextmanager
def open_page_images(file: PaperFile, paper: Paper) -> Iterator[RenderPage]:
    """Render the pages of `paper`, which was read from `file`.

    Raises:
        PaperFileError: The file has no pages, or can't be opened.
    """
    if not paper.has_page_images:
        raise PaperFileError(f"{file.name!r} has no pages to look at: it is {paper.format}")
    data = read_file(file)
    backend = ImageBackend() if paper.format == "image" else PdfBackend()
    data = data if paper.format == "image" else salvaged(data)
    with backend.open(data, name=file.name, password=file.password) as document:
        yield partial(_page_image, file, document)


def _page_image(file: PaperFile, document: Document, page: Page, dpi: int) -> bytes:
    try:
        (image,) = document.render(page.number, [Box(0.0, 0.0, page.width, page.height)], dpi=dpi)
    except PageReadError as error:
        raise PaperFileError(f"page {page.number} of {file.name!r} can't be drawn: {error}") from error
    return image


@dataclass(frozen=True, kw_only=True, slots=True)
class _RenderJob:
    """A page to render; `paper` holds no elements, so that the job is small."""

    file: PaperFile
    paper: Paper
    page: Page
    dpi: int
    boxes: tuple[Box, ...]


def _render(job: _RenderJob, send: SendFrame) -> None:
    """Run in the child process. Frame A: the image."""
    with open_page_images(job.file, job.paper) as render:
        image = render(job.page, job.dpi)
    marks = [Mark(box=box, color=_HIGHLIGHT) for box in job.boxes]
    send(b"A", draw_marks(image, marks, width=job.page.width) if marks else image)


class PageRenderer:
    """Renders pages in child processes, with the time and memory limits of parsing; at most two at once."""

    def __init__(self, limits: LimitSettings) -> None:
        self._children = ChildPool(_render, memory_mb=limits.parse_memory_mb)
        self._seconds = limits.parse_seconds
        self._slots = threading.BoundedSemaphore(_CHILDREN)

    def draw(self, file: PaperFile, paper: Paper, page: int, *, dpi: int, boxes: tuple[Box, ...] = ()) -> bytes:
        """Render a page of `paper`, which was read from `file`, as PNG, with these boxes (in points) highlighted.

        A page that would take more than 20 million pixels is rendered at a lower resolution.

        Raises:
            InputError: There is no such page, or `dpi` is out of bounds.
            PaperFileError: The file has no pages, or the page can't be rendered.
        """
        if dpi not in _DPI:
            raise InputError(f"dpi = {dpi} is out of bounds; ask for {_DPI[0]} to {_DPI[-1]}")
        found = next((one for one in paper.pages if one.number == page), None)
        if found is None:
            raise InputError(f"{paper.file!r} has no page {page}; ask for 1 to {len(paper.pages)}")
        job = _RenderJob(
            file=replace(file, path=file.path.absolute()),
            paper=replace(paper, elements=(), links=(), sections=(), problems=()),
            page=found,
            dpi=_bounded(dpi, found),
            boxes=boxes,
        )
        with self._slots:
            return self._children.run(job, within=self._seconds, failed=f"page {page} of {paper.file!r} can't be drawn")


def _bounded(dpi: int, page: Page) -> int:
    """Return the resolution, lowered where the page would have too many pixels."""
    square_inches = max(page.width / 72, 1 / 72) * max(page.height / 72, 1 / 72)
    return max(1, min(dpi, math.floor(math.sqrt(_MAX_PIXELS / square_inches))))


@lru_cache(maxsize=1)
def page_renderer(limits: LimitSettings) -> PageRenderer:
    """Return the renderer shared by all libraries with the same limits, so that they share its child processes."""
    return PageRenderer(limits)
