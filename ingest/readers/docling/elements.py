"""Converts docling's nodes to elements in reading order."""

import re
from collections.abc import Iterator, Mapping, Sequence

from ingest.document.captions import caption_start
from ingest.document.cell_values import is_value
from ingest.document.drafts import (
    Caption,
    draft_equation,
    draft_figure,
    draft_listing,
    draft_passage,
    draft_reference,
    draft_table,
)
from ingest.readers.block_captions import match_captions
from ingest.readers.docling.schema import CellNode, Corners, DoclingFile, Node, Tree, is_float
from ingest.readers.layout_blocks import Block, BlockKind, Front, Outline, TextLine, find_front
from ingest.readers.table_grid import CellRole
from paperscope_core.types import Box, Cell, Element, Page, PageProblem, Passage, PassageRole, Place

__all__ = ["NodeDrafter"]

_FLOAT_KINDS: Mapping[str, BlockKind] = {
    "picture": "figure",
    "chart": "figure",
    "table": "table",
    "code": "code",
    "caption": "note",
}
_FRONT_KINDS: Mapping[str, BlockKind] = {
    "title": "title",
    "section_header": "heading",
    "text": "text",
    "paragraph": "text",
}
# Confidence of tables that docling's model read.
_TABLE_CONFIDENCE = 0.8
_EQUATION_NUMBER = re.compile(r"(?<!\s)\s*+\(\s*([A-Z]?\.?\d{1,3}(?:\.\d{1,3})?[a-z]?)\s*\)\s*$")
_PLAIN_MARKERS = ("-", "·", "*")


class NodeDrafter:
    """Drafts the elements of one document.

    Attributes:
        elements: The elements in reading order.
        title: The title, "" if it can't be found.
        author_lines: The lines of the authors, () if they can't be found.
        pages: The pages.
        problems: What could not be read.
    """

    def __init__(self, document: DoclingFile, *, paper: str) -> None:
        self._tree = Tree(document)
        self._places = _Places(document, paper=paper)
        self._captions, self._caption_nodes = self._find_captions()
        blocks = {
            self._block(node, kind): node
            for node in self._tree.nodes
            if (kind := _FRONT_KINDS.get(node.label)) and node.text and node.content_layer == "body"
        }
        front = find_front(list(blocks))
        self.pages = self._places.pages
        self.title = front.title.lines[0].text if front.title else ""
        self.author_lines = front.author_lines
        self.problems: list[PageProblem] = []
        self.elements = self._in_order(front, blocks)

    def _block(self, node: Node, kind: BlockKind) -> Block:
        place = self._places.of(node)[0]
        return Block(kind=kind, place=place, lines=(TextLine(text=node.text, box=place.box),))

    def _find_captions(self) -> tuple[Mapping[str, Caption], frozenset[str]]:
        """Returns the captions by the references of their floats, and the references of the captions' nodes."""
        captions: dict[str, Caption] = {}
        nodes: set[str] = set()
        for node in filter(is_float, self._tree.nodes):
            parts = self._tree.named(node.captions)
            if any(part.text for part in parts):
                captions[node.self_ref] = self._caption(parts)
                nodes.update(part.self_ref for part in parts)
        # Those that docling assigned to no float are matched with adjacent floats that have no caption.
        blocks = {
            self._block(node, kind): node
            for node in self._tree.nodes
            if (kind := _FLOAT_KINDS.get(node.label)) and node.self_ref not in captions and node.prov
        }
        matched, _ = match_captions(list(blocks))
        for part, found in matched.items():
            if found:
                captions[blocks[part.blocks[0]].self_ref] = self._caption([blocks[found.block]])
                nodes.add(blocks[found.block].self_ref)
        return captions, frozenset(nodes)

    def _caption(self, parts: Sequence[Node]) -> Caption:
        text = " ".join(part.text for part in parts).strip()
        place = self._places.of(parts[0])[0]
        start = caption_start(text)
        if start is None:
            return Caption(text=text, place=place)
        return Caption(kind=start.kind, label=start.label, text=start.text, place=place)

    def _in_order(self, front: Front, nodes: Mapping[Block, Node]) -> list[Element]:
        """Returns title and authors, the elements, and the page furniture."""
        title = self._passage(nodes[front.title], "title") if front.title else None
        elements: list[Element] = [*front.passages(title)]
        furniture: list[Element] = []
        drafted = {nodes[block].self_ref for block in front.blocks}
        for node, element in self._elements():
            if isinstance(element, Passage) and element.role == "furniture":
                furniture.append(element)
            elif node.self_ref not in drafted:
                elements.append(element)
        return [*elements, *furniture]

    def _elements(self) -> Iterator[tuple[Node, Element]]:
        outline = Outline(node.level for node in self._tree.nodes if node.label == "section_header")
        for node in self._tree.nodes:
            if node.self_ref in self._caption_nodes:
                continue
            if is_float(node):
                yield node, self._float(node)
            elif node.label == "formula":
                yield node, self._equation(node)
            elif not node.text.strip():
                continue
            elif node.label in ("section_header", "title"):
                yield node, self._passage(node, "heading", level=outline.enter(node.text, level=node.level))
            elif node.label == "reference" or (
                outline.in_references and node.label in ("list_item", "text", "paragraph")
            ):
                yield node, draft_reference(_with_marker(node).removeprefix("• "), *self._places.of(node))
            else:
                if node.label == "caption":
                    self._report(node, f"{node.text[:60]!r}: docling found nothing beside this caption")
                yield node, self._passage(node, _passage_role(node, outline.role(node.text)))

    def _float(self, node: Node) -> Element:
        caption = self._captions.get(node.self_ref, Caption())
        places = self._places.of(node)
        if node.label == "code":
            return draft_listing(node.text or node.orig, *places, caption=caption)
        if node.label in ("table", "document_index") or caption.kind == "table":
            cells = self._cells(node)
            if not cells:
                self._report(node, f"{caption.label or 'a table'}: docling read no cells of it")
            return draft_table(
                cells, *places, caption=caption, header_rows=_header_rows(cells), confidence=_TABLE_CONFIDENCE
            )
        inside = " ".join(part.text for part in self._tree.inside(node) if part.text)
        return draft_figure(places[0], caption=caption, text=inside)

    def _cells(self, node: Node) -> tuple[Cell, ...]:
        """Returns the cells that contain text, row by row; a cell without a box gets the place of the table.

        If docling marks no row headers, texts in the first column are row headers.
        """
        own = sorted(
            (cell for cell in (node.data.table_cells if node.data else []) if cell.text.strip()),
            key=lambda cell: (cell.start_row_offset_idx, cell.start_col_offset_idx),
        )
        stubs = not any(cell.row_header for cell in own)
        place = self._places.of(node)[0]
        return tuple(
            Cell(
                row=cell.start_row_offset_idx,
                column=cell.start_col_offset_idx,
                text=" ".join(cell.text.split()),
                place=self._places.at(place.page, cell.bbox) if cell.bbox else place,
                row_span=cell.row_span,
                column_span=cell.col_span,
                role=_cell_role(cell, stub=stubs and cell.start_col_offset_idx == 0),
            )
            for cell in own
        )

    def _equation(self, node: Node) -> Element:
        """Returns a formula; docling leaves its number in the original text."""
        number = _EQUATION_NUMBER.search(node.orig)
        text = node.text.strip() or _EQUATION_NUMBER.sub("", node.orig).strip()
        return draft_equation(text, self._places.of(node)[0], number=number[1] if number else "")

    def _passage(self, node: Node, role: PassageRole, *, level: int = 0) -> Passage:
        text = _with_marker(node) if role == "list" else node.text.strip()
        return draft_passage(text, role, *self._places.of(node), level=level)

    def _report(self, node: Node, reason: str) -> None:
        self.problems.append(PageProblem(page=self._places.of(node)[0].page, reason=reason))


class _Places:
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
        xs = sorted(_clamped(x, size.width) for x in (corners.l, corners.r))
        ys = sorted(_clamped(size.height - y if bottom else y, size.height) for y in (corners.t, corners.b))
        box = Box(xs[0], ys[0], xs[1], ys[1])
        return Place(paper=self._paper, page=page, box=box.rounded())


def _clamped(value: float, most: float) -> float:
    return min(max(value, 0.0), most)


def _header_rows(cells: Sequence[Cell]) -> int:
    """Returns the number of leading rows that consist of column headers."""
    roles: dict[int, set[str]] = {}
    for cell in cells:
        for row in range(cell.row, cell.row + (cell.row_span if cell.role == "column_header" else 1)):
            roles.setdefault(row, set()).add(cell.role)
    row = 0
    while "column_header" in roles.get(row, ()) and "value" not in roles[row]:
        row += 1
    return row


def _cell_role(cell: CellNode, *, stub: bool) -> CellRole:
    if cell.column_header:
        return "column_header"
    if cell.row_section:
        return "section"
    return "row_header" if cell.row_header or (stub and not is_value(cell.text)) else "value"


def _passage_role(node: Node, flow: PassageRole) -> PassageRole:
    """Returns the role of running text; `flow` is that of paragraphs in the current section."""
    if node.label in ("page_header", "page_footer") or node.content_layer != "body":
        return "furniture"
    if node.label == "footnote":
        return "footnote"
    return "list" if node.label == "list_item" and flow == "paragraph" else flow


def _with_marker(node: Node) -> str:
    """Returns a list item with its printed marker, or with a bullet for docling's plain markers."""
    text, marker = node.text.strip(), node.marker.strip()
    if node.label != "list_item" or not marker or text.startswith(marker):
        return text
    return f"{'•' if marker in _PLAIN_MARKERS else marker} {text}"
