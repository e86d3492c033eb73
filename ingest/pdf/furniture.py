"""Finds page furniture: running heads, page numbers, notices in the margins, arXiv's stamp."""

import re
from collections import Counter
from collections.abc import Sequence

from ingest.document.geometry import overlap_y, turned_box, turned_page
from ingest.document.pages import PageContent
from ingest.pdf.layout import PageLayout
from ingest.pdf.lines import Line, line_of
from ingest.pdf.words import words_of
from paperscope_core.types import Box

__all__ = ["find_furniture", "find_stamp"]

# Shares of the page's height; chosen on the development papers.
_NUMBER_MARGIN = 0.1  # The margin that contains page numbers and single notices.
_REPEAT_MARGIN = 0.15  # The margin that contains texts repeated on other pages.
_EDGE = 0.08  # A line within this margin that a gap separates from the text is furniture, whatever its text.
_GAP = 0.9  # The least such gap, in letter sizes.
_WIDER = 1.25  # A gap is wider than the usual one between lines by this factor.
_COUNTED_SHARE = 0.3  # The least share of pages with numbers that increase with the pages.
_UPWARDS = 3  # The quarter turns of text that runs up the page.
_PAGE_NUMBER = re.compile(
    r"(?:page\s*+)?[-–(]?\s*+(?:\d{1,5}|[ivxl]{1,5})\s*+(?:(?:of|/)\s*+\d+)?\s*+[-–)]?", re.IGNORECASE
)


def find_furniture(layouts: Sequence[PageLayout], free: Sequence[Sequence[Line]]) -> list[frozenset[Line]]:
    """Finds the furniture among the free lines of each page.

    In the outer seventh of a page: texts that repeat on another page, ignoring digits. In the outer tenth: page
    numbers, and what is printed below a number that increases with the pages. At the edge: lines separated from the
    text by a gap. Above or below everything else: numbers that increase with the pages.
    """
    counted, step = _page_numbers(layouts, free)
    repeated = Counter(
        key
        for layout, lines in zip(layouts, free, strict=True)
        for key in {_repeat_key(line) for line in lines if _in_margin(line, layout, share=_REPEAT_MARGIN)}
    )

    def is_furniture(line: Line, lines: Sequence[Line], layout: PageLayout) -> bool:
        if line in counted:
            return True
        # The number of an equation may repeat in a margin, too.
        worded = sum(letter.isalpha() for letter in line.text) > 2
        if worded and _in_margin(line, layout, share=_REPEAT_MARGIN) and repeated[_repeat_key(line)] > 1:
            return True
        if not _in_margin(line, layout, share=_NUMBER_MARGIN):
            return False
        own = "" if step is None else str(layout.content.number + step)
        below = any(
            other.text == own and other.baseline < line.box.y0 and _in_margin(other, layout, share=_NUMBER_MARGIN)
            for other in lines
            if other.baseline > layout.content.height / 2
        )
        return below or _is_page_number(line, lines) or _is_separated(line, lines, layout)

    return [
        frozenset(line for line in lines if is_furniture(line, lines, layout))
        for layout, lines in zip(layouts, free, strict=True)
    ]


def _page_numbers(layouts: Sequence[PageLayout], free: Sequence[Sequence[Line]]) -> tuple[set[Line], int | None]:
    """Returns the numbers at the top or bottom whose difference from the page's number is that of most pages, and that
    difference; None if there are none."""
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
    """Returns what is equal in a running head on all pages: its text without digits, and its height on the page."""
    return re.sub(r"\d+", "#", line.text.lower()), round(line.baseline / 3)


def _is_page_number(line: Line, lines: Sequence[Line]) -> bool:
    """Whether a line is a page number; a number in parentheses beside other text is an equation's."""
    if not _PAGE_NUMBER.fullmatch(line.text):
        return False
    beside = any(other is not line and overlap_y(other.box, line.box) > 0 for other in lines)
    return not (beside and line.text.startswith("("))


def _in_margin(line: Line, layout: PageLayout, *, share: float) -> bool:
    height = layout.content.height
    return line.box.y1 < share * height or line.box.y0 > (1 - share) * height


def _is_separated(line: Line, lines: Sequence[Line], layout: PageLayout) -> bool:
    """Whether everything between the line and the page's edge is in the margin, separated from the rest by a gap.

    A manuscript may have as wide a gap between all of its lines.
    """
    height = layout.content.height
    gap = max(_GAP * line.size, _WIDER * layout.leading)
    if line.box.y0 > (1 - _EDGE) * height:
        inner = [other.box.y1 for other in lines if other.box.y0 <= (1 - _EDGE) * height]
        outer = [other.box.y0 for other in lines if other.box.y0 > (1 - _EDGE) * height - 2 * line.size]
        return not inner or min(outer, default=line.box.y0) - max(inner) > gap
    if line.box.y1 < _EDGE * height:
        inner = [other.box.y0 for other in lines if other.box.y1 >= _EDGE * height]
        return not inner or min(inner) - line.box.y1 > gap
    return False


def find_stamp(page: PageContent) -> tuple[str, Box] | None:
    """Returns the text of the stamp that arXiv prints up the margin of a first page, and its box; None without one."""
    if not any(char.direction == _UPWARDS for char in page.chars):
        return None
    turned = turned_page(page, turns=_UPWARDS)
    words = words_of(turned.upright, body_font="")
    first = next((word for word in words if word.text.startswith("arXiv:")), None)
    if first is None:
        return None
    line = line_of(word for word in words if word.baseline == first.baseline)
    return line.text, turned_box(line.box, turned.width, turned.height, turns=-_UPWARDS)
