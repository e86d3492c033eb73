"""Pydantic models of docling's JSON (DoclingDocument 1.x), and its node tree in reading order."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

__all__ = ["CellNode", "Corners", "DoclingFile", "Node", "Provenance", "Tree", "is_float"]

_MAX_CELLS = 10_000
Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
_FLOATS = ("table", "document_index", "picture", "chart", "code")


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


def is_float(node: Node) -> bool:
    """Whether a node may have a caption and treats its children as parts of itself."""
    return node.label in _FLOATS


class Tree:
    """The nodes of a document in reading order, each float followed by its footnotes, without captions.

    Dangling and repeated references are ignored.
    """

    def __init__(self, document: DoclingFile) -> None:
        leaves = (
            *document.texts,
            *document.tables,
            *document.pictures,
            *document.key_value_items,
            *document.form_items,
            *document.field_regions,
            *document.field_items,
        )
        own = {node.self_ref for node in leaves}
        self._nodes = {node.self_ref: node for node in (*document.groups, *leaves)}
        captions = {ref.target for node in leaves for ref in node.captions}
        nodes = self._walk(
            [document.body, *filter(None, [document.furniture])],
            children=lambda node: node.footnotes if is_float(node) else node.children,
            without=captions,
        )
        self.nodes: Sequence[Node] = tuple(node for node in nodes if node.self_ref in own)

    def named(self, refs: Iterable[Ref]) -> list[Node]:
        """Returns the referenced nodes."""
        return [self._nodes[ref.target] for ref in refs if ref.target in self._nodes]

    def inside(self, node: Node) -> list[Node]:
        """Returns the nodes inside a float in reading order, without its captions and footnotes."""
        excluded = {ref.target for ref in (*node.captions, *node.footnotes)}
        nodes = self._walk(self.named(node.children), children=lambda part: part.children)
        return [part for part in nodes if part.self_ref not in excluded]

    def _walk(
        self, roots: Sequence[Node], *, children: Callable[[Node], Sequence[Ref]], without: Iterable[str] = ()
    ) -> Iterator[Node]:
        """Yields nodes and those below them in reading order, each once."""
        seen = set(without)
        pending = [*reversed(roots)]
        while pending:
            node = pending.pop()
            if node.self_ref not in seen:
                seen.add(node.self_ref)
                yield node
                pending.extend(reversed(self.named(children(node))))
