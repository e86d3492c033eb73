"""`content_list.json` to blocks, for a folder without `middle.json`: no page sizes, in old versions no boxes either."""

from collections.abc import Iterator, Sequence

from ingest.mineru.blocks import Block, Imported, TextLine, kind_of, tidied
from ingest.mineru.middle import A4
from ingest.mineru.nodes import Item
from paperscope.types import Box, Page

__all__ = ["blocks_of_items"]

_THOUSANDTHS = 1000.0


def blocks_of_items(items: Sequence[Item]) -> Imported:
    """The blocks of a list; pages are taken for A4, a block without a box stands at the head of its page."""
    count = max((item.page_idx for item in items), default=-1) + 1
    width, height = A4
    pages = tuple(Page(number=number, width=width, height=height) for number in range(1, count + 1))
    return Imported(pages=pages, blocks=tuple(block for item in items for block in _blocks(item)), sized=False)


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
            TextLine(text=line.text.rstrip() if kind == "code" else tidied(line.text), box=box, starts=line.starts)
            for line in lines
        ),
        level=item.text_level,
        html=item.table_body,
        images=(item.img_path,) if item.img_path else (),
    )
    # Captions have no boxes of their own: they stand at the lower edge of what MinerU gave them to.
    for text in item.notes:
        if text.strip():
            edge = Box(box.x0, box.y1, box.x1, box.y1)
            yield Block(kind="note", page=item.page_idx, box=edge, lines=(TextLine(text=tidied(text), box=edge),))


def _box(item: Item) -> Box:
    if item.bbox is None:
        return Box(0, 0, 0, 0)
    (x0, y0, x1, y1), (width, height) = item.bbox, A4
    across, down = width / _THOUSANDTHS, height / _THOUSANDTHS
    return Box(x0 * across, y0 * down, x1 * across, y1 * down).rounded()
