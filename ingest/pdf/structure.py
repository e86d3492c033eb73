"""What a document consists of, found stage by stage: each stage claims lines, the next one works on the rest."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ingest.pdf.backend import OutlineEntry, PageContent
from ingest.pdf.figures.find import FoundFigure
from ingest.pdf.floats import read_floats, without
from ingest.pdf.formulas.equations import FoundEquation, find_equations
from ingest.pdf.page.edges import Edges, column_edges
from ingest.pdf.page.flow import reading_order
from ingest.pdf.page.layout import PageLayout, body_style
from ingest.pdf.page.lines import Line, rejoined
from ingest.pdf.tables.found import FoundTable
from ingest.pdf.tables.second import CellFinder
from ingest.pdf.text.footnotes import footnotes_of
from ingest.pdf.text.front import author_lines
from ingest.pdf.text.headings import FoundHeading, find_headings
from ingest.pdf.text.listings import FoundListing
from ingest.pdf.text.run_ins import cut_run_ins
from ingest.pdf.text.sidebars import sidebars_of

__all__ = ["Structure", "read_structure"]

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
    footnotes = [footnotes_of(layout, lines, body=body) for layout, lines in zip(layouts, free, strict=True)]
    free = without(free, footnotes)
    free = [rejoined(lines, column=layout.column) for layout, lines in zip(layouts, free, strict=True)]
    edges = column_edges(layouts, free, body=body)
    parted = [sidebars_of(lines, edges[page], body=body) for page, lines in enumerate(free)]
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
