"""Finds the panels of a figure, marked (a), (b), (c), and tells plots and diagrams from other drawings."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest

from ingest.document.geometry import bounding_box, contains, intersection, join_boxes, overlap, overlap_x, runs_of
from ingest.document.line_text import join_lines
from ingest.pdf.lines import Line
from paperscope_core.types import Box

__all__ = ["FoundPanel", "find_panels", "find_plots", "is_marked"]

_MARK = re.compile(r"^(?P<bracket>\()?(?P<letter>[a-zA-Z])\)(?(bracket)\s*|\s+)(?P<title>.*)$")
_IN_CAPTION = re.compile(r"(?:^|(?<=[\s;,.:(]))\(([a-zA-Z])\)\s*")

# Chosen on the development papers.
_SAME_ROW = 6.0  # The largest vertical distance, in points, between the marks of one row of panels.
_IMAGE_ROW = 20.0  # The largest difference, in points, between the tops of pictures in one row.
_HEAD_SHARE = 0.3  # Marks in this upper share of their row are above their panels.
_FLAT = 0.4  # The height-to-width ratio of a figure too low for two rows of panels.
_PITCH = (0.5, 1.45)  # The distance between lines of a panel's title, in letter sizes.
_MAX_WIDTH = 1.1  # Panel widths; a wider part of the figure belongs to several panels.

# Points unless said otherwise; chosen on package vignettes of statistics with plots drawn by R, and on slides.
_CELL = 8.0  # Drawings in one cell of this size, or in adjacent ones, belong together.
_MIN_SIDE = 60.0  # A lower or narrower drawing is a logo, a rule or a button.
_MAX_TICK = 10.0  # The longest tick; the cells of tables are wider.
_THIN = 1.6  # Thinner drawings are strokes.
_MIN_TICKS = 3  # Ticks of equal ends that show an axis.
_MIN_MARKS = 5  # Marks, such as points, bars and curves, that show a plot without ticks.
_ASIDE, _REACH = 30.0, 14.0  # The largest distances, horizontal and vertical, of a legend or panel from a plot.


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundPanel:
    """A panel of a figure: its mark without parentheses, its box, and its title."""

    mark: str
    box: Box
    caption: str


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Mark:
    letter: str
    lines: tuple[Line, ...]
    text: str

    @property
    def box(self) -> Box:
        return bounding_box(line.box for line in self.lines)

    @property
    def center(self) -> float:
        return self.box.center

    @property
    def baseline(self) -> float:
        return self.lines[0].baseline


def is_marked(line: Line) -> bool:
    """Return whether a line begins with a mark, `(a)` or `a)`."""
    return bool(_MARK.match(line.text))


def find_panels(
    whole: Box, *, lines: Collection[Line], ink: Sequence[Box], letters: Sequence[Box], caption: str
) -> tuple[FoundPanel, ...]:
    """Return the panels of a figure in the order of their marks, none unless they are marked from (a) on.

    Marks are below or above their panels. A panel without a title gets its text from the figure's caption.

    Args:
        whole: The figure's box.
        lines: The lines inside it.
        ink: The boxes of its pictures and drawings.
        letters: The boxes of its letters that aren't upright.
        caption: The figure's caption.
    """
    captions = dict(_captions(caption))
    marks = _marks(lines)
    if not _are_in_order([mark.letter for mark in marks]):
        images = sorted(ink, key=lambda box: (round(box.y0 / _IMAGE_ROW), box.x0))
        if not _are_in_order(list(captions)) or len(images) != len(captions):
            return ()
        pairs = zip(captions.items(), images, strict=True)
        return tuple(FoundPanel(mark=letter, box=box, caption=text) for (letter, text), box in pairs)
    one_row = len({round(mark.baseline / _SAME_ROW) for mark in marks}) < len(marks)
    if not one_row and whole.height < _FLAT * whole.width:
        # In a figure too low for several rows, marks at different heights are notes.
        return ()
    boxes = _boxes(whole, marks, [*ink, *letters, *(line.box for line in lines)])
    return tuple(
        FoundPanel(mark=mark.letter, box=boxes[mark.letter], caption=mark.text or captions.get(mark.letter, ""))
        for mark in marks
    )


def _captions(caption: str) -> Iterator[tuple[str, str]]:
    """Yield the marks in a caption, each with the text after it: "(a) training; (b) test"."""
    marks = list(_IN_CAPTION.finditer(caption))
    for match, after in zip_longest(marks, marks[1:]):
        text = caption[match.end() : after.start() if after else len(caption)]
        yield match[1], re.sub(r"(?<![\s;,])[\s;,]++(?:and\s*+)?$", "", text)


def _are_in_order(letters: Sequence[str]) -> bool:
    """Return whether there are at least two letters in the order a, b, c (or A, B, C)."""
    if len(letters) < 2 or letters[0] not in ("a", "A"):
        return False
    return all(ord(second) == ord(first) + 1 for first, second in pairwise(letters))


def _marks(lines: Collection[Line]) -> list[_Mark]:
    """Return the marked lines by letter, each with the lines of its title; the lowest of repeated letters."""
    found: dict[str, _Mark] = {}
    for line in sorted(lines, key=lambda line: line.baseline):
        match = _MARK.match(line.text)
        if match:
            rest = list(_title_lines_below(line, lines))
            text = join_lines([match["title"], *(other.text for other in rest)]).strip()
            found[match["letter"]] = _Mark(letter=match["letter"], lines=(line, *rest), text=text)
    return [found[letter] for letter in sorted(found)]


def _title_lines_below(line: Line, lines: Collection[Line]) -> Iterator[Line]:
    low, high = _PITCH
    last = line
    for other in sorted(lines, key=lambda line: line.baseline):
        follows = low * line.size < other.baseline - last.baseline < high * line.size
        if follows and abs(other.size - line.size) < 0.5 and overlap_x(other.box, line.box) > 0:
            if _MARK.match(other.text):
                return
            yield other
            last = other


def _boxes(whole: Box, marks: Sequence[_Mark], parts: Sequence[Box]) -> dict[str, Box]:
    """Return the box of each panel: the parts of the figure nearest to its mark, in rows and columns of marks."""
    rows = runs_of(
        sorted(marks, key=lambda mark: mark.baseline),
        joins=lambda row, mark: mark.baseline - row[0].baseline < _SAME_ROW,
    )
    below = rows[0][0].box.y0 - whole.y0 > _HEAD_SHARE * whole.height / len(rows)
    if below:
        cuts = [whole.y0, *(max(mark.box.y1 for mark in row) for row in rows[:-1]), whole.y1]
    else:
        cuts = [whole.y0, *(min(mark.box.y0 for mark in row) for row in rows[1:]), whole.y1]
    boxes: dict[str, Box] = {}
    for row, (top, bottom) in zip(rows, pairwise(cuts), strict=True):
        row.sort(key=lambda mark: mark.center)
        band = [box for box in parts if top - 1 <= box.middle <= bottom + 1]
        sides = [_cut_between(left, right, band, centred=below) for left, right in pairwise(row)]
        for mark, (x0, x1) in zip(row, pairwise([whole.x0, *sides, whole.x1]), strict=True):
            inside = [box for box in band if x0 - 1 <= box.center <= x1 + 1 and box.width < _MAX_WIDTH * (x1 - x0)]
            cell = Box(x0, top, x1, bottom)
            boxes[mark.letter] = intersection(bounding_box(inside), cell) if inside else cell
    return boxes


def _cut_between(left: _Mark, right: _Mark, band: Sequence[Box], *, centred: bool) -> float:
    """Return the x between two panels: the middle of the widest gap between their marks that nothing crosses."""
    start, end = (left.center, right.center) if centred else (left.box.x0, right.box.x0)
    edges = sorted((max(box.x0, start), min(box.x1, end)) for box in band if box.x1 > start and box.x0 < end)
    gaps: list[tuple[float, float]] = []
    reach = start
    for x0, x1 in [*edges, (end, end)]:
        if x0 > reach:
            gaps.append((x0 - reach, (x0 + reach) / 2))
        reach = max(reach, x1)
    if gaps:
        return max(gaps)[1]
    return (start + end) / 2 if centred else end - 2


def find_plots(drawings: Sequence[Box], *, lines: Sequence[Line], solid: Sequence[Box]) -> list[Box]:
    """Return the boxes of the plots and diagrams of a page, without their labels; those with nothing in between are
    one.

    Args:
        drawings: The boxes of its drawings.
        lines: Its lines.
        solid: The boxes of running text and floats, which no plot overlaps.
    """
    parts = [bounding_box(group) for group in _groups(drawings)]
    whole: list[Box] = []
    for box in join_boxes(part for part in parts if min(part.width, part.height) > _MIN_SIDE):
        inside = [drawing for drawing in drawings if contains(box.grown(1, 1), drawing)]
        if not any(overlap(box, other) for other in solid) and (_has_axis(inside) or _has_marks(inside, lines)):
            whole.append(_with_legends(box, parts, solid))
    merged: list[Box] = []
    for box in sorted(whole, key=lambda box: (box.y0, box.x0)):
        union = bounding_box([*merged[-1:], box])
        if merged and not any(overlap(union, other) for other in solid):
            merged[-1] = union
        else:
            merged.append(box)
    return merged


def _with_legends(plot: Box, parts: Sequence[Box], solid: Sequence[Box]) -> Box:
    """Return the box of a plot and of the drawings near it, and near these, as far as nothing solid is in between."""
    near = plot.grown(_ASIDE, _REACH)
    whole = bounding_box([plot, *(part for part in parts if overlap(part, near))])
    if whole == plot or any(overlap(whole, other) for other in solid):
        return plot
    return _with_legends(whole, parts, solid)


def _groups(drawings: Sequence[Box]) -> Iterator[list[Box]]:
    """Yield the drawings whose outlines are close together."""
    cells: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    outlines = [set(_outline(box)) for box in drawings]
    for index, outline in enumerate(outlines):
        for cell in outline:
            cells[cell].append(index)
    unseen = set(cells)
    while unseen:
        stack = [unseen.pop()]
        members: set[int] = set()
        while stack:
            column, row = stack.pop()
            members.update(cells[column, row])
            near = {(column + x, row + y) for x in (-1, 0, 1) for y in (-1, 0, 1)} & unseen
            unseen -= near
            stack.extend(near)
        yield [drawings[index] for index in members]


def _outline(box: Box) -> Iterator[tuple[int, int]]:
    left, top, right, bottom = (int(edge // _CELL) for edge in box)
    for column in range(left, right + 1):
        yield column, top
        yield column, bottom
    for row in range(top, bottom + 1):
        yield left, row
        yield right, row


def _has_axis(drawings: Sequence[Box]) -> bool:
    """Return whether there are ticks: short parallel strokes with equal ends."""
    ticks: defaultdict[tuple[bool, int, int], set[int]] = defaultdict(set)
    for x0, y0, x1, y1 in drawings:
        if y1 - y0 < _THIN < x1 - x0 < _MAX_TICK:
            ticks[True, round(x0), round(x1)].add(round(y0))
        elif x1 - x0 < _THIN < y1 - y0 < _MAX_TICK:
            ticks[False, round(y0), round(y1)].add(round(x0))
    return any(len(places) >= _MIN_TICKS for places in ticks.values())


def _has_marks(drawings: Sequence[Box], lines: Sequence[Line]) -> bool:
    """Return whether enough drawings are neither strokes nor boxes of text."""
    count = 0
    for box in drawings:
        if min(box.width, box.height) > _THIN:
            framed = any(box.x0 < line.center < box.x1 and box.y0 < line.middle < box.y1 for line in lines)
            count += not framed
            if count >= _MIN_MARKS:
                return True
    return False
