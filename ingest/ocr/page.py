"""A picture of a page to `PageContent`: recognised words as characters, the raster's rules and pictures."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from PIL import Image

from ingest.ocr.raster import Ink, ink_of, pictures_of, rules_of, skew_of, without
from ingest.ocr.recognizer import RecognizedWord, TextRecognizer
from ingest.ocr.sizes import snapped
from ingest.ocr.spacing import Piece, letter_edges, pieces_of
from ingest.pdf.backend import Char, HorizontalRule, PageContent, VerticalRule
from ingest.pdf.shapes import join_rules
from paperscope.types import Box

__all__ = ["RecognizedPage", "recognized_page", "straightened"]

_FONT = "recognised"
_LEAST_SKEW = 0.15
_LEAST_RULE = 24.0
_THICKEST_RULE = 2.6
_LEAST_PICTURE = 36.0
# Above the baseline, in em: capitals and digits, letters like x.
_CAPITALS, _SMALL = 0.67, 0.46
_TALL = frozenset("bdfhklt")


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
    words = [word for word in recognizer.recognize(picture) if word.text.strip()]
    scale = width / picture.width
    lines = _lines_of(words)
    rules = rules_of(ink, least=round(_LEAST_RULE / scale), thickest=max(3, round(_THICKEST_RULE / scale)))
    letters_only = without(ink, [_grown(box, 1) for box in (*rules.horizontal, *rules.vertical)])
    pictures = pictures_of(
        letters_only, text=[_grown(_box_of(line), 3) for line in lines], least=round(_LEAST_PICTURE / scale)
    )
    measured = [_measured(line, letters_only) for line in lines]
    sizes = snapped(
        [(size * scale, sum(len(word.text) for word in line)) for (_, size), line in zip(measured, lines, strict=True)]
    )
    chars = [
        char
        for line, (baseline, _), size in zip(lines, measured, sizes, strict=True)
        for piece in pieces_of(line, letters_only, rows=_rows(baseline, size / scale), size=size / scale)
        for char in _chars(piece, baseline=baseline * scale, size=size, scale=scale)
    ]
    letters = sum(len(word.text) for word in words)
    content = PageContent(
        number=number,
        width=width,
        height=height,
        chars=tuple(chars),
        horizontal=tuple(
            join_rules(
                [HorizontalRule(x0 * scale, x1 * scale, (y0 + y1) / 2 * scale) for x0, y0, x1, y1 in rules.horizontal]
            )
        ),
        vertical=tuple(
            VerticalRule((x0 + x1) / 2 * scale, y0 * scale, y1 * scale) for x0, y0, x1, y1 in rules.vertical
        ),
        images=tuple(Box(*(value * scale for value in box)) for box in pictures),
    )
    sure = sum(word.confidence * len(word.text) for word in words) / letters if letters else 0.0
    return RecognizedPage(content=content, confidence=round(sure, 2), skew=skew)


def straightened(picture: Image.Image, skew: float) -> Image.Image:
    """The picture turned back by the angle at which its lines lean."""
    if abs(skew) < _LEAST_SKEW:
        return picture
    return picture.rotate(-skew, resample=Image.Resampling.BICUBIC, fillcolor="white")


def _lines_of(words: Sequence[RecognizedWord]) -> list[list[RecognizedWord]]:
    """The words line by line, without lines that stand upright (labels of axes, stamps at the margin)."""
    lines: dict[int, list[RecognizedWord]] = defaultdict(list)
    for word in words:
        lines[word.line].append(word)
    return [line for line in lines.values() if not _is_upended(line)]


def _is_upended(line: Sequence[RecognizedWord]) -> bool:
    x0, y0, x1, y1 = _box_of(line)
    return y1 - y0 > 2 * (x1 - x0) and sum(len(word.text) for word in line) > 2


def _measured(line: Sequence[RecognizedWord], ink: Ink) -> tuple[float, float]:
    """Baseline and letter size of a line in pixels, by its ink: where the rows of most letters end, how tall it is."""
    x0, y0, x1, y1 = (max(0, int(value)) for value in _box_of(line))
    rows = ink[y0 : y1 + 1, x0 : x1 + 1].sum(axis=1).astype(float)
    text = "".join(word.text for word in line)
    share = _CAPITALS if any(letter.isupper() or letter.isdigit() or letter in _TALL for letter in text) else _SMALL
    height = y1 - y0
    if len(rows) < 6 or not rows.any():
        return y1 - 0.22 * height, 0.8 * height
    steps = rows[:-1] - rows[1:]
    half = len(steps) // 2
    baseline = half + int(np.argmax(steps[half:])) + 1
    top = int(np.nonzero(rows > 0.04 * rows.max())[0][0])
    size = (baseline - top) / share
    if not 0.45 * height < size < 1.5 * height:
        return y1 - 0.22 * height, 0.8 * height
    return float(y0 + baseline), size


def _rows(baseline: float, size: float) -> tuple[int, int]:
    """The rows that a line's letters fill."""
    return int(baseline - 0.75 * size), int(baseline + 0.2 * size)


def _chars(piece: Piece, *, baseline: float, size: float, scale: float) -> Iterator[Char]:
    edges = letter_edges(piece.text, x0=piece.x0 * scale, x1=piece.x1 * scale)
    for letter, (x0, x1) in zip(piece.text, pairwise(edges), strict=True):
        if not letter.isspace():
            yield Char(letter, x0, x1, baseline, size, _FONT, False, False)


def _box_of(line: Sequence[RecognizedWord]) -> Box:
    box = line[0].box
    for word in line[1:]:
        box = box.union(word.box)
    return box


def _grown(box: Box, by: float) -> Box:
    return Box(box.x0 - by, box.y0 - by, box.x1 + by, box.y1 + by)
