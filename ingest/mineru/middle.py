"""`middle.json` of every version to blocks: `pdf_info` until version 3, `pages` with shares as boxes since 4."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from ingest.mineru.blocks import Block, Imported, TextLine, kind_of, line_text
from ingest.mineru.nodes import Corners, Middle, Node, PageNode
from paperscope.types import Box, Page

__all__ = ["A4", "blocks_of_middle"]

A4 = (595.3, 841.9)
_PARENTS = frozenset(("table", "image", "chart", "code", "algorithm"))


def blocks_of_middle(middle: Middle) -> Imported:
    """The blocks of a file that has `pdf_info` or `pages`."""
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
    return Imported(pages=tuple(pages), blocks=tuple(blocks), sized=sized)


class _PageReader:
    """Turns the nodes of one page into blocks."""

    def __init__(self, page: int, *, shares: bool, width: float, height: float) -> None:
        self._page = page
        self._scale = (width, height) if shares else (1.0, 1.0)

    def blocks(self, node: PageNode) -> Iterator[Block]:
        """The blocks of a page in MinerU's order; those that it joined to others stand on their own again."""
        merged = {block.bbox: block for block in node.para_blocks}
        for block in node.blocks or node.preproc_blocks or node.para_blocks:
            after = merged.get(block.bbox, block)
            starts = {line.bbox for line in after.lines if line.is_list_start_line}
            listed = after.type if after.type in ("list", "index") else block.type
            deleted = after.lines_deleted or bool(block.continues_prev)
            yield from self._flat(block, kind=listed, goes_on=deleted, starts=starts)
        for block in node.discarded_blocks:
            yield from self._flat(block, kind=block.type or "discarded", goes_on=False, starts=set())

    def _flat(self, node: Node, *, kind: str, goes_on: bool, starts: set[Corners | None]) -> Iterator[Block]:
        if kind in _PARENTS and node.children:
            yield from self._float(node, kind=kind, goes_on=goes_on)
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
            goes_on=goes_on,
        )

    def _float(self, node: Node, *, kind: str, goes_on: bool) -> Iterator[Block]:
        """The body of a float, then its captions and footnotes as blocks of their own."""
        bodies = [child for child in node.children if kind_of(child.type) not in ("note", None)]
        notes = [child for child in node.children if kind_of(child.type) == "note"]
        box = _union(self._box(child.bbox, ()) for child in bodies) if bodies else self._box(node.bbox, ())
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
                goes_on=goes_on,
            )
        for child in notes:
            yield from self._flat(child, kind=child.type, goes_on=False, starts=set())

    def _item(self, node: Node) -> Iterator[TextLine]:
        """The lines of an item of a list, the first one marked; lists inside lists are opened."""
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
            return _union(line.box for line in lines) if lines else Box(0, 0, 0, 0)
        across, down = self._scale
        x0, y0, x1, y1 = corners
        return Box(min(x0, x1) * across, min(y0, y1) * down, max(x0, x1) * across, max(y0, y1) * down).rounded()


def _lost_bullet(line: Node) -> bool:
    """Older versions leave a space where they can't read a bullet, and nowhere else at the start of a line."""
    first = line.spans[0] if line.spans else None
    return first is not None and first.type == "text" and str(first.content or "").startswith(" ")


def _union(boxes: Iterable[Box]) -> Box:
    first, *rest = boxes
    for box in rest:
        first = first.union(box)
    return first
