"""A picture of a page to `PageContent`: recognised words as characters, the raster's rules and pictures."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from PIL import Image

from ingest.ocr.marks import Mark, marks_of
from ingest.ocr.measures import MeasuredLine, measured_lines
from ingest.ocr.raster import Ink, RasterRules, ink_of, pictures_of, rules_of, skew_of, without
from ingest.ocr.recognizer import RecognizedWord, TextRecognizer
from ingest.ocr.spacing import letter_edges, pieces_of
from ingest.patience import ask_for_time
from ingest.pdf.backend import Char, HorizontalRule, PageContent, VerticalRule
from ingest.pdf.backends.shapes import join_rules
from paperscope.types import Box

__all__ = ["RecognizedPage", "recognized_page", "straightened"]

_FONT = "recognised"
_LEAST_SKEW = 0.15
_LEAST_RULE = 24.0
_THICKEST_RULE = 2.6
_LEAST_PICTURE = 36.0
# A dense page takes half a minute where others use the processor too.
_SLOW = 10.0


@dataclass(frozen=True, kw_only=True, slots=True)
class RecognizedPage:
    """A page as it was recognised; `skew` is the angle in degrees by which its picture was turned back.

    `confidence` is the mean over all letters, 0.0 without any.
    """

    content: PageContent
    confidence: float
    skew: float


def recognized_page(
    picture: Image.Image, recognizer: TextRecognizer, *, number: int, width: float, height: float
) -> RecognizedPage:
    """Read a picture of a whole page of `width` by `height` points. Raises `PageReadError`."""
    skew = skew_of(ink_of(picture))
    picture = straightened(picture, skew)
    ink = ink_of(picture)
    ask_for_time(_SLOW)
    words = [word for word in recognizer.recognize(picture) if word.text.strip()]
    scale = width / picture.width
    rules = rules_of(ink, least=round(_LEAST_RULE / scale), thickest=max(3, round(_THICKEST_RULE / scale)))
    ink = without(ink, [_grown(box, 1) for box in (*rules.horizontal, *rules.vertical)])
    lines = measured_lines(words, ink)
    pictures = pictures_of(ink, text=[_grown(line.box, 3) for line in lines], least=round(_LEAST_PICTURE / scale))
    content = PageContent(
        number=number,
        width=width,
        height=height,
        chars=(
            *(char for line in lines for char in _chars(line, ink, scale=scale)),
            *(_char(mark, scale=scale) for mark in marks_of(lines, ink)),
        ),
        horizontal=_horizontal(rules, scale=scale),
        vertical=tuple(
            VerticalRule((x0 + x1) / 2 * scale, y0 * scale, y1 * scale) for x0, y0, x1, y1 in rules.vertical
        ),
        images=tuple(Box(*(value * scale for value in box)) for box in pictures),
    )
    return RecognizedPage(content=content, confidence=_confidence(words), skew=skew)


def straightened(picture: Image.Image, skew: float) -> Image.Image:
    """The picture turned back by the angle at which its lines lean."""
    if abs(skew) < _LEAST_SKEW:
        return picture
    return picture.rotate(-skew, resample=Image.Resampling.BICUBIC, fillcolor="white")


def _confidence(words: Sequence[RecognizedWord]) -> float:
    letters = sum(len(word.text) for word in words)
    return round(sum(word.confidence * len(word.text) for word in words) / letters, 2) if letters else 0.0


def _horizontal(rules: RasterRules, *, scale: float) -> tuple[HorizontalRule, ...]:
    found = [HorizontalRule(x0 * scale, x1 * scale, (y0 + y1) / 2 * scale) for x0, y0, x1, y1 in rules.horizontal]
    return tuple(join_rules(found))


def _chars(line: MeasuredLine, ink: Ink, *, scale: float) -> Iterator[Char]:
    """The letters of a line in points."""
    rows = (int(line.baseline - 0.75 * line.size), int(line.baseline + 0.2 * line.size))
    baseline, size = line.baseline * scale, round(line.size * scale, 1)
    for piece in pieces_of(line.words, ink, rows=rows, size=line.size):
        edges = letter_edges(piece.text, x0=piece.x0 * scale, x1=piece.x1 * scale)
        for letter, (x0, x1) in zip(piece.text, pairwise(edges), strict=True):
            if not letter.isspace():
                yield Char(letter, x0, x1, baseline, size, _FONT, line.bold, False)


def _char(mark: Mark, *, scale: float) -> Char:
    line = mark.line
    baseline, size = line.baseline * scale, round(line.size * scale, 1)
    return Char(mark.text, mark.x0 * scale, mark.x1 * scale, baseline, size, _FONT, False, False)


def _grown(box: Box, by: float) -> Box:
    return Box(box.x0 - by, box.y0 - by, box.x1 + by, box.y1 + by)
