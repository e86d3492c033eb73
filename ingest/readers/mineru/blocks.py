"""Converts MinerU's JSON, of every version, to blocks in reading order with boxes in points."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ingest.document.geometry import bounding_box
from ingest.readers.layout_blocks import Block, BlockKind, TextLine
from ingest.readers.mineru.schema import Corners, Item, Middle, Node, PageNode
from paperscope_core.types import Box, Page, Place

__all__ = ["BlockDocument", "blocks_of_items", "blocks_of_middle", "clean_text"]

# MinerU's names of each kind of block; other names are ignored.
_NAMES: dict[BlockKind, str] = {
    "title": "doc_title",
    "heading": "title paragraph_title",
    "text": "text abstract phonetic vertical_text index formula_number",
    "list": "list",
    "reference": "ref_text",
    "code": "code algorithm code_body algorithm_body",
    "equation": "equation interline_equation",
    "table": "table table_body",
    "figure": "image image_body chart chart_body",
    "footnote": "page_footnote",
    "furniture": "header footer page_number aside_text header_image footer_image",
    "discarded": "discarded",
}
_KINDS = {name: kind for kind, names in _NAMES.items() for name in names.split()}
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_BULLET = re.compile(r"^[\uf000-\uf0ff\u0000-\u001f\u007f-\u009f\ufffd▪◦●○■‣∙⋅·•]+\s*")
_FORMULAS = frozenset(("inline_equation", "interline_equation", "equation", "equation_inline"))
_A4 = (595.3, 841.9)
_PARENTS = frozenset(("table", "image", "chart", "code", "algorithm"))
_THOUSANDTHS = 1000.0


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockDocument:
    """The blocks of a document; `sized` is false if its file names no page sizes and A4 is assumed."""

    pages: tuple[Page, ...]
    blocks: tuple[Block, ...]
    sized: bool = True


def _kind_of(name: str) -> BlockKind | None:
    """Returns the kind of block for MinerU's name of it, None for an unknown name."""
    is_note = name.endswith(("_caption", "_footnote")) or name in ("caption", "footnote")
    return "note" if is_note and name != "page_footnote" else _KINDS.get(name)


def _line_text(spans: Iterable[Node], *, formula: bool = False) -> str:
    """Returns the text of spans, with inline formulas between `$`."""
    parts: list[str] = []
    for span in spans:
        if isinstance(span.content, list):
            parts.append(_line_text(span.content))
        elif text := (span.content or span.latex).strip():
            parts.append(text if formula or span.type not in _FORMULAS else f"${text}$")
    joined = " ".join(parts)
    return joined.strip() if formula else clean_text(joined)


def clean_text(text: str) -> str:
    """Returns the text with single spaces, letters for ligatures, and one kind of bullet."""
    text = re.sub(r"\s+", " ", _BULLET.sub("• ", text.lstrip(" "))).translate(_LIGATURES)
    text = re.sub(r"(?<=\$)\s+(?=[.,;:)\]])|(?<=[(\[])\s+(?=\$)", "", text)
    return text.strip()


def blocks_of_middle(middle: Middle, *, paper: str) -> BlockDocument:
    """The blocks of a `middle.json`: `pdf_info` until version 3, `pages` with boxes in shares of the page since 4."""
    pages: list[Page] = []
    blocks: list[Block] = []
    sized = True
    for index, node in enumerate(middle.pdf_info if middle.pdf_info is not None else middle.pages or []):
        own = node.page_size if node.page_size and min(node.page_size) > 1 else None
        sized = sized and own is not None
        width, height = own or _A4
        number = 1 + (index if node.page_idx is None else node.page_idx)
        pages.append(Page(number=number, width=round(width, 1), height=round(height, 1)))
        scale = (width, height) if node.blocks else (1.0, 1.0)
        blocks.extend(_PageReader(paper, number, scale=scale).blocks(node))
    return BlockDocument(pages=tuple(pages), blocks=tuple(blocks), sized=sized)


class _PageReader:
    """Converts the nodes of one page to blocks; `scale` turns their coordinates into points."""

    def __init__(self, paper: str, page: int, *, scale: tuple[float, float]) -> None:
        self._paper = paper
        self._page = page
        self._scale = scale

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
        ours = _kind_of(kind)
        if ours is None:
            return
        if kind in ("list", "index") and node.children:
            lines = tuple(line for child in node.children for line in self._item(child))
        else:
            lines = tuple(self._lines(node, starts=starts, formula=ours == "equation"))
        yield Block(
            kind=ours,
            place=self._place(self._box(node.bbox, lines)),
            lines=lines,
            level=node.level,
            images=tuple(part.image_path for part in node.below() if part.image_path),
            html="".join(part.html for part in node.below()),
            continues=continues,
        )

    def _float(self, node: Node, *, kind: str, continues: bool) -> Iterator[Block]:
        """Yields the body of a float, then its captions and footnotes as separate blocks."""
        ours = _kind_of(kind)
        bodies = [child for child in node.children if _kind_of(child.type) not in ("note", None)]
        if bodies and ours is not None:
            parts = [part for body in bodies for part in body.below()]
            contents = [part.content for part in bodies if isinstance(part.content, str) and ours == "table"]
            yield Block(
                kind=ours,
                place=self._place(bounding_box(self._box(body.bbox) for body in bodies)),
                lines=tuple(line for body in bodies for line in self._lines(body)) if ours == "code" else (),
                html="".join(dict.fromkeys(part.html for part in parts if part.html)) or "".join(contents),
                images=tuple(dict.fromkeys(part.image_path for part in parts if part.image_path)),
                continues=continues,
            )
        for child in node.children:
            if _kind_of(child.type) == "note":
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
        box = self._box(node.bbox)
        if not node.lines:
            text = node.content if isinstance(node.content, str) else _line_text(node.children, formula=formula)
            for line in text.splitlines():
                if line.strip():
                    yield TextLine(text=line.strip() if formula else line.rstrip(), box=box)
        for part in node.lines:
            text = _line_text(part.spans, formula=formula)
            if _lost_bullet(part) and not formula and not text.startswith("•"):
                text = f"• {text}"
            if text:
                yield TextLine(text=text, box=self._box(part.bbox) if part.bbox else box, starts=part.bbox in starts)

    def _place(self, box: Box) -> Place:
        return Place(paper=self._paper, page=self._page, box=box)

    def _box(self, corners: Corners | None, lines: Sequence[TextLine] = ()) -> Box:
        if corners is None:
            return bounding_box(line.box for line in lines) if lines else Box(0, 0, 0, 0)
        across, down = self._scale
        x0, y0, x1, y1 = corners
        return Box(min(x0, x1) * across, min(y0, y1) * down, max(x0, x1) * across, max(y0, y1) * down).rounded()

    def item_blocks(self, item: Item) -> Iterator[Block]:
        """Yields the block of an entry of `content_list.json`, then its captions and footnotes."""
        kind = _kind_of(item.type)
        if kind is None:
            return
        box = self._box(item.bbox)
        texts = item.list_items or [item.code_body or item.text]
        yield Block(
            kind="heading" if kind == "text" and item.text_level else kind,
            place=self._place(box),
            lines=tuple(
                TextLine(
                    text=line.rstrip() if kind == "code" else clean_text(line),
                    box=box,
                    starts=bool(item.list_items) and index == 0,
                )
                for text in texts
                for index, line in enumerate(text.splitlines())
                if line.strip()
            ),
            level=item.text_level,
            html=item.table_body,
            images=(item.img_path,) if item.img_path else (),
        )
        # Captions have no boxes: they are placed at the lower edge of the float that MinerU assigned them to.
        edge = Box(box.x0, box.y1, box.x1, box.y1)
        for text in filter(str.strip, item.notes):
            yield Block(kind="note", place=self._place(edge), lines=(TextLine(text=clean_text(text), box=edge),))


def _lost_bullet(line: Node) -> bool:
    """Whether a line lost its bullet: older versions begin it with a space, and no other line."""
    first = line.spans[0] if line.spans else None
    return first is not None and first.type == "text" and str(first.content or "").startswith(" ")


def blocks_of_items(items: Sequence[Item], *, paper: str) -> BlockDocument:
    """Returns the blocks of a `content_list.json`, which holds no page sizes and, in old versions, no boxes.

    Pages are assumed to be A4; a block without a box is placed at the top of its page.
    """
    count = max((item.page_idx for item in items), default=-1) + 1
    width, height = _A4
    scale = (width / _THOUSANDTHS, height / _THOUSANDTHS)
    readers = [_PageReader(paper, number, scale=scale) for number in range(1, count + 1)]
    return BlockDocument(
        pages=tuple(Page(number=number, width=width, height=height) for number in range(1, count + 1)),
        blocks=tuple(block for item in items for block in readers[item.page_idx].item_blocks(item)),
        sized=False,
    )
