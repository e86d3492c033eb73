"""Finds graphics that may be part of a figure, and separates running text from labels."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from statistics import quantiles

from ingest.document.geometry import contains, intersection, overlap_x, turned_box, turned_size
from ingest.document.pages import Char
from ingest.pdf.layout import BodyStyle, PageLayout
from ingest.pdf.lines import Line
from ingest.pdf.pdf_words import em_box
from paperscope_core.types import Box

__all__ = ["Graphics", "find_running_text", "graphics_of"]

_COMPUTER_MODERN = re.compile(r"^(?:CM|SF|EC)(?:R|BX|TI|SL|CSC|RM|BI|B|CC)\d+", re.IGNORECASE)

# Points unless said otherwise; chosen on the development papers.
_TABLE_MARGIN = 3.0  # Graphics whose middle is this close to a table belong to it.
_MIN_DRAWING = 2.0  # Smaller drawings are dots.
_PAGE_SHARE = 0.9  # A larger picture is the background of the page.
_RULE_HEIGHT, _RULE_WIDTH = 1.6, 30.0  # The largest height and the least width of a drawing that is a rule.
_STRAY_GAP = 12.0  # A rule this far above or below everything else is not part of the figure.
_IMAGE_SHARE = 0.7  # The least share of a picture within the area of its figure; the picture is clipped to the area.
_DRAWING_SHARE = 0.95  # The same for a drawing, which is not clipped.
_CUT = 3.0  # A drawing that extends further beyond an area is cut by it.
_HAIRLINE = 0.2  # The width assumed for drawings without width or height.

# Running text.
_FRAME_WIDTH, _FRAME_LINES = 60.0, 2  # The least width, and height in lines, of a drawing that frames text.
_LABEL_LINES = 1.2  # The same on a page with a figure that has text like captions inside.
_COVERING_SHARE = 0.8  # A larger drawing is the background of the page, not a frame.
_SAME_FAMILY = 0.6  # The least share of a common prefix in the names of fonts of one family.
# The least ratio to, and the largest excess in points over, the size of the body.
_SMALL_PRINT, _LARGE_PRINT = 0.75, 0.6
_MIN_WORDS = 5  # The least number of words in a line from which the width of the text is measured.
_LONG_LINE = 0.6  # The least share of that width in running text.
_MAX_MATH = 0.3  # The largest share of mathematical letters in a line of text.
_BOLD_SHARE, _HEADING_SIZE = 0.8, 1.0  # The least share of bold letters, and the excess over the body's size in points.
# A line continues another one: pitch and indent in letter sizes, and points.
_PITCH = (0.5, 1.5)
_SAME_SIZE = 0.5
_OUTDENT, _MAX_INDENT = 3.0, 2.5


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Graphics:
    """The pictures and drawings of a page, and its letters that aren't upright, such as labels of axes."""

    images: Sequence[Box]
    drawings: Sequence[Box]
    letters: Sequence[Box]

    def cut_by(self, area: Box) -> list[Box]:
        """Return the drawings and pictures that are partly above or below an area, and partly inside."""
        return [
            box
            for box in (*self.images, *self.drawings)
            if overlap_x(box, area) > 0
            and (box.y0 < area.y0 - _CUT < box.y1 - 2 * _CUT or box.y0 + 2 * _CUT < area.y1 + _CUT < box.y1)
        ]

    def within(self, area: Box, *, labels: Sequence[Box] = ()) -> list[Box]:
        """Return the graphics in an area, with pictures clipped to it, without isolated rules at its ends.

        A rule is not isolated if some of the `labels` join it to the rest.
        """
        ink = [intersection(box, area) for box in self.images if _share(box, area) >= _IMAGE_SHARE]
        ink += [intersection(box, area) for box in self.drawings if _share(box, area) >= _DRAWING_SHARE]
        return _without_stray_rules(ink, [box for box in labels if contains(area, box)])


def graphics_of(layout: PageLayout, *, taken: Sequence[Box]) -> Graphics:
    """Return the graphics of a page outside its tables (`taken`), without dots and page-wide backgrounds."""
    content = layout.content
    tables = [box.grown(_TABLE_MARGIN, _TABLE_MARGIN) for box in taken]

    def free(boxes: Sequence[Box]) -> list[Box]:
        return [
            box
            for box in boxes
            if not any(table.x0 <= box.center <= table.x1 and table.y0 <= box.middle <= table.y1 for table in tables)
        ]

    drawings = [box for box in _shown(content.drawings, layout) if max(box.width, box.height) > _MIN_DRAWING]
    return Graphics(
        images=free(_shown(content.images, layout)),
        drawings=free(drawings),
        letters=free([_letter_box(char, layout) for char in content.chars if char.direction]),
    )


def _letter_box(char: Char, layout: PageLayout) -> Box:
    width, height = turned_size(layout.content.width, layout.content.height, turns=char.direction)
    box = em_box(char.x0, char.x1, baseline=char.baseline, size=char.size)
    return turned_box(box, width, height, turns=-char.direction)


def _shown(boxes: Sequence[Box], layout: PageLayout) -> list[Box]:
    page = Box(0, 0, layout.content.width, layout.content.height)
    cut = [intersection(box, page) for box in boxes]
    limit = _PAGE_SHARE * page.width * page.height
    return [box for box in cut if min(box.width, box.height) >= 0 and box.width * box.height < limit]


def _without_stray_rules(ink: list[Box], labels: Sequence[Box]) -> list[Box]:
    """Return the ink without horizontal rules at its top or foot that a gap separates from the rest."""
    ordered = sorted(ink, key=lambda box: box.y0)
    while len(ordered) > 1 and _is_rule(ordered[0]) and _is_gap(ordered[0].y1, ordered[1].y0, labels):
        ordered.pop(0)
    ordered.sort(key=lambda box: box.y1)
    while len(ordered) > 1 and _is_rule(ordered[-1]) and _is_gap(ordered[-2].y1, ordered[-1].y0, labels):
        ordered.pop()
    return ordered


def _is_gap(top: float, bottom: float, labels: Sequence[Box]) -> bool:
    """Return whether a wide gap is between two heights, apart from labels."""
    between = sorted((box.y0, box.y1) for box in labels if top - 1 < box.middle < bottom + 1)
    for y0, y1 in [*between, (bottom, bottom)]:
        if y0 - top > _STRAY_GAP:
            return True
        top = max(top, y1)
    return False


def _is_rule(box: Box) -> bool:
    return box.height < _RULE_HEIGHT and box.width > _RULE_WIDTH


def _share(box: Box, area: Box) -> float:
    """Return the share of a box in an area; of a hairline, the share of its length."""
    return _share_along(box.x0, box.x1, area.x0, area.x1) * _share_along(box.y0, box.y1, area.y0, area.y1)


def _share_along(low: float, high: float, start: float, end: float) -> float:
    if high - low <= _HAIRLINE:
        low, high = low - _HAIRLINE / 2, low + _HAIRLINE / 2
    return max(0.0, min(high, end) - max(low, start)) / (high - low)


def find_running_text(layout: PageLayout, free: Sequence[Line]) -> set[Line]:
    """Find the free lines of body type that are long or adjacent to such a line, and bold headings.

    Framed lines are not running text.
    """
    body = layout.body
    drawn = [*layout.content.images, *layout.content.drawings]
    page = layout.content.width * layout.content.height
    frames = [
        box
        for box in drawn
        if box.width > _FRAME_WIDTH
        and box.height > (_LABEL_LINES if layout.quoted else _FRAME_LINES) * body.size
        and box.width * box.height <= _COVERING_SHARE * page
    ]
    labels = layout.quoted | _set_in(layout, free) if layout.quoted else layout.quoted
    candidates = [line for line in free if line not in labels and not any(contains(box, line.box) for box in frames)]
    headings = {line for line in candidates if _is_heading(line, body)}
    typed = sorted((line for line in candidates if _is_body_type(line, body)), key=lambda line: line.baseline)
    widths = [line.width for line in typed if len(line.words) >= _MIN_WORDS]
    if not widths:
        return headings
    measure = quantiles(widths, n=4)[2] if len(widths) > 1 else widths[0]
    found = {line for line in typed if _is_long(line, measure)}
    for lines in (typed, typed[::-1]):
        for line in lines:
            if line not in found and any(_adjoins(line, other) for other in found):
                found.add(line)
    return found | headings


def _set_in(layout: PageLayout, lines: Sequence[Line]) -> set[Line]:
    """Return the lines with neither end where most running text of their column begins and ends.

    In a column without running text, return the lines of another size.
    """
    found: set[Line] = set()
    for column in layout.by_column(lines):
        text = [
            line for line in column if len(line.words) >= _MIN_WORDS and abs(line.size - layout.body.size) < _SAME_SIZE
        ]
        if text:
            left = Counter(round(line.box.x0) for line in text).most_common(1)[0][0] + _OUTDENT
            right = Counter(round(line.box.x1) for line in text).most_common(1)[0][0] - _OUTDENT
            found.update(line for line in column if line.box.x0 > left and line.box.x1 < right)
        else:
            found.update(line for line in column if abs(line.size - layout.body.size) >= _SAME_SIZE)
    return found


def _is_body_type(line: Line, body: BodyStyle) -> bool:
    """Return whether a line is printed in the body's font family, including bold and italics, at the size of the body
    or of notes."""
    if not _SMALL_PRINT * body.size < line.size < body.size + _LARGE_PRINT:
        return False
    if body.is_program(line.font):
        return False
    if _COMPUTER_MODERN.match(line.font) and _COMPUTER_MODERN.match(body.font):
        return True
    first, second = (font.split("-")[0].split(",")[0] for font in (line.font, body.font))
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))
    return alike >= _SAME_FAMILY * min(len(first), len(second))


def _is_long(line: Line, measure: float) -> bool:
    return len(line.words) >= _MIN_WORDS and line.width > _LONG_LINE * measure and line.math < _MAX_MATH


def _is_heading(line: Line, body: BodyStyle) -> bool:
    return (
        line.bold > _BOLD_SHARE
        and line.size > body.size + _HEADING_SIZE
        and line.text[:1].isalnum()
        and len(line.text) > 3
    )


def _adjoins(line: Line, other: Line) -> bool:
    """Return whether a line is directly above or below another one of its column, aligned with it or nearly so."""
    low, high = _PITCH
    return (
        low * line.size < abs(line.baseline - other.baseline) < high * line.size
        and abs(line.size - other.size) < _SAME_SIZE
        and -_OUTDENT < line.box.x0 - other.box.x0 < _MAX_INDENT * line.size
        and line.box.x1 < other.box.x1 + _OUTDENT
    )
