"""The shape of docling's JSON (DoclingDocument 1.x), as far as it is read. What it has beyond that is left out."""

from typing import Annotated

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

__all__ = ["CellNode", "Corners", "DoclingFile", "Node", "Provenance"]

_MOST_CELLS = 10_000
Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class Ref(_Lenient):
    """Names a node: "#/texts/3"."""

    target: str = Field(validation_alias=AliasChoices("$ref", "cref"))


class Corners(_Lenient):
    """A box in points; from the bottom left corner of the page, `t` is above `b` and the larger one."""

    l: float  # noqa: E741 -- docling's name
    t: float
    r: float
    b: float
    coord_origin: str = "TOPLEFT"


class Provenance(_Lenient):
    """Where a node, or a part of it, stands; pages count from 1."""

    page_no: int = Field(ge=1, le=100_000)
    bbox: Corners


class CellNode(_Lenient):
    """A cell of a table."""

    text: Text = ""
    bbox: Corners | None = None
    start_row_offset_idx: int = Field(ge=0, le=_MOST_CELLS)
    start_col_offset_idx: int = Field(ge=0, le=_MOST_CELLS)
    row_span: int = Field(default=1, ge=1, le=_MOST_CELLS)
    col_span: int = Field(default=1, ge=1, le=_MOST_CELLS)
    column_header: bool = False
    row_header: bool = False
    row_section: bool = False


class TableNode(_Lenient):
    """The data of a table."""

    table_cells: list[CellNode] = []


class Node(_Lenient):
    """A text, table, picture or group; `orig` is the text as printed, `marker` the one of an item of a list."""

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
    """A document."""

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
