"""Footnotes: small print at the foot of a column."""

import re
from collections.abc import Sequence

from ingest.pdf.page.layout import BodyStyle, PageLayout
from ingest.pdf.page.lines import Line

__all__ = ["footnotes_of", "notes_of"]

_MARK = re.compile(r"^(?:\d{1,2}\s?[^\W\d_]|[¹²³⁴⁵⁶⁷⁸⁹⁰]{1,2}\s*\S|[*†‡§¶∗]|https?:|Corresponding|Equal)")
_NOTE = re.compile(r"^(?:\d{1,2}[A-Z]|[¹²³⁴⁵⁶⁷⁸⁹⁰]{1,2}\s*\S|[*†‡§¶∗])")
_RULE_REACH = 16.0
_GAP = 1.7
_LOW = 0.75
_TINY = 0.88


def footnotes_of(layout: PageLayout, free: Sequence[Line], *, body: BodyStyle) -> list[Line]:
    """The lines below the last line of body size in a column, if they begin with a mark or under a short rule.

    Small print that a gap sets apart from the text above may open with a note without a mark: that on the authors.
    """
    found: list[Line] = []
    for column in range(layout.columns + 1):
        lines = sorted((line for line in free if layout.column(line) == column), key=lambda line: line.baseline)
        small: list[Line] = []
        for line in reversed(lines):
            if line.size > 0.93 * body.size:
                break
            small.insert(0, line)
        if len(small) == len(lines):
            continue
        above = lines[-len(small) - 1]
        starts = [
            index
            for index, line in enumerate(small)
            if _under_rule(line, layout) or (_MARK.match(line.text) and _apart(small, index))
        ]
        apart = bool(small) and small[0].baseline - above.baseline > _GAP * above.size
        if apart and above.size < body.size + 0.7 and above.bold < 0.5 and _is_noted(small, layout, body=body):
            starts = [0]
        if starts and small[starts[0]].box.y0 > 0.4 * layout.content.height:
            found.extend(small[starts[0] :])
    return found


def _is_noted(small: Sequence[Line], layout: PageLayout, *, body: BodyStyle) -> bool:
    """Whether small print set apart holds a note: one with a mark, or on the first page a few lines at the foot."""
    if any(_NOTE.match(line.text) for line in small):
        return True
    low = small[0].box.y0 > _LOW * layout.content.height and small[0].size < _TINY * body.size
    return low and layout.content.number == 1


def _under_rule(line: Line, layout: PageLayout) -> bool:
    return any(
        0 < line.box.y0 - rule.y < _RULE_REACH
        and abs(rule.x0 - line.box.x0) < 20
        and rule.x1 - rule.x0 < 0.4 * layout.content.width
        for rule in layout.content.horizontal
    )


def _apart(small: Sequence[Line], index: int) -> bool:
    """Whether the line begins the small print, or stands below a gap in it."""
    return index == 0 or small[index].baseline - small[index - 1].baseline > 1.6 * small[index].size


def notes_of(lines: Sequence[Line]) -> list[list[Line]]:
    """The lines of single footnotes: each begins with its mark."""
    notes: list[list[Line]] = []
    for line in lines:
        if notes and not _MARK.match(line.text):
            notes[-1].append(line)
        else:
            notes.append([line])
    return notes
