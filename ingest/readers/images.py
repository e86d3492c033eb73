"""Image files (PNG, JPEG, TIFF, WebP, BMP) to papers: each frame is a page whose text is recognised."""

import hashlib
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from ingest.document.assembly import Draft, assemble_paper
from ingest.document.crops import add_crops
from ingest.document.pages import OutlineEntry, PageContent, PageReadError
from ingest.document.source import read_file
from ingest.ocr import OcrBackend, Recognition
from ingest.pdf.parser import read_document
from paperscope_core.errors import PaperFileError
from paperscope_core.types import Box, Element, Figure, Page, Paper, ParsedPaper, Place

__all__ = ["ImageBackend", "ImageParser", "is_image"]


_FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "BMP")
_SIGNATURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\0", b"MM\0*", b"II+\0", b"MM\0+", b"BM")
_MOST_PIXELS = 120_000_000
_LIMIT = f"{_MOST_PIXELS // 1_000_000} million"
_SCREEN = 0.75
_A4_LONG = 841.9
_SANE = (100.0, 1500.0)
_FAILURES = (OSError, EOFError, ValueError, SyntaxError, TypeError, KeyError, IndexError, Image.DecompressionBombError)


def is_image(head: bytes) -> bool:
    """Whether the first bytes of a file are those of a picture that is read."""
    return head.startswith(_SIGNATURES) or (head[:4] == b"RIFF" and head[8:12] == b"WEBP")


class ImageBackend:
    """Opens picture files with Pillow."""

    @contextmanager
    def open(self, data: bytes, *, name: str, password: str | None) -> Iterator["ImageDocument"]:
        """See `Backend.open`; pictures have no password."""
        del password
        try:
            with warnings.catch_warnings():
                # Our own limit follows; Pillow's warning would come before it.
                warnings.simplefilter("ignore", Image.DecompressionBombWarning)
                image = Image.open(BytesIO(data), formats=_FORMATS)
                count = int(getattr(image, "n_frames", 1))
        except Image.DecompressionBombError as error:
            raise PaperFileError(f"{name!r} has too many pixels; the limit is {_LIMIT}. Make it smaller.") from error
        except UnidentifiedImageError as error:
            raise PaperFileError(f"{name!r} is no picture that can be read. Save it as PNG, JPEG or TIFF.") from error
        except _FAILURES as error:
            raise PaperFileError(f"{name!r} is damaged and can't be opened: {error}. Fetch the file again.") from error
        with image:
            yield ImageDocument(image, count=count)


class ImageDocument:
    """An open picture file."""

    title = ""
    authors = ""
    repaired = False
    outline: Sequence[OutlineEntry] = ()

    def __init__(self, image: Image.Image, *, count: int) -> None:
        self._image = image
        self.page_count = count

    def read(self, number: int) -> PageContent:
        """See `Document.read`. A page is as large as the picture's resolution says if that makes a page between 100 and
        1500 points long; else a pixel is 0.75 points, but no page is longer than A4.
        """
        frame = self._frame(number)
        width, height = _points(frame, self._resolution())
        return PageContent(number=number, width=width, height=height, images=(Box(0.0, 0.0, width, height),))

    def render(self, number: int, boxes: Sequence[Box], *, dpi: int, turns: int = 0) -> list[bytes]:
        """See `Document.render`."""
        frame = self._frame(number)
        width, height = _points(frame, self._resolution())
        across, down = frame.width / width, frame.height / height
        pictures = []
        for x0, y0, x1, y1 in boxes:
            size = (max(1, round((x1 - x0) * dpi / 72)), max(1, round((y1 - y0) * dpi / 72)))
            area = (max(0.0, x0 * across), max(0.0, y0 * down), x1 * across, y1 * down)
            shown = frame.resize(size, Image.Resampling.LANCZOS, box=_inside(area, frame))
            pictures.append(_png(shown.rotate(-90 * turns, expand=True) if turns else shown))
        return pictures

    def cells(self, number: int, box: Box) -> Sequence[Box]:  # noqa: ARG002 -- the seam's
        """See `Document.cells`; a picture has none."""
        return ()

    def _resolution(self) -> tuple[float, float]:
        dpi = self._image.info.get("dpi") or (0.0, 0.0)
        try:
            across, down = float(dpi[0]), float(dpi[1])
        except (TypeError, ValueError, IndexError, ZeroDivisionError):
            return 0.0, 0.0
        # A picture that lies on its side is turned upright, and its resolution with it.
        return (down, across) if self._image.getexif().get(0x0112, 1) >= 5 else (across, down)

    def _frame(self, number: int) -> Image.Image:
        try:
            self._image.seek(number - 1)
            if self._image.width * self._image.height > _MOST_PIXELS:
                size = f"{self._image.width}×{self._image.height} pixels"
                raise PageReadError(f"{size} are over the limit of {_LIMIT}; make the picture smaller")
            return _in_colour(ImageOps.exif_transpose(self._image))
        except _FAILURES as error:
            raise PageReadError(str(error) or type(error).__name__) from error


def _points(frame: Image.Image, resolution: tuple[float, float]) -> tuple[float, float]:
    across, down = resolution
    if across > 0 and down > 0:
        width, height = frame.width * 72 / across, frame.height * 72 / down
        if _SANE[0] <= max(width, height) <= _SANE[1]:
            return width, height
    scale = min(_SCREEN, _A4_LONG / max(frame.size))
    return frame.width * scale, frame.height * scale


def _in_colour(frame: Image.Image) -> Image.Image:
    """The frame in RGB: transparent parts white, deep grey scaled to what it uses."""
    if frame.mode.startswith(("I", "F")):
        grey = np.asarray(frame, dtype=np.float64)
        low, high = float(grey.min()), float(grey.max())
        return Image.fromarray(np.uint8((grey - low) * (255 / max(high - low, 1e-9)))).convert("RGB")
    if frame.has_transparency_data:
        shown = frame.convert("RGBA")
        paper = Image.new("RGBA", shown.size, "white")
        return Image.alpha_composite(paper, shown).convert("RGB")
    return frame.convert("RGB")


def _inside(area: tuple[float, float, float, float], frame: Image.Image) -> tuple[float, float, float, float]:
    x0, y0, x1, y1 = area
    return (min(x0, frame.width - 1.0), min(y0, frame.height - 1.0), min(x1, frame.width), min(y1, frame.height))


def _png(picture: Image.Image) -> bytes:
    out = BytesIO()
    picture.save(out, format="PNG")
    return out.getvalue()


_LITTLE_TEXT = 200


class ImageParser:
    """Reads papers from picture files: the text of each frame is recognised and read by the rules for PDF pages.

    A page on which little or nothing is recognised is a figure, whole, beside whatever text there is.
    """

    def __init__(self, *, recognition: Recognition, dpi: int = 200, max_pages: int | None = None) -> None:
        self._backend = OcrBackend(ImageBackend(), recognition)
        self._dpi = dpi
        self._max_pages = max_pages

    def parse(
        self, file: Path, *, password: str | None = None, on_page: Callable[[int, int], None] | None = None
    ) -> ParsedPaper:
        """See `Parser.parse`; pictures have no password."""
        data = read_file(file)
        with self._backend.open(data, name=file.name, password=password) as document:
            read = read_document(
                document,
                sha256=hashlib.sha256(data).hexdigest(),
                file=file.name,
                format="image",
                max_pages=self._max_pages,
                on_page=on_page,
            )
            return add_crops(_with_pictures(read.paper), document, views=read.views, dpi=self._dpi)


def _with_pictures(paper: Paper) -> Paper:
    """The paper with a figure for each page of little text, after the page's other elements."""
    letters: Counter[int] = Counter()
    last: dict[int, float] = {}
    for element in paper.elements:
        letters[element.place.page] += len(_text(element))
        last[element.place.page] = element.order
    bare = [page for page in paper.pages if letters[page.number] < _LITTLE_TEXT]
    if not bare:
        return paper
    drafts = [Draft(at=element.order, element=element) for element in paper.elements]
    for page in bare:
        at = max((order for number, order in last.items() if number <= page.number), default=-1) + 0.5
        drafts.append(Draft(at=at, element=_figure(page, paper=paper.id)))
    drafts.sort(key=lambda draft: draft.at)
    return assemble_paper(
        drafts,
        sha256=paper.sha256,
        file=paper.file,
        title=paper.title,
        authors=paper.authors,
        pages=paper.pages,
        problems=paper.problems,
        format=paper.format,
    )


def _text(element: Element) -> str:
    match element.kind:
        case "table":
            return "".join(cell.text for cell in element.cells)
        case "figure":
            return element.text + element.caption
        case _:
            return element.text


def _figure(page: Page, *, paper: str) -> Figure:
    place = Place(paper=paper, page=page.number, box=Box(0.0, 0.0, page.width, page.height))
    return Figure(id="", place=place, order=0)
