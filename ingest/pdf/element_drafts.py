"""Drafts the elements of a paper in reading order from the parts found on its pages."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, groupby

from ingest.document.assembly import Draft
from ingest.document.caption_wording import is_abstract_title, is_references_title
from ingest.document.drafts import Caption as DraftCaption
from ingest.document.drafts import (
    draft_equation,
    draft_figure,
    draft_listing,
    draft_passage,
    draft_reference,
    draft_table,
)
from ingest.document.geometry import bounding_box, box_as_seen
from ingest.document.line_text import join_lines, joined_parts, vocabulary_of
from ingest.pdf.bibliography import Entry, bibliography_start, find_entries
from ingest.pdf.captions import Caption
from ingest.pdf.columns import reading_order
from ingest.pdf.equations import FoundEquation
from ingest.pdf.figures import FoundFigure
from ingest.pdf.frames import Frame
from ingest.pdf.furniture import find_stamp
from ingest.pdf.headings import FoundHeading
from ingest.pdf.layout import Edges, PageLayout
from ingest.pdf.lines import Line
from ingest.pdf.listings import FoundListing
from ingest.pdf.paragraphs import FlowLine, paragraphs_of, split_footnotes, text_style
from ingest.pdf.structure import Structure
from ingest.pdf.tables.table_values import FoundTable
from paperscope_core.types import (
    Box,
    Cell,
    Element,
    Figure,
    Panel,
    Passage,
    PassageRole,
    Place,
    PrintedLine,
    Reference,
    Table,
)

__all__ = ["draft_elements"]

_Float = FoundTable | FoundFigure | FoundListing
_Part = _Float | FoundEquation | FoundHeading | FlowLine


def draft_elements(structure: Structure, *, paper: str) -> list[Element]:
    """Draft all elements: title and authors, the text with its floats, and page furniture at the end."""
    return [draft.element for draft in _Drafting(structure, paper=paper).drafts()]


class _Drafting:
    def __init__(self, structure: Structure, *, paper: str) -> None:
        self._structure = structure
        self._paper = paper
        self._vocabulary = vocabulary_of(line.text for page in structure.text for line in page)
        self._parts = [part for layout in structure.layouts for part in _page_parts(structure, layout)]
        self._style = text_style([part for part in self._parts if isinstance(part, FlowLine)])

    def drafts(self) -> list[Draft]:
        drafts = [*self._head(), *self._text(), *self._floats(), *self._sidebars(), *self._footnotes()]
        drafts.sort(key=lambda draft: draft.at)
        return [*drafts, *self._furniture()]

    def _place(self, page: int, box: Box) -> Place:
        """Return the place of a box on a page (its index from 0)."""
        content = self._structure.layouts[page].content
        return Place(paper=self._paper, page=content.number, box=box_as_seen(box, content).rounded())

    def _around(self, page: int, lines: Iterable[Line]) -> Place:
        return self._place(page, bounding_box(line.box for line in lines))

    def _passage(self, lines: Sequence[FlowLine], role: PassageRole) -> Passage:
        """Return joined lines as a passage, with a place for each column that has some, and where each line is."""
        places = [
            self._around(page, (line.line for line in part))
            for (page, _), part in groupby(lines, key=lambda line: (line.page, line.column))
        ]
        parts = joined_parts((line.line.text for line in lines), self._vocabulary)
        starts = accumulate((len(part) for part in parts[:-1]), initial=0)
        at = (self._place(line.page, line.line.box) for line in lines)
        printed = tuple(PrintedLine(start, place.page, place.box) for start, place in zip(starts, at, strict=True))
        return replace(draft_passage("".join(parts), role, *places), lines=printed if len(printed) > 1 else ())

    def _head(self) -> Iterator[Draft]:
        title, authors = self._structure.title, self._structure.authors
        if title:
            text = join_lines(line.text for line in title)
            yield Draft(at=-2, element=draft_passage(text, "title", self._around(0, title)))
        if authors:
            text = "\n".join(line.text for line in authors)
            yield Draft(at=-1, element=draft_passage(text, "authors", self._around(0, authors)))

    def _text(self) -> Iterator[Draft]:
        """Yield headings, paragraphs and references. A heading or an equation ends a paragraph, a float does not."""
        role: PassageRole = "paragraph"
        in_references, number = False, 0
        run: list[tuple[int, FlowLine]] = []
        for index, part in enumerate([*self._parts, None]):
            if isinstance(part, FlowLine):
                run.append((index, part))
            elif not isinstance(part, _Float):
                at = {id(line): index for index, line in run}
                entries, text = _bibliography([line for _, line in run], titled=in_references, after=number)
                number = entries[-1].number if entries else number
                for paragraph in paragraphs_of(text, style=self._style):
                    passage = self._passage(paragraph.lines, role)
                    own = _paragraph_role(passage.text, bulleted=paragraph.bulleted, role=role)
                    yield Draft(at=at[id(paragraph.lines[0])], element=replace(passage, role=own))
                for entry in entries:
                    yield Draft(at=at[id(entry.lines[0])], element=self._reference(entry))
                run = []
            if isinstance(part, FoundHeading):
                in_references = is_references_title(part.text)
                role = "abstract" if is_abstract_title(part.text) else "paragraph"
                place = self._place(part.page, part.box)
                yield Draft(at=index, element=draft_passage(part.text, "heading", place, level=part.level))

    def _reference(self, entry: Entry) -> Reference:
        passage = self._passage(entry.lines, "paragraph")
        return replace(draft_reference(passage.text, passage.place, *passage.more_places), lines=passage.lines)

    def _floats(self) -> Iterator[Draft]:
        for index, part in enumerate(self._parts):
            if isinstance(part, _Float | FoundEquation):
                yield Draft(at=index, element=self._float(part))

    def _float(self, part: _Float | FoundEquation) -> Element:
        place = self._place(part.page, part.box)
        match part:
            case FoundTable():
                return self._table(part)
            case FoundFigure():
                return self._figure(part, place)
            case FoundListing(text=text, label=label, caption=caption, head=head):
                at = self._around(part.head_page, head) if head else None
                named = DraftCaption(label=label, text=caption, place=at)
                return draft_listing(text, place, *self._frames(part.frames[1:]), caption=named)
            case FoundEquation(text=text, number=number):
                return draft_equation(text, place, number=number)

    def _caption(self, caption: Caption) -> DraftCaption:
        at = self._place(caption.page, caption.box) if caption.lines else None
        return DraftCaption(kind=caption.kind, label=caption.label, text=caption.text, place=at)

    def _frames(self, frames: Sequence[Frame]) -> list[Place]:
        return [self._place(frame.page, frame.box) for frame in frames]

    def _table(self, found: FoundTable) -> Table:
        cells = tuple(
            Cell(
                row=cell.row,
                column=cell.column,
                text=cell.text,
                place=self._place(*found.place(cell)),
                row_span=cell.row_span,
                column_span=cell.column_span,
                role=cell.role,
                bold=cell.bold,
            )
            for cell in found.grid.cells
        )
        return draft_table(
            cells,
            *(self._place(part.page, part.box) for part in found.parts),
            header_rows=found.grid.header_rows,
            caption=self._caption(found.caption),
            confidence=found.grid.confidence,
        )

    def _figure(self, found: FoundFigure, place: Place) -> Figure | Table:
        """Return a figure, or a table without cells if the caption is a table's and no grid was found."""
        caption = self._caption(found.caption)
        if caption.kind == "table":
            return draft_table((), place, caption=caption)
        panels = tuple(
            Panel(mark=panel.mark, place=self._place(found.page, panel.box), caption=panel.caption)
            for panel in found.panels
        )
        figure = draft_figure(place, caption=caption, text=found.text, panels=panels)
        return replace(figure, more_places=tuple(self._frames(found.frames)))

    def _sidebars(self) -> Iterator[Draft]:
        """Yield the sidebars, which precede everything else on their page."""
        starts = {part.page: index for index, part in reversed(list(enumerate(self._parts)))}
        for page, sidebars in enumerate(self._structure.sidebars):
            for lines in sidebars:
                flow = _outside_columns(page, lines)
                for order, paragraph in enumerate(paragraphs_of(flow, style=self._style)):
                    role: PassageRole = "list" if paragraph.bulleted else "paragraph"
                    element = self._passage(paragraph.lines, role)
                    at = starts.get(page, len(self._parts)) - 0.5 + order / (2 * len(lines) + 2)
                    yield Draft(at=at, element=element)

    def _footnotes(self) -> Iterator[Draft]:
        """Yield the footnotes, which follow everything else on their page."""
        ends = {part.page: index for index, part in enumerate(self._parts)}
        for page, lines in enumerate(self._structure.footnotes):
            notes = split_footnotes(lines)
            for order, note in enumerate(notes, start=1):
                at = ends.get(page, len(self._parts)) + order / (len(notes) + 1)
                yield Draft(at=at, element=self._passage(_outside_columns(page, note), "footnote"))

    def _furniture(self) -> Iterator[Draft]:
        for page, lines in enumerate(self._structure.furniture):
            printed = [(line.text, line.box) for line in sorted(lines, key=lambda line: (line.baseline, line.box.x0))]
            for strip in self._structure.layouts[page].numbers:
                text = " ".join(word.text for word in strip)
                printed.append((text, bounding_box(word.box for word in strip)))
            stamp = find_stamp(self._structure.layouts[page].content) if page == 0 else None
            for text, box in (*printed, stamp) if stamp else printed:
                yield Draft(at=0, element=draft_passage(text, "furniture", self._place(page, box)))


def _outside_columns(page: int, lines: Sequence[Line]) -> list[FlowLine]:
    """Return lines that are in no column of the text as a separate column."""
    box = bounding_box(line.box for line in lines)
    edges = Edges(left=box.x0, right=box.x1)
    return [FlowLine(page=page, column=0, edges=edges, line=line) for line in lines]


def _paragraph_role(text: str, *, bulleted: bool, role: PassageRole) -> PassageRole:
    """Return the role of a paragraph in a section whose paragraphs have a role."""
    if role == "paragraph" and text.lower().startswith(("abstract—", "abstract–", "abstract.", "abstract:")):
        return "abstract"
    return "list" if bulleted and role == "paragraph" else role


def _page_parts(structure: Structure, layout: PageLayout) -> list[_Part]:
    """Return the parts of a page in reading order."""
    page = layout.index
    headings = [heading for heading in structure.headings if heading.page == page]
    titled = {line for heading in headings for line in heading.lines}
    flow = [
        FlowLine(page=page, column=layout.column(line), edges=layout.edges_at(line), line=line)
        for line in structure.text[page]
        if line not in titled
    ]
    floats: list[_Part] = [*structure.tables, *structure.figures, *structure.listings, *structure.equations]
    parts: list[_Part] = [*headings, *flow, *(part for part in floats if part.page == page)]
    return reading_order(parts, box=_box, gutters=layout.gutters)


def _box(part: _Part) -> Box:
    if isinstance(part, FlowLine):
        return part.line.box
    if isinstance(part, FoundTable | FoundFigure) and part.caption.page == part.page:
        return part.box.union(part.caption.box)
    return part.box


def _bibliography(lines: Sequence[FlowLine], *, titled: bool, after: int) -> tuple[list[Entry], list[FlowLine]]:
    """Return the entries among lines, which are `titled` below the title of a bibliography, and the other lines.

    `after` is the number of the previous entry.
    """
    first = 0 if titled else bibliography_start(lines, after=after)
    if first is None:
        return [], [*lines]
    entries, rest = find_entries(lines[first:])
    return entries, [*lines[:first], *rest]
