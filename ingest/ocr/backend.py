"""`OcrBackend` wraps another backend and recognises pages without usable text from their images."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from io import BytesIO
from typing import NamedTuple

from PIL import Image

from ingest.document.crops import png_bytes
from ingest.document.geometry import turned_size
from ingest.document.pages import Backend, Char, Document, OutlineEntry, PageContent, PageGrid, PageReadError
from ingest.ocr.page import RecognizedPage, deskew, recognize_page
from ingest.ocr.recognizer import Recognition, TextRecognizer
from paperscope_core.cancellation import extend_time_limit
from paperscope_core.types import UNKNOWN_CHARACTER, Box

__all__ = ["OcrBackend", "needs_recognition"]

# The share of a page that the image of a scan covers.
_FULL_PAGE = 0.85
# Scans often carry a stamp or a page number as text, in the upper or lower tenth of the page.
_STAMP_CHARS = 60
_MARGIN = 0.1
# Private, unassigned and control characters and surrogates mean nothing; with more than this share of them, a text
# layer is useless.
_MEANINGLESS = ("Co", "Cn", "Cc", "Cs")
_MEANINGLESS_SHARE = 0.3
# The side in pixels up to which RapidOCR's detection was measured to find small print; more takes longer.
_LONGEST_SIDE = 2340
_MAX_DPI = 600
# A mean confidence that upright text reaches, and text on its head or on its side doesn't: RapidOCR's is above 0.9 on
# the scans of the development papers, and below 0.7 on the same turned. The quarter turns that are tried otherwise.
_SURE, _TURNS, _HALF_TURN = 0.8, (0, 2, 1, 3), 180
# Unknown characters inside words: how many are recognised on a page, in which resolution, the least side in pixels that
# RapidOCR does not enlarge, and the time it takes; how much of their line is shown and what gap separates words, in
# letter sizes, and how many letters on either side must be read as they are.
_MOST_LINES, _LINE_DPI, _LEAST_SIDE, _TIME_FACTOR = 20, 200, 736, 4.0
_REACH, _TOUCHING, _CONTEXT = 8.0, 0.3, 2


def needs_recognition(page: PageContent) -> bool:
    """Return whether a page's text must be recognised from its image.

    True for a page with ink but no text, for a scan with at most a stamp as text, and for a page many of whose
    characters are meaningless. A blank page needs no recognition.
    """
    if not page.chars:
        return bool(page.images or page.drawings)
    area = page.width * page.height
    scan = any((box.x1 - box.x0) * (box.y1 - box.y0) >= _FULL_PAGE * area for box in page.images)
    inside = [char for char in page.chars if _MARGIN < char.baseline / page.height < 1 - _MARGIN]
    if scan and len(inside) < _STAMP_CHARS:
        return True
    letters = (letter for char in page.chars for letter in char.text)
    meaningless = sum(letter == UNKNOWN_CHARACTER or unicodedata.category(letter) in _MEANINGLESS for letter in letters)
    return meaningless > _MEANINGLESS_SHARE * len(page.chars)


class OcrBackend:
    """Wraps a backend; without a recogniser, a page without usable text gets a note that names the remedy."""

    def __init__(self, backend: Backend, recognition: Recognition) -> None:
        self._backend = backend
        self._recognition = recognition

    @contextmanager
    def open(self, data: bytes, *, name: str, password: str | None) -> Iterator[Document]:
        """See `Backend.open`."""
        with self._backend.open(data, name=name, password=password) as document:
            yield OcrDocument(document, self._recognition)


class OcrDocument:
    """An open file; a page that was deskewed for recognition is rendered deskewed, too."""

    def __init__(self, document: Document, recognition: Recognition) -> None:
        self._document = document
        self.title, self.authors, self.metadata = document.title, document.authors, document.metadata
        self._recognizer = recognition.recognizer
        self._remedy = recognition.remedy
        self._skews: dict[int, float] = {}

    @property
    def page_count(self) -> int:
        """See `Document.page_count`."""
        return self._document.page_count

    @property
    def repaired(self) -> bool:
        """See `Document.repaired`."""
        return self._document.repaired

    @property
    def outline(self) -> Sequence[OutlineEntry]:
        """See `Document.outline`."""
        return self._document.outline

    def read(self, number: int) -> PageContent:
        """See `Document.read`; a note says whether text was recognised, and if not, why."""
        page = self._document.read(number)
        if not needs_recognition(page):
            return self._with_unknown_read(page)
        reason = "the page has no text layer" if not page.chars else "the page's text layer is not usable"
        if self._recognizer is None:
            return replace(page, notes=(f"{reason}; {self._remedy}",))
        dpi = min(_MAX_DPI, max(1, round(72 * _LONGEST_SIDE / max(page.width, page.height))))
        try:
            picture = self._rendered(page, dpi=dpi)
            found = _recognize(picture, self._recognizer, page)
        except PageReadError as error:
            return replace(page, notes=(f"{reason}, and it could not be recognised: {error}",))
        self._skews[number] = found.skew
        if not found.content.chars:
            return replace(page, notes=(f"{reason}, and text recognition (OCR) found none in its picture",))
        angle = (90 * found.content.turns - found.skew) % 360
        turned = f"; the page was turned by {angle if angle <= _HALF_TURN else angle - 360:g}°" if angle else ""
        note = f"{reason}; its text was recognised (OCR), mean confidence {found.confidence:.2f}{turned}"
        return replace(found.content, notes=(note,))

    def render(self, number: int, boxes: Sequence[Box], *, dpi: int, turns: int = 0) -> list[bytes]:
        """See `Document.render`."""
        skew = self._skews.get(number, 0.0)
        if not skew:
            return self._document.render(number, boxes, dpi=dpi, turns=turns)
        page = self._document.read(number)
        shown = deskew(self._rendered(page, dpi=dpi), skew)
        scale = shown.width / page.width
        cut = [shown.crop((x0 * scale, y0 * scale, x1 * scale, y1 * scale)) for x0, y0, x1, y1 in boxes]
        return [png_bytes(picture.rotate(-90 * turns, expand=True) if turns else picture) for picture in cut]

    def grids(self, number: int, *, turns: int = 0) -> Sequence[PageGrid]:
        """See `Document.grids`; none on a deskewed page."""
        return () if self._skews.get(number) else self._document.grids(number, turns=turns)

    def regions(self, number: int) -> Sequence[Box]:
        """See `Document.regions`; none on a deskewed page."""
        return () if self._skews.get(number) else self._document.regions(number)

    def _with_unknown_read(self, page: PageContent) -> PageContent:
        """Return a page whose unknown characters inside words and numbers are recognised, with a note on the others."""
        chars = list(page.chars)
        inside = {
            at: line
            for at, char in enumerate(chars)
            if UNKNOWN_CHARACTER in char.text and (line := _line_around(chars, char))
        }
        if not inside:
            return page
        if self._recognizer is not None:
            with suppress(PageReadError):
                for at, text in self._recognized(page.number, list(inside.items())[:_MOST_LINES], self._recognizer):
                    chars[at] = chars[at]._replace(text=text)
        left = sum(UNKNOWN_CHARACTER in chars[at].text for at in inside)
        remedy = f"; {self._remedy}" if self._remedy else ""
        note = f'{left} of its letters, digits and signs are not known, and shown as "{UNKNOWN_CHARACTER}"{remedy}'
        return replace(page, chars=chars, notes=(*page.notes, note) if left else page.notes)

    def _recognized(
        self, number: int, lines: Sequence[tuple[int, "_Line"]], recognizer: TextRecognizer
    ) -> Iterator[tuple[int, str]]:
        """Yield the unknown characters that a recogniser reads between those beside them, with their indices.

        It gets all lines in one picture: it enlarges a small one, which takes seconds.
        """
        extend_time_limit(_TIME_FACTOR)
        shown = [
            _png_image(one) for one in self._document.render(number, [line.box for _, line in lines], dpi=_LINE_DPI)
        ]
        height = max(picture.height for picture in shown) * 2
        size = max(_LEAST_SIDE, *(picture.width for picture in shown)), max(_LEAST_SIDE, height * len(shown))
        sheet = Image.new("RGB", size, "white")
        for row, picture in enumerate(shown):
            sheet.paste(picture, (0, height * row))
        words = recognizer.recognize(sheet)
        for row, (at, line) in enumerate(lines):
            own = [word.text for word in words if height * row <= (word.box.y0 + word.box.y1) / 2 < height * (row + 1)]
            read = "".join("".join(own).split())
            found = set(re.findall(f"{re.escape(line.left)}(.){re.escape(line.right)}", read))
            if len(found) == 1:
                yield at, found.pop()

    def _rendered(self, page: PageContent, *, dpi: int) -> Image.Image:
        whole = Box(0, 0, page.width, page.height)
        return _png_image(self._document.render(page.number, [whole], dpi=dpi)[0])


def _recognize(picture: Image.Image, recognizer: TextRecognizer, page: PageContent) -> RecognizedPage:
    """Recognise the image of a page, turned by quarter turns if the recogniser is surer of its text then."""
    read: list[RecognizedPage] = []
    for turns in _TURNS:
        width, height = turned_size(page.width, page.height, turns=turns)
        shown = picture.rotate(90 * turns, expand=True) if turns else picture
        found = recognize_page(shown, recognizer, number=page.number, width=width, height=height)
        read.append(replace(found, content=replace(found.content, turns=turns)))
        # Lines on their side are recognised, and have no characters.
        if not found.confidence or (found.content.chars and found.confidence >= _SURE):
            break
    return max(read, key=lambda found: (bool(found.content.chars), found.confidence))


def _png_image(data: bytes) -> Image.Image:
    """Return a PNG as an RGB image."""
    with Image.open(BytesIO(data)) as shown:
        return shown.convert("RGB")


class _Line(NamedTuple):
    """The characters just before and behind an unknown one, and the box around its part of the line."""

    left: str
    right: str
    box: Box


def _line_around(chars: Sequence[Char], unknown: Char) -> _Line | None:
    """Return the part of the line around an unknown character; None if it touches no letter or digit, as an icon."""
    reach, gap = _REACH * unknown.size, _TOUCHING * unknown.size
    row = [
        char
        for char in chars
        if char.direction == 0 == unknown.direction
        and abs(char.baseline - unknown.baseline) < gap
        and unknown.x0 - reach < char.x0 < unknown.x1 + reach
    ]
    row.sort(key=lambda char: char.x0)
    before, after = ([char for char in row if (char.x0 - unknown.x0) * side > 0] for side in (-1, 1))
    beside = [char for char in before[-1:] if unknown.x0 - char.x1 < gap]
    beside += [char for char in after[:1] if char.x0 - unknown.x1 < gap]
    if not any(char.text.isalnum() for char in beside):
        return None
    left, right = ("".join(char.text for char in part) for part in (before[-_CONTEXT:], after[:_CONTEXT]))
    box = Box(row[0].x0 - gap, unknown.baseline - unknown.size, row[-1].x1 + gap, unknown.baseline + unknown.size / 2)
    return _Line(left, right, box)
