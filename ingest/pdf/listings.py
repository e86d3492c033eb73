"""Finds algorithms and program listings: in the frames or between the rules of their caption, or in monospaced
letters."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ingest.document.caption_wording import CaptionStart, caption_start
from ingest.document.geometry import bounding_box, runs_of
from ingest.document.line_text import join_lines
from ingest.document.pages import HorizontalRule
from ingest.pdf.captions import Caption
from ingest.pdf.fonts import is_monospaced
from ingest.pdf.frames import Frame, FramedFloat, is_program
from ingest.pdf.layout import PageLayout
from ingest.pdf.lines import Line
from paperscope_core.types import Box

__all__ = ["FoundListing", "find_listings", "framed_listing", "unlabelled_listing"]

_ADDRESS = re.compile(r"://|[\w})\]]@\w+\.\w")

# Letter sizes unless said otherwise; chosen on the development papers.
_SAME_RULE = 3.0  # Points; the rules around a listing end at the same x to within this.
_RULE_OVERHANG = 10.0  # Points by which lines may extend beyond the rules.
_REACH = 2.0  # The largest distance between a caption and its listing.
_MIN_ROWS = 2  # The least number of rows of a program without a caption.
_ROW_SHIFT = 0.4  # The largest difference in baseline between parts of one row.
_MAX_PITCH = 2.2  # The largest distance between rows of one part of a program,
_MAX_BLANK = 4.0  # and between parts: two empty lines.
_TEXT_PITCH = 1.3  # Text closer than this continues the rows, which are then no program but monospaced text.
_LETTER_WIDTH, _TEXT_WIDTH = 0.6, 0.5  # Letter widths of monospaced and of other fonts, for the indents of rows.


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FoundListing:
    """A listing or an algorithm that begins on a page (its index from 0).

    `head` are the lines of its caption on `head_page`, none without one; `frames` are those around it, if any.
    """

    page: int
    head: tuple[Line, ...]
    lines: tuple[Line, ...]
    head_page: int
    frames: tuple[Frame, ...] = ()

    @property
    def box(self) -> Box:
        """The first frame, otherwise the box around the listing and its caption."""
        return self.frames[0].box if self.frames else bounding_box(line.box for line in (*self.head, *self.lines))

    @property
    def label(self) -> str:
        """`Algorithm 1`, "" without a caption."""
        return self._start.label if self._start else ""

    @property
    def caption(self) -> str:
        """The caption without its label."""
        rest = (line.text for line in self.head[1:])
        return join_lines([self._start.text, *rest]).strip(" :") if self._start else ""

    @property
    def _start(self) -> CaptionStart | None:
        return caption_start(self.head[0].text) if self.head else None

    @property
    def text(self) -> str:
        """The rows from top to bottom, indented as printed."""
        monospaced = is_monospaced(self.lines[0].font)
        width = (_LETTER_WIDTH if monospaced else _TEXT_WIDTH) * max(line.size for line in self.lines)
        framed = [[line for line in frame.lines if line not in self.head] for frame in self.frames]
        return "\n".join(_row_text(row, left=left, width=width) for left, row in _placed_rows(framed or [self.lines]))


def framed_listing(framed: FramedFloat) -> FoundListing:
    """Return the listing of a caption in its frames."""
    return FoundListing(
        page=framed.frames[0].page,
        head=framed.caption.lines,
        head_page=framed.caption.page,
        lines=tuple(framed.lines),
        frames=framed.frames,
    )


def unlabelled_listing(frames: Sequence[Frame]) -> FoundListing:
    """Return the listing in frames without a caption."""
    lines = tuple(line for frame in frames for line in frame.lines)
    page = frames[0].page
    return FoundListing(page=page, head=(), head_page=page, lines=lines, frames=tuple(frames))


def find_listings(layouts: Sequence[PageLayout], free: Sequence[Sequence[Line]]) -> list[FoundListing]:
    """Find the listings of all pages among the lines that no other float has claimed.

    A single row is a program if it is printed like a longer one.
    """
    found: list[FoundListing] = []
    short: list[FoundListing] = []
    for layout, lines in zip(layouts, free, strict=True):
        named = _with_captions(layout, lines)
        used = {line for listing in named for line in (*listing.head, *listing.lines)}
        programs = list(_without_caption(layout, [line for line in lines if line not in used]))
        found += named
        for listing in programs:
            (found if len(_rows(listing.lines)) >= _MIN_ROWS else short).append(listing)
    fonts = {line.font for listing in found if not listing.head for line in listing.lines}
    found += [listing for listing in short if fonts.issuperset(line.font for line in listing.lines)]
    return sorted(found, key=lambda listing: (listing.page, listing.box.y0))


def _with_captions(layout: PageLayout, free: Sequence[Line]) -> list[FoundListing]:
    captions = [caption for caption in layout.captions if caption.kind == "other"]
    named = [_ruled(layout, caption, free) or _beside(layout, caption, free) for caption in captions]
    return [listing for listing in named if listing]


def _ruled(layout: PageLayout, caption: Caption, free: Sequence[Line]) -> FoundListing | None:
    """Return the lines between the two rules below the caption, otherwise above it."""
    first = caption.first
    reach = _REACH * first.size
    for upper, lower in _rule_pairs(layout, first):
        between = [line for line in free if _is_within(line, upper, lower)]
        if 0 < upper.y - first.baseline < 2 * reach:
            head = [line for line in free if first.baseline <= line.baseline < upper.y and _is_spanned(line, upper)]
            below = True
        elif first in between and between[0] is first:
            head, below = [line for line in caption.lines if line in between], True
        else:
            head, below = list(caption.lines), 0 < first.box.y0 - lower.y < reach
        lines = tuple(line for line in between if line not in head)
        if below and lines and first in head and all(line in free for line in head):
            return FoundListing(page=layout.index, head_page=layout.index, head=tuple(head), lines=lines)
    return None


def _rule_pairs(layout: PageLayout, first: Line) -> Iterator[tuple[HorizontalRule, HorizontalRule]]:
    """Yield successive rules of equal ends that span the beginning of a caption's first line."""
    spanning = [rule for rule in layout.content.horizontal if rule.x0 - _RULE_OVERHANG < first.box.x0 < rule.x1]
    rules = sorted(spanning, key=lambda rule: rule.y)
    for at, upper in enumerate(rules):
        same = (
            rule
            for rule in rules[at + 1 :]
            if abs(rule.x0 - upper.x0) < _SAME_RULE
            and abs(rule.x1 - upper.x1) < _SAME_RULE
            and rule.y - upper.y > first.size
        )
        lower = next(same, None)
        if lower is not None:
            yield upper, lower


def _is_within(line: Line, upper: HorizontalRule, lower: HorizontalRule) -> bool:
    below = upper.y - 1 < line.box.y0 + 0.25 * line.size
    return below and line.baseline < lower.y + 1 and _is_spanned(line, upper)


def _is_spanned(line: Line, rule: HorizontalRule) -> bool:
    return rule.x0 - _RULE_OVERHANG < line.box.x0 and line.box.x1 < rule.x1 + _RULE_OVERHANG


def _beside(layout: PageLayout, caption: Caption, free: Sequence[Line]) -> FoundListing | None:
    """Return the monospaced program directly below or above a caption."""
    head = [line for line in caption.lines if not is_program(line, layout.body)]
    if not head or any(line not in free for line in head):
        return None
    for run in _joined(_programs(layout, free), layout):
        gap = max(run[0].box.y0 - caption.first.box.y1, caption.first.box.y0 - run[-1].box.y1)
        beside = layout.column(run[0]) == layout.column(caption.first) or layout.columns == 1
        if beside and gap < (_REACH + len(head)) * caption.first.size:
            return FoundListing(page=layout.index, head_page=layout.index, head=tuple(head), lines=tuple(run))
    return None


def _without_caption(layout: PageLayout, free: Sequence[Line]) -> Iterator[FoundListing]:
    """Yield programs without a caption: monospaced rows, separate from the text, that are not addresses."""
    apart = (run for run in _programs(layout, free) if _is_apart(run, layout, free))
    for lines in _joined(apart, layout):
        rows = _rows(lines)
        addresses = sum(any(_ADDRESS.search(line.text) for line in row) for row in rows)
        if 3 * addresses < len(rows):
            yield FoundListing(page=layout.index, head_page=layout.index, head=(), lines=tuple(lines))


def _is_apart(run: Sequence[Line], layout: PageLayout, free: Sequence[Line]) -> bool:
    """Return whether the lines above and below a program are further away than the lines of one text."""
    column = layout.column(run[0])
    others = (line for line in free if layout.column(line) == column and line not in run)
    size, top, bottom = max(line.size for line in run), run[0].baseline, run[-1].baseline
    return not any(
        0 < max(top - other.baseline, other.baseline - bottom) < _TEXT_PITCH * max(size, other.size) for other in others
    )


def _programs(layout: PageLayout, free: Sequence[Line]) -> Iterator[list[Line]]:
    """Yield the programs of a page: consecutive monospaced rows of a column, split at wide gaps."""
    for lines in layout.by_column(free):
        for monospaced, group in groupby(
            _rows(lines), key=lambda row: all(is_program(line, layout.body) for line in row)
        ):
            if monospaced:
                for run in runs_of(
                    group, joins=lambda run, row: row[0].baseline - run[-1][0].baseline <= _MAX_PITCH * row[0].size
                ):
                    yield [line for row in run for line in row]


def _joined(runs: Iterable[list[Line]], layout: PageLayout) -> list[list[Line]]:
    """Return the runs of rows, with those that empty lines alone separate together."""

    def follows(before: list[list[Line]], run: list[Line]) -> bool:
        last = before[-1][-1]
        column, top, bottom = layout.column(last), last.baseline, run[0].baseline
        between = any(top < line.baseline < bottom for line in layout.lines if layout.column(line) == column)
        return layout.column(run[0]) == column and 0 < bottom - top < _MAX_BLANK * last.size and not between

    return [[line for run in joined for line in run] for joined in runs_of(runs, joins=follows)]


def _rows(lines: Sequence[Line]) -> list[list[Line]]:
    """Return the lines on each baseline from left to right, from top to bottom."""
    rows = runs_of(
        sorted(lines, key=lambda line: line.baseline),
        joins=lambda row, line: line.baseline - row[0].baseline < _ROW_SHIFT * line.size,
    )
    return [sorted(row, key=lambda line: line.box.x0) for row in rows]


def _placed_rows(parts: Sequence[Sequence[Line]]) -> Iterator[tuple[float, Sequence[Line]]]:
    """Yield the rows of each part with the left edge of the part."""
    for lines in parts:
        for row in _rows(lines):
            yield min(line.box.x0 for line in lines), row


def _row_text(row: Sequence[Line], *, left: float, width: float) -> str:
    text, right = "", left
    for line in row:
        blanks = round((line.box.x0 - right) / width)
        text += " " * (max(1, blanks) if text else blanks) + line.text
        right = line.box.x1
    return text
