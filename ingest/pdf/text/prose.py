"""Which lines of a page are running text, so that a figure's labels can be told from them."""

import re
from collections.abc import Sequence
from itertools import takewhile
from statistics import quantiles

from ingest.pdf.page.layout import BodyStyle, PageLayout
from ingest.pdf.page.lines import Line
from paperscope.types import Box

__all__ = ["is_body_type", "running_text"]

_MONO = re.compile(r"mono|nimbusmon|cour|tt\d|typewriter|consol|code|menlo|fira", re.IGNORECASE)
_COMPUTER_MODERN = re.compile(r"^(?:CM|SF|EC)(?:R|BX|TI|SL|CSC|RM|BI|B|CC)\d+", re.IGNORECASE)
_ALIKE = 0.6
_ITEM = re.compile(r"^[•●◦▪■–‣∙·]\s*\S")
_MARK = re.compile(r"^\([a-zA-Z]\)")
_BENEATH = 30.0
_LEAST_WORDS = 5
_LONG = 0.6


def running_text(layout: PageLayout, free: Sequence[Line], *, body: BodyStyle) -> set[Line]:
    """The lines of body type that are long or go on from one that is, the items of lists, and bold headings.

    What a large drawing frames is no running text.
    """
    frames = [
        box
        for box in (*layout.content.images, *layout.content.drawings)
        if box.x1 - box.x0 > 60 and box.y1 - box.y0 > 2 * body.size and not _covers_page(box, layout)
    ]
    drawn = [*layout.content.images, *layout.content.drawings]
    open_ = [line for line in free if not _is_framed(line, frames) and not _is_subcaption(line, drawn, free)]
    typed = [line for line in open_ if is_body_type(line, body)]
    wide = [line.width for line in typed if len(line.words) >= _LEAST_WORDS]
    if not wide:
        return {line for line in open_ if _is_heading(line, body)}
    measure = quantiles(wide, n=4)[2] if len(wide) > 1 else wide[0]
    long_ = {
        line for line in typed if len(line.words) >= _LEAST_WORDS and line.width > _LONG * measure and line.math < 0.3
    }
    found = long_ | {line for line in typed if _ITEM.match(line.text)}
    ordered = sorted(typed, key=lambda line: line.baseline)
    for lines in (ordered, ordered[::-1]):
        for line in lines:
            if line not in found and any(_adjoins(line, other) for other in found):
                found.add(line)
    return found | {line for line in open_ if _is_heading(line, body)}


def is_body_type(line: Line, body: BodyStyle) -> bool:
    """Whether a line is set in the body's family, bold and italics included, and about its size or that of notes."""
    if not 0.75 * body.size < line.size < body.size + 0.6 or (_MONO.search(line.font) and not _MONO.search(body.font)):
        return False
    if _COMPUTER_MODERN.match(line.font) and _COMPUTER_MODERN.match(body.font):
        return True
    first, second = (font.split("-")[0].split(",")[0] for font in (line.font, body.font))
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))
    return alike >= _ALIKE * min(len(first), len(second))


def _is_heading(line: Line, body: BodyStyle) -> bool:
    return line.bold > 0.8 and line.size > body.size + 1 and line.text[:1].isalnum() and len(line.text) > 3


def _is_framed(line: Line, frames: Sequence[Box]) -> bool:
    return any(
        box.x0 <= line.box.x0 and box.x1 >= line.box.x1 and box.y0 <= line.box.y0 and box.y1 >= line.box.y1
        for box in frames
    )


def _is_subcaption(line: Line, drawn: Sequence[Box], lines: Sequence[Line]) -> bool:
    """Whether a line with a mark, "(a) Training loss", stands below something drawn, with no text between."""
    if not _MARK.match(line.text):
        return False
    bottoms = [box.y1 for box in drawn if box.x0 < line.center < box.x1 and -2 < line.box.y0 - box.y1 < _BENEATH]
    texts = [other.baseline for other in lines if other.box.x0 < line.center < other.box.x1 and other is not line]
    return bool(bottoms) and not any(max(bottoms) < baseline < line.baseline - 1 for baseline in texts)


def _covers_page(box: Box, layout: PageLayout) -> bool:
    return (box.x1 - box.x0) * (box.y1 - box.y0) > 0.8 * layout.content.width * layout.content.height


def _adjoins(line: Line, other: Line) -> bool:
    """Whether a line stands directly above or below another of its column, at its left edge or near it."""
    pitch = abs(line.baseline - other.baseline)
    return (
        0.5 * line.size < pitch < 1.5 * line.size
        and abs(line.size - other.size) < 0.5
        and -3 < line.box.x0 - other.box.x0 < 2.5 * line.size
        and line.box.x1 < other.box.x1 + 3
    )
