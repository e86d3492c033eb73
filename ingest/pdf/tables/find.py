"""The tables of a document: regions found by captions and rules, read into grids."""

from collections.abc import Sequence

from ingest.pdf.captions import Caption
from ingest.pdf.page.layout import PageLayout
from ingest.pdf.tables.borderless import borderless_region
from ingest.pdf.tables.continued import with_further_parts
from ingest.pdf.tables.found import FoundTable, TablePart
from ingest.pdf.tables.grid import TableRegion, read_grid
from ingest.pdf.tables.regions import RuleStack, Side, assign, page_stacks, preferred_side
from ingest.pdf.tables.ruled import ruled_region

__all__ = ["find_tables"]


def find_tables(layouts: Sequence[PageLayout], captions: Sequence[Sequence[Caption]]) -> list[FoundTable]:
    """One table for each table caption beside which a grid is found; `captions` holds all captions page by page.

    A table that goes on in the next column or on the next page is one table.
    """
    named = [[caption for caption in page if caption.kind == "table"] for page in captions]
    stacks = [page_stacks(layout, page) for layout, page in zip(layouts, captions, strict=True)]
    side = preferred_side(list(zip(named, stacks, strict=True)))
    found: list[FoundTable] = []
    free: list[list[RuleStack]] = []
    for index, layout in enumerate(layouts):
        pairs = assign(named[index], stacks[index], side=side)
        free.append([stack for stack in stacks[index] if stack not in pairs.values()])
        for caption in named[index]:
            table = _read(layout, caption, pairs.get(caption), page=index, side=side, captions=captions[index])
            if table:
                found.append(table)
    return with_further_parts(found, layouts, captions=captions, stacks=free)


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
    by_rules = _found(ruled_region(layout, stack), layout, caption, page=page) if stack else None
    if by_rules and by_rules.grid.has_body:
        return by_rules
    region = borderless_region(layout, caption, side=side, captions=captions)
    by_columns = _found(region, layout, caption, page=page)
    return by_columns if by_columns and (by_columns.grid.has_body or by_rules is None) else by_rules


def _found(region: TableRegion | None, layout: PageLayout, caption: Caption, *, page: int) -> FoundTable | None:
    if region is None or not region.words:
        return None
    part = TablePart(page=page, region=region, lines=layout.lines_with(region.words))
    return FoundTable(captions=(caption,), parts=(part,), grid=read_grid(region))
