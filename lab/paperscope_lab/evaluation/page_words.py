"""The words that a PDF page prints in a box, read with PyMuPDF instead of the product's parser."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from ingest.pdf.mupdf import pymupdf
from paperscope_core.errors import PaperFileError
from paperscope_core.types import Box

__all__ = ["PrintedPage", "read_pages", "words_in"]


# PyMuPDF ships no usable types.
_Untyped: TypeAlias = Any
_mupdf: _Untyped = pymupdf

# Boxes are rounded to 0.1 pt, and two readers differ in where a glyph ends.
_TOLERANCE = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class PrintedPage:
    """A page: its size in points, its words in reading order, and the line number of each word."""

    width: float
    height: float
    words: tuple[tuple[Box, str], ...]
    lines: tuple[int, ...]

    def contains(self, box: Box) -> bool:
        """Return whether the box has an area and is on the page, with a tolerance of one point."""
        inside = box.x0 >= -_TOLERANCE and box.y0 >= -_TOLERANCE
        inside = inside and box.x1 <= self.width + _TOLERANCE and box.y1 <= self.height + _TOLERANCE
        return inside and box.x0 < box.x1 and box.y0 < box.y1


@cache
def read_pages(file: Path) -> Sequence[PrintedPage]:
    """Read all pages. Raises PaperFileError."""
    try:
        # The boxes of glyphs as in the file.
        _mupdf.TOOLS.unset_quad_corrections(True)
        with _mupdf.open(file, filetype="pdf") as document:
            return [_page(page) for page in document]
    except (RuntimeError, ValueError, _mupdf.mupdf.FzErrorBase) as error:
        raise PaperFileError(f"{file}: can't be read ({error}); fetch the file again") from error


def words_in(page: PrintedPage, box: Box) -> list[str]:
    """Return the words whose centre is in the box; after the first part of a word hyphenated at a line end, also the
    whole word."""
    words: list[str] = []
    line = -1
    for (place, word), number in zip(page.words, page.lines, strict=True):
        x, y = (place.x0 + place.x1) / 2, (place.y0 + place.y1) / 2
        if box.x0 - _TOLERANCE <= x <= box.x1 + _TOLERANCE and box.y0 - _TOLERANCE <= y <= box.y1 + _TOLERANCE:
            if words and number != line and _is_divided(words[-1], word):
                words.append(words[-1].rstrip("-\u2010\u00ad") + word)
            words.append(word)
            line = number
    return words


def _is_divided(first: str, second: str) -> bool:
    return len(first) > 1 and first[-1] in "-\u2010\u00ad" and first[-2].isalpha() and second[0].islower()


def _page(page: _Untyped) -> PrintedPage:
    words, lines, number = [], [], 0
    last: tuple[int, int] | None = None
    for *corners, word, block, line, _ in page.get_text("words"):
        number += (block, line) != last
        last = block, line
        words.append((Box(*(_mupdf.Rect(corners) * page.rotation_matrix)), str(word)))
        lines.append(number)
    return PrintedPage(width=page.rect.width, height=page.rect.height, words=tuple(words), lines=tuple(lines))
