"""The elements of a paper in reading order, from the parts that were found."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ingest.document.geometry import box_as_seen
from ingest.document.hyphenation import Vocabulary, join_lines, vocabulary_of
from ingest.document.references import entry_label, entry_year
from ingest.pdf.bibliography import Entry, bibliography_start, find_entries
from ingest.pdf.captions import Caption
from ingest.pdf.columns import reading_order
from ingest.pdf.equations import FoundEquation
from ingest.pdf.figures import FoundFigure
from ingest.pdf.headings import FoundHeading, is_references_title
from ingest.pdf.layout import Edges, PageLayout
from ingest.pdf.lines import Line, bounding_box
from ingest.pdf.listings import FoundListing
from ingest.pdf.paragraphs import FlowLine, TextStyle, paragraphs_of, split_footnotes, text_style
from ingest.pdf.structure import Structure
from ingest.pdf.tables.grid import FoundTable
from paperscope_core.types import (
    Box,
    Cell,
    Element,
    Equation,
    Figure,
    Panel,
    Passage,
    PassageRole,
    Place,
    Reference,
    Table,
)

__all__ = ["Draft", "Places", "draft_elements", "figure_element", "table_element"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Places:
    """Makes places on the pages of a paper."""

    paper: str
    layouts: Sequence[PageLayout]

    def at(self, page: int, box: Box) -> Place:
        """The place of a box on a page (its index from 0)."""
        content = self.layouts[page].content
        return Place(paper=self.paper, page=content.number, box=box_as_seen(box, content).rounded())

    def along(self, lines: Sequence[FlowLine]) -> tuple[Place, ...]:
        """One place for each column through which the lines run."""
        return tuple(
            self.at(page, bounding_box(line.line.box for line in part))
            for (page, _), part in groupby(lines, key=lambda line: (line.page, line.column))
        )


def figure_element(found: FoundFigure, places: Places) -> Figure | Table:
    """A figure, or a table without cells where a table's caption stands beside a picture."""
    place = places.at(found.page, found.box)
    caption: Caption = found.caption
    caption_place = places.at(found.page, caption.box) if caption.lines else None
    if caption.kind == "table":
        return Table(
            id="",
            place=place,
            order=0,
            cells=(),
            label=caption.label,
            caption=caption.text,
            caption_place=caption_place,
            confidence=0.0,
        )
    return Figure(
        id="",
        place=place,
        order=0,
        label=caption.label,
        caption=caption.text,
        caption_place=caption_place,
        text=found.text,
        panels=tuple(
            Panel(mark=panel.mark, place=places.at(found.page, panel.box), caption=panel.caption)
            for panel in found.panels
        ),
    )


def table_element(found: FoundTable, places: Places) -> Table:
    """A table with its cells, each at the place where it is printed."""
    first, *more = [places.at(part.page, part.box) for part in found.parts]
    return Table(
        id="",
        place=first,
        order=0,
        cells=tuple(
            Cell(
                row=cell.row,
                column=cell.column,
                text=cell.text,
                place=places.at(*found.spot(cell)),
                row_span=cell.row_span,
                column_span=cell.column_span,
                role=cell.role,
                bold=cell.bold,
            )
            for cell in found.grid.cells
        ),
        label=found.caption.label,
        caption=found.caption.text,
        caption_place=places.at(found.page, found.caption.box) if found.caption.lines else None,
        header_rows=found.grid.header_rows,
        confidence=found.grid.confidence,
        more_places=tuple(more),
    )


Part = FoundTable | FoundFigure | FoundListing | FoundEquation | FoundHeading | FlowLine


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """An element without id, order and section; `at` sorts drafts into reading order."""

    at: float
    element: Element


def draft_elements(structure: Structure, *, places: Places) -> list[Draft]:
    """All elements: the head of the paper, the text with its floats, and page furniture at the very end."""
    vocabulary = vocabulary_of(line.text for page in structure.text for line in page)
    parts = [part for page in range(len(structure.layouts)) for part in _page_parts(structure, page)]
    style = text_style([part for part in parts if isinstance(part, FlowLine)])
    drafts = [*_front(structure, places)]
    drafts.extend(_text_drafts(parts, style=style, vocabulary=vocabulary, places=places))
    drafts.extend(_floats(parts, places))
    drafts.extend(_sidebars(structure, parts, style=style, vocabulary=vocabulary, places=places))
    drafts.extend(_footnotes(structure, parts, vocabulary=vocabulary, places=places))
    drafts.sort(key=lambda draft: draft.at)
    return [*drafts, *_furniture(structure, places)]


def _furniture(structure: Structure, places: Places) -> Iterator[Draft]:
    for page, lines in enumerate(structure.furniture):
        for line in sorted(lines, key=lambda line: (line.baseline, line.box.x0)):
            yield Draft(at=0, element=_passage(line.text, "furniture", [places.at(page, line.box)]))
        for ruler in structure.layouts[page].numbers:
            text, box = " ".join(word.text for word in ruler), bounding_box(word.box for word in ruler)
            yield Draft(at=0, element=_passage(text, "furniture", [places.at(page, box)]))


def _page_parts(structure: Structure, page: int) -> list[Part]:
    """What stands on a page, in reading order."""
    layout, edges = structure.layouts[page], structure.edges[page]
    headings = [heading for heading in structure.headings if heading.page == page]
    titled = {line for heading in headings for line in heading.lines}
    parts: list[Part] = [*headings]
    for line in structure.text[page]:
        if line not in titled:
            column = layout.column(line)
            parts.append(FlowLine(page=page, column=column, edges=edges[min(column, len(edges) - 1)], line=line))
    for group in (structure.tables, structure.figures, structure.listings, structure.equations):
        parts.extend(part for part in group if part.page == page)
    return reading_order(parts, box=_box, gutters=layout.gutters)


def _box(part: Part) -> Box:
    if isinstance(part, FlowLine):
        return part.line.box
    if isinstance(part, FoundTable | FoundFigure):
        return part.box.union(part.caption.box)
    return part.box


def _front(structure: Structure, places: Places) -> Iterator[Draft]:
    roles: tuple[tuple[PassageRole, Sequence[Line], str], ...] = (
        ("title", structure.title, " "),
        ("authors", structure.authors, "\n"),
    )
    for at, (role, lines, mark) in enumerate(roles, start=-2):
        if lines:
            text = join_lines(line.text for line in lines) if mark == " " else "\n".join(line.text for line in lines)
            yield Draft(at=at, element=_passage(text, role, [places.at(0, bounding_box(line.box for line in lines))]))


def _text_drafts(parts: Sequence[Part], *, style: TextStyle, vocabulary: Vocabulary, places: Places) -> Iterator[Draft]:
    """Headings, paragraphs and references. A heading or an equation ends a paragraph, a float does not."""
    role: PassageRole = "paragraph"
    references, number = False, 0
    run: list[tuple[int, FlowLine]] = []
    for index, part in enumerate([*parts, None]):
        if isinstance(part, FlowLine):
            run.append((index, part))
        elif not isinstance(part, FoundTable | FoundFigure | FoundListing):
            at = {id(line): index for index, line in run}
            entries, text = _bibliography([line for _, line in run], titled=references, after=number)
            number = entries[-1].number if entries else number
            run = [(at[id(line)], line) for line in text]
            yield from _paragraphs(run, role=role, style=style, vocabulary=vocabulary, places=places)
            for entry in entries:
                yield Draft(at=at[id(entry.lines[0])], element=_reference(entry, vocabulary=vocabulary, places=places))
            run = []
        if isinstance(part, FoundHeading):
            references = is_references_title(part.text)
            role = "abstract" if part.text.lower().strip(" .:—") == "abstract" else "paragraph"
            place = places.at(part.page, part.box)
            yield Draft(
                at=index, element=Passage(id="", place=place, order=0, text=part.text, role="heading", level=part.level)
            )


def _paragraphs(
    run: Sequence[tuple[int, FlowLine]],
    *,
    role: PassageRole,
    style: TextStyle,
    vocabulary: Vocabulary,
    places: Places,
) -> Iterator[Draft]:
    at = {id(line): index for index, line in run}
    for paragraph in paragraphs_of([line for _, line in run], style=style):
        text = join_lines((line.line.text for line in paragraph.lines), vocabulary)
        own: PassageRole = "list" if paragraph.bulleted and role == "paragraph" else role
        if role == "paragraph" and text.lower().startswith(("abstract—", "abstract–", "abstract.", "abstract:")):
            own = "abstract"
        yield Draft(at=at[id(paragraph.lines[0])], element=_passage(text, own, places.along(paragraph.lines)))


def _bibliography(lines: Sequence[FlowLine], *, titled: bool, after: int) -> tuple[list[Entry], list[FlowLine]]:
    """The entries among lines, and the rest; `titled` if they stand under the title of a bibliography, `after` is the
    number of the last entry before."""
    first = 0 if titled else bibliography_start(lines, after=after)
    if first is None:
        return [], [*lines]
    entries, rest = find_entries(lines[first:])
    return entries, [*lines[:first], *rest]


def _reference(entry: Entry, *, vocabulary: Vocabulary, places: Places) -> Reference:
    text = join_lines((line.line.text for line in entry.lines), vocabulary)
    place, *more = places.along(entry.lines)
    label, year = entry_label(text), entry_year(text)
    return Reference(id="", place=place, order=0, text=text, label=label, year=year, more_places=tuple(more))


def _floats(parts: Sequence[Part], places: Places) -> Iterator[Draft]:
    for index, part in enumerate(parts):
        if isinstance(part, FoundTable):
            yield Draft(at=index, element=table_element(part, places))
        elif isinstance(part, FoundFigure):
            yield Draft(at=index, element=figure_element(part, places))
        elif isinstance(part, FoundListing):
            yield Draft(at=index, element=_listing(part, places))
        elif isinstance(part, FoundEquation):
            label = f"Equation {part.number}" if part.number else ""
            place = places.at(part.page, part.box)
            yield Draft(at=index, element=Equation(id="", place=place, order=0, text=part.text, label=label))


def _listing(found: FoundListing, places: Places) -> Passage:
    place = places.at(found.page, found.box)
    return Passage(id="", place=place, order=0, text=found.text, role="code", label=found.label, caption=found.caption)


def _sidebars(
    structure: Structure, parts: Sequence[Part], *, style: TextStyle, vocabulary: Vocabulary, places: Places
) -> Iterator[Draft]:
    """Sidebars come before everything else on their page."""
    starts = {part.page: index for index, part in reversed(list(enumerate(parts)))}
    for page, sidebars in enumerate(structure.sidebars):
        for lines in sidebars:
            box = bounding_box(line.box for line in lines)
            edges = Edges(left=box.x0, right=box.x1)
            flow = [FlowLine(page=page, column=0, edges=edges, line=line) for line in lines]
            for order, paragraph in enumerate(paragraphs_of(flow, style=style)):
                text = join_lines((line.line.text for line in paragraph.lines), vocabulary)
                role: PassageRole = "list" if paragraph.bulleted else "paragraph"
                at = starts.get(page, len(parts)) - 0.5 + order / (2 * len(lines) + 2)
                yield Draft(at=at, element=_passage(text, role, places.along(paragraph.lines)))


def _footnotes(
    structure: Structure, parts: Sequence[Part], *, vocabulary: Vocabulary, places: Places
) -> Iterator[Draft]:
    """Footnotes come after everything else on their page."""
    ends = {part.page: index for index, part in enumerate(parts)}
    for page, lines in enumerate(structure.footnotes):
        notes = split_footnotes(lines)
        for order, note in enumerate(notes, start=1):
            text = join_lines((line.text for line in note), vocabulary)
            place = places.at(page, bounding_box(line.box for line in note))
            at = ends.get(page, len(parts)) + order / (len(notes) + 1)
            yield Draft(at=at, element=_passage(text, "footnote", [place]))


def _passage(text: str, role: PassageRole, along: Sequence[Place]) -> Passage:
    return Passage(id="", place=along[0], order=0, text=text, role=role, more_places=tuple(along[1:]))
