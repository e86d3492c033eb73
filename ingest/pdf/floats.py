"""What stands apart from the running text: tables, figures, listings, page furniture, the title."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ingest.pdf.backend import PageContent
from ingest.pdf.captions import Caption, captions_of
from ingest.pdf.figures.find import FoundFigure, find_figures
from ingest.pdf.figures.pictures import repeated_pictures
from ingest.pdf.page.furniture import furniture_of
from ingest.pdf.page.layout import BodyStyle, PageLayout, layouts_of
from ingest.pdf.page.lines import Line
from ingest.pdf.page.rules import without_running_rules
from ingest.pdf.tables.find import find_tables
from ingest.pdf.tables.found import FoundTable
from ingest.pdf.tables.second import CellFinder, with_second_readings
from ingest.pdf.tables.unlabelled import unlabelled_tables
from ingest.pdf.text.front import title_lines
from ingest.pdf.text.listings import FoundListing, find_listings

__all__ = ["Floats", "read_floats", "without"]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Floats:
    """The parts of a document that are no running text; `free` holds each page's lines that none of them claims."""

    layouts: Sequence[PageLayout]
    tables: Sequence[FoundTable]
    figures: Sequence[FoundFigure]
    listings: Sequence[FoundListing]
    furniture: Sequence[frozenset[Line]]
    title: Sequence[Line]
    free: Sequence[Sequence[Line]]


def read_floats(pages: Sequence[PageContent], *, body: BodyStyle, cells: CellFinder | None) -> Floats:
    """Find them; `cells` is asked about doubtful tables."""
    layouts = layouts_of(pages, body=body)
    captions = [captions_of(layout.lines, gutter=layout.gutter, rules=layout.content.horizontal) for layout in layouts]
    layouts = without_running_rules(layouts, captions)
    tables = with_second_readings(find_tables(layouts, captions), layouts, cells=cells)
    figures = _figures(layouts, captions, tables, body=body)
    free = _unclaimed([layout.lines for layout in layouts], tables, figures)
    furniture = furniture_of(layouts, free)
    free = without(free, furniture)
    listings = _listings(layouts, captions, free, body=body)
    programs = frozenset(line for listing in listings for line in (*listing.head, *listing.lines))
    free = without(free, [programs] * len(free))
    title = title_lines(layouts[0], free[0], body=body)
    free[0] = [line for line in free[0] if line not in title]
    unlabelled = _unlabelled(layouts, captions, free, tables)
    return Floats(
        layouts=layouts,
        tables=[*tables, *unlabelled],
        figures=figures,
        listings=listings,
        furniture=furniture,
        title=title,
        free=_unclaimed(free, unlabelled, ()),
    )


def _unclaimed(
    pages: Sequence[Sequence[Line]], tables: Sequence[FoundTable], figures: Sequence[FoundFigure]
) -> list[list[Line]]:
    claimed = {line for figure in figures for line in (*figure.lines, *figure.caption.lines)}
    claimed |= {line for table in tables for line in table.lines}
    claimed |= {line for table in tables for caption in table.captions for line in caption.lines}
    return without(pages, [frozenset(claimed)] * len(pages))


def without(lines: Sequence[Sequence[Line]], claimed: Sequence[Collection[Line]]) -> list[list[Line]]:
    """Each page's lines but those that are claimed on it."""
    return [
        [line for line in page if line not in gone] for page, gone in zip(lines, map(frozenset, claimed), strict=True)
    ]


def _listings(
    layouts: Sequence[PageLayout],
    captions: Sequence[Sequence[Caption]],
    free: Sequence[Sequence[Line]],
    *,
    body: BodyStyle,
) -> list[FoundListing]:
    return [
        listing
        for page, layout in enumerate(layouts)
        for listing in find_listings(layout, captions[page], free[page], page=page, body=body)
    ]


def _unlabelled(
    layouts: Sequence[PageLayout],
    captions: Sequence[Sequence[Caption]],
    free: Sequence[Sequence[Line]],
    tables: Sequence[FoundTable],
) -> list[FoundTable]:
    named = {caption for table in tables for caption in table.captions}
    return [
        table
        for page, layout in enumerate(layouts)
        for table in unlabelled_tables(layout, free[page], captions[page], page=page, named=named)
    ]


def _figures(
    layouts: Sequence[PageLayout],
    captions: Sequence[Sequence[Caption]],
    tables: Sequence[FoundTable],
    *,
    body: BodyStyle,
) -> list[FoundFigure]:
    read = {caption for table in tables for caption in table.captions}
    claimed = {line for table in tables for line in table.lines}
    claimed |= {line for page in captions for caption in page for line in caption.lines}
    free = [[line for line in layout.lines if line not in claimed] for layout in layouts]
    figures: list[FoundFigure] = []
    for page, (layout, furniture) in enumerate(zip(layouts, furniture_of(layouts, free), strict=True)):
        rest = [caption for caption in captions[page] if caption not in read]
        taken = [part.box for table in tables for part in table.parts if part.page == page]
        taken += [caption.box for caption in captions[page] if caption in read]
        figures.extend(
            find_figures(layout, rest, page=page, taken=taken, free=free[page], body=body, furniture=furniture)
        )
    decoration = repeated_pictures(layouts)
    return [figure for figure in figures if figure.caption.lines or figure.box.rounded() not in decoration]
