"""Rules that are page furniture: the line under a running head is no part of a table."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from ingest.pdf.backend import HorizontalRule, PageContent
from ingest.pdf.captions import Caption
from ingest.pdf.page.layout import PageLayout
from ingest.pdf.tables.regions import RuleStack, page_stacks

__all__ = ["without_running_rules"]

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
    stacks = page_stacks(layout, captions)
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
