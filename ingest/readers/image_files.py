"""Converts image files (PNG, JPEG, TIFF, WebP, BMP) to papers: each frame is a page whose text is recognised."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from types import MappingProxyType
from typing import Protocol

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from ingest.document.assembly import assemble_paper
from ingest.document.crops import add_crops, png_bytes
from ingest.document.drafts import draft_figure
from ingest.document.pages import OutlineEntry, PageContent, PageGrid, PageReadError
from ingest.document.source import read_file
from ingest.ocr import OcrBackend, Recognition
from paperscope_core.errors import PaperFileError
from paperscope_core.protocols import PageCallback
from paperscope_core.types import Box, Element, Paper, PaperFile, ParsedPaper, Place, content_hash

__all__ = ["ImageParser", "is_image"]

_FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "BMP")
_SIGNATURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\0", b"MM\0*", b"II+\0", b"MM\0+", b"BM")
# A page of A4 scanned at 1200 dpi has 140 million pixels; 120 million in RGB take 360 MB.
_MAX_PIXELS = 120_000_000
_PIXEL_LIMIT = f"{_MAX_PIXELS // 1_000_000} million"
# The size of a pixel in points on a screen of 96 dpi, for files without a resolution.
_SCREEN_PIXEL = 0.75
_A4_HEIGHT = 841.9
# A resolution is used if it makes the longer side of the page this long in points: business card to poster.
_PAGE_LENGTHS = (100.0, 1500.0)
_EXIF_ORIENTATION = 0x0112
# A page with fewer recognised letters is a figure: a photograph or a diagram with labels.
_FEW_LETTERS = 200
_FAILURES = (OSError, EOFError, ValueError, SyntaxError, TypeError, KeyError, IndexError, Image.DecompressionBombError)


def is_image(head: bytes) -> bool:
    """Return whether the first bytes of a file belong to an image format that is read."""
    return head.startswith(_SIGNATURES) or (head[:4] == b"RIFF" and head[8:12] == b"WEBP")


class _ReadDocument(Protocol):
    """A paper without crops, and its pages as they were read."""

    @property
    def paper(self) -> Paper: ...
    @property
    def views(self) -> Sequence[PageContent]: ...


class ImageParser:
    """Reads papers from image files: the text of each frame is recognised and read like a PDF page's.

    A page on which little or nothing is recognised becomes a figure as well.

    Args:
        read_document: Reads the recognised pages, as `ingest.pdf.parser.read_document` does.
        recognition: The text recogniser, or the remedy to name without one.
        dpi: The resolution of the crops.
        max_pages: Files with more pages are refused.
    """

    def __init__(
        self,
        read_document: Callable[..., _ReadDocument],
        *,
        recognition: Recognition,
        dpi: int = 200,
        max_pages: int | None = None,
    ) -> None:
        self._read_document = read_document
        self._backend = OcrBackend(ImageBackend(), recognition)
        self._dpi = dpi
        self._max_pages = max_pages

    def parse(self, file: PaperFile, *, on_page: PageCallback | None = None) -> ParsedPaper:
        """See `Parser.parse`."""
        data = read_file(file)
        with self._backend.open(data, name=file.name, password=file.password) as document:
            read = self._read_document(
                document,
                sha256=file.sha256 or content_hash(data),
                file=file.name,
                format="image",
                max_pages=self._max_pages,
                on_page=on_page,
            )
            return add_crops(_with_page_figures(read.paper), document, views=read.views, dpi=self._dpi)


def _with_page_figures(paper: Paper) -> Paper:
    """Add a figure for each page with few letters, after the page's other elements."""
    letters: Counter[int] = Counter()
    for element in paper.elements:
        letters[element.place.page] += len(_text(element))
    pictorial = [page for page in paper.pages if letters[page.number] < _FEW_LETTERS]
    if not pictorial:
        return paper
    drafts: list[tuple[float, Element]] = [(element.order, element) for element in paper.elements]
    for page in pictorial:
        before = (element.order for element in paper.elements if element.place.page <= page.number)
        place = Place(paper=paper.id, page=page.number, box=Box(0.0, 0.0, page.width, page.height))
        drafts.append((max(before, default=-1) + 0.5, draft_figure(place)))
    return assemble_paper(
        [element for _, element in sorted(drafts, key=lambda draft: draft[0])],
        sha256=paper.sha256,
        file=paper.file,
        title=paper.title,
        authors=paper.authors,
        pages=paper.pages,
        problems=paper.problems,
        format=paper.format,
        stated=paper.publication,
    )


def _text(element: Element) -> str:
    match element.kind:
        case "table":
            return "".join(cell.text for cell in element.cells)
        case "figure":
            return element.text + element.caption
        case _:
            return element.text


class ImageBackend:
    """Opens image files with Pillow; each frame is a page with one image and no text."""

    @contextmanager
    def open(self, data: bytes, *, name: str, password: str | None) -> Iterator["ImageDocument"]:  # noqa: ARG002
        """See `Backend.open`; image files have no password."""
        try:
            with warnings.catch_warnings():
                # Pillow warns below our own limit.
                warnings.simplefilter("ignore", Image.DecompressionBombWarning)
                image = Image.open(BytesIO(data), formats=_FORMATS)
                count = int(getattr(image, "n_frames", 1))
        except Image.DecompressionBombError as error:
            raise PaperFileError(
                f"{name!r} has too many pixels; the limit is {_PIXEL_LIMIT}. Make it smaller."
            ) from error
        except UnidentifiedImageError as error:
            raise PaperFileError(f"{name!r} is no picture that can be read. Save it as PNG, JPEG or TIFF.") from error
        except _FAILURES as error:
            raise PaperFileError(f"{name!r} is damaged and can't be opened: {error}. Fetch the file again.") from error
        with image:
            yield ImageDocument(image, count=count)


class ImageDocument:
    """An open image file."""

    title = ""
    authors = ""
    metadata: Mapping[str, str] = MappingProxyType({})
    repaired = False
    outline: Sequence[OutlineEntry] = ()

    def __init__(self, image: Image.Image, *, count: int) -> None:
        self._image = image
        self.page_count = count

    def read(self, number: int) -> PageContent:
        """See `Document.read`.

        The resolution sets the page's size if that makes a page between 100 and 1500 points long; else a pixel is
        0.75 points, but no page is longer than A4.
        """
        width, height = self._page_size(self._frame(number))
        return PageContent(number=number, width=width, height=height, images=(Box(0.0, 0.0, width, height),))

    def render(self, number: int, boxes: Sequence[Box], *, dpi: int, turns: int = 0) -> list[bytes]:
        """See `Document.render`."""
        frame = self._frame(number)
        width, height = self._page_size(frame)
        across, down = frame.width / width, frame.height / height
        images = []
        for x0, y0, x1, y1 in boxes:
            size = (max(1, round((x1 - x0) * dpi / 72)), max(1, round((y1 - y0) * dpi / 72)))
            area = (
                min(max(0.0, x0 * across), frame.width - 1.0),
                min(max(0.0, y0 * down), frame.height - 1.0),
                min(x1 * across, frame.width),
                min(y1 * down, frame.height),
            )
            shown = frame.resize(size, Image.Resampling.LANCZOS, box=area)
            images.append(png_bytes(shown.rotate(-90 * turns, expand=True) if turns else shown))
        return images

    def grids(self, number: int, *, turns: int = 0) -> Sequence[PageGrid]:  # noqa: ARG002 -- the protocol's
        """See `Document.grids`; an image has none."""
        return ()

    def regions(self, number: int) -> Sequence[Box]:  # noqa: ARG002 -- the protocol's
        """See `Document.regions`; an image has none."""
        return ()

    def _frame(self, number: int) -> Image.Image:
        try:
            self._image.seek(number - 1)
            if self._image.width * self._image.height > _MAX_PIXELS:
                size = f"{self._image.width}×{self._image.height} pixels"
                raise PageReadError(f"{size} are over the limit of {_PIXEL_LIMIT}; make the picture smaller")
            return _to_rgb(ImageOps.exif_transpose(self._image))
        except _FAILURES as error:
            raise PageReadError(str(error) or type(error).__name__) from error

    def _page_size(self, frame: Image.Image) -> tuple[float, float]:
        across, down = self._resolution()
        if across > 0 and down > 0:
            width, height = frame.width * 72 / across, frame.height * 72 / down
            if _PAGE_LENGTHS[0] <= max(width, height) <= _PAGE_LENGTHS[1]:
                return width, height
        scale = min(_SCREEN_PIXEL, _A4_HEIGHT / max(frame.size))
        return frame.width * scale, frame.height * scale

    def _resolution(self) -> tuple[float, float]:
        """Return pixels per inch across and down the upright image, zeros if the file states none."""
        dpi = self._image.info.get("dpi") or (0.0, 0.0)
        try:
            across, down = float(dpi[0]), float(dpi[1])
        except (TypeError, ValueError, IndexError, ZeroDivisionError):
            return 0.0, 0.0
        on_its_side = self._image.getexif().get(_EXIF_ORIENTATION, 1) >= 5
        return (down, across) if on_its_side else (across, down)


def _to_rgb(frame: Image.Image) -> Image.Image:
    """Return the frame in RGB: transparent parts become white, deep grey is scaled to the range that it uses."""
    if frame.mode.startswith(("I", "F")):
        grey = np.asarray(frame, dtype=np.float64)
        low, high = float(grey.min()), float(grey.max())
        return Image.fromarray(np.uint8((grey - low) * (255 / max(high - low, 1e-9)))).convert("RGB")
    if frame.has_transparency_data:
        shown = frame.convert("RGBA")
        white = Image.new("RGBA", shown.size, "white")
        return Image.alpha_composite(white, shown).convert("RGB")
    return frame.convert("RGB")
