"""Where tables are: stacks of rules that share both ends, each given to the caption that it belongs to."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from ingest.pdf.backend import HorizontalRule
from ingest.pdf.captions import Caption
from ingest.pdf.page.layout import PageLayout
from ingest.pdf.page.lines import Line
from paperscope.types import Box

__all__ = ["RuleStack", "Side", "assign", "page_stacks", "preferred_side"]

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


def page_stacks(layout: PageLayout, captions: Sequence[Caption]) -> list[RuleStack]:
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


def assign(captions: Sequence[Caption], stacks: Sequence[RuleStack], *, side: Side) -> Mapping[Caption, RuleStack]:
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
