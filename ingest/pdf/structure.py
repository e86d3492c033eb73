"""Finds the parts of a document in stages: each stage claims lines, and the next one processes the rest."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ingest.document.pages import OutlineEntry, PageContent
from ingest.pdf.captions import Caption, find_captions
from ingest.pdf.columns import reading_order
from ingest.pdf.equations import FoundEquation, find_equations
from ingest.pdf.figures import FoundFigure, find_figures, repeated_pictures
from ingest.pdf.front import author_lines, title_lines
from ingest.pdf.furniture import find_furniture
from ingest.pdf.headings import FoundHeading, cut_run_ins, find_headings
from ingest.pdf.layout import BodyStyle, Edges, PageLayout, body_style, column_edges, page_layouts
from ingest.pdf.lines import Line, rejoined
from ingest.pdf.listings import FoundListing, find_listings
from ingest.pdf.paragraphs import find_footnotes, find_sidebars
from ingest.pdf.tables.find import CellFinder, find_tables, find_unlabelled_tables, with_second_readings
from ingest.pdf.tables.model import FoundTable
from ingest.pdf.tables.regions import without_running_rules

__all__ = ["Structure", "read_structure"]

_MAX_ABOVE_TITLE = 3  # Lines; a chapter number or a journal's name takes no more.


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Structure:
    """The parts of a document. `text` has the lines of running text and headings of each page in reading order;
    `figures` includes tables in which no grid was found; `sidebars` are lists of lines of each page."""

    layouts: Sequence[PageLayout]
    edges: Sequence[Sequence[Edges]]
    tables: Sequence[FoundTable]
    figures: Sequence[FoundFigure]
    listings: Sequence[FoundListing]
    equations: Sequence[FoundEquation]
    headings: Sequence[FoundHeading]
    title: Sequence[Line]
    authors: Sequence[Line]
    sidebars: Sequence[Sequence[Sequence[Line]]]
    footnotes: Sequence[Sequence[Line]]
    furniture: Sequence[Collection[Line]]
    text: Sequence[Sequence[Line]]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Floats:
    """The parts that are not running text; `free` are the lines of each page that none of them has claimed."""

    layouts: Sequence[PageLayout]
    tables: Sequence[FoundTable]
    figures: Sequence[FoundFigure]
    listings: Sequence[FoundListing]
    furniture: Sequence[frozenset[Line]]
    title: Sequence[Line]
    free: Sequence[Sequence[Line]]


def read_structure(
    pages: Sequence[PageContent], outline: Sequence[OutlineEntry], *, cells: CellFinder | None = None
) -> Structure:
    """Finds the parts of a document of at least one page; `cells` provides the library's cells for doubtful tables."""
    body = body_style(pages)
    floats = _read_floats(pages, body=body, cells=cells)
    layouts, title, free = floats.layouts, floats.title, floats.free
    footnotes = [find_footnotes(layout, lines, body=body) for layout, lines in zip(layouts, free, strict=True)]
    free = _without(free, {line for notes in footnotes for line in notes})
    free = [rejoined(lines, column=layout.column) for layout, lines in zip(layouts, free, strict=True)]
    edges = column_edges(layouts, free, body=body)
    split = [find_sidebars(lines, edges[page], body=body) for page, lines in enumerate(free)]
    free = [rest for _, rest in split]
    equations = [
        equation
        for page, layout in enumerate(layouts)
        for equation in find_equations(layout, free[page], page=page, edges=edges[page])
    ]
    free = _without(free, {line for equation in equations for line in equation.lines})
    flow, run_ins = cut_run_ins(
        [
            reading_order(lines, box=lambda line: line.box, gutters=layout.gutters)
            for layout, lines in zip(layouts, free, strict=True)
        ]
    )
    headings = find_headings(layouts, flow, edges=edges, body=body, outline=outline, run_ins=run_ins, title=title)
    end = _head_end(headings, flow[0], title=title)
    measure = 0.0 if layouts[0].columns == 1 else edges[0][0].right - edges[0][0].left
    authors = author_lines(flow[0], title=title, end=end, body=body, measure=measure)
    head = {*authors, *_above_title(flow[0], title)}
    return Structure(
        layouts=layouts,
        edges=edges,
        tables=floats.tables,
        figures=floats.figures,
        listings=floats.listings,
        equations=equations,
        headings=[heading for heading in headings if head.isdisjoint(heading.lines)],
        title=title,
        authors=authors,
        sidebars=[found for found, _ in split],
        footnotes=footnotes,
        furniture=floats.furniture,
        text=_without(flow, authors),
    )


def _read_floats(pages: Sequence[PageContent], *, body: BodyStyle, cells: CellFinder | None) -> _Floats:
    layouts = page_layouts(pages, body=body)
    captions = [
        find_captions(layout.lines, gutter=layout.gutter, rules=layout.content.horizontal) for layout in layouts
    ]
    layouts = without_running_rules(layouts, captions)
    tables = with_second_readings(find_tables(layouts, captions), layouts, cells=cells)
    figures = _figures(layouts, captions, tables, body=body)
    free = _without([layout.lines for layout in layouts], _claimed(tables, figures))
    furniture = find_furniture(layouts, free)
    free = _without(free, {line for page in furniture for line in page})
    listings = [
        listing
        for page, layout in enumerate(layouts)
        for listing in find_listings(layout, captions[page], free[page], page=page, body=body)
    ]
    free = _without(free, {line for listing in listings for line in (*listing.head, *listing.lines)})
    title = title_lines(layouts[0], free[0], body=body)
    free = _without(free, title)
    named = {caption for table in tables for caption in table.captions}
    unlabelled = [
        table
        for page, layout in enumerate(layouts)
        for table in find_unlabelled_tables(layout, free[page], captions[page], page=page, named=named)
    ]
    return _Floats(
        layouts=layouts,
        tables=[*tables, *unlabelled],
        figures=figures,
        listings=listings,
        furniture=furniture,
        title=title,
        free=_without(free, _claimed(unlabelled, ())),
    )


def _figures(
    layouts: Sequence[PageLayout],
    captions: Sequence[Sequence[Caption]],
    tables: Sequence[FoundTable],
    *,
    body: BodyStyle,
) -> list[FoundFigure]:
    named = {caption for table in tables for caption in table.captions}
    claimed = {line for page in captions for caption in page for line in caption.lines} | _claimed(tables, ())
    free = _without([layout.lines for layout in layouts], claimed)
    figures: list[FoundFigure] = []
    for page, (layout, furniture) in enumerate(zip(layouts, find_furniture(layouts, free), strict=True)):
        rest = [caption for caption in captions[page] if caption not in named]
        taken = [part.box for table in tables for part in table.parts if part.page == page]
        taken += [caption.box for caption in captions[page] if caption in named]
        figures.extend(
            find_figures(layout, rest, page=page, taken=taken, free=free[page], body=body, furniture=furniture)
        )
    decoration = repeated_pictures(layouts)
    return [figure for figure in figures if figure.caption.lines or figure.box.rounded() not in decoration]


def _claimed(tables: Sequence[FoundTable], figures: Sequence[FoundFigure]) -> set[Line]:
    """Returns the lines of tables, figures and their captions."""
    lines = {line for figure in figures for line in (*figure.lines, *figure.caption.lines)}
    lines |= {line for table in tables for line in table.lines}
    return lines | {line for table in tables for caption in table.captions for line in caption.lines}


def _without(pages: Sequence[Sequence[Line]], claimed: Collection[Line]) -> list[list[Line]]:
    """Returns the lines of each page that are not claimed."""
    gone = frozenset(claimed)
    return [[line for line in lines if line not in gone] for lines in pages]


def _head_end(headings: Sequence[FoundHeading], flow: Sequence[Line], *, title: Sequence[Line]) -> Line | None:
    """Returns the first line on the first page, below the title, that begins the abstract or a section."""
    bottom = title[-1].baseline if title else 0.0
    opening = [line for line in flow if _begins_text(line.text)]
    opening += [
        heading.lines[0]
        for heading in headings
        if heading.page == 0 and (heading.text[:1].isdecimal() or _begins_text(heading.text))
    ]
    below = [line for line in opening if line.baseline > bottom]
    return min(below, key=lambda line: line.baseline, default=None)


def _begins_text(text: str) -> bool:
    start = text.replace(" ", "").lower()
    return start.startswith(("abstract", "summary", "introduction", "1introduction", "i.introduction"))


def _above_title(flow: Sequence[Line], title: Sequence[Line]) -> list[Line]:
    """Returns the lines above the title, such as a chapter number, if they are few."""
    above = [line for line in flow if title and line.baseline < title[0].baseline]
    return above if len(above) <= _MAX_ABOVE_TITLE else []
