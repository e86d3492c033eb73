"""The tables of a document: regions found by captions and rules, read into grids."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ingest.pdf.captions import Caption
from ingest.pdf.layout import PageLayout
from ingest.pdf.lines import Line
from ingest.pdf.table_borderless import borderless_region
from ingest.pdf.table_grid import Grid, TableRegion, read_grid
from ingest.pdf.table_regions import RuleStack, Side, assign, page_stacks, preferred_side
from paperscope.types import Box

__all__ = ["FoundTable", "find_tables"]

_BORDERLESS_TRUST = 0.7


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FoundTable:
    """A table on a page (its index from 0), with the lines that it consists of."""

    page: int
    caption: Caption
    box: Box
    grid: Grid
    lines: frozenset[Line]


def find_tables(layouts: Sequence[PageLayout], captions: Sequence[Sequence[Caption]]) -> list[FoundTable]:
    """One table for each table caption beside which a grid is found; `captions` holds all captions page by page."""
    named = [[caption for caption in page if caption.kind == "table"] for page in captions]
    stacks = [page_stacks(layout, page) for layout, page in zip(layouts, captions, strict=True)]
    side = preferred_side(list(zip(named, stacks, strict=True)))
    found: list[FoundTable] = []
    for index, layout in enumerate(layouts):
        pairs = assign(named[index], stacks[index], side=side)
        for caption in named[index]:
            table = _read(layout, caption, pairs.get(caption), page=index, side=side, captions=captions[index])
            if table:
                found.append(table)
    return found


def _read(
    layout: PageLayout,
    caption: Caption,
    stack: RuleStack | None,
    *,
    page: int,
    side: Side,
    captions: Sequence[Caption],
) -> FoundTable | None:
    """The table by its rules, or by its columns where there are no rules or they enclose no body."""
    by_rules = _found(_ruled_region(layout, stack), layout, caption, page=page, trust=1.0) if stack else None
    if by_rules and by_rules.grid.has_body:
        return by_rules
    region = borderless_region(layout, caption, side=side, captions=captions)
    by_columns = _found(region, layout, caption, page=page, trust=_BORDERLESS_TRUST)
    return by_columns if by_columns and (by_columns.grid.has_body or by_rules is None) else by_rules


def _found(
    region: TableRegion | None, layout: PageLayout, caption: Caption, *, page: int, trust: float
) -> FoundTable | None:
    if region is None or not region.words:
        return None
    grid = read_grid(region)
    grid = replace(grid, confidence=round(grid.confidence * trust, 2))
    inside = set(region.words)
    lines = frozenset(line for line in layout.lines if any(word in inside for word in line.words))
    return FoundTable(page=page, caption=caption, box=region.box, grid=grid, lines=lines)


def _ruled_region(layout: PageLayout, stack: RuleStack) -> TableRegion:
    x0, y0, x1, y1 = stack.box
    content = layout.content
    width = x1 - x0
    return TableRegion(
        box=stack.box,
        words=tuple(
            word
            for word in layout.words
            if x0 - 3 <= word.center <= x1 + 3 and y0 - 1 <= word.baseline - 0.3 * word.size <= y1 + 1
        ),
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
