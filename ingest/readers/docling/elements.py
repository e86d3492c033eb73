"""Converts docling's nodes to elements in reading order."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ingest.document.assembly import Draft
from ingest.document.captions import caption_start
from ingest.document.cell_values import is_value
from ingest.document.headings import is_references_title, split_number
from ingest.document.references import entry_label, entry_year
from ingest.readers.block_captions import find_captions, group_floats, match_captions
from ingest.readers.docling.schema import CellNode, Corners, DoclingFile, Node, Tree, is_float
from ingest.readers.layout_blocks import Block, BlockKind, TextLine, find_front, heading_level, is_abstract
from paperscope_core.types import (
    Box,
    Cell,
    Element,
    Equation,
    Figure,
    Page,
    PageProblem,
    Passage,
    PassageRole,
    Place,
    Reference,
    Table,
)

__all__ = ["Caption", "Drafted", "Places", "captions_of", "cells_of", "draft_nodes", "header_rows"]


_FLOAT_KINDS: Mapping[str, BlockKind] = {"picture": "figure", "chart": "figure", "table": "table", "code": "code"}
Role = Literal["column_header", "row_header", "section", "value"]
# Confidence of tables that docling's model read.
_TABLE_CONFIDENCE = 0.8
_EQUATION_NUMBER = re.compile(r"\s*\(\s*([A-Z]?\.?\d{1,3}(?:\.\d{1,3})?[a-z]?)\s*\)\s*$")
_FRONT_KINDS: dict[str, BlockKind] = {
    "title": "title",
    "section_header": "heading",
    "text": "text",
    "paragraph": "text",
}
_PLAIN_MARKS = ("-", "·", "*")


class Places:
    """Converts boxes to places on the pages of a paper; a node without a box gets the previous place.

    Docling's boxes may have their origin in the bottom left corner of the page.
    """

    def __init__(self, document: DoclingFile, *, paper: str) -> None:
        self._paper = paper
        self.pages = tuple(
            Page(number=number, width=round(node.size.width, 1), height=round(node.size.height, 1))
            for number, node in sorted(document.pages.items())
        )
        self._sizes = {page.number: page for page in self.pages}
        self._last = Place(paper=paper, page=self.pages[0].number if self.pages else 1, box=Box(0, 0, 0, 0))

    def of(self, node: Node) -> tuple[Place, ...]:
        """Returns the places of a node in reading order, at least one."""
        parts = [part for part in node.prov if part.page_no in self._sizes]
        places = tuple(self.at(part.page_no, part.bbox) for part in parts)
        if places:
            self._last = places[-1]
        return places or (self._last,)

    def at(self, page: int, corners: Corners) -> Place:
        """Returns the place of a box on a page of the document."""
        size = self._sizes[page]
        bottom = corners.coord_origin.upper() == "BOTTOMLEFT"
        ys = [size.height - y if bottom else y for y in (corners.t, corners.b)]
        xs = [corners.l, corners.r]
        box = Box(_clamped(min(xs), size.width), _clamped(min(ys), size.height),
                  _clamped(max(xs), size.width), _clamped(max(ys), size.height))  # fmt: skip
        return Place(paper=self._paper, page=page, box=box.rounded())


def _clamped(value: float, most: float) -> float:
    return min(max(value, 0.0), most)


@dataclass(frozen=True, kw_only=True, slots=True)
class Caption:
    """A caption: its label ("Table 5"), its text, and the kind of the label, "" without one."""

    kind: str
    label: str
    text: str
    place: Place


def captions_of(tree: Tree, places: Places) -> Mapping[str, tuple[Caption, frozenset[str]]]:
    """Returns each float's caption, and the references of the caption's nodes, by the float's reference."""
    found: dict[str, tuple[Caption, frozenset[str]]] = {}
    for node in filter(is_float, tree.nodes):
        parts = tree.named(node.captions)
        if any(part.text for part in parts):
            found[node.self_ref] = (_caption(parts, places), frozenset(part.self_ref for part in parts))
    found.update(_unassigned_captions(tree, places, found))
    return found


def _unassigned_captions(
    tree: Tree, places: Places, found: Mapping[str, tuple[Caption, frozenset[str]]]
) -> Mapping[str, tuple[Caption, frozenset[str]]]:
    """Matches captions that docling assigned to no float with adjacent floats that have no caption."""
    nodes: dict[Block, Node] = {}
    for node in tree.nodes:
        kind = "note" if node.label == "caption" else _FLOAT_KINDS.get(node.label)
        if kind is not None and node.self_ref not in found and node.prov:
            place = places.of(node)[0]
            line = TextLine(text=node.text, box=place.box)
            nodes[Block(kind=kind, page=place.page, box=place.box, lines=(line,))] = node
    labels = find_captions(list(nodes))
    pairs, _ = match_captions(labels, group_floats(list(nodes), labels))
    return {
        nodes[part.blocks[0]].self_ref: (
            _caption([nodes[label.block]], places),
            frozenset({nodes[label.block].self_ref}),
        )
        for label, part in pairs.items()
    }


def _caption(parts: list[Node], places: Places) -> Caption:
    text = " ".join(part.text for part in parts).strip()
    place = places.of(parts[0])[0]
    start = caption_start(text)
    if start is None:
        return Caption(kind="", label="", text=text, place=place)
    return Caption(kind=start.kind, label=start.label, text=start.text, place=place)


def cells_of(node: Node, places: Places) -> tuple[Cell, ...]:
    """Returns the cells that contain text, row by row; a cell without a box gets the place of the table.

    If docling marks no row headers, texts in the first column are row headers.
    """
    own = sorted(
        (cell for cell in (node.data.table_cells if node.data else []) if cell.text.strip()),
        key=lambda cell: (cell.start_row_offset_idx, cell.start_col_offset_idx),
    )
    named = any(cell.row_header for cell in own)
    place = places.of(node)[0]
    return tuple(
        Cell(
            row=cell.start_row_offset_idx,
            column=cell.start_col_offset_idx,
            text=" ".join(cell.text.split()),
            place=_cell_place(cell, place, places),
            row_span=cell.row_span,
            column_span=cell.col_span,
            role=_cell_role(cell, stub=not named),
        )
        for cell in own
    )


def header_rows(cells: Sequence[Cell]) -> int:
    """Returns the number of leading rows that consist of column headers."""
    roles: dict[int, set[str]] = {}
    for cell in cells:
        for row in range(cell.row, cell.row + (cell.row_span if cell.role == "column_header" else 1)):
            roles.setdefault(row, set()).add(cell.role)
    row = 0
    while "column_header" in roles.get(row, ()) and "value" not in roles[row]:
        row += 1
    return row


def _cell_place(cell: CellNode, table: Place, places: Places) -> Place:
    return table if cell.bbox is None else places.at(table.page, cell.bbox)


def _cell_role(cell: CellNode, *, stub: bool) -> Role:
    if cell.column_header:
        return "column_header"
    if cell.row_section:
        return "section"
    if cell.row_header or (stub and cell.start_col_offset_idx == 0 and not is_value(cell.text)):
        return "row_header"
    return "value"


@dataclass(frozen=True, kw_only=True, slots=True)
class Drafted:
    """The elements of a document, its title, the lines of its authors, and what docling could not read."""

    drafts: tuple[Draft, ...]
    title: str
    authors: tuple[str, ...]
    problems: tuple[PageProblem, ...]


def draft_nodes(document: DoclingFile, places: Places) -> Drafted:
    """Returns all elements of a document."""
    return _DocumentDrafter(document, places).draft()


class _DocumentDrafter:
    """Drafts the elements of one document."""

    def __init__(self, document: DoclingFile, places: Places) -> None:
        self._tree = Tree(document)
        self._places = places
        self._captions = captions_of(self._tree, places)
        self._title, self._authors = self._find_front()
        self._problems: list[PageProblem] = []

    def draft(self) -> Drafted:
        """See `draft_nodes`."""
        furniture: list[Draft] = []
        drafts = [*self._front_matter()]
        for at, (node, element) in enumerate(self._elements()):
            if isinstance(element, Passage) and element.role == "furniture":
                furniture.append(Draft(at=at, element=element))
            elif node is not self._title and node not in self._authors:
                drafts.append(Draft(at=at, element=element))
        return Drafted(
            drafts=(*drafts, *furniture),
            title=self._title.text if self._title else "",
            authors=tuple(node.text for node in self._authors),
            problems=tuple(self._problems),
        )

    def _find_front(self) -> tuple[Node | None, tuple[Node, ...]]:
        blocks: dict[Block, Node] = {}
        for node in self._tree.nodes:
            if node.label in _FRONT_KINDS and node.text and node.content_layer == "body":
                place = self._places.of(node)[0]
                line = TextLine(text=node.text, box=place.box)
                blocks[Block(kind=_FRONT_KINDS[node.label], page=place.page, box=place.box, lines=(line,))] = node
        front = find_front(list(blocks))
        return blocks[front.title] if front.title else None, tuple(blocks[block] for block in front.authors)

    def _front_matter(self) -> Iterator[Draft]:
        if self._title:
            yield Draft(at=-2, element=self._passage(self._title, "title"))
        if self._authors:
            text = "\n".join(node.text for node in self._authors)
            place, *more = (self._places.of(node)[0] for node in self._authors)
            element = Passage(id="", place=place, order=0, text=text, role="authors", more_places=tuple(more))
            yield Draft(at=-1, element=element)

    def _elements(self) -> Iterator[tuple[Node, Element]]:
        captions = frozenset[str]().union(*(parts for _, parts in self._captions.values()))
        headings = [node.level for node in self._tree.nodes if node.label == "section_header" and node.level]
        least, last = min(headings, default=1), 0
        role: PassageRole = "paragraph"
        references = False
        for node in self._tree.nodes:
            if node.self_ref in captions:
                continue
            if is_float(node):
                yield node, self._float(node)
            elif node.label == "formula":
                yield node, self._equation(node)
            elif not node.text.strip():
                continue
            elif node.label in ("section_header", "title"):
                level = heading_level(node.text, given=node.level, least=least, last=last)
                last = level if split_number(node.text)[0] else last
                references = is_references_title(node.text)
                role = "abstract" if is_abstract(node.text) and len(node.text) < 12 else "paragraph"
                yield node, self._passage(node, "heading", level=level)
            elif node.label == "reference" or (references and node.label in ("list_item", "text", "paragraph")):
                yield node, self._reference(node)
            else:
                self._report_unassigned_caption(node)
                opens = role == "paragraph" and is_abstract(node.text) and not last
                yield node, self._passage(node, _passage_role(node, "abstract" if opens else role))

    def _float(self, node: Node) -> Element:
        caption, _ = self._captions.get(node.self_ref, (None, None))
        place, *more = self._places.of(node)
        label, text, at = (caption.label, caption.text, caption.place) if caption else ("", "", None)
        if node.label == "code":
            return Passage(id="", place=place, order=0, text=node.text or node.orig, role="code", label=label,
                           caption=text, more_places=tuple(more))  # fmt: skip
        if node.label in ("table", "document_index") or (caption and caption.kind == "table"):
            cells = cells_of(node, self._places)
            if not cells:
                self._report(place.page, f"{label or 'a table'}: docling read no cells of it")
            return Table(id="", place=place, order=0, cells=cells, label=label, caption=text, caption_place=at,
                         header_rows=header_rows(cells), confidence=_TABLE_CONFIDENCE if cells else 0.0,
                         more_places=tuple(more))  # fmt: skip
        inside = " ".join(part.text for part in self._tree.inside(node) if part.text)
        return Figure(id="", place=place, order=0, label=label, caption=text, caption_place=at, text=inside)

    def _equation(self, node: Node) -> Equation:
        """Returns a formula; docling leaves its number in the original text."""
        number = _EQUATION_NUMBER.search(node.orig)
        text = node.text.strip() or (node.orig[: number.start()] if number else node.orig).strip()
        label = f"Equation {number[1]}" if number else ""
        return Equation(id="", place=self._places.of(node)[0], order=0, text=text, label=label)

    def _reference(self, node: Node) -> Reference:
        place, *more = self._places.of(node)
        text = _with_marker(node).removeprefix("• ")
        return Reference(id="", place=place, order=0, text=text, label=entry_label(text), year=entry_year(text),
                         more_places=tuple(more))  # fmt: skip

    def _passage(self, node: Node, role: PassageRole, *, level: int = 0) -> Passage:
        place, *more = self._places.of(node)
        text = _with_marker(node) if role == "list" else node.text.strip()
        return Passage(id="", place=place, order=0, text=text, role=role, level=level, more_places=tuple(more))

    def _report_unassigned_caption(self, node: Node) -> None:
        if node.label == "caption":
            self._report(
                self._places.of(node)[0].page, f"{node.text[:60]!r}: docling found nothing beside this caption"
            )

    def _report(self, page: int, reason: str) -> None:
        self._problems.append(PageProblem(page=page, reason=reason))


def _passage_role(node: Node, flow: PassageRole) -> PassageRole:
    """Returns the role of running text; `flow` is that of paragraphs in the current section."""
    if node.label in ("page_header", "page_footer") or node.content_layer != "body":
        return "furniture"
    if node.label == "footnote":
        return "footnote"
    return "list" if node.label == "list_item" and flow == "paragraph" else flow


def _with_marker(node: Node) -> str:
    """Returns a list item with its printed marker, or with a bullet for docling's plain markers."""
    text, mark = node.text.strip(), node.marker.strip()
    if node.label != "list_item" or not mark or text.startswith(mark):
        return text
    return f"{'•' if mark in _PLAIN_MARKS else mark} {text}"
