"""Where tables are: between stacks of rules, or in aligned columns beside a caption."""

import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from ingest.document.pages import HorizontalRule, PageContent
from ingest.pdf.captions import Caption
from ingest.pdf.layout import PageLayout
from ingest.pdf.lines import Line, bounding_box
from ingest.pdf.tables.columns import strips_of
from ingest.pdf.tables.grid import TableRegion
from ingest.pdf.tables.rotated_labels import rotated_labels
from ingest.pdf.tables.rows import PrintedRow, em_of, printed_rows
from paperscope_core.types import Box

__all__ = [
    "RuleStack",
    "Side",
    "assign_stacks",
    "borderless_region",
    "preferred_side",
    "region_of_run",
    "rule_stacks",
    "ruled_region",
    "run_of_rows",
    "without_running_rules",
]


Side = Literal["above", "below"]

_SAME_END = 4.0
_FARTHEST = 60.0
_OVERLAP = -6.0
_WRONG_SIDE = 14.0
_UNMATCHED = 60.0
_LETTERS = re.compile(r"[a-z]{2}")


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

    def inside(self, other: "RuleStack") -> bool:
        """Whether it lies within another stack, as the partial rules of a header do."""
        return (
            other.x0 - 2 <= self.x0
            and other.x1 + 2 >= self.x1
            and other.ys[0] - 2 <= self.ys[0]
            and other.ys[-1] + 2 >= self.ys[-1]
        )


def rule_stacks(layout: PageLayout, captions: Sequence[Caption]) -> list[RuleStack]:
    """The stacks of a page; `captions` are all of its captions."""
    in_captions = {line for caption in captions for line in caption.lines}
    lines = [line for line in layout.lines if line not in in_captions]
    return _stacks_of(layout.content.horizontal, captions=captions, lines=lines)


def _stacks_of(
    rules: Sequence[HorizontalRule], *, captions: Sequence[Caption], lines: Sequence[Line]
) -> list[RuleStack]:
    """Rules by their ends; a caption or running text between two rules parts them. `lines` has no captions."""
    measure = _measure(lines)
    stacks: list[RuleStack] = []
    for rule in sorted((rule for rule in rules if rule.x1 - rule.x0 > 60), key=lambda rule: rule.y):
        fitting = [
            stack
            for stack in stacks
            if abs(stack.x0 - rule.x0) < _SAME_END
            and abs(stack.x1 - rule.x1) < _SAME_END
            and not _parted(stack.ys[-1], rule, captions=captions, lines=lines, measure=measure)
        ]
        if not fitting:
            stacks.append(RuleStack(x0=rule.x0, x1=rule.x1, ys=(rule.y,)))
            continue
        stack = max(fitting, key=lambda stack: stack.ys[-1])
        if rule.y - stack.ys[-1] > 1.5:
            grown = RuleStack(x0=stack.x0, x1=stack.x1, ys=(*stack.ys, rule.y))
            stacks[stacks.index(stack)] = grown
    tall = [stack for stack in stacks if stack.ys[-1] - stack.ys[0] > 12]
    return [stack for stack in tall if not any(other is not stack and stack.inside(other) for other in tall)]


def _measure(lines: Sequence[Line]) -> float:
    """The commonest width of a page's lines of text, 0 without any."""
    widths = Counter(round(line.width / 2) * 2 for line in lines if len(line.words) > 5)
    return widths.most_common(1)[0][0] if widths else 0.0


def _parted(
    top: float, rule: HorizontalRule, *, captions: Sequence[Caption], lines: Sequence[Line], measure: float
) -> bool:
    """Whether a caption or running text stands between a rule and the one above; text set to another measure than
    the page's is a table's own."""
    if any(
        top < caption.first.baseline < rule.y and caption.box.x0 < rule.x1 and caption.box.x1 > rule.x0
        for caption in captions
    ):
        return True
    if rule.x1 - rule.x0 < 0.95 * measure:
        return False
    prose = [line for line in lines if top < line.baseline < rule.y and _is_prose(line, rule)]
    return len(prose) >= 2


def _is_prose(line: Line, rule: HorizontalRule) -> bool:
    """A line that fills the width between the rule's ends with words at ordinary gaps."""
    left, _, right, _ = line.box
    gaps = [second.x0 - first.x1 for first, second in pairwise(line.words)]
    return (
        rule.x0 - 12 <= left
        and right <= rule.x1 + 12
        and line.width > 0.9 * (rule.x1 - rule.x0)
        and line.math < 0.3
        and len(line.words) > 5
        and max(gaps) < 0.75 * line.size
        and sum(bool(_LETTERS.search(word.text)) for word in line.words) >= 0.55 * len(line.words)
    )


def preferred_side(pages: Sequence[tuple[Sequence[Caption], Sequence[RuleStack]]]) -> Side:
    """On which side of its caption a table stands in this document: the side with the smaller total cost."""
    costs: dict[Side, float] = {"above": 0.0, "below": 0.0}
    for side in costs:
        costs[side] = sum(_pair(captions, stacks, side)[0] for captions, stacks in pages)
    return min(costs, key=lambda side: costs[side])


def assign_stacks(
    captions: Sequence[Caption], stacks: Sequence[RuleStack], *, side: Side
) -> Mapping[Caption, RuleStack]:
    """Pair table captions with stacks of their page, nearest first; `side` is where tables stand to their captions."""
    return _pair(captions, stacks, side)[1]


def _pair(
    captions: Sequence[Caption], stacks: Sequence[RuleStack], side: Side
) -> tuple[float, dict[Caption, RuleStack]]:
    edges = sorted(
        (
            (distance + (0 if place == side else _WRONG_SIDE), order, caption, stack)
            for order, (caption, stack, place) in enumerate(
                (caption, stack, place) for caption in captions for stack in stacks for place in ("above", "below")
            )
            if (distance := _distance(caption.box, stack.box, place)) is not None
        ),
        key=lambda edge: (round(edge[0], 1), edge[3].x0, edge[1]),
    )
    pairs: dict[Caption, RuleStack] = {}
    taken: set[int] = set()
    total = 0.0
    for cost, _, caption, stack in edges:
        if caption in pairs or id(stack) in taken:
            continue
        pairs[caption] = stack
        taken.add(id(stack))
        total += cost
    return total + _UNMATCHED * (len(captions) - len(pairs)), pairs


def _distance(caption: Box, table: Box, place: str) -> float | None:
    overlap = min(caption.x1, table.x1) - max(caption.x0, table.x0)
    if overlap < 0.3 * min(caption.x1 - caption.x0, table.x1 - table.x0):
        return None
    distance = caption.y0 - table.y1 if place == "above" else table.y0 - caption.y1
    return distance if _OVERLAP <= distance <= _FARTHEST else None


_MARGIN = 0.12
_REPEATS = 3
_DOUBLE = 5.0


def without_running_rules(layouts: Sequence[PageLayout], captions: Sequence[Sequence[Caption]]) -> list[PageLayout]:
    """The pages without rules in their outer eighth that come again at the same spot on three pages or more.

    Floats at the head or foot of pages begin or end at the same spot too: the outline of a table stays.
    """
    counts = Counter(spot for layout in layouts for spot in {_spot(rule) for rule in layout.content.horizontal})
    return [_cleared(layout, page, counts) for layout, page in zip(layouts, captions, strict=True)]


def _cleared(layout: PageLayout, captions: Sequence[Caption], counts: Counter[tuple[int, int, int]]) -> PageLayout:
    content = layout.content
    repeated = {rule for rule in content.horizontal if counts[_spot(rule)] >= _REPEATS and _in_margin(rule, content)}
    if not repeated:
        return layout
    stacks = rule_stacks(layout, captions)
    running = {rule for rule in repeated if not any(_outlines(rule, stack, repeated, layout) for stack in stacks)}
    kept = tuple(rule for rule in content.horizontal if rule not in running)
    return replace(layout, content=replace(content, horizontal=kept))


def _outlines(rule: HorizontalRule, stack: RuleStack, repeated: set[HorizontalRule], layout: PageLayout) -> bool:
    """Whether text fills every strip from a rule to the nearest rule of its stack that stands on this page alone."""
    if not any(abs(rule.y - y) < 0.1 for y in stack.ys) or abs(rule.x0 - stack.x0) > 4 or abs(rule.x1 - stack.x1) > 4:
        return False
    shared = {other.y for other in repeated}
    inward = 1 if rule.y < 0.5 * layout.content.height else -1
    path = [rule.y]
    for y in sorted((y for y in stack.ys if inward * (y - rule.y) > 0.1), reverse=inward < 0):
        path.append(y)
        if y not in shared:
            return all(_is_filled(*sorted(strip), stack=stack, layout=layout) for strip in pairwise(path))
    return False


def _is_filled(top: float, bottom: float, *, stack: RuleStack, layout: PageLayout) -> bool:
    """Whether text stands between two rules, or they are one double rule."""
    return bottom - top < _DOUBLE or any(
        top < word.baseline < bottom and stack.x0 - 3 <= word.center <= stack.x1 + 3 for word in layout.words
    )


def _in_margin(rule: HorizontalRule, page: PageContent) -> bool:
    return not _MARGIN * page.height < rule.y < (1 - _MARGIN) * page.height


def _spot(rule: HorizontalRule) -> tuple[int, int, int]:
    return round(rule.x0), round(rule.x1), round(rule.y)


def ruled_region(layout: PageLayout, stack: RuleStack) -> TableRegion:
    """What a page holds within a stack of rules; it may have no words."""
    x0, y0, x1, y1 = stack.box
    content = layout.content
    width = x1 - x0
    words = tuple(
        word
        for word in layout.words
        if x0 - 3 <= word.center <= x1 + 3 and y0 - 1 <= word.baseline - 0.3 * word.size <= y1 + 1
    )
    return TableRegion(
        box=stack.box,
        words=(*words, *rotated_labels(layout, stack.box, words, rules=stack.ys)) if words else (),
        rules=stack.ys,
        partial=tuple(
            rule
            for rule in content.horizontal
            if x0 - 2 <= rule.x0 and rule.x1 <= x1 + 2 and y0 + 2 < rule.y < y1 - 2 and rule.x1 - rule.x0 < 0.93 * width
        ),
        verticals=tuple(
            sorted(
                {
                    round(rule.x, 1)
                    for rule in content.vertical
                    if x0 - 2 <= rule.x <= x1 + 2 and rule.y1 > y0 and rule.y0 < y1
                }
            )
        ),
        fills=tuple(fill for fill in content.fills if fill.y1 > y0 and fill.y0 < y1),
    )


_LARGEST_GAP = 3.0
_FARTHEST_ROW = 4.0
_TOUCH = 15.0
_SPLIT = 0.6
_WRAPPED = 0.35


def borderless_region(
    layout: PageLayout, caption: Caption, *, side: Side, captions: Sequence[Caption]
) -> TableRegion | None:
    """The run of lines next to a caption that falls into columns, on the usual side first; None if there is none."""
    others: tuple[Side, ...] = ("above", "below") if side == "above" else ("below", "above")
    taken = {line for other in captions for line in other.lines}
    for place in others:
        edge = caption.box.y0 if place == "above" else caption.box.y1
        run = run_of_rows(layout, edge=edge, band=_band(layout, caption), place=place, taken=taken)
        if len(run) >= 3 and (region := region_of_run(layout, run)) is not None and region[1] >= 3:
            return region[0]
    return None


def region_of_run(layout: PageLayout, run: Sequence[Line]) -> tuple[TableRegion, int] | None:
    """The region of some lines and its printed rows, None if most of them don't fall into columns."""
    words = tuple(word for line in run for word in line.words)
    box = bounding_box(line.box for line in run)
    rows = printed_rows(words, em=em_of(words), verticals=())
    if not _in_columns(rows, em=em_of(words)):
        return None
    partial = tuple(
        rule for rule in layout.content.horizontal if box.x0 - 4 <= rule.x0 <= box.x1 and box.y0 < rule.y < box.y1
    )
    full = tuple(sorted(rule.y for rule in partial if rule.x1 - rule.x0 > 0.9 * (box.x1 - box.x0)))
    words += rotated_labels(layout, box, words, rules=full)
    return TableRegion(box=box, words=words, rules=(box.y0, *full, box.y1), ruled=False), len(rows)


def _in_columns(rows: Sequence[PrintedRow], *, em: float) -> bool:
    """Whether most rows have several texts; fewer will do where all others go on within one column of theirs."""
    split = [row for row in rows if len(row.segments) > 1]
    if len(split) >= _SPLIT * len(rows):
        return True
    if len(split) < max(3, _WRAPPED * len(rows)):
        return False
    strips = strips_of(split, em=em, verticals=())
    rest = [row.box for row in rows if len(row.segments) == 1]
    return len(strips) > 1 and not any(box.x0 < strip.middle < box.x1 for box in rest for strip in strips)


def run_of_rows(
    layout: PageLayout, *, edge: float, band: tuple[float, float], place: Side, taken: Container[Line]
) -> list[Line]:
    """Lines outward from an edge, within a band of x, until a large gap, a line taken or a line of running text."""
    step = -1 if place == "above" else 1
    left, right = band
    run: list[Line] = []
    for line in sorted(layout.lines, key=lambda line: step * line.baseline):
        top, bottom = line.box.y0, line.box.y1
        ahead = bottom <= edge + 2 if step < 0 else top >= edge - 2
        beside = bool(run) and abs(line.baseline - run[-1].baseline) < 0.5 * line.size
        if not (ahead or beside) or line.center < left or line.center > right:
            continue
        gap = 0.0 if beside else (edge - bottom if step < 0 else top - edge)
        limit = (_LARGEST_GAP if run else _FARTHEST_ROW) * line.size
        if line in taken or gap > limit or _is_running(line, right - left):
            break
        run.append(line)
        edge = min(edge, top) if step < 0 else max(edge, bottom)
    return run


def _band(layout: PageLayout, caption: Caption) -> tuple[float, float]:
    """The columns over which a caption stands."""
    edges = (0.0, *layout.gutters, layout.content.width)
    touched = [
        (left, right)
        for left, right in pairwise(edges)
        if min(right, caption.box.x1) - max(left, caption.box.x0) > _TOUCH
    ]
    return (touched[0][0], touched[-1][1]) if touched else (0.0, layout.content.width)


def _is_running(line: Line, width: float) -> bool:
    gaps = [second.x0 - first.x1 for first, second in pairwise(line.words)]
    return len(gaps) > 5 and line.width > 0.7 * min(width, 400) and max(gaps) < 0.75 * line.size
