"""Matches captions with tables and figures by their boxes, on the side that the document prefers."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ingest.document.captions import CaptionKind, caption_start
from ingest.document.geometry import bounding_box
from ingest.readers.layout_blocks import Block
from paperscope_core.types import Box

__all__ = ["BlockCaption", "BlockFloat", "find_captions", "group_floats", "match_captions"]

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


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class BlockFloat:
    """A table, figure or listing of one or more blocks on one page."""

    kind: Literal["table", "figure", "code"]
    blocks: tuple[Block, ...]

    @property
    def page(self) -> int:
        """The index of the page, from 0."""
        return self.blocks[0].page

    @property
    def box(self) -> Box:
        """The box of all blocks."""
        return bounding_box(block.box for block in self.blocks)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class BlockCaption:
    """A caption: the block that begins with a label ("Table 5"), and its text without it."""

    kind: CaptionKind
    label: str
    text: str
    block: Block

    @property
    def box(self) -> Box:
        """The caption's box."""
        return self.block.box


def find_captions(blocks: Sequence[Block]) -> list[BlockCaption]:
    """Returns the captions among texts, headings and notes; a text that begins with `Table 4 shows` is not one."""
    return [
        BlockCaption(kind=found.kind, label=found.label, text=found.text, block=block)
        for block in blocks
        if block.kind in ("text", "note", "heading")
        and (found := caption_start(block.text, marked=block.kind == "text"))
    ]


def group_floats(blocks: Sequence[Block], labels: Sequence[BlockCaption]) -> list[BlockFloat]:
    """Groups blocks into tables, figures and listings; stacked parts of a table with no caption between are one."""
    floats: list[BlockFloat] = []
    for block in blocks:
        if block.kind not in ("table", "figure", "code"):
            continue
        last = floats[-1] if floats else None
        if last and block.kind == "table" == last.kind and _continues(last.blocks[-1], block, labels):
            floats[-1] = BlockFloat(kind="table", blocks=(*last.blocks, block))
        else:
            floats.append(BlockFloat(kind=block.kind, blocks=(block,)))
    return floats


def _continues(last: Block, block: Block, labels: Sequence[BlockCaption]) -> bool:
    """Whether a block continues a table: below it, as wide, and with no caption between them."""
    above, below = last.box, block.box
    if above == below or last.page != block.page or not -_PART_OVERLAP <= below.y0 - above.y1 <= _MAX_PART_GAP:
        return False
    shared = min(above.x1, below.x1) - max(above.x0, below.x0)
    if shared < 0.9 * max(above.x1 - above.x0, below.x1 - below.x0):
        return False
    return not any(
        label.block.page == block.page
        and above.y1 - _PART_OVERLAP <= label.box.y0
        and label.box.y1 <= below.y0 + _PART_OVERLAP
        for label in labels
    )


def match_captions(
    labels: Sequence[BlockCaption], floats: Sequence[BlockFloat]
) -> tuple[Mapping[BlockCaption, BlockFloat], Sequence[BlockFloat]]:
    """Matches captions with floats.

    Returns:
        The float of each caption, and all floats. A figure without a caption next to one with a caption is part of it.
    """
    pages: dict[int, tuple[list[BlockCaption], list[BlockFloat]]] = defaultdict(lambda: ([], []))
    for label in labels:
        pages[label.block.page][0].append(label)
    for part in floats:
        pages[part.page][1].append(part)
    sides: dict[str, Side] = {
        kind: _preferred_side(kind, list(pages.values())) for kind in ("table", "figure", "other")
    }
    pairs: dict[BlockCaption, BlockFloat] = {}
    whole: list[BlockFloat] = []
    for own, parts in pages.values():
        found = _pair(own, parts, sides)[1]
        grown = _with_panels(found, parts)
        pairs.update({label: grown.get(part, part) for label, part in found.items()})
        swallowed = {block for part in grown.values() for block in part.blocks}
        whole.extend(grown.values())
        whole.extend(part for part in parts if part not in grown and not set(part.blocks) & swallowed)
    return pairs, whole


def _preferred_side(kind: str, pages: Sequence[tuple[Sequence[BlockCaption], Sequence[BlockFloat]]]) -> Side:
    """Returns the side of their captions on which the document's floats of a kind are: the one of lower cost."""
    own = [([label for label in labels if label.kind == kind], floats) for labels, floats in pages]
    costs: dict[Side, float] = {"above": 0.0, "below": 0.0}
    for side in costs:
        costs[side] = sum(_pair(labels, floats, {kind: side})[0] for labels, floats in own)
    return min(costs, key=lambda side: costs[side])


def _pair(
    labels: Sequence[BlockCaption], floats: Sequence[BlockFloat], sides: Mapping[str, Side]
) -> tuple[float, dict[BlockCaption, BlockFloat]]:
    """Pairs the captions and floats of a page, cheapest first; returns the total cost and the pairs."""
    edges = sorted(
        (cost, row, column)
        for row, label in enumerate(labels)
        for column, part in enumerate(floats)
        if (cost := _cost(label, part, sides)) < _UNMATCHED_COST
    )
    pairs: dict[BlockCaption, BlockFloat] = {}
    total = 0.0
    for cost, row, column in edges:
        if labels[row] not in pairs and floats[column] not in pairs.values():
            pairs[labels[row]] = floats[column]
            total += cost
    return total + _UNMATCHED_COST * (len(labels) - len(pairs)), pairs


def _cost(label: BlockCaption, part: BlockFloat, sides: Mapping[str, Side]) -> float:
    kinds = {"table": "table", "figure": "figure", "other": "code"}
    other = 0.0 if kinds[label.kind] == part.kind else _OTHER_KIND_COST
    caption, box = label.box, part.box
    apart = min(caption.x1, box.x1) - max(caption.x0, box.x0)
    if apart < 0.3 * min(caption.x1 - caption.x0, box.x1 - box.x0):
        level = min(caption.y1, box.y1) - max(caption.y0, box.y0)
        beside = level > 0.5 * (caption.y1 - caption.y0) and -apart < _BESIDE_COST
        return _BESIDE_COST - apart + other if beside else float("inf")
    distances: dict[Side, float] = {"above": caption.y0 - box.y1, "below": box.y0 - caption.y1}
    return other + min(
        (
            abs(distance) + (0.0 if side == sides[label.kind] else _WRONG_SIDE_COST)
            for side, distance in distances.items()
            if _MIN_DISTANCE <= distance <= _MAX_DISTANCE
        ),
        default=float("inf"),
    )


def _with_panels(
    pairs: Mapping[BlockCaption, BlockFloat], floats: Sequence[BlockFloat]
) -> dict[BlockFloat, BlockFloat]:
    """Returns the figures with captions, each extended by the adjacent figures without one."""
    loose = [part for part in floats if part.kind == "figure" and part not in pairs.values()]
    grown: dict[BlockFloat, BlockFloat] = {}
    for label, part in pairs.items():
        blocks = list(part.blocks)
        for other in loose if part.kind == "figure" else ():
            box, whole = other.box, bounding_box(block.box for block in blocks)
            near = max(box.x0 - whole.x1, whole.x0 - box.x1, box.y0 - whole.y1, whole.y0 - box.y1) < _MAX_PANEL_GAP
            separated = min(box.y1, whole.y1) <= label.box.y0 < max(box.y0, whole.y0)
            if near and not separated and other.blocks[0] not in blocks:
                blocks.extend(other.blocks)
        grown[part] = BlockFloat(kind=part.kind, blocks=tuple(blocks))
        loose = [other for other in loose if other.blocks[0] not in blocks]
    return grown
