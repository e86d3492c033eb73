"""Page furniture: running heads, page numbers, notices in the margins."""

import re
from collections import Counter
from collections.abc import Sequence

from ingest.pdf.layout import PageLayout
from ingest.pdf.lines import Line

__all__ = ["find_furniture"]


_MARGIN = 0.1
_REPEAT_MARGIN = 0.15
_EDGE = 0.08
_COUNTED = 0.3
_PAGE_NUMBER = re.compile(r"(?:page\s*)?[-–(]?\s*(?:\d{1,5}|[ivxl]{1,5})\s*(?:(?:of|/)\s*\d+)?\s*[-–)]?", re.IGNORECASE)


def find_furniture(layouts: Sequence[PageLayout], free: Sequence[Sequence[Line]]) -> list[frozenset[Line]]:
    """The furniture among the free lines of each page.

    In the outer seventh of a page: texts that come again on another page, digits aside. In its outer tenth: page
    numbers. At its very edge: whatever a gap of a line sets apart from the text. Anywhere above or below all else:
    numbers that count on with the pages.
    """
    counted = _counted(layouts, free)
    repeated = Counter(
        key
        for layout, lines in zip(layouts, free, strict=True)
        for key in {_key(line) for line in lines if _in_margin(line, layout, share=_REPEAT_MARGIN)}
    )
    return [
        frozenset(
            line
            for line in lines
            if line in counted
            or (_in_margin(line, layout, share=_REPEAT_MARGIN) and repeated[_key(line)] > 1 and _is_worded(line))
            or (
                _in_margin(line, layout, share=_MARGIN)
                and (_is_page_number(line, lines) or _set_apart(line, lines, layout))
            )
        )
        for layout, lines in zip(layouts, free, strict=True)
    ]


def _counted(layouts: Sequence[PageLayout], free: Sequence[Sequence[Line]]) -> set[Line]:
    """The numbers above or below all else on their page that are as far from the page's as on most other pages."""
    steps = {
        line: int(line.text) - layout.content.number
        for layout, lines in zip(layouts, free, strict=True)
        for line in lines
        if re.fullmatch(r"\d{1,4}", line.text) and _is_outermost(line, lines)
    }
    if not steps:
        return set()
    step, count = Counter(steps.values()).most_common(1)[0]
    return {line for line, own in steps.items() if own == step} if count > _COUNTED * len(layouts) else set()


def _is_outermost(line: Line, lines: Sequence[Line]) -> bool:
    others = [other.baseline for other in lines if abs(other.baseline - line.baseline) > 1]
    return not others or line.baseline > max(others) or line.baseline < min(others)


def _key(line: Line) -> tuple[str, int]:
    """What a running head has in common over pages: its text without digits, and its height on the page."""
    return re.sub(r"\d+", "#", line.text.lower()), round(line.baseline / 3)


def _is_worded(line: Line) -> bool:
    """Whether a line says something; the number of an equation may come again in a margin too."""
    return sum(letter.isalpha() for letter in line.text) > 2


def _is_page_number(line: Line, lines: Sequence[Line]) -> bool:
    """A number in parentheses is one only where nothing stands beside it: else it is an equation's."""
    if not _PAGE_NUMBER.fullmatch(line.text):
        return False
    beside = any(other is not line and other.box.y0 < line.box.y1 and line.box.y0 < other.box.y1 for other in lines)
    return not (beside and line.text.startswith("("))


def _in_margin(line: Line, layout: PageLayout, *, share: float) -> bool:
    height = layout.content.height
    return line.box.y1 < share * height or line.box.y0 > (1 - share) * height


def _set_apart(line: Line, lines: Sequence[Line], layout: PageLayout) -> bool:
    """Whether everything between the line and the page's edge lies at the edge, a gap away from the rest."""
    height = layout.content.height
    if line.box.y0 > (1 - _EDGE) * height:
        inner = [other.box.y1 for other in lines if other.box.y0 <= (1 - _EDGE) * height]
        outer = [other.box.y0 for other in lines if other.box.y0 > (1 - _EDGE) * height - 2 * line.size]
        return not inner or min(outer, default=line.box.y0) - max(inner) > 0.9 * line.size
    if line.box.y1 < _EDGE * height:
        inner = [other.box.y0 for other in lines if other.box.y1 >= _EDGE * height]
        return not inner or min(inner) - line.box.y1 > 0.9 * line.size
    return False
