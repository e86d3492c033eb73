"""Lines in reading order to paragraphs, joined over columns and pages."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from ingest.pdf.page.edges import Edges
from ingest.pdf.page.lines import Line

__all__ = ["FlowLine", "Paragraph", "TextStyle", "paragraphs_of", "text_style"]

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
