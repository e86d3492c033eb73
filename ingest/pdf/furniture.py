"""Finds page furniture: running heads, page numbers, notices in the margins, arXiv's stamp."""

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ingest.document.geometry import overlap_x, overlap_y, turned_box, turned_page
from ingest.document.pages import PageContent
from ingest.pdf.layout import PageLayout
from ingest.pdf.lines import Line, line_of
from ingest.pdf.pdf_words import words_of
from paperscope_core.types import Box

__all__ = ["find_furniture", "find_stamp"]

# Shares of the page's height; chosen on the development papers.
_NUMBER_MARGIN = 0.1  # The margin that contains page numbers and single notices.
_REPEAT_MARGIN = 0.15  # The margin that contains texts repeated on other pages.
_EDGE = 0.08  # A line within this margin that a gap separates from the text is furniture, whatever its text.
_GAP = 0.9  # The least such gap, in letter sizes.
_WIDER = 1.25  # A gap is wider than the usual one between lines by this factor.
_SAME_SIZE, _LEADING = 0.3, 2.0  # Of two lines of a title, in points and in letter sizes.
_LARGER = 0.7  # Points by which a title is larger than the body.
_COUNTED_SHARE = 0.3  # The least share of pages with numbers that increase with the pages.
_UPWARDS = 3  # The quarter turns of text that runs up the page.
_PAGE_NUMBER = re.compile(
    r"(?:page\s*+)?[-–(]?\s*+(?:\d{1,5}|[ivxl]{1,5})\s*+(?:(?:of|/)\s*+\d+)?\s*+[-–)]?", re.IGNORECASE
)


def find_furniture(layouts: Sequence[PageLayout], free: Sequence[Sequence[Line]]) -> list[frozenset[Line]]:
    """Find the furniture among the free lines of each page.

    In the outer seventh of a page: texts that repeat on another page, ignoring digits. In the outer tenth: page
    numbers, and what is printed below a number that increases with the pages. At the edge: lines separated from the
    text by a gap, other than the large type of an only page. Above or below everything else: numbers that increase with
    the pages.
    """
    counted, step = _page_numbers(layouts, free)
    repeated = Counter(
        key
        for layout, lines in zip(layouts, free, strict=True)
        for key in {_repeat_key(line) for line in lines if _in_margin(line, layout, share=_REPEAT_MARGIN)}
    )

    def is_furniture(line: Line, page: _Page) -> bool:
        layout = page.layout
        if line in counted:
            return True
        # The title of a poster is at its edge; so is the first line of some titles of several.
        is_title = line.size > layout.body.size + _LARGER and (
            len(layouts) == 1 or (layout.index == 0 and page.continues(line))
        )
        # The number of an equation may repeat in a margin, too.
        worded = sum(letter.isalpha() for letter in line.text) > 2
        if is_title or not _in_margin(line, layout, share=_REPEAT_MARGIN):
            return False
        if worded and repeated[_repeat_key(line)] > 1:
            return True
        if not _in_margin(line, layout, share=_NUMBER_MARGIN):
            return False
        separated = page.is_separated(line) and not layout.body.is_program(line.font)
        return page.foot_number < line.box.y0 or _is_page_number(line, page.lines) or separated

    pages = [_Page(layout, lines, step) for layout, lines in zip(layouts, free, strict=True)]
    return [frozenset(line for line in page.lines if is_furniture(line, page)) for page in pages]


@dataclass(frozen=True)
class _Page:
    """A page with its free lines, and what lines in its margins are compared with; `step` is the difference between the
    printed numbers of pages and theirs."""

    layout: PageLayout
    lines: Sequence[Line]
    step: int | None

    @cached_property
    def foot_number(self) -> float:
        """The baseline of the page's number at its foot; infinite if there is none."""
        height = self.layout.content.height
        number = None if self.step is None else str(self.layout.content.number + self.step)
        return min(
            (
                line.baseline
                for line in self.lines
                if line.text == number
                and line.baseline > height / 2
                and _in_margin(line, self.layout, share=_NUMBER_MARGIN)
            ),
            default=math.inf,
        )

    @cached_property
    def _leading(self) -> float:
        return self.layout.leading

    @cached_property
    def _head(self) -> float:
        """The end of the margin at the head."""
        return _EDGE * self.layout.printed_height

    @cached_property
    def _foot(self) -> float:
        """The start of the margin at the foot."""
        return self.layout.content.height - _EDGE * self.layout.printed_height

    @cached_property
    def _first(self) -> float:
        """The top of the lines that are not in the margin at the head."""
        return min((line.box.y0 for line in self.lines if line.box.y1 >= self._head), default=math.inf)

    @cached_property
    def _last(self) -> float:
        """The bottom of the lines that are not in the margin at the foot."""
        return max((line.box.y1 for line in self.lines if line.box.y0 <= self._foot), default=-math.inf)

    @cached_property
    def _tops(self) -> list[float]:
        return sorted(line.box.y0 for line in self.lines)

    def continues(self, line: Line) -> bool:
        """Return whether the next line below, in the same size, continues a line."""
        return any(
            abs(other.size - line.size) < _SAME_SIZE
            and 0 < other.baseline - line.baseline < _LEADING * line.size
            and overlap_x(other.box, line.box) > 0
            for other in self.lines
        )

    def is_separated(self, line: Line) -> bool:
        """Return whether everything between a line and the page's edge is in the margin, separated from the rest by a
        gap.

        A manuscript may have as wide a gap between all of its lines.
        """
        gap = max(_GAP * line.size, _WIDER * self._leading)
        if line.box.y0 > self._foot:
            outer = self._tops[bisect_right(self._tops, self._foot - 2 * line.size)]
            return outer - self._last > gap
        return line.box.y1 < self._head and self._first - line.box.y1 > gap


def _page_numbers(layouts: Sequence[PageLayout], free: Sequence[Sequence[Line]]) -> tuple[set[Line], int | None]:
    """Return the numbers at the top or bottom whose difference from the page's number is the same as on most pages, and
    that difference; None if there are no such numbers."""
    steps = {
        line: int(line.text) - layout.content.number
        for layout, lines in zip(layouts, free, strict=True)
        for line in lines
        if re.fullmatch(r"\d{1,4}", line.text) and _is_outermost(line, lines)
    }
    if not steps:
        return set(), None
    step, count = Counter(steps.values()).most_common(1)[0]
    if count <= _COUNTED_SHARE * len(layouts):
        return set(), None
    return {line for line, own in steps.items() if own == step}, step


def _is_outermost(line: Line, lines: Sequence[Line]) -> bool:
    others = [other.baseline for other in lines if abs(other.baseline - line.baseline) > 1]
    return not others or line.baseline > max(others) or line.baseline < min(others)


def _repeat_key(line: Line) -> tuple[str, int]:
    """Return what is equal in a running head on all pages: its text without digits, and its height on the page."""
    return re.sub(r"\d+", "#", line.text.lower()), round(line.baseline / 3)


def _is_page_number(line: Line, lines: Sequence[Line]) -> bool:
    """Return whether a line is a page number; a number in parentheses next to other text numbers an equation."""
    if not _PAGE_NUMBER.fullmatch(line.text):
        return False
    beside = any(other is not line and overlap_y(other.box, line.box) > 0 for other in lines)
    return not (beside and line.text.startswith("("))


def _in_margin(line: Line, layout: PageLayout, *, share: float) -> bool:
    margin = share * layout.printed_height
    return line.box.y1 < margin or line.box.y0 > layout.content.height - margin


def find_stamp(page: PageContent) -> tuple[str, Box] | None:
    """Return the text of the stamp that arXiv prints up the margin of a first page, and its box; None without one."""
    if not any(char.direction == _UPWARDS for char in page.chars):
        return None
    turned = turned_page(page, turns=_UPWARDS)
    words = words_of(turned.upright, body_font="")
    first = next((word for word in words if word.text.startswith("arXiv:")), None)
    if first is None:
        return None
    line = line_of(word for word in words if word.baseline == first.baseline)
    return line.text, turned_box(line.box, turned.width, turned.height, turns=-_UPWARDS)
