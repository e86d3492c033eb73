"""Sorting what a page draws into rules and filled boxes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ingest.pdf.backend import HorizontalRule, VerticalRule
from paperscope.types import Box

__all__ = ["Shape", "SortedShapes", "join_rules", "sort_shapes"]

_THIN = 2.0
_SHORT = 8.0
_ABUTTING = 1.5
_LEVEL = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """A straight stroke or a rectangle; `filled` is true for a rectangle filled with something else than white."""

    box: Box
    filled: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class SortedShapes:
    """A page's shapes by what they are to a reader; rectangles give their four sides too."""

    horizontal: tuple[HorizontalRule, ...]
    vertical: tuple[VerticalRule, ...]
    fills: tuple[Box, ...]


def sort_shapes(shapes: Iterable[Shape]) -> SortedShapes:
    """A thin shape is a rule whichever way it was drawn; segments of one line become one rule."""
    horizontal: list[HorizontalRule] = []
    vertical: list[VerticalRule] = []
    fills: list[Box] = []
    for shape in shapes:
        x0, y0, x1, y1 = shape.box
        width, height = x1 - x0, y1 - y0
        if height <= _THIN and width > height:
            horizontal.append(HorizontalRule(x0, x1, (y0 + y1) / 2))
        elif width <= _THIN:
            vertical.append(VerticalRule((x0 + x1) / 2, y0, y1))
        elif shape.filled:
            fills.append(shape.box)
    return SortedShapes(
        horizontal=tuple(rule for rule in join_rules(horizontal) if rule.x1 - rule.x0 > 5),
        vertical=tuple(rule for rule in _join_vertical(vertical) if rule.y1 - rule.y0 > 5),
        fills=tuple(fills),
    )


def join_rules(rules: Sequence[HorizontalRule]) -> list[HorizontalRule]:
    """Join rules at one height that abut (a border drawn cell by cell) or are dashes; gaps that are meant stay."""
    levels: list[list[HorizontalRule]] = []
    for rule in sorted(rules, key=lambda rule: rule.y):
        if levels and rule.y - levels[-1][-1].y < _LEVEL:
            levels[-1].append(rule)
        else:
            levels.append([rule])
    return [rule for level in levels for rule in _join_level(sorted(level, key=lambda rule: rule.x0))]


def _join_level(rules: Sequence[HorizontalRule]) -> list[HorizontalRule]:
    joined: list[HorizontalRule] = []
    dash = False
    for rule in rules:
        last = joined[-1] if joined else None
        short = rule.x1 - rule.x0 < _SHORT
        if last and rule.x0 - last.x1 <= (_SHORT if dash and short else _ABUTTING):
            joined[-1] = HorizontalRule(last.x0, max(last.x1, rule.x1), last.y)
            dash = dash and short
        else:
            joined.append(rule)
            dash = short
    return joined


def _join_vertical(rules: Sequence[VerticalRule]) -> list[VerticalRule]:
    turned = join_rules([HorizontalRule(rule.y0, rule.y1, rule.x) for rule in rules])
    return [VerticalRule(rule.y, rule.x0, rule.x1) for rule in turned]
