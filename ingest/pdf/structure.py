"""Finds the parts of a document in stages: each stage claims lines, and the next one processes the rest."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from ingest.document.caption_wording import split_number
from ingest.document.pages import OutlineEntry, PageContent
from ingest.pdf.columns import reading_order
from ingest.pdf.equations import FoundEquation, find_equations
from ingest.pdf.figures import FoundFigure, find_figures, framed_figure
from ingest.pdf.frames import find_framed_floats, find_framed_listings, find_frames
from ingest.pdf.front import author_lines, title_lines
from ingest.pdf.furniture import find_furniture
from ingest.pdf.headings import FoundHeading, cut_run_ins, find_headings, is_contents_entry, style_of
from ingest.pdf.layout import PageLayout, RegionFinder, page_layouts, with_edges
from ingest.pdf.lines import Line, rejoined
from ingest.pdf.listings import FoundListing, find_listings, framed_listing, unlabelled_listing
from ingest.pdf.paragraphs import find_footnotes, find_sidebars
from ingest.pdf.quoted_captions import without_captions_in_text, without_quoted_captions
from ingest.pdf.tables.find import GridFinder, find_tables, find_unlabelled_tables, with_second_readings
from ingest.pdf.tables.regions import without_running_rules
from ingest.pdf.tables.table_values import FoundTable

__all__ = ["Structure", "read_structure"]

Found = TypeVar("Found")

_MAX_ABOVE_TITLE = 3  # Lines; a chapter number or a journal's name takes no more.


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Structure:
    """The parts of a document. `text` has the lines of running text and headings of each page in reading order;
    `figures` includes tables in which no grid was found; `sidebars` are lists of lines of each page."""

    layouts: Sequence[PageLayout]
    tables: Sequence[FoundTable]
    figures: Sequence[FoundFigure]
    listings: Sequence[FoundListing]
    equations: Sequence[FoundEquation]
    headings: Sequence[FoundHeading]
    title: Sequence[Line]
    authors: Sequence[Line]
    sidebars: Sequence[Sequence[Sequence[Line]]]
    footnotes: Sequence[Sequence[Line]]
    furniture: Sequence[frozenset[Line]]
    text: Sequence[Sequence[Line]]


def read_structure(
    pages: Sequence[PageContent],
    outline: Sequence[OutlineEntry],
    *,
    grids: GridFinder | None = None,
    regions: RegionFinder | None = None,
    named: str = "",
) -> Structure:
    """Find the parts of a document of at least one page.

    Args:
        pages: The pages.
        outline: The file's bookmarks.
        grids: Provides the tables that a layout model finds on a page.
        regions: Provides the library's regions of text for pages whose columns are in doubt.
        named: The title in the file's metadata.
    """
    layouts = without_captions_in_text(without_running_rules(page_layouts(pages, regions=regions)))
    frames = [find_frames(layout) for layout in layouts]
    # A title over a tint is no float.
    large = title_lines(layouts[0], layouts[0].lines, named=named)
    frames[0] = [frame for frame in frames[0] if not set(large) & set(frame.lines)]
    framed = find_framed_floats(layouts, frames)
    layouts = without_quoted_captions(layouts, frames, framed)
    framed_listings = [each for each in framed if each.caption.kind == "other"]
    framed_figures = [each for each in framed if each.caption.kind == "figure" and each.is_whole]
    framed_tables = [each for each in framed if each.caption.kind == "table"]
    tables = with_second_readings(
        find_tables(layouts, framed_tables, taken=[*framed_listings, *framed_figures]), layouts, grids=grids
    )
    known = [*framed_listings, *framed_figures]
    figures = [*map(framed_figure, framed_figures), *find_figures(layouts, tables, known)]
    free = _without([layout.lines for layout in layouts], (line for table in tables for line in table.claimed))
    free = _without(free, (line for figure in figures for line in figure.claimed))
    listings = [framed_listing(each) for each in framed_listings]
    free = _without(free, (line for listing in listings for line in (*listing.head, *listing.lines)))
    listings += map(unlabelled_listing, find_framed_listings(layouts, _without(free, large)))
    free = _without(free, (line for listing in listings for line in (*listing.head, *listing.lines)))
    furniture = find_furniture(layouts, free)
    free = _without(free, (line for lines in furniture for line in lines))
    listings += find_listings(layouts, free)
    free = _without(free, (line for listing in listings for line in (*listing.head, *listing.lines)))
    title = title_lines(layouts[0], free[0], printed=[line for layout in layouts for line in layout.lines], named=named)
    free = _without(free, title)
    unlabelled = find_unlabelled_tables(layouts, free, tables, grids=grids)
    free = _without(free, (line for table in unlabelled for line in table.claimed))
    tables = [*tables, *unlabelled]
    footnotes = [find_footnotes(layout, lines) for layout, lines in zip(layouts, free, strict=True)]
    free = _without(free, (line for notes in footnotes for line in notes))
    free = [rejoined(lines, column=layout.column) for layout, lines in zip(layouts, free, strict=True)]
    layouts = with_edges(layouts, free)
    split = [find_sidebars(layout, lines) for layout, lines in zip(layouts, free, strict=True)]
    free = [text for _, text in split]
    equations = _on_each_page(find_equations, layouts, free)
    free = _without(free, (line for equation in equations for line in equation.lines))
    flow, run_ins = cut_run_ins(
        [
            reading_order(lines, box=lambda line: line.box, gutters=layout.gutters)
            for layout, lines in zip(layouts, free, strict=True)
        ]
    )
    headings = find_headings(layouts, flow, outline=outline, run_ins=run_ins, title=title)
    authors = author_lines(layouts[0], flow[0], title=title, end=_head_end(headings, layouts[0], flow[0], title=title))
    head = {*authors, *_above_title(flow[0], title)}
    return Structure(
        layouts=layouts,
        tables=tables,
        figures=figures,
        listings=listings,
        equations=equations,
        headings=[heading for heading in headings if head.isdisjoint(heading.lines)],
        title=title,
        authors=authors,
        sidebars=[sidebars for sidebars, _ in split],
        footnotes=footnotes,
        furniture=furniture,
        text=_without(flow, authors),
    )


def _on_each_page(
    find: Callable[[PageLayout, Sequence[Line]], list[Found]],
    layouts: Sequence[PageLayout],
    free: Sequence[Sequence[Line]],
) -> list[Found]:
    return [found for layout, lines in zip(layouts, free, strict=True) for found in find(layout, lines)]


def _without(pages: Sequence[Sequence[Line]], claimed: Iterable[Line]) -> list[list[Line]]:
    """Return the lines of each page that are not claimed."""
    gone = frozenset(claimed)
    return [[line for line in lines if line not in gone] for lines in pages]


def _head_end(
    headings: Sequence[FoundHeading], layout: PageLayout, flow: Sequence[Line], *, title: Sequence[Line]
) -> Line | None:
    """Return the first line on the first page, below the title, that begins the abstract, a section or contents."""
    bottom = title[-1].baseline if title else 0.0
    contents = [line for line in flow if is_contents_entry(line, layout)]
    opening = [line for line in flow if _begins_text(line.text)] + contents
    opening += [line for line, below in pairwise(flow) if below in contents and any(line in h.lines for h in headings)]
    opening += [
        heading.lines[0]
        for heading in headings
        if heading.page == 0 and (_is_section(heading) or _begins_text(heading.text))
    ]
    below = [line for line in opening if line.baseline > bottom]
    return min(below, key=lambda line: line.baseline, default=None)


def _is_section(heading: FoundHeading) -> bool:
    """Return whether a heading has a section's number; a plain line with another number than 1 may be a date."""
    number = split_number(heading.text)[0].split(".")[0]
    return number == "1" or (number.isdecimal() and style_of(heading.lines[0]).bold)


def _begins_text(text: str) -> bool:
    start = text.replace(" ", "").lower()
    return start.startswith(("abstract", "summary", "introduction", "1introduction", "i.introduction"))


def _above_title(flow: Sequence[Line], title: Sequence[Line]) -> list[Line]:
    """Return the lines above the title, such as a chapter number, if they are few."""
    above = [line for line in flow if title and line.baseline < title[0].baseline]
    return above if len(above) <= _MAX_ABOVE_TITLE else []
