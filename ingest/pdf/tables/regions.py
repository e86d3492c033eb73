"""Locates tables: between stacks of rules, or in aligned columns next to a caption."""

import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, permutations
from typing import Literal

from ingest.document.geometry import bounding_box, contains, overlap_x
from ingest.document.pages import HorizontalRule
from ingest.pdf.captions import Caption
from ingest.pdf.layout import PageLayout
from ingest.pdf.lines import Line
from ingest.pdf.tables.rotated_labels import rotated_labels
from ingest.pdf.tables.table_columns import strips_of
from ingest.pdf.tables.table_values import PrintedRow, TableRegion, em_of, printed_rows
from paperscope_core.types import Box

__all__ = [
    "SIDES",
    "RuleStack",
    "Side",
    "borderless_region",
    "columns_touched",
    "pair_captions",
    "region_in",
    "region_of_run",
    "rule_stacks",
    "ruled_region",
    "run_of_rows",
    "without_running_rules",
]

Side = Literal["above", "below"]
SIDES: tuple[Side, ...] = ("above", "below")

# Points unless said otherwise; chosen on the development papers.
_SAME_END = 4.0  # The rules of one table end at the same x to within this.
_MIN_RULE = 60.0  # Shorter rules are fraction bars, and rules of groups within a header.
_SAME_Y = 0.1  # Rules differ in height by rounding only.
_DOUBLE_RULE = 1.5  # Rules closer than this are one.
_MIN_HEIGHT = 12.0  # The least height of a stack: one row.
_MEASURE_SHARE = 0.95  # Rules narrower than this share of the text's width are not separated by running text.
_PROSE_LINES = 2  # Lines of running text that separate the rules around them.
_MIN_PROSE_WORDS = 6  # The least number of words in a line of running text; cells have fewer.
_PROSE_WIDTH = 0.9  # The least share of the rule's width; a line of a cell is shorter.
_PROSE_OVERHANG = 12.0  # Text may extend beyond the rule by this.
_PROSE_GAP = 0.75  # The widest gap, in letter sizes; the cells of a row are further apart.
_WORD_SHARE = 0.55  # The least share of words with two small letters in a line of prose.
_MAX_MATH = 0.3  # The largest share of mathematical letters in a line of prose.
_LETTERS = re.compile(r"[a-z]{2}")
# Costs of pairing captions with stacks, besides the distance.
_WRONG_SIDE = 14.0  # A table on the less usual side of its caption.
_UNMATCHED = 60.0  # A caption without a table.
_MAX_DISTANCE = 60.0  # A table further from its caption belongs to another one.
_MAX_OVERLAP = 6.0  # A caption may overlap its table's rules by this.
_MIN_SHARED_WIDTH = 0.3  # The least overlap, as a share of the narrower width.
# Rules of page furniture.
_MARGIN = 0.12  # A share of the page's height.
_REPEATS = 3  # The least number of pages with the rule in the same position.
_DOUBLE_STRIP = 5.0  # Rules this close may have no text between them: a double rule.
# The contents of a stack.
_OVERHANG = 3.0  # Words may extend beyond the rules by this.
_PARTIAL_WIDTH = 0.93  # A share of the table's width; a wider rule counts as full.
# Tables without rules, in letter sizes.
_MAX_ROW_GAP = 3.0  # A wider gap ends the rows,
_MAX_CAPTION_GAP = 4.0  # A wider gap separates the first row from the caption.
_MIN_ROWS = 3  # The least number of rows; fewer are a formula or a list.
_COLUMN_TOUCH = 15.0  # The least overlap, in points, of a caption or table with a column.
_SPLIT_SHARE = 0.6  # The least share of rows with several texts.
_WRAPPED_SHARE = 0.35  # The same if all other rows continue texts within one column.
_CLEAR_STRIP = 1.0  # The least width of the strip between the only two columns of wrapped texts.
_PADDING = 8.0  # Points by which rules extend beyond the text of the first column: 6 in LaTeX.
_FULL_RULE = 0.9  # A share of the table's width.
_RUNNING_WIDTH, _MAX_BAND = 0.7, 400.0  # A line of running text fills this share of the column (of 400 pt at most).


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RuleStack:
    """Horizontal rules with common ends, from top to bottom: the outline of a table."""

    x0: float
    x1: float
    ys: tuple[float, ...]

    @property
    def box(self) -> Box:
        """From the first rule to the last."""
        return Box(self.x0, self.ys[0], self.x1, self.ys[-1])

    def has_ends(self, rule: HorizontalRule) -> bool:
        """Return whether a rule ends where the rules of the stack do."""
        return abs(self.x0 - rule.x0) < _SAME_END and abs(self.x1 - rule.x1) < _SAME_END


def rule_stacks(layout: PageLayout) -> list[RuleStack]:
    """Group the rules of a page into stacks by their ends; captions and running text separate rules."""
    in_captions = {line for caption in layout.captions for line in caption.lines}
    lines = [line for line in layout.lines if line not in in_captions]
    long = [line for line in lines if len(line.words) >= _MIN_PROSE_WORDS]
    widths = Counter(round(line.width / 2) * 2 for line in long)
    measure = widths.most_common(1)[0][0] if widths else 0.0

    def is_as_wide_as_text(rule: HorizontalRule) -> bool:
        inset = sum(
            line.box.x0 < rule.x0 - _PROSE_OVERHANG and line.box.x1 > rule.x1 + _PROSE_OVERHANG for line in long
        )
        return rule.width >= _MEASURE_SHARE * measure and inset < _PROSE_LINES

    stacks: list[RuleStack] = []
    for rule in sorted(layout.content.horizontal, key=lambda rule: rule.y):
        if rule.width <= _MIN_RULE:
            continue
        fitting = [
            stack
            for stack in stacks
            if stack.has_ends(rule)
            and not _has_caption_between(stack.ys[-1], rule, layout.captions)
            and not (is_as_wide_as_text(rule) and _has_prose_between(stack.ys[-1], rule, lines))
        ]
        if not fitting:
            stacks.append(RuleStack(x0=rule.x0, x1=rule.x1, ys=(rule.y,)))
            continue
        stack = max(fitting, key=lambda stack: stack.ys[-1])
        if rule.y - stack.ys[-1] > _DOUBLE_RULE:
            stacks[stacks.index(stack)] = replace(stack, ys=(*stack.ys, rule.y))
    tall = [stack for stack in stacks if stack.box.height > _MIN_HEIGHT]
    # The partial rules of a header are inside the stack of their table.
    inner = {stack for stack, other in permutations(tall, 2) if contains(other.box.grown(2, 2), stack.box)}
    return [_with_header_band(stack, layout) for stack in tall if stack not in inner]


def _with_header_band(stack: RuleStack, layout: PageLayout) -> RuleStack:
    """Return a stack with the edges of the filled band above it that has its ends, on which titles are printed."""
    top = stack.ys[0]
    bands = (
        fill
        for fill in layout.content.fills
        if stack.has_ends(HorizontalRule(fill.x0, fill.x1, fill.y0))
        and fill.y1 < top < fill.y1 + _MAX_DISTANCE
        and any(_is_between(line, stack) for line in layout.lines_between(fill.y0, fill.y1))
        and not _has_caption_between(fill.y0, HorizontalRule(stack.x0, stack.x1, top), layout.captions)
    )
    band = max(bands, key=lambda fill: (fill.y1, -fill.y0), default=None)
    return replace(stack, ys=(band.y0, band.y1, *stack.ys)) if band else stack


def _has_caption_between(top: float, rule: HorizontalRule, captions: Sequence[Caption]) -> bool:
    return any(
        top < caption.first.baseline < rule.y and caption.box.x0 < rule.x1 and caption.box.x1 > rule.x0
        for caption in captions
    )


def _has_prose_between(top: float, rule: HorizontalRule, lines: Sequence[Line]) -> bool:
    """Return whether running text is between a rule and the one above."""
    return sum(top < line.baseline < rule.y and _is_prose(line, rule) for line in lines) >= _PROSE_LINES


def _is_prose(line: Line, rule: HorizontalRule) -> bool:
    """Return whether a line fills the width between the rule's ends with words at normal gaps."""
    return (
        rule.x0 - _PROSE_OVERHANG <= line.box.x0
        and line.box.x1 <= rule.x1 + _PROSE_OVERHANG
        and line.width > _PROSE_WIDTH * rule.width
        and line.math < _MAX_MATH
        and len(line.words) >= _MIN_PROSE_WORDS
        and _widest_gap(line) < _PROSE_GAP * line.size
        and sum(bool(_LETTERS.search(word.text)) for word in line.words) >= _WORD_SHARE * len(line.words)
    )


def _widest_gap(line: Line) -> float:
    return max((second.x0 - first.x1 for first, second in pairwise(line.words)), default=0.0)


def pair_captions(
    captions: Sequence[Caption], stacks: Sequence[RuleStack], *, side: Side
) -> tuple[float, Mapping[Caption, RuleStack]]:
    """Pair table captions with stacks of their page, nearest first; `side` is the usual side of tables.

    Returns:
        The total cost, and the stack of each caption that has one.
    """
    pairs: dict[Caption, RuleStack] = {}
    total = 0.0
    candidates = [
        (distance + (0 if place == side else _WRONG_SIDE), caption, stack)
        for caption in captions
        for stack in stacks
        for place in SIDES
        if (distance := _distance(caption.box, stack.box, place)) is not None
    ]
    for cost, caption, stack in sorted(candidates, key=lambda each: (round(each[0], 1), each[2].x0)):
        if caption not in pairs and stack not in pairs.values():
            pairs[caption] = stack
            total += cost
    return total + _UNMATCHED * (len(captions) - len(pairs)), pairs


def _distance(caption: Box, table: Box, place: Side) -> float | None:
    """Return the distance of a table above or below a caption, None if it is not there."""
    if overlap_x(caption, table) < _MIN_SHARED_WIDTH * min(caption.width, table.width):
        return None
    distance = caption.y0 - table.y1 if place == "above" else table.y0 - caption.y1
    return distance if -_MAX_OVERLAP <= distance <= _MAX_DISTANCE else None


def without_running_rules(layouts: Sequence[PageLayout]) -> list[PageLayout]:
    """Return the pages without rules in the outer eighth that repeat in the same place on at least three pages.

    Floats at the top or foot of pages begin or end in the same place, too, so the outline of a table is kept.
    """
    counts = Counter(place for layout in layouts for place in {_place(rule) for rule in layout.content.horizontal})
    return [_cleared(layout, counts) for layout in layouts]


def _cleared(layout: PageLayout, counts: Counter[tuple[int, int, int]]) -> PageLayout:
    content = layout.content
    top, bottom = _MARGIN * content.height, (1 - _MARGIN) * content.height
    repeated = {rule for rule in content.horizontal if counts[_place(rule)] >= _REPEATS and not top < rule.y < bottom}
    if not repeated:
        return layout
    stacks = rule_stacks(layout)
    running = {rule for rule in repeated if not any(_outlines(rule, stack, repeated, layout) for stack in stacks)}
    kept = tuple(rule for rule in content.horizontal if rule not in running)
    return replace(layout, content=replace(content, horizontal=kept))


def _outlines(rule: HorizontalRule, stack: RuleStack, repeated: set[HorizontalRule], layout: PageLayout) -> bool:
    """Return whether text fills every strip from a rule to the nearest rule of its stack that is on this page only."""
    if not any(abs(rule.y - y) < _SAME_Y for y in stack.ys) or not stack.has_ends(rule):
        return False
    shared = {other.y for other in repeated}
    inward = 1 if rule.y < 0.5 * layout.content.height else -1
    path = [rule.y]
    for y in sorted((y for y in stack.ys if inward * (y - rule.y) > _SAME_Y), reverse=inward < 0):
        path.append(y)
        if y not in shared:
            return all(_is_filled(*sorted(strip), stack=stack, layout=layout) for strip in pairwise(path))
    return False


def _is_filled(top: float, bottom: float, *, stack: RuleStack, layout: PageLayout) -> bool:
    """Return whether text is between two rules, or they are one double rule."""
    return bottom - top < _DOUBLE_STRIP or any(
        top < word.baseline < bottom and stack.x0 - _OVERHANG <= word.center <= stack.x1 + _OVERHANG
        for word in layout.words
    )


def _place(rule: HorizontalRule) -> tuple[int, int, int]:
    return round(rule.x0), round(rule.x1), round(rule.y)


def ruled_region(layout: PageLayout, stack: RuleStack) -> TableRegion:
    """Return the contents of a page within a stack of rules; it may have no words."""
    content = layout.content
    x0, y0, x1, y1 = stack.box
    area = stack.box.grown(_OVERHANG, 1)
    words = tuple(
        word for word in layout.words if area.x0 <= word.center <= area.x1 and area.y0 <= word.middle <= area.y1
    )
    partial = (rule for rule in content.horizontal if x0 - 2 <= rule.x0 and rule.x1 <= x1 + 2)
    crossing = (rule for rule in content.vertical if x0 - 2 <= rule.x <= x1 + 2 and rule.y1 > y0 and rule.y0 < y1)
    return TableRegion(
        box=stack.box,
        words=(*words, *rotated_labels(layout, stack.box, words, rules=stack.ys)) if words else (),
        rules=stack.ys,
        partial=tuple(rule for rule in partial if y0 + 2 < rule.y < y1 - 2 and rule.width < _PARTIAL_WIDTH * (x1 - x0)),
        verticals=tuple(sorted({round(rule.x, 1) for rule in crossing})),
        fills=tuple(fill for fill in content.fills if fill.y1 > y0 and fill.y0 < y1),
    )


def region_in(layout: PageLayout, box: Box) -> TableRegion:
    """Return the contents of a page within a box, without captions; it may have no words."""
    full = [
        rule.y
        for rule in layout.content.horizontal
        if box.y0 - _OVERHANG < rule.y < box.y1 + _OVERHANG
        and min(rule.x1, box.x1) - max(rule.x0, box.x0) > _FULL_RULE * box.width
    ]
    region = ruled_region(layout, RuleStack(x0=box.x0, x1=box.x1, ys=tuple(sorted({box.y0, *full, box.y1}))))
    named = {word for caption in layout.captions for line in caption.lines for word in line.words}
    words = tuple(word for word in region.words if word not in named)
    return replace(region, words=words, ruled=len(full) > 1)


def _is_between(line: Line, stack: RuleStack) -> bool:
    return stack.x0 - _OVERHANG <= line.box.x0 and line.box.x1 <= stack.x1 + _OVERHANG


def borderless_region(layout: PageLayout, caption: Caption, *, side: Side) -> TableRegion | None:
    """Return the run of lines next to a caption that forms columns, on the usual side first; None if there is none."""
    taken = {line for other in layout.captions for line in other.lines}
    band = columns_touched(layout, caption.box) or (0.0, layout.content.width)
    for place in sorted(SIDES, key=lambda place: place != side):
        edge = caption.box.y0 if place == "above" else caption.box.y1
        run = run_of_rows(layout, edge=edge, band=band, side=place, taken=taken)
        if len(run) >= _MIN_ROWS and (region := region_of_run(layout, run, min_rows=_MIN_ROWS)) is not None:
            return region
    return None


def columns_touched(layout: PageLayout, box: Box) -> tuple[float, float] | None:
    """Return the x range of the columns that a box touches, None if there is none."""
    touched = [
        (left, right)
        for left, right in pairwise(layout.column_bounds)
        if min(right, box.x1) - max(left, box.x0) > _COLUMN_TOUCH
    ]
    return (touched[0][0], touched[-1][1]) if touched else None


def run_of_rows(
    layout: PageLayout, *, edge: float, band: tuple[float, float], side: Side, taken: Container[Line]
) -> list[Line]:
    """Return the lines outward from an edge, within a band of x, up to a large gap, a taken line or running text."""
    step = -1 if side == "above" else 1
    left, right = band
    run: list[Line] = []
    ends: dict[int, float] = {}
    for line in sorted(layout.lines, key=lambda line: step * line.baseline):
        near, far = (line.box.y1, line.box.y0) if side == "above" else (line.box.y0, line.box.y1)
        gap = step * (near - edge)
        beside = bool(run) and abs(line.baseline - run[-1].baseline) < 0.5 * line.size
        if (gap < -2 and not run) or not left <= line.center <= right:
            continue
        limit = (_MAX_ROW_GAP if run else _MAX_CAPTION_GAP) * line.size
        column = layout.column(line)
        # A line that begins right of a whole text in its column of the page is a cell, as wide as it may be.
        running = _is_running(line, right - left) and ends.get(column, right) >= line.box.x0
        if line in taken or (gap > limit and not beside) or running:
            break
        run.append(line)
        ends[column] = min(ends.get(column, right), line.box.x1)
        edge = step * max(step * edge, step * far)
    return run


def _without_paragraph_end(run: Sequence[Line], *, em: float) -> Sequence[Line]:
    """Return the run without its outermost line if that sticks out left: it is the end or begin of a paragraph."""
    *inner, outer = run
    left = min((line.box.x0 for line in inner), default=outer.box.x0)
    return inner if outer.box.x0 < left - em else run


def region_of_run(layout: PageLayout, run: Sequence[Line], *, min_rows: int = 1) -> TableRegion | None:
    """Return the region of some lines, None if most of them don't form columns, or they make too few printed rows."""
    em = em_of([word for line in run for word in line.words])
    run = _without_paragraph_end(run, em=em)
    words = tuple(word for line in run for word in line.words)
    box = bounding_box(line.box for line in run)
    rows = printed_rows(words, em=em)
    if len(rows) < min_rows or not _are_in_columns(rows, em=em):
        return None
    partial = tuple(
        rule
        for rule in layout.content.horizontal
        if box.x0 - _PADDING <= rule.x0 <= box.x1 and box.y0 < rule.y < box.y1
    )
    full = tuple(sorted(rule.y for rule in partial if rule.width > _FULL_RULE * box.width))
    words += rotated_labels(layout, box, words, rules=full)
    return TableRegion(box=box, words=words, rules=(box.y0, *full, box.y1), ruled=False)


def _are_in_columns(rows: Sequence[PrintedRow], *, em: float) -> bool:
    """Return whether most rows have several texts, or fewer if all others continue texts within one column."""
    split = [row for row in rows if len(row.segments) > 1]
    if len(split) >= _SPLIT_SHARE * len(rows):
        return True
    if len(split) < max(_MIN_ROWS, _WRAPPED_SHARE * len(rows)):
        return False
    strips = strips_of(split, em=em)
    rest = [row.box for row in rows if len(row.segments) == 1]
    clear = len(strips) > 1 or any(strip.x1 - strip.x0 > _CLEAR_STRIP * em for strip in strips)
    return clear and not any(box.x0 < strip.middle < box.x1 for box in rest for strip in strips)


def _is_running(line: Line, width: float) -> bool:
    return (
        len(line.words) >= _MIN_PROSE_WORDS + 1
        and line.width > _RUNNING_WIDTH * min(width, _MAX_BAND)
        and _widest_gap(line) < _PROSE_GAP * line.size
    )
