"""Converts MinerU's JSON, of every version, to blocks in reading order with boxes in points."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ingest.document.geometry import bounding_box
from ingest.readers.layout_blocks import Block, BlockKind, TextLine
from ingest.readers.mineru.schema import Corners, Item, Middle, Node, PageNode
from paperscope_core.types import Box, Page

__all__ = [
    "A4",
    "BlockDocument",
    "blocks_of_items",
    "blocks_of_middle",
    "clean_text",
    "kind_of",
    "line_text",
]


_KINDS: dict[str, BlockKind] = {
    "doc_title": "title",
    "title": "heading",
    "paragraph_title": "heading",
    "text": "text",
    "abstract": "text",
    "phonetic": "text",
    "vertical_text": "text",
    "index": "text",
    "list": "list",
    "ref_text": "reference",
    "code": "code",
    "algorithm": "code",
    "code_body": "code",
    "algorithm_body": "code",
    "equation": "equation",
    "interline_equation": "equation",
    "formula_number": "text",
    "table": "table",
    "table_body": "table",
    "image": "figure",
    "image_body": "figure",
    "chart": "figure",
    "chart_body": "figure",
    "page_footnote": "footnote",
    "header": "furniture",
    "footer": "furniture",
    "page_number": "furniture",
    "aside_text": "furniture",
    "header_image": "furniture",
    "footer_image": "furniture",
    "discarded": "discarded",
}
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_BULLET = re.compile(r"^[\uf000-\uf0ff\u0000-\u001f\u007f-\u009f\ufffd▪◦●○■‣∙⋅·•]+\s*")
_FORMULAS = frozenset(("inline_equation", "interline_equation", "equation", "equation_inline"))


A4 = (595.3, 841.9)
_PARENTS = frozenset(("table", "image", "chart", "code", "algorithm"))
_THOUSANDTHS = 1000.0


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockDocument:
    """The blocks of a document; `sized` is false if its file names no page sizes and A4 is assumed."""

    pages: tuple[Page, ...]
    blocks: tuple[Block, ...]
    sized: bool = True


def kind_of(name: str) -> BlockKind | None:
    """Returns the kind of block for MinerU's name of it, None for an unknown name."""
    if name.endswith(("_caption", "_footnote")) and name != "page_footnote":
        return "note"
    return "note" if name in ("caption", "footnote") else _KINDS.get(name)


def line_text(spans: Iterable[Node] | Sequence[Node], *, formula: bool = False) -> str:
    """Returns the text of spans, with inline formulas between `$`."""
    parts: list[str] = []
    for span in spans:
        if isinstance(span.content, list):
            parts.append(line_text(span.content))
            continue
        text = (span.content or span.latex).strip()
        if text:
            parts.append(text if formula or span.type not in _FORMULAS else f"${text}$")
    joined = " ".join(parts)
    return joined.strip() if formula else clean_text(joined)


def clean_text(text: str) -> str:
    """Returns the text with single spaces, letters for ligatures, and one kind of bullet."""
    text = re.sub(r"\s+", " ", _BULLET.sub("• ", text.lstrip(" "))).translate(_LIGATURES)
    text = re.sub(r"(?<=\$)\s+(?=[.,;:)\]])|(?<=[(\[])\s+(?=\$)", "", text)
    return text.strip()


def blocks_of_middle(middle: Middle) -> BlockDocument:
    """The blocks of a `middle.json`: `pdf_info` until version 3, `pages` with boxes in shares of the page since 4."""
    nodes = middle.pdf_info if middle.pdf_info is not None else middle.pages or []
    pages: list[Page] = []
    blocks: list[Block] = []
    sized = True
    for index, node in enumerate(nodes):
        own = node.page_size if node.page_size and min(node.page_size) > 1 else None
        sized = sized and own is not None
        width, height = own or A4
        number = index if node.page_idx is None else node.page_idx
        pages.append(Page(number=number + 1, width=round(width, 1), height=round(height, 1)))
        blocks.extend(_PageReader(index, shares=bool(node.blocks), width=width, height=height).blocks(node))
    return BlockDocument(pages=tuple(pages), blocks=tuple(blocks), sized=sized)


class _PageReader:
    """Converts the nodes of one page to blocks."""

    def __init__(self, page: int, *, shares: bool, width: float, height: float) -> None:
        self._page = page
        self._scale = (width, height) if shares else (1.0, 1.0)

    def blocks(self, node: PageNode) -> Iterator[Block]:
        """Yields the blocks of a page in MinerU's order, with blocks that it joined to others separated again."""
        merged = {block.bbox: block for block in node.para_blocks}
        for block in node.blocks or node.preproc_blocks or node.para_blocks:
            after = merged.get(block.bbox, block)
            starts = {line.bbox for line in after.lines if line.is_list_start_line}
            listed = after.type if after.type in ("list", "index") else block.type
            deleted = after.lines_deleted or bool(block.continues_prev)
            yield from self._flat(block, kind=listed, continues=deleted, starts=starts)
        for block in node.discarded_blocks:
            yield from self._flat(block, kind=block.type or "discarded", continues=False, starts=set())

    def _flat(self, node: Node, *, kind: str, continues: bool, starts: set[Corners | None]) -> Iterator[Block]:
        if kind in _PARENTS and node.children:
            yield from self._float(node, kind=kind, continues=continues)
            return
        ours = kind_of(kind)
        if ours is None:
            return
        if kind in ("list", "index") and node.children:
            lines = tuple(line for child in node.children for line in self._item(child))
        else:
            lines = tuple(self._lines(node, starts=starts, formula=ours == "equation"))
        images = tuple(part.image_path for part in node.below() if part.image_path)
        html = "".join(part.html for part in node.below())
        box = self._box(node.bbox, lines)
        yield Block(
            kind=ours,
            page=self._page,
            box=box,
            lines=lines,
            level=node.level,
            images=images,
            html=html,
            continues=continues,
        )

    def _float(self, node: Node, *, kind: str, continues: bool) -> Iterator[Block]:
        """Yields the body of a float, then its captions and footnotes as separate blocks."""
        bodies = [child for child in node.children if kind_of(child.type) not in ("note", None)]
        notes = [child for child in node.children if kind_of(child.type) == "note"]
        box = bounding_box(self._box(child.bbox, ()) for child in bodies) if bodies else self._box(node.bbox, ())
        ours = kind_of(kind)
        if bodies and ours is not None:
            parts = [part for body in bodies for part in body.below()]
            contents = [part.content for part in bodies if isinstance(part.content, str) and ours == "table"]
            yield Block(
                kind=ours,
                page=self._page,
                box=box,
                lines=tuple(line for body in bodies for line in self._lines(body)) if ours == "code" else (),
                html="".join(dict.fromkeys(part.html for part in parts if part.html)) or "".join(contents),
                images=tuple(dict.fromkeys(part.image_path for part in parts if part.image_path)),
                continues=continues,
            )
        for child in notes:
            yield from self._flat(child, kind=child.type, continues=False, starts=set())

    def _item(self, node: Node) -> Iterator[TextLine]:
        """Yields the lines of a list item or of the items of a nested list; the first line of each is marked."""
        if node.type in ("list", "index") and node.children:
            for child in node.children:
                yield from self._item(child)
            return
        for index, line in enumerate(self._lines(node)):
            yield TextLine(text=line.text, box=line.box, starts=index == 0)

    def _lines(
        self, node: Node, *, starts: Collection[Corners | None] = (), formula: bool = False
    ) -> Iterator[TextLine]:
        box = self._box(node.bbox, ())
        if not node.lines:
            text = node.content if isinstance(node.content, str) else line_text(node.children, formula=formula)
            for line in text.splitlines():
                if line.strip():
                    yield TextLine(text=line.strip() if formula else line.rstrip(), box=box)
        for part in node.lines:
            text = line_text(part.spans, formula=formula)
            if _lost_bullet(part) and not formula and not text.startswith("•"):
                text = f"• {text}"
            if text:
                yield TextLine(
                    text=text, box=self._box(part.bbox, ()) if part.bbox else box, starts=part.bbox in starts
                )

    def _box(self, corners: Corners | None, lines: Sequence[TextLine]) -> Box:
        if corners is None:
            return bounding_box(line.box for line in lines) if lines else Box(0, 0, 0, 0)
        across, down = self._scale
        x0, y0, x1, y1 = corners
        return Box(min(x0, x1) * across, min(y0, y1) * down, max(x0, x1) * across, max(y0, y1) * down).rounded()


def _lost_bullet(line: Node) -> bool:
    """Whether a line lost its bullet: older versions begin it with a space, and no other line."""
    first = line.spans[0] if line.spans else None
    return first is not None and first.type == "text" and str(first.content or "").startswith(" ")


def blocks_of_items(items: Sequence[Item]) -> BlockDocument:
    """Returns the blocks of a `content_list.json`, which holds no page sizes and, in old versions, no boxes.

    Pages are assumed to be A4; a block without a box is placed at the top of its page.
    """
    count = max((item.page_idx for item in items), default=-1) + 1
    width, height = A4
    pages = tuple(Page(number=number, width=width, height=height) for number in range(1, count + 1))
    return BlockDocument(pages=pages, blocks=tuple(block for item in items for block in _blocks(item)), sized=False)


def _blocks(item: Item) -> Iterator[Block]:
    kind = kind_of(item.type)
    if kind is None:
        return
    box = _box(item)
    texts = item.list_items or [item.code_body or item.text]
    starts = bool(item.list_items)
    if kind == "text" and item.text_level:
        kind = "heading"
    lines = (
        TextLine(text=line, box=box, starts=starts and index == 0)
        for text in texts
        for index, line in enumerate(text.splitlines())
        if line.strip()
    )
    yield Block(
        kind=kind,
        page=item.page_idx,
        box=box,
        lines=tuple(
            TextLine(text=line.text.rstrip() if kind == "code" else clean_text(line.text), box=box, starts=line.starts)
            for line in lines
        ),
        level=item.text_level,
        html=item.table_body,
        images=(item.img_path,) if item.img_path else (),
    )
    # Captions have no boxes: they are placed at the lower edge of the float that MinerU assigned them to.
    for text in item.notes:
        if text.strip():
            edge = Box(box.x0, box.y1, box.x1, box.y1)
            yield Block(kind="note", page=item.page_idx, box=edge, lines=(TextLine(text=clean_text(text), box=edge),))


def _box(item: Item) -> Box:
    if item.bbox is None:
        return Box(0, 0, 0, 0)
    (x0, y0, x1, y1), (width, height) = item.bbox, A4
    across, down = width / _THOUSANDTHS, height / _THOUSANDTHS
    return Box(x0 * across, y0 * down, x1 * across, y1 * down).rounded()
