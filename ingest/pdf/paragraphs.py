"""Running text: paragraphs joined over columns and pages, footnotes and sidebars."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from ingest.pdf.layout import BodyStyle, Edges, PageLayout
from ingest.pdf.lines import Line, line_of

__all__ = [
    "FlowLine",
    "Paragraph",
    "TextStyle",
    "find_footnotes",
    "find_sidebars",
    "paragraphs_of",
    "split_footnotes",
    "text_style",
]


_LIST = re.compile(r"^(?:[•●◦▪■–‣∙·*]|[-—]\s|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]\s)\s*\S")
_ITEM = re.compile(r"\(?(\d{1,2}|[a-z])[.)]\s")
_TERMINAL = re.compile(r"[.!?:][\"”’')\]]*(?:[¹²³⁴⁵⁶⁷⁸⁹⁰]+|\[\d+\])?$")
_LOWER = re.compile(r"[a-z]")
_ALIKE = 0.92
_MOST_BETWEEN = 12
_LEAST_SHARED = 2
_LEAST_WORDS = 3


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FlowLine:
    """A line of running text on a page (its index from 0), with its column's edges."""

    page: int
    column: int
    edges: Edges
    line: Line

    @property
    def indent(self) -> float:
        """How far right of the column's edge the line begins, in letter sizes."""
        return (self.line.box.x0 - self.edges.left) / self.line.size


@dataclass(frozen=True, kw_only=True, slots=True)
class TextStyle:
    """How a document sets its text: the usual distance of baselines in letter sizes, and whether it indents."""

    pitch: float
    indents: bool


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Paragraph:
    """The lines of one paragraph; `bulleted` if it is an item of a list."""

    lines: tuple[FlowLine, ...]
    bulleted: bool


def text_style(lines: Sequence[FlowLine]) -> TextStyle:
    """Measure the style on a document's running text."""
    pitches = Counter(
        round((second.line.baseline - first.line.baseline) / first.line.size, 2)
        for first, second in pairwise(lines)
        if (first.page, first.column) == (second.page, second.column)
        and 0.9 < (second.line.baseline - first.line.baseline) / first.line.size < 2.5
    )
    flush = sum(abs(line.indent) < 0.3 for line in lines)
    indented = sum(0.6 < line.indent < 3.5 for line in lines)
    values = [pitch for pitch, count in pitches.items() for _ in range(count)]
    return TextStyle(pitch=median(values) if values else 1.2, indents=indented > 0.03 * max(1, flush))


def paragraphs_of(lines: Sequence[FlowLine], *, style: TextStyle) -> list[Paragraph]:
    """Cut lines in reading order into paragraphs. One that a float, a note or the like interrupts is joined over it."""
    groups: list[list[FlowLine]] = []
    for line in lines:
        if groups and not _starts(groups[-1], line, style=style):
            groups[-1].append(line)
        else:
            groups.append([line])
    joined: list[list[FlowLine]] = []
    for group in groups:
        host = _interrupted(joined, group)
        if host is None:
            joined.append(group)
        else:
            host.extend(group)
    return [Paragraph(lines=tuple(group), bulleted=bool(_LIST.match(group[0].line.text))) for group in joined]


def _interrupted(groups: Sequence[list[FlowLine]], group: Sequence[FlowLine]) -> list[FlowLine] | None:
    """The group whose unfinished sentence goes on in this one, over others in smaller type, None if there is none."""
    first = group[0]
    size = first.line.size
    host = next((other for other in reversed(groups[-_MOST_BETWEEN:]) if other[-1].line.size > _ALIKE * size), None)
    if host is None or _ALIKE * host[-1].line.size > size or _LIST.match(first.line.text):
        return None
    last = host[-1]
    if _TERMINAL.search(last.line.text) or last.line.box.x1 < last.edges.right - 2.5 * last.line.size:
        return None
    lower = _LOWER.match(first.line.text)
    flush = abs(first.indent) < 0.3 and min(len(last.line.words), len(first.line.words)) > _LEAST_WORDS
    alike = first.line.font == last.line.font and max(first.line.bold, last.line.bold) < 0.5
    return host if lower or (flush and alike) else None


def _is_next_item(first: FlowLine, line: FlowLine) -> bool:
    """Whether a line opens the item after the one that `first` opens: the same sign, or the next number or letter."""
    if not (_LIST.match(first.line.text) and _LIST.match(line.line.text)):
        return False
    marks = [_ITEM.match(text) for text in (first.line.text, line.line.text)]
    if not all(marks):
        return first.line.text[0] == line.line.text[0] and _is_aligned(first, line)
    one, two = (mark[1] for mark in marks if mark)
    if one.isdecimal() and two.isdecimal():
        return int(two) == int(one) + 1 and _is_aligned(first, line)
    return len(one) == len(two) == 1 and ord(two) == ord(one) + 1 and _is_aligned(first, line)


def _is_aligned(first: FlowLine, line: FlowLine) -> bool:
    """Whether two lines begin equally far from the edges of their columns."""
    return abs(first.indent - line.indent) < 0.3


def _is_in_other_size(last: Line, line: Line) -> bool:
    """Whether two lines differ in size; words of a typewriter face may make most of a line small, but not all."""
    room = (1 - _ALIKE) * last.size
    small, large = sorted((last, line), key=lambda line: line.size)
    shared = sum(abs(word.size - large.size) <= room for word in small.words)
    return large.size - small.size > room and shared < _LEAST_SHARED


def _starts(group: Sequence[FlowLine], line: FlowLine, *, style: TextStyle) -> bool:
    last = group[-1]
    if _is_in_other_size(last.line, line.line):
        return True
    opens = _LIST.match(line.line.text) and (_TERMINAL.search(last.line.text) or line.line.text[0] in "•●◦▪■‣∙")
    if opens or _is_next_item(group[0], line):
        return True
    ended = bool(_TERMINAL.search(last.line.text))
    short = last.line.box.x1 < last.edges.right - 2.5 * last.line.size
    hanging = bool(_LIST.match(group[0].line.text))
    indented = 0.6 < line.indent < 5 and last.indent < line.indent - 0.5 and not hanging
    if (last.page, last.column) != (line.page, line.column):
        return ended and (short or indented or not style.indents)
    pitch = (line.line.baseline - last.line.baseline) / last.line.size
    if pitch < -0.5 or pitch > style.pitch + 0.35:
        return True
    if indented and (style.indents or ended):
        return True
    run_in = line.line.words[0].bold and line.line.bold < 0.85 and not last.line.words[-1].bold and ended
    return run_in or (ended and short)


_MARK = re.compile(r"^(?:\d{1,2}\s?[^\W\d_]|[¹²³⁴⁵⁶⁷⁸⁹⁰]{1,2}\s*\S|[*†‡§¶∗]|https?:|Corresponding|Equal)")
_NOTE = re.compile(r"^(?:\d{1,2}[A-Z]|[¹²³⁴⁵⁶⁷⁸⁹⁰]{1,2}\s*\S|[*†‡§¶∗])")
_RULE_REACH = 16.0
_GAP = 1.7
_LOW = 0.75
_TINY = 0.88


def find_footnotes(layout: PageLayout, free: Sequence[Line], *, body: BodyStyle) -> list[Line]:
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


def split_footnotes(lines: Sequence[Line]) -> list[list[Line]]:
    """The lines of single footnotes: each begins with its mark."""
    notes: list[list[Line]] = []
    for line in lines:
        if notes and not _MARK.match(line.text):
            notes[-1].append(line)
        else:
            notes.append([line])
    return notes


_AWAY = 3.0
_SMALL = 0.93
_LEAST_LINES = 3


def find_sidebars(
    lines: Sequence[Line], edges: Sequence[Edges], *, body: BodyStyle
) -> tuple[list[list[Line]], list[Line]]:
    """The sidebars of a page, left and right of its columns, and its other lines.

    A sidebar is at least three lines of small print that lie wholly outside the columns.
    """
    left, right = edges[0].left, edges[-1].right
    parted = [part for line in lines for part in _parted(line, at=left)]
    small = [line for line in parted if line.size < _SMALL * body.size]
    sides = [
        [line for line in small if line.box.x1 < left - _AWAY],
        [line for line in small if line.box.x0 > right + _AWAY],
    ]
    sidebars = [sorted(side, key=lambda line: line.baseline) for side in sides if len(side) >= _LEAST_LINES]
    taken = {line for sidebar in sidebars for line in sidebar}
    return (sidebars, [line for line in parted if line not in taken]) if taken else ([], list(lines))


def _parted(line: Line, *, at: float) -> list[Line]:
    """A line, or its parts left and right of a column's edge where it has a gap there."""
    outer = [word for word in line.words if word.x1 < at - _AWAY]
    inner = [word for word in line.words if word.x1 >= at - _AWAY]
    if not outer or not inner or min(word.x0 for word in inner) < at - _AWAY:
        return [line]
    return [line_of(outer), line_of(inner)]
