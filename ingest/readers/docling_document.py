"""Docling's JSON (DoclingDocument 1.x): its nodes in reading order, and the blocks that they are."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Annotated

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from ingest.document.caption_wording import caption_start
from ingest.document.cell_values import is_value
from ingest.document.drafts import Caption
from ingest.readers.layout_blocks import Block, BlockKind, TextLine
from paperscope_core.types import Box, Cell, Page, Place
from paperscope_core.types.tables import CellRole

__all__ = ["DoclingFile", "blocks_of_docling"]

_MAX_CELLS = 10_000
Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
# The kinds of nodes by docling's labels; others are text.
_KINDS: Mapping[str, BlockKind] = {
    "title": "title",
    "section_header": "heading",
    "list_item": "list",
    "reference": "reference",
    "footnote": "footnote",
    "page_header": "furniture",
    "page_footer": "furniture",
    "caption": "note",
    "formula": "equation",
    "table": "table",
    "document_index": "table",
    "picture": "figure",
    "chart": "figure",
    "code": "code",
}
# Nodes that may have a caption, and whose children are their parts.
_FLOATS = ("table", "document_index", "picture", "chart", "code")
_LEAVES = ("texts", "tables", "pictures", "key_value_items", "form_items", "field_regions", "field_items")
_EQUATION_NUMBER = re.compile(r"(?<!\s)\s*+\(\s*([A-Z]?\.?\d{1,3}(?:\.\d{1,3})?[a-z]?)\s*\)\s*$")
_PLAIN_MARKERS = ("-", "·", "*")


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class Ref(_Lenient):
    """A reference to a node: "#/texts/3"."""

    target: str = Field(validation_alias=AliasChoices("$ref", "cref"))


class Corners(_Lenient):
    """A box in points; with the origin BOTTOMLEFT, `t` is larger than `b`."""

    l: float  # noqa: E741 -- docling's name
    t: float
    r: float
    b: float
    coord_origin: str = "TOPLEFT"


class Provenance(_Lenient):
    """The place of a node or a part of it; pages count from 1."""

    page_no: int = Field(ge=1, le=100_000)
    bbox: Corners


class CellNode(_Lenient):
    """A cell of a table."""

    text: Text = ""
    bbox: Corners | None = None
    start_row_offset_idx: int = Field(ge=0, le=_MAX_CELLS)
    start_col_offset_idx: int = Field(ge=0, le=_MAX_CELLS)
    row_span: int = Field(default=1, ge=1, le=_MAX_CELLS)
    col_span: int = Field(default=1, ge=1, le=_MAX_CELLS)
    column_header: bool = False
    row_header: bool = False
    row_section: bool = False


class TableNode(_Lenient):
    """The data of a table."""

    table_cells: list[CellNode] = []


class Node(_Lenient):
    """A text, table, picture or group; `orig` is the printed text, `marker` the marker of a list item."""

    self_ref: str
    label: str = ""
    children: list[Ref] = []
    content_layer: str = "body"
    prov: list[Provenance] = []
    text: Text = ""
    orig: Text = ""
    level: int = 0
    marker: Text = ""
    captions: list[Ref] = []
    footnotes: list[Ref] = []
    data: TableNode | None = None


class Size(_Lenient):
    """A page's size in points."""

    width: float = Field(ge=0, le=100_000)
    height: float = Field(ge=0, le=100_000)


class PageNode(_Lenient):
    """A page."""

    size: Size


class DoclingFile(_Lenient):
    """A docling document."""

    body: Node
    furniture: Node | None = None
    groups: list[Node] = []
    texts: list[Node] = []
    pictures: list[Node] = []
    tables: list[Node] = []
    key_value_items: list[Node] = []
    form_items: list[Node] = []
    field_regions: list[Node] = []
    field_items: list[Node] = []
    pages: dict[int, PageNode] = {}


class _Tree:
    """The nodes of a document in reading order, each float followed by its footnotes, without captions.

    Dangling and repeated references are ignored.
    """

    def __init__(self, document: DoclingFile) -> None:
        leaves = [node for name in _LEAVES for node in getattr(document, name)]
        own = {node.self_ref for node in leaves}
        self._nodes = {node.self_ref: node for node in (*document.groups, *leaves)}
        captions = {ref.target for node in leaves for ref in node.captions}
        nodes = self._walk(
            [document.body, *filter(None, [document.furniture])],
            children=lambda node: node.footnotes if node.label in _FLOATS else node.children,
            without=captions,
        )
        self.nodes: Sequence[Node] = tuple(node for node in nodes if node.self_ref in own)

    def named(self, refs: Iterable[Ref]) -> list[Node]:
        """Return the referenced nodes."""
        return [self._nodes[ref.target] for ref in refs if ref.target in self._nodes]

    def inside(self, node: Node) -> list[Node]:
        """Return the nodes inside a float in reading order, without its captions and footnotes."""
        excluded = {ref.target for ref in (*node.captions, *node.footnotes)}
        nodes = self._walk(self.named(node.children), children=lambda part: part.children)
        return [part for part in nodes if part.self_ref not in excluded]

    def _walk(
        self, roots: Sequence[Node], *, children: Callable[[Node], Sequence[Ref]], without: Iterable[str] = ()
    ) -> Iterator[Node]:
        """Yield nodes and those below them in reading order, each once."""
        seen = set(without)
        pending = [*reversed(roots)]
        while pending:
            node = pending.pop()
            if node.self_ref not in seen:
                seen.add(node.self_ref)
                yield node
                pending.extend(reversed(self.named(children(node))))


def blocks_of_docling(document: DoclingFile, pages: Sequence[Page], *, paper: str) -> tuple[Block, ...]:
    """Return the blocks of a document in reading order."""
    reader = _BlockReader(document, pages, paper=paper)
    return tuple(reader.block(node) for node in reader.tree.nodes if node.label in _FLOATS or node.text or node.orig)


class _BlockReader:
    """Converts the nodes of a document to blocks; a node without a box gets the place of the one before it."""

    def __init__(self, document: DoclingFile, pages: Sequence[Page], *, paper: str) -> None:
        self.tree = _Tree(document)
        self._paper = paper
        self._pages = {page.number: page for page in pages}
        self._last = Place(paper=paper, page=pages[0].number, box=Box(0, 0, 0, 0))

    def block(self, node: Node) -> Block:
        """Return the block of a node."""
        place, *more = self._places(node)
        kind = _kind_of(node)
        cells = self._cells(node, place) if kind == "table" else ()
        number = _EQUATION_NUMBER.search(node.orig) if kind == "equation" else None
        return Block(
            kind=kind,
            place=place,
            more_places=tuple(more),
            lines=tuple(TextLine(text=text, box=place.box, starts=kind == "list") for text in self._texts(node, kind)),
            level=node.level,
            number=number[1] if number else "",
            cells=cells,
            header_rows=_header_rows(cells),
            caption=self._caption(node) if node.label in _FLOATS else None,
        )

    def _texts(self, node: Node, kind: BlockKind) -> Sequence[str]:
        """Return the lines of a listing, the text inside a figure, and the text of other nodes."""
        if kind == "code":
            return (node.text or node.orig).splitlines()
        if kind == "figure":
            return [part.text for part in self.tree.inside(node) if part.text]
        if kind == "equation":
            return [node.text.strip() or _EQUATION_NUMBER.sub("", node.orig).strip()]
        text, marker = node.text.strip(), node.marker.strip()
        if node.label == "list_item" and marker and not text.startswith(marker):
            text = f"{'•' if marker in _PLAIN_MARKERS else marker} {text}"
        return [text] if text and kind != "table" else []

    def _caption(self, node: Node) -> Caption | None:
        parts = self.tree.named(node.captions)
        text = " ".join(part.text for part in parts).strip()
        if not text:
            return None
        place = self._places(parts[0])[0]
        start = caption_start(text)
        if start is None:
            return Caption(text=text, place=place)
        return Caption(kind=start.kind, label=start.label, text=start.text, place=place)

    def _cells(self, node: Node, place: Place) -> tuple[Cell, ...]:
        """Return the cells that contain text, row by row; a cell without a box gets the place of the table.

        If docling marks no row headers, texts in the first column are row headers.
        """
        own = sorted(
            (cell for cell in (node.data.table_cells if node.data else []) if cell.text.strip()),
            key=lambda cell: (cell.start_row_offset_idx, cell.start_col_offset_idx),
        )
        stubs = not any(cell.row_header for cell in own)
        return tuple(
            Cell(
                row=cell.start_row_offset_idx,
                column=cell.start_col_offset_idx,
                text=" ".join(cell.text.split()),
                place=self._place(place.page, cell.bbox) if cell.bbox else place,
                row_span=cell.row_span,
                column_span=cell.col_span,
                role=_cell_role(cell, stub=stubs and cell.start_col_offset_idx == 0),
            )
            for cell in own
        )

    def _places(self, node: Node) -> tuple[Place, ...]:
        """Return the places of a node in reading order, at least one."""
        places = tuple(self._place(part.page_no, part.bbox) for part in node.prov if part.page_no in self._pages)
        self._last = places[-1] if places else self._last
        return places or (self._last,)

    def _place(self, number: int, corners: Corners) -> Place:
        """Return the place of a box on a page; docling may count from the bottom left corner."""
        page = self._pages[number]
        bottom = corners.coord_origin.upper() == "BOTTOMLEFT"
        xs = sorted(min(max(x, 0.0), page.width) for x in (corners.l, corners.r))
        heights = (page.height - y if bottom else y for y in (corners.t, corners.b))
        ys = sorted(min(max(y, 0.0), page.height) for y in heights)
        return Place(paper=self._paper, page=number, box=Box(xs[0], ys[0], xs[1], ys[1]).rounded())


def _kind_of(node: Node) -> BlockKind:
    if node.content_layer != "body" and node.label not in _FLOATS:
        return "furniture"
    return _KINDS.get(node.label, "text")


def _header_rows(cells: Sequence[Cell]) -> int:
    """Return the number of leading rows that consist of column headers."""
    roles: dict[int, set[str]] = defaultdict(set)
    for cell in cells:
        for row in range(cell.row, cell.row + (cell.row_span if cell.role == "column_header" else 1)):
            roles[row].add(cell.role)
    return next(row for row in count() if "column_header" not in roles[row] or "value" in roles[row])


def _cell_role(cell: CellNode, *, stub: bool) -> CellRole:
    if cell.column_header:
        return "column_header"
    if cell.row_section:
        return "section"
    return "row_header" if cell.row_header or (stub and not is_value(cell.text)) else "value"
