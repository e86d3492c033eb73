"""The parts of a document, found stage by stage: each stage claims lines, the next one works on the rest."""

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
from ingest.pdf.tables.grid import FoundTable
from ingest.pdf.tables.regions import without_running_rules

__all__ = ["Floats", "Structure", "read_floats", "read_structure", "without"]


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
    layouts = page_layouts(pages, body=body)
    captions = [
        find_captions(layout.lines, gutter=layout.gutter, rules=layout.content.horizontal) for layout in layouts
    ]
    layouts = without_running_rules(layouts, captions)
    tables = with_second_readings(find_tables(layouts, captions), layouts, cells=cells)
    figures = _figures(layouts, captions, tables, body=body)
    free = _unclaimed([layout.lines for layout in layouts], tables, figures)
    furniture = find_furniture(layouts, free)
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
        for table in find_unlabelled_tables(layout, free[page], captions[page], page=page, named=named)
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
    for page, (layout, furniture) in enumerate(zip(layouts, find_furniture(layouts, free), strict=True)):
        rest = [caption for caption in captions[page] if caption not in read]
        taken = [part.box for table in tables for part in table.parts if part.page == page]
        taken += [caption.box for caption in captions[page] if caption in read]
        figures.extend(
            find_figures(layout, rest, page=page, taken=taken, free=free[page], body=body, furniture=furniture)
        )
    decoration = repeated_pictures(layouts)
    return [figure for figure in figures if figure.caption.lines or figure.box.rounded() not in decoration]


_MOST_ABOVE = 3


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Structure:
    """The parts of a document. `text` holds each page's lines of running text and headings in reading order;
    `figures` includes the pictures of tables in which no grid was found; `sidebars` are lists of each page's."""

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


def read_structure(
    pages: Sequence[PageContent], outline: Sequence[OutlineEntry], *, cells: CellFinder | None = None
) -> Structure:
    """Find the parts of a document of at least one page; `cells` is asked about doubtful tables."""
    body = body_style(pages)
    floats = read_floats(pages, body=body, cells=cells)
    layouts, title, free = floats.layouts, floats.title, floats.free
    footnotes = [find_footnotes(layout, lines, body=body) for layout, lines in zip(layouts, free, strict=True)]
    free = without(free, footnotes)
    free = [rejoined(lines, column=layout.column) for layout, lines in zip(layouts, free, strict=True)]
    edges = column_edges(layouts, free, body=body)
    parted = [find_sidebars(lines, edges[page], body=body) for page, lines in enumerate(free)]
    free = [rest for _, rest in parted]
    equations = _equations(layouts, free, edges)
    flow = _flow(layouts, free, equations)
    flow, run_ins = cut_run_ins(flow)
    headings = find_headings(layouts, flow, edges=edges, body=body, outline=outline, sure=run_ins, title=title)
    end = _front_end(headings, flow[0], title=title)
    measure = 0.0 if layouts[0].columns == 1 else edges[0][0].right - edges[0][0].left
    authors = author_lines(flow[0], title=title, end=end, body=body, measure=measure)
    headings = [heading for heading in headings if not set(heading.lines) & {*authors, *_kicker(flow[0], title)}]
    flow[0] = [line for line in flow[0] if line not in authors]
    return Structure(
        layouts=layouts,
        edges=edges,
        tables=floats.tables,
        figures=floats.figures,
        listings=floats.listings,
        equations=equations,
        headings=headings,
        title=title,
        authors=authors,
        sidebars=[found for found, _ in parted],
        footnotes=footnotes,
        furniture=floats.furniture,
        text=flow,
    )


def _equations(
    layouts: Sequence[PageLayout], free: Sequence[Sequence[Line]], edges: Sequence[Sequence[Edges]]
) -> list[FoundEquation]:
    return [
        equation
        for page, layout in enumerate(layouts)
        for equation in find_equations(layout, free[page], page=page, edges=edges[page])
    ]


def _flow(
    layouts: Sequence[PageLayout], free: Sequence[Sequence[Line]], equations: Sequence[FoundEquation]
) -> list[list[Line]]:
    """Each page's lines of text in reading order, display equations left out."""
    taken = {line for equation in equations for line in equation.lines}
    return [
        reading_order((line for line in lines if line not in taken), box=lambda line: line.box, gutters=layout.gutters)
        for layout, lines in zip(layouts, free, strict=True)
    ]


def _front_end(headings: Sequence[FoundHeading], flow: Sequence[Line], *, title: Sequence[Line]) -> Line | None:
    """The first line on the first page, below the title, that opens the abstract or a section."""
    bottom = title[-1].baseline if title else 0.0
    opening = [
        heading.lines[0]
        for heading in headings
        if heading.page == 0 and (heading.text[:1].isdecimal() or _opens_text(heading.text))
    ]
    opening += [line for line in flow if _opens_text(line.text)]
    below = [line for line in opening if line.baseline > bottom]
    return min(below, key=lambda line: line.baseline, default=None)


def _kicker(flow: Sequence[Line], title: Sequence[Line]) -> list[Line]:
    """The few lines above the title, such as the number of a chapter."""
    above = [line for line in flow if title and line.baseline < title[0].baseline]
    return above if len(above) <= _MOST_ABOVE else []


def _opens_text(text: str) -> bool:
    head = text.replace(" ", "").lower()
    return head.startswith(("abstract", "summary", "introduction", "1introduction", "i.introduction"))
