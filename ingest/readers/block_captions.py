"""Matches captions with tables and figures by their boxes, on the side that the document prefers."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from ingest.document.caption_wording import caption_start
from ingest.document.drafts import Caption
from ingest.document.geometry import bounding_box, overlap_x, overlap_y, runs_of
from ingest.readers.layout_blocks import Block, BlockKind
from paperscope_core.types import Box, Place

__all__ = ["BlockCaption", "BlockFloat", "match_captions"]

Side = Literal["above", "below"]

# All in points; a line of text is about 12 high. The largest gap between two parts of one table, and the largest
# overlap of their boxes.
_MAX_PART_GAP = 16.0
_PART_OVERLAP = 4.0
# The distance between a caption and its float, above or below; boxes overlap a little.
_MAX_DISTANCE = 90.0
_MIN_DISTANCE = -12.0
# Costs of a pair besides its distance: on the less usual side; of different kinds (a table taken for a figure); side by
# side. A caption without a float costs more than any pair.
_WRONG_SIDE_COST = 14.0
_OTHER_KIND_COST = 25.0
_BESIDE_COST = 40.0
_UNMATCHED_COST = 150.0
_MAX_PANEL_GAP = 40.0
# The captions and floats of a page are compared with each other; on a page with more, none is matched.
_MOST_ON_PAGE = 100
# The kind of float that each kind of caption belongs to.
_FLOAT_KINDS: Mapping[str, BlockKind] = {"table": "table", "figure": "figure", "other": "code"}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class BlockFloat:
    """A table, figure or listing of one or more blocks on one page."""

    blocks: tuple[Block, ...]

    @property
    def kind(self) -> BlockKind:
        """The kind of the first block: "table", "figure" or "code"."""
        return self.blocks[0].kind

    @property
    def place(self) -> Place:
        """The page, and the box of all blocks."""
        return replace(self.blocks[0].place, box=self.box)

    @property
    def box(self) -> Box:
        """The box of all blocks."""
        return bounding_box(block.box for block in self.blocks)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class BlockCaption:
    """A caption, and the block that consists of it."""

    caption: Caption
    block: Block

    @property
    def box(self) -> Box:
        """The caption's box."""
        return self.block.box


_Pairs: TypeAlias = dict[BlockFloat, BlockCaption]


def match_captions(blocks: Sequence[Block]) -> tuple[Mapping[BlockFloat, BlockCaption | None], Sequence[BlockCaption]]:
    """Find the floats and the captions among blocks, and match them.

    Stacked parts of a table with no caption between them are one table; a figure without a caption next to one with a
    caption is part of it.

    Returns:
        All floats with their captions, and the captions without a float.
    """
    captions = _find_captions(blocks)
    pages: dict[int, tuple[list[BlockCaption], list[BlockFloat]]] = defaultdict(lambda: ([], []))
    for caption in captions:
        pages[caption.block.page][0].append(caption)
    for part in _group_floats(blocks, {page: own[:_MOST_ON_PAGE] for page, (own, _) in pages.items()}):
        pages[part.blocks[0].page][1].append(part)
    crowded = [page for page, found in pages.items() if max(len(found[0]), len(found[1])) > _MOST_ON_PAGE]
    matched: dict[BlockFloat, BlockCaption | None] = {part: None for page in crowded for part in pages.pop(page)[1]}
    readable = list(pages.values())
    sides = {kind: _preferred_side(kind, readable) for kind in _FLOAT_KINDS}
    for own, floats in readable:
        found = _with_panels(_pair(own, floats, sides)[1], floats)
        used = {block for part in found for block in part.blocks}
        matched.update(found)
        matched.update({part: None for part in floats if used.isdisjoint(part.blocks)})
    used_captions = set(matched.values())
    return matched, [caption for caption in captions if caption not in used_captions]


def _find_captions(blocks: Sequence[Block]) -> list[BlockCaption]:
    """Return the captions among texts, headings and notes; a text that begins with `Table 4 shows` is not one."""
    return [
        BlockCaption(
            caption=Caption(kind=start.kind, label=start.label, text=start.text, place=block.place), block=block
        )
        for block in blocks
        if block.kind in ("text", "note", "heading")
        and (start := caption_start(block.text, marked=block.kind == "text"))
    ]


def _group_floats(blocks: Sequence[Block], captions: Mapping[int, Sequence[BlockCaption]]) -> list[BlockFloat]:
    """Group the floats; `captions` are the captions of each page."""

    def continues(run: list[Block], block: Block) -> bool:
        return run[0].kind == block.kind == "table" and _continues(run[-1], block, captions.get(block.page, ()))

    floats = [block for block in blocks if block.kind in _FLOAT_KINDS.values()]
    return [BlockFloat(blocks=tuple(run)) for run in runs_of(floats, joins=continues)]


def _continues(last: Block, block: Block, captions: Sequence[BlockCaption]) -> bool:
    """Return whether a block continues a table: below it, as wide, and with no caption between them."""
    above, below = last.box, block.box
    if above == below or last.page != block.page or not -_PART_OVERLAP <= below.y0 - above.y1 <= _MAX_PART_GAP:
        return False
    if overlap_x(above, below) < 0.9 * max(above.x1 - above.x0, below.x1 - below.x0):
        return False
    return not any(
        caption.block.page == block.page
        and above.y1 - _PART_OVERLAP <= caption.box.y0
        and caption.box.y1 <= below.y0 + _PART_OVERLAP
        for caption in captions
    )


def _preferred_side(kind: str, pages: Sequence[tuple[Sequence[BlockCaption], Sequence[BlockFloat]]]) -> Side:
    """Return the side of their captions on which the document's floats of a kind are: the one of lower cost."""
    own = [([found for found in captions if found.caption.kind == kind], floats) for captions, floats in pages]
    sides: tuple[Side, ...] = ("above", "below")
    return min(sides, key=lambda side: sum(_pair(captions, floats, {kind: side})[0] for captions, floats in own))


def _pair(
    captions: Sequence[BlockCaption], floats: Sequence[BlockFloat], sides: Mapping[str, Side]
) -> tuple[float, _Pairs]:
    """Pair the captions and floats of a page, cheapest first; return the total cost and the pairs."""
    edges = sorted(
        (cost, row, column)
        for row, caption in enumerate(captions)
        for column, part in enumerate(floats)
        if (cost := _cost(caption, part, sides)) < _UNMATCHED_COST
    )
    pairs: _Pairs = {}
    paired = set[int]()
    total = 0.0
    for cost, row, column in edges:
        if floats[column] not in pairs and row not in paired:
            pairs[floats[column]] = captions[row]
            paired.add(row)
            total += cost
    return total + _UNMATCHED_COST * (len(captions) - len(pairs)), pairs


def _cost(label: BlockCaption, part: BlockFloat, sides: Mapping[str, Side]) -> float:
    other = 0.0 if _FLOAT_KINDS[label.caption.kind] == part.kind else _OTHER_KIND_COST
    caption, box = label.box, part.box
    shared = overlap_x(caption, box)
    if shared < 0.3 * min(caption.x1 - caption.x0, box.x1 - box.x0):
        beside = overlap_y(caption, box) > 0.5 * (caption.y1 - caption.y0) and -shared < _BESIDE_COST
        return _BESIDE_COST - shared + other if beside else float("inf")
    distances: dict[Side, float] = {"above": caption.y0 - box.y1, "below": box.y0 - caption.y1}
    return other + min(
        (
            abs(distance) + (0.0 if side == sides[label.caption.kind] else _WRONG_SIDE_COST)
            for side, distance in distances.items()
            if _MIN_DISTANCE <= distance <= _MAX_DISTANCE
        ),
        default=float("inf"),
    )


def _with_panels(pairs: _Pairs, floats: Sequence[BlockFloat]) -> _Pairs:
    """Return the floats with captions, each figure extended by the adjacent figures without one."""
    uncaptioned = [part for part in floats if part.kind == "figure" and part not in pairs]
    grown: _Pairs = {}
    for part, caption in pairs.items():
        blocks = list(part.blocks)
        for other in uncaptioned if part.kind == "figure" else ():
            box, whole = other.box, bounding_box(block.box for block in blocks)
            near = min(overlap_x(box, whole), overlap_y(box, whole)) > -_MAX_PANEL_GAP
            separated = min(box.y1, whole.y1) <= caption.box.y0 < max(box.y0, whole.y0)
            if near and not separated:
                blocks.extend(other.blocks)
        grown[BlockFloat(blocks=tuple(blocks))] = caption
        uncaptioned = [other for other in uncaptioned if other.blocks[0] not in blocks]
    return grown
