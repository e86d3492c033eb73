"""Running text: paragraphs joined across columns and pages, footnotes and sidebars."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from string import ascii_lowercase

from ingest.document.geometry import runs_of
from ingest.pdf.layout import Edges, PageLayout
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
_FOOTNOTE = re.compile(r"^(?:\d{1,2}\s?[^\W\d_]|[¹²³⁴⁵⁶⁷⁸⁹⁰]{1,2}\s*\S|[*†‡§¶∗]|https?:|Corresponding|Equal)")
_MARKED_NOTE = re.compile(r"^(?:\d{1,2}[A-Z]|[¹²³⁴⁵⁶⁷⁸⁹⁰]{1,2}\s*\S|[*†‡§¶∗])")

# Letter sizes unless said otherwise; chosen on the development papers.
_PITCHES = (0.9, 2.5)  # Distances of baselines within a paragraph.
_USUAL_PITCH = 1.2  # The distance assumed if a document has no such lines.
_MORE_PITCH = 0.35  # The additional distance that separates paragraphs.
_BACK = -0.5  # A line higher than this is not below the previous one.
_FLUSH = 0.3  # Lines whose indents differ by less are aligned.
_INDENT, _MAX_INDENT, _MAX_FIRST_INDENT = 0.6, 3.5, 5.0  # Indents of first lines: usual ones, and any.
_INDENTED_SHARE = 0.03  # A share of the flush lines; a document with more indented lines indents its paragraphs.
_SHORT = 2.5  # The least distance from the end of a last line to the end of the column.
_SAME_SIZE = 0.92  # The least ratio of letter sizes within a paragraph.
_MAX_INTERRUPTING = 12  # The most groups, such as rows of a float, between the halves of a paragraph.
_FULL_SIZE_WORDS = 2  # Words of the larger size that show that a line of small words has that size.
_BOLD_SHARE = 0.85  # The least share of bold letters in a bold line; one with less begins a paragraph.
_MIN_WORDS = 4  # The least number of words in both lines where a paragraph continues with a capital letter.

# Small print.
_NOTE_SIZE = 0.93  # A share of the body's size; notes and sidebars are smaller.
_NOTE_GAP = 1.6  # A note begins the small print or follows a gap of this size.
_TEXT_GAP = 1.7  # Small print after a wider gap may begin with a note without a mark.
_BODY_SIZE = 0.7  # Points by which the line above may exceed the body's size; a larger line is a heading.
_RULE_ABOVE, _RULE_SHIFT = 16.0, 20.0  # The largest distances, in points, from a note to the rule above it.
_RULE_WIDTH = 0.4  # The largest width of that rule, in page widths.
_UPPER_SHARE = 0.4  # A share of the page's height; notes are below.
# The least height on the page of notes without a mark, and their largest size relative to the body.
_LOW_SHARE, _TINY = 0.75, 0.88
_ASIDE = 3.0  # The least distance, in points, between a column and a sidebar.
_MIN_SIDEBAR_LINES = 3  # Fewer lines are a label or a line number.


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FlowLine:
    """A line of running text on a page (its index from 0), with its column and the column's edges."""

    page: int
    column: int
    edges: Edges
    line: Line

    @property
    def indent(self) -> float:
        """The indent from the column's left edge, in letter sizes."""
        return (self.line.box.x0 - self.edges.left) / self.line.size

    @property
    def is_short(self) -> bool:
        """Whether the line ends before its column does."""
        return self.line.box.x1 < self.edges.right - _SHORT * self.line.size

    def shares_column(self, other: "FlowLine") -> bool:
        """Return whether another line is in the same column of the same page."""
        return (self.page, self.column) == (other.page, other.column)

    def pitch(self, last: "FlowLine") -> float:
        """Return the distance of its baseline below another line's, in letter sizes of that line."""
        return (self.line.baseline - last.line.baseline) / last.line.size


@dataclass(frozen=True, kw_only=True, slots=True)
class TextStyle:
    """A document's usual distance of baselines in letter sizes, and whether it indents paragraphs."""

    pitch: float
    indents: bool


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Paragraph:
    """The lines of one paragraph; `bulleted` is true for an item of a list."""

    lines: tuple[FlowLine, ...]
    bulleted: bool


def text_style(lines: Sequence[FlowLine]) -> TextStyle:
    """Measure the style of a document's running text."""
    low, high = _PITCHES
    pitches = [second.pitch(first) for first, second in pairwise(lines) if first.shares_column(second)]
    usual = [round(pitch, 2) for pitch in pitches if low < pitch < high]
    flush = sum(abs(line.indent) < _FLUSH for line in lines)
    indented = sum(_INDENT < line.indent < _MAX_INDENT for line in lines)
    return TextStyle(pitch=median(usual) if usual else _USUAL_PITCH, indents=indented > _INDENTED_SHARE * max(1, flush))


def paragraphs_of(lines: Sequence[FlowLine], *, style: TextStyle) -> list[Paragraph]:
    """Split lines in reading order into paragraphs, and join the halves of those interrupted by a float or a note."""
    joined: list[list[FlowLine]] = []
    for group in runs_of(lines, joins=lambda group, line: not _starts(group, line, style=style)):
        host = _interrupted(joined, group)
        if host is None:
            joined.append(group)
        else:
            host.extend(group)
    return [Paragraph(lines=tuple(group), bulleted=bool(_LIST.match(group[0].line.text))) for group in joined]


def _starts(group: Sequence[FlowLine], line: FlowLine, *, style: TextStyle) -> bool:
    """Return whether a line starts a paragraph after the lines of a group."""
    last = group[-1]
    text, before = line.line.text, last.line.text
    ended = bool(_TERMINAL.search(before))
    if _has_other_size(last.line, line.line) or _is_next_item(group[0], line):
        return True
    if _LIST.match(text) and (ended or text[0] in "•●◦▪■‣∙"):
        return True
    hanging = bool(_LIST.match(group[0].line.text))
    indented = _INDENT < line.indent < _MAX_FIRST_INDENT and last.indent < line.indent - 0.5 and not hanging
    if not last.shares_column(line):
        return ended and (last.is_short or indented or not style.indents)
    if not _BACK <= line.pitch(last) <= style.pitch + _MORE_PITCH:
        return True
    if indented and (style.indents or ended):
        return True
    run_in = line.line.words[0].bold and line.line.bold < _BOLD_SHARE and not last.line.words[-1].bold
    return ended and (run_in or last.is_short)


def _has_other_size(last: Line, line: Line) -> bool:
    """Return whether two lines differ in size; monospaced words may make most of a line small, but not all of it."""
    tolerance = (1 - _SAME_SIZE) * last.size
    small, large = sorted((last, line), key=lambda line: line.size)
    shared = sum(abs(word.size - large.size) <= tolerance for word in small.words)
    return large.size - small.size > tolerance and shared < _FULL_SIZE_WORDS


def _is_next_item(first: FlowLine, line: FlowLine) -> bool:
    """Return whether a line begins the next item after the item of `first`: the same marker, or the next number or
    letter."""
    texts = first.line.text, line.line.text
    if not all(map(_LIST.match, texts)) or abs(first.indent - line.indent) >= _FLUSH:
        return False
    marks = [mark[1] for text in texts if (mark := _ITEM.match(text))]
    if len(marks) < 2:
        return texts[0][0] == texts[1][0]
    if all(map(str.isdecimal, marks)):
        return int(marks[1]) == int(marks[0]) + 1
    return len(marks[0]) == len(marks[1]) == 1 and ord(marks[1]) == ord(marks[0]) + 1


def _interrupted(groups: Sequence[list[FlowLine]], group: Sequence[FlowLine]) -> list[FlowLine] | None:
    """Return the group whose unfinished sentence continues in this one, with only smaller type in between, or None."""
    first = group[0]
    size = first.line.size
    host = next(
        (other for other in reversed(groups[-_MAX_INTERRUPTING:]) if other[-1].line.size > _SAME_SIZE * size), None
    )
    if host is None or _SAME_SIZE * host[-1].line.size > size or _LIST.match(first.line.text):
        return None
    last = host[-1]
    if _TERMINAL.search(last.line.text) or last.is_short:
        return None
    flush = abs(first.indent) < _FLUSH and min(len(last.line.words), len(first.line.words)) >= _MIN_WORDS
    alike = first.line.font == last.line.font and max(first.line.bold, last.line.bold) < 0.5
    return host if first.line.text[0] in ascii_lowercase or (flush and alike) else None


def find_footnotes(layout: PageLayout, free: Sequence[Line]) -> list[Line]:
    """Find the lines below the last line of body size in a column that begin with a mark or are below a short rule.

    Small print that a gap separates from the text may begin with a note without a mark: the authors' note.
    """
    found: list[Line] = []
    for lines in layout.by_column(sorted(free, key=lambda line: line.baseline)):
        large = [index for index, line in enumerate(lines) if line.size > _NOTE_SIZE * layout.body.size]
        if not large:
            continue
        above, small = lines[large[-1]], lines[large[-1] + 1 :]
        starts = [
            index
            for index, line in enumerate(small)
            if _is_below_rule(line, layout) or (_FOOTNOTE.match(line.text) and _is_after_gap(small, index))
        ]
        apart = bool(small) and small[0].baseline - above.baseline > _TEXT_GAP * above.size
        if apart and above.size < layout.body.size + _BODY_SIZE and above.bold < 0.5 and _has_note(small, layout):
            starts = [0]
        if starts and small[starts[0]].box.y0 > _UPPER_SHARE * layout.content.height:
            found.extend(small[starts[0] :])
    return found


def _has_note(small: Sequence[Line], layout: PageLayout) -> bool:
    """Return whether separate small print contains a note: one with a mark, or tiny lines at the foot of the first
    page."""
    if any(_MARKED_NOTE.match(line.text) for line in small):
        return True
    low = small[0].box.y0 > _LOW_SHARE * layout.content.height and small[0].size < _TINY * layout.body.size
    return low and layout.content.number == 1


def _is_below_rule(line: Line, layout: PageLayout) -> bool:
    return any(
        0 < line.box.y0 - rule.y < _RULE_ABOVE
        and abs(rule.x0 - line.box.x0) < _RULE_SHIFT
        and rule.width < _RULE_WIDTH * layout.content.width
        for rule in layout.content.horizontal
    )


def _is_after_gap(small: Sequence[Line], index: int) -> bool:
    """Return whether a line begins the small print, or follows a gap in it."""
    return index == 0 or small[index].baseline - small[index - 1].baseline > _NOTE_GAP * small[index].size


def split_footnotes(lines: Sequence[Line]) -> list[list[Line]]:
    """Return the lines of each footnote, which begins with its mark."""
    return runs_of(lines, joins=lambda _, line: not _FOOTNOTE.match(line.text))


def find_sidebars(layout: PageLayout, lines: Sequence[Line]) -> tuple[list[list[Line]], list[Line]]:
    """Find the sidebars of a page: at least three lines of small print entirely outside the columns.

    Returns:
        The sidebars left and right of the columns, and the other lines.
    """
    left, right = layout.edges[0].left, layout.edges[-1].right
    parts = [part for line in lines for part in _parts(line, at=left)]
    small = [line for line in parts if line.size < _NOTE_SIZE * layout.body.size]
    sides = [
        [line for line in small if line.box.x1 < left - _ASIDE],
        [line for line in small if line.box.x0 > right + _ASIDE],
    ]
    sidebars = [sorted(side, key=lambda line: line.baseline) for side in sides if len(side) >= _MIN_SIDEBAR_LINES]
    taken = {line for sidebar in sidebars for line in sidebar}
    return (sidebars, [line for line in parts if line not in taken]) if taken else ([], list(lines))


def _parts(line: Line, *, at: float) -> list[Line]:
    """Return a line, or its parts left and right of a column's edge if it has a gap there."""
    outer = [word for word in line.words if word.x1 < at - _ASIDE]
    inner = [word for word in line.words if word.x1 >= at - _ASIDE]
    if not outer or not inner or min(word.x0 for word in inner) < at - _ASIDE:
        return [line]
    return [line_of(outer), line_of(inner)]
