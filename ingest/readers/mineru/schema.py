"""Pydantic models of MinerU's JSON, lenient because its versions differ."""

from collections.abc import Iterator
from typing import Annotated, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

__all__ = ["Corners", "Item", "Middle", "Node", "PageNode"]

Corners: TypeAlias = tuple[float, float, float, float]
Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]


def _corners(value: object) -> object:
    """Returns None for a box that is missing, empty or does not have four corners."""
    return value if isinstance(value, list | tuple) and len(value) == 4 else None


MaybeCorners = Annotated[Corners | None, BeforeValidator(_corners)]


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Node(_Lenient):
    """A block, line or span. Until version 3 a block has `lines` of `spans`, or `blocks`; in version 4, `content`."""

    type: str = ""
    bbox: MaybeCorners = None
    content: "str | list[Node] | None" = None
    lines: "list[Node]" = []
    spans: "list[Node]" = []
    blocks: "list[Node]" = []
    level: int = 0
    html: Text = ""
    latex: Text = ""
    image_path: Text = ""
    lines_deleted: bool = False
    continues_prev: bool | None = None
    is_list_start_line: bool = False

    @property
    def children(self) -> "list[Node]":
        """The blocks inside this one."""
        return self.blocks or (self.content if isinstance(self.content, list) else [])

    def below(self) -> "Iterator[Node]":
        """Returns the node and all its descendants, outermost first."""
        yield self
        for child in (*self.lines, *self.spans, *self.children):
            yield from child.below()


class PageNode(_Lenient):
    """A page; `blocks` are those of version 4, whose boxes are fractions of the page."""

    page_idx: int | None = Field(default=None, ge=0, le=100_000)
    page_size: tuple[float, float] | None = None
    preproc_blocks: list[Node] = []
    para_blocks: list[Node] = []
    discarded_blocks: list[Node] = []
    blocks: list[Node] = []


class Middle(_Lenient):
    """A `middle.json`; it has one of the two lists."""

    pdf_info: list[PageNode] | None = None
    pages: list[PageNode] | None = None


class Item(_Lenient):
    """An entry of `content_list.json`; its box is in thousandths of the page."""

    type: str
    page_idx: int = Field(default=0, ge=0, le=100_000)
    bbox: MaybeCorners = None
    text: Text = ""
    text_level: int = 0
    img_path: Text = ""
    table_body: Text = ""
    code_body: Text = ""
    list_items: list[str] = []
    table_caption: list[str] = []
    table_footnote: list[str] = []
    image_caption: list[str] = []
    img_caption: list[str] = []
    image_footnote: list[str] = []
    img_footnote: list[str] = []
    chart_caption: list[str] = []
    code_caption: list[str] = []

    @property
    def notes(self) -> list[str]:
        """The captions and footnotes that MinerU assigned to the entry."""
        captions = (*self.table_caption, *self.image_caption, *self.img_caption, *self.chart_caption)
        return [*captions, *self.code_caption, *self.table_footnote, *self.image_footnote, *self.img_footnote]
