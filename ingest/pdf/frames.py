"""Finds frames: drawn boxes, framed or tinted, that text fills, and the captions that name them.

A box of a prompt or an example may break at the end of a column or a page: its frames are then one float.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from ingest.document.geometry import contains, overlap, overlap_x, overlap_y
from ingest.document.pages import HorizontalRule, PageContent, VerticalRule
from ingest.pdf.captions import Caption
from ingest.pdf.columns import crosses
from ingest.pdf.furniture import find_furniture
from ingest.pdf.layout import BodyStyle, PageLayout
from ingest.pdf.lines import Line
from paperscope_core.types import Box

__all__ = [
    "Frame",
    "FramedFloat",
    "find_framed_floats",
    "find_framed_listings",
    "find_frames",
    "frame_at",
    "is_program",
]

# Points unless said otherwise; chosen on the development papers and on generated pages.
_MIN_WIDTH = 60.0  # Narrower boxes are keys and icons.
_MIN_HEIGHT = 1.2  # Letter sizes of the body; a lower box is a rule or a key.
_COVERING_SHARE = 0.9  # A larger box is the background of the page.
_TEXT_SHARE = 0.15  # The least share of its area that text fills; the labels of a plot fill less.
_MAX_BOXES = 300  # A page has fewer frames; the smaller ones of more boxes are parts of drawings.
_MAX_SIZE = 72.0  # Larger letters are no text.
_SLACK = 2.0  # Letters may extend beyond their box by this, and adjacent boxes be apart.
_REACH = 2.6  # Letter sizes of the body; the largest distance between a frame and its caption.
_WRONG_SIDE = 14.0  # The cost of a frame on the less usual side of its caption, as for tables.
_PROGRAM_SHARE = 0.7  # The least share of monospaced letters in a line of a program.
_LISTING_SHARE = 0.7  # The least share of such lines in a frame without a caption.
_MIN_PROGRAM_LINES = 2  # A shorter one is a button or a name.
# Of text in another typeface, in a frame without a caption: notes above a title are shorter, diagrams and tables have
# short lines. Fitted on the development papers.
_MIN_TEXT_LINES = 5
_TYPE_SHARE = 0.8  # The least share of its lines in another typeface; a title bar may be in the body's.
_FULL_WIDTH = 0.6  # The width of a full line, as a share of the frame's.
_MIN_SHARED_WIDTH = 0.3  # The least overlap of a frame and its caption, as a share of the narrower width.


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Frame:
    """A drawn box of a page (its index from 0) and the lines inside it, from top to bottom."""

    page: int
    box: Box
    lines: tuple[Line, ...]

    @property
    def is_text(self) -> bool:
        """Whether the lines fill the box as text does."""
        return sum(line.width * line.size for line in self.lines) > _TEXT_SHARE * self.box.width * self.box.height


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FramedFloat:
    """A float in one frame, or in several if it is continued in other columns or on other pages."""

    caption: Caption
    frames: tuple[Frame, ...]

    @property
    def is_whole(self) -> bool:
        """Whether nothing else can be a part of the float: it has several frames, or the caption is inside."""
        return len(self.frames) > 1 or self.caption.first in self.frames[0].lines

    @property
    def boxes(self) -> tuple[tuple[int, Box], ...]:
        """The page and the box of each frame."""
        return tuple((frame.page, frame.box) for frame in self.frames)

    @property
    def lines(self) -> list[Line]:
        """The lines of all frames but the caption's, in reading order."""
        return [line for frame in self.frames for line in frame.lines if line not in self.caption.lines]


def find_frames(
    layout: PageLayout, *, accepts: Callable[[Frame, PageLayout], bool] = lambda frame, _: frame.is_text
) -> list[Frame]:
    """Return the outermost boxes of a page that text fills, from top to bottom; stacked ones are one frame.

    Args:
        layout: The page.
        accepts: Whether a box is a frame; a box that is not one may contain another.
    """
    content = layout.content
    page = Box(0, 0, content.width, content.height)
    drawn = [
        box
        for box in (*content.drawings, *content.fills, *_ruled_boxes(content))
        if box.width >= _MIN_WIDTH
        and box.height >= _MIN_HEIGHT * layout.body.size
        and box.width * box.height < _COVERING_SHARE * page.width * page.height
        and contains(page.grown(_SLACK, _SLACK), box)
    ]
    found: list[Frame] = []
    largest = sorted(set(drawn), key=_area, reverse=True)[:_MAX_BOXES]
    for box in sorted(_stacked(largest), key=_area, reverse=True):
        if any(overlap(frame.box, box) for frame in found):
            continue
        frame = frame_at(box, layout)
        if accepts(frame, layout):
            found.append(frame)
    alone = (frame for frame in found if not any(_are_cells(frame.box, other.box) for other in found))
    return sorted(alone, key=lambda frame: (frame.box.y0, frame.box.x0))


def _area(box: Box) -> float:
    return box.width * box.height


def _are_cells(box: Box, other: Box) -> bool:
    """Return whether two boxes share a side, as the shaded cells of a row do."""
    sides = abs(box.x0 - other.x1) < _SLACK or abs(box.x1 - other.x0) < _SLACK
    return sides and overlap_y(box, other) > 0


def _ruled_boxes(content: PageContent) -> Iterator[Box]:
    """Yield the boxes that two successive horizontal rules of equal ends and two vertical ones enclose."""
    sides: defaultdict[int, list[VerticalRule]] = defaultdict(list)
    for rule in content.vertical:
        for x in range(round(rule.x - _SLACK), round(rule.x + _SLACK) + 1):
            sides[x].append(rule)
    for (x0, x1), rules in groupby(sorted(content.horizontal, key=_ends), key=_ends):
        left, right = sides[x0][:_MAX_BOXES], sides[x1][:_MAX_BOXES]
        for upper, lower in pairwise(rules):
            box = Box(upper.x0, upper.y, upper.x1, lower.y)
            if all(any(_borders(rule, box) for rule in side) for side in (left, right)):
                yield box


def _borders(rule: VerticalRule, box: Box) -> bool:
    return rule.y0 - _SLACK < box.y0 and box.y1 < rule.y1 + _SLACK


def _ends(rule: HorizontalRule) -> tuple[int, int]:
    return round(rule.x0), round(rule.x1)


def _stacked(boxes: Sequence[Box]) -> list[Box]:
    """Return the boxes, with those of equal ends that touch vertically joined, such as a title bar and its box."""
    joined: list[Box] = []
    for box in sorted(boxes, key=lambda box: box.y0):
        for other in joined:
            same = abs(box.x0 - other.x0) < _SLACK and abs(box.x1 - other.x1) < _SLACK
            if same and box.y0 - other.y1 < _SLACK:
                joined[joined.index(other)] = other.union(box)
                break
        else:
            joined.append(box)
    return joined


def frame_at(box: Box, layout: PageLayout) -> Frame:
    """Return a box with the lines inside."""
    return Frame(page=layout.index, box=box, lines=_lines_in(box, layout))


def _lines_in(box: Box, layout: PageLayout) -> tuple[Line, ...]:
    """Return the lines inside a box, none if text runs across its sides."""
    near = layout.lines_between(box.y0, box.y1 + _MAX_SIZE)
    level = [line for line in near if box.y0 < line.middle < box.y1 and overlap_x(line.box, box) > _SLACK]
    x0, x1 = box.x0 - _SLACK, box.x1 + _SLACK
    return tuple(level) if all(x0 <= line.box.x0 and line.box.x1 <= x1 for line in level) else ()


def find_framed_floats(layouts: Sequence[PageLayout], frames: Sequence[Sequence[Frame]]) -> list[FramedFloat]:
    """Pair captions with frames, nearest first: above, below, or at the top or foot inside the frame.

    Args:
        layouts: The pages.
        frames: The frames of each page.
    """
    chains = _chains(layouts, frames)
    inside = {
        caption
        for layout, found in zip(layouts, frames, strict=True)
        for caption in layout.captions
        if any(caption.first in frame.lines for frame in found)
    }
    pairs = [
        (distance, side, caption, chain)
        for chain in chains
        if sum(len(frame.lines) for frame in chain) > 1
        for side, frame in (("above", chain[0]), ("below", chain[-1]))
        for caption in layouts[frame.page].captions
        if caption not in inside and (distance := _distance(caption, frame, layouts[frame.page], side)) is not None
    ]
    below = sum(side == "below" for _, side, *_ in pairs)
    usual = "below" if 2 * below > len(pairs) else "above"
    named: dict[Caption, FramedFloat] = {}
    used: set[tuple[Frame, ...]] = set()
    for _, _, caption, chain in sorted(pairs, key=lambda each: each[0] + _WRONG_SIDE * (each[1] != usual)):
        if caption not in named and chain not in used:
            named[caption] = FramedFloat(caption=caption, frames=chain)
            used.add(chain)
    for chain in chains:
        own = None if chain in used else _own_caption(chain, layouts)
        if own:
            named[own.caption] = own
    return list(named.values())


def find_framed_listings(layouts: Sequence[PageLayout], free: Sequence[Sequence[Line]]) -> list[tuple[Frame, ...]]:
    """Return the frames without a caption that hold a program, a prompt or an example, each with its continuations.

    Their text is monospaced, or it is running text in another typeface than the body's. Every line is free.

    Args:
        layouts: The pages.
        free: The lines of each page that no float has claimed.
    """
    frames = [
        [frame for frame in find_frames(layout, accepts=_is_listing) if set(lines).issuperset(frame.lines)]
        for layout, lines in zip(layouts, free, strict=True)
    ]
    return _chains(layouts, frames)


def _is_listing(frame: Frame, layout: PageLayout) -> bool:
    """Return whether a frame holds a column of lines in another kind of type than the body's."""
    lines, body = frame.lines, layout.body
    if len(lines) < _MIN_PROGRAM_LINES or not frame.is_text or not _stands_alone(frame, layout):
        return False
    if sum(is_program(line, body) for line in lines) > _LISTING_SHARE * len(lines):
        return True
    other = sum(not _same_face(line.font, body.font) for line in lines)
    full = sum(line.width > _FULL_WIDTH * frame.box.width for line in lines)
    return len(lines) >= _MIN_TEXT_LINES and other > _TYPE_SHARE * len(lines) and 2 * full > len(lines)


def is_program(line: Line, body: BodyStyle) -> bool:
    """Return whether a line is printed in monospaced letters, and the body is not."""
    letters = sum(len(word.text) for word in line.words)
    return sum(len(word.text) for word in line.words if body.is_program(word.font)) > _PROGRAM_SHARE * letters


def _stands_alone(frame: Frame, layout: PageLayout) -> bool:
    """Return whether a frame has text in one column of the page, or lines over all, and none beside it there."""
    columns = {layout.column(line) for line in frame.lines}
    level = layout.lines_between(frame.box.y0, frame.box.y1)
    beside = any(layout.column(line) in columns and line not in frame.lines for line in level)
    return not beside and (len(columns) == 1 or layout.columns in columns)


def _same_face(font: str, body: str) -> bool:
    """Return whether two fonts are of one face by their names: without size and style, one begins with the other."""
    one, other = (re.split(r"[-,\d]", name)[0].lower() for name in (font, body))
    return one.startswith(other) or other.startswith(one) or (one[:2] == other[:2] == "cm")


def _distance(caption: Caption, frame: Frame, layout: PageLayout, side: str) -> float | None:
    """Return the distance of a caption "above" or "below" a frame, None if it is not there or not near."""
    box, other = frame.box, caption.box
    top, bottom = (other.y1, box.y0) if side == "above" else (box.y1, other.y0)
    near = -_SLACK <= bottom - top < _REACH * layout.body.size
    if not near or overlap_x(box, other) < _MIN_SHARED_WIDTH * min(box.width, other.width):
        return None
    between = (line for line in layout.lines_between(top, bottom + _MAX_SIZE) if top < line.middle < bottom)
    if any(overlap_x(line.box, box) > 0 and line not in caption.lines for line in between):
        return None
    return bottom - top


def _own_caption(chain: Sequence[Frame], layouts: Sequence[PageLayout]) -> FramedFloat | None:
    """Return the float whose caption is the first or the last text inside its frames."""
    for frame, at in ((chain[0], 0), (chain[-1], -1)):
        for caption in layouts[frame.page].captions:
            if frame.lines[at] in caption.lines and set(caption.lines) < set(frame.lines):
                return FramedFloat(caption=caption, frames=tuple(chain))
    return None


def _chains(layouts: Sequence[PageLayout], frames: Sequence[Sequence[Frame]]) -> list[tuple[Frame, ...]]:
    """Return the frames, with those that continue each other in the next column or on the next page together."""
    furniture = find_furniture(layouts, [layout.lines for layout in layouts])
    ends = {frame: _is_end(frame, layouts[frame.page], furniture[frame.page]) for page in frames for frame in page}

    def joins(last: Frame, frame: Frame) -> bool:
        open_ended = ends[last][1] and ends[frame][0]
        same = abs(last.box.width - frame.box.width) < _SLACK
        return open_ended and same and _is_next(last, frame, layouts)

    chains: list[list[Frame]] = []
    recent: list[list[Frame]] = []
    for layout, page in zip(layouts, frames, strict=True):
        recent = [chain for chain in recent if chain[-1].page >= layout.index - 1]
        for frame in sorted(page, key=lambda frame: (_column(frame, layout), frame.box.y0)):
            before = next((chain for chain in reversed(recent) if joins(chain[-1], frame)), None)
            if before:
                before.append(frame)
            else:
                chains.append([frame])
                recent.append(chains[-1])
    return [tuple(chain) for chain in chains]


def _column(frame: Frame, layout: PageLayout) -> int:
    return sum(gutter < frame.box.center for gutter in layout.gutters)


def _is_wide(box: Box, layout: PageLayout) -> bool:
    return any(crosses(box, gutter) for gutter in layout.gutters)


def _is_end(frame: Frame, layout: PageLayout, furniture: frozenset[Line]) -> tuple[bool, bool]:
    """Return whether nothing is above a frame in its column, or a caption over several columns, and nothing below
    it."""
    wide = [caption.box.y1 for caption in layout.captions if _is_wide(caption.box, layout)]
    top = max((y for y in wide if y < frame.box.y0), default=0.0)
    others = [line for line in layout.lines if overlap_x(line.box, frame.box) > 0 and line not in furniture]
    first = not any(top < line.middle < frame.box.y0 for line in others)
    return first, not any(line.middle > frame.box.y1 for line in others)


def _is_next(last: Frame, frame: Frame, layouts: Sequence[PageLayout]) -> bool:
    """Return whether a frame is in the column after another one's, or in the first column of the next page."""
    here, after = layouts[last.page], layouts[frame.page]
    column, wide = _column(last, here), _is_wide(last.box, here)
    if last.page == frame.page:
        return not wide and _column(frame, after) == column + 1
    pages = (here.content.number + 1, here.content.turns) == (after.content.number, after.content.turns)
    return pages and (wide or (column == len(here.gutters) and _column(frame, after) == 0))
