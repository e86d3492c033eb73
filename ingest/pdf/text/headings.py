"""Headings: blocks of lines in a style of their own, numbered, named in the outline, or set apart."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ingest.pdf.backend import OutlineEntry
from ingest.pdf.backends.fonts import is_monospaced
from ingest.pdf.page.edges import Edges
from ingest.pdf.page.layout import BodyStyle, PageLayout
from ingest.pdf.page.lines import Line, bounds
from ingest.pdf.text.heading_blocks import Block, blocks_of, is_set_off, opens, runs_on
from ingest.pdf.text.heading_levels import levels_of
from ingest.pdf.text.heading_styles import FIXED, NUMBER, split_number, style_of
from ingest.pdf.text.hyphens import join_lines
from paperscope.types import Box

__all__ = ["FoundHeading", "find_headings"]

_LONGEST = 160
_MOST_LINES = 4
_FORMULA = re.compile(r"[=∫∑∏≤≥≈→←∈]")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FoundHeading:
    """A heading of one or more lines on a page (its index from 0); `level` counts from 1."""

    page: int
    text: str
    level: int
    box: Box
    lines: tuple[Line, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Judge:
    """Decides which blocks are headings; `titles` are those of the outline, as keys."""

    layouts: Sequence[PageLayout]
    edges: Sequence[Sequence[Edges]]
    body: BodyStyle
    titles: dict[str, int]
    sure: frozenset[Line]

    def accepts(self, block: Block, *, stacked: bool) -> bool:
        """`stacked` says that the block stands right under a heading."""
        first = block.lines[0]
        if first in self.sure:
            return True
        text, style = block.text, style_of(first)
        larger = first.size > self.body.size + 0.7
        strong = style.bold or larger or style.capitals
        if not (strong or style.italic) or not self.can_be(block, text):
            return False
        key = _key(text)
        if strong and (FIXED.fullmatch(text) or (len(key) > 3 and key in self.titles and not text.endswith(":"))):
            return True
        numbered = bool(NUMBER.match(text)) and not text.endswith(".")
        if numbered and (style.bold or larger):
            return larger or stacked or opens(block)
        apart = self.is_short(block) and (stacked or opens(block)) and not runs_on(block)
        plain = strong and not text.endswith((".", ":")) and len(text) > 2
        return apart and (numbered or (plain and not _FORMULA.search(text) and not self.is_row(block)))

    def can_be(self, block: Block, text: str) -> bool:
        """Whether a block's letters and neighbours allow it to be a heading at all."""
        first = block.lines[0]
        larger = first.size > self.body.size + 0.7
        style = style_of(first)
        least = self.body.size - (1.6 if style.bold or style.italic else 0.7)
        return (
            len(text) <= _LONGEST
            and len(block.lines) <= _MOST_LINES
            and any(letter.isalpha() for letter in text)
            and max(line.math for line in block.lines) <= 0.5
            and first.size >= least
            and not text.endswith((",", ";") if larger else (",", ";", "-"))
            and not text[0].islower()
            and (larger or not is_monospaced(first.font) or is_monospaced(self.body.font))
        )

    def is_row(self, block: Block) -> bool:
        """Whether other words stand beside the block in its column, as in a row of a table."""
        layout = self.layouts[block.page]
        column = layout.column(block.lines[0])
        edges = self.edges[block.page][min(column, len(self.edges[block.page]) - 1)]
        words = {word for line in block.lines for word in line.words}
        return any(
            abs(other.baseline - line.baseline) < 0.25 * line.size
            and layout.column(other) == column
            and other.box.x1 > edges.left
            and other.box.x0 < edges.right
            and words.isdisjoint(other.words)
            for line in block.lines
            for other in layout.lines
        )

    def is_short(self, block: Block) -> bool:
        """Whether the last line ends before the column does, is centred in it, or has much space around the block."""
        last = block.lines[-1]
        edges = self.edges[block.page]
        edge = edges[min(self.layouts[block.page].column(last), len(edges) - 1)]
        left, right = last.box.x0 - edge.left, edge.right - last.box.x1
        centred = abs(left - right) < 0.5 * last.size < left
        return right > 1.5 * last.size or centred or is_set_off(block)


def find_headings(
    layouts: Sequence[PageLayout],
    flow: Sequence[Sequence[Line]],
    *,
    edges: Sequence[Sequence[Edges]],
    body: BodyStyle,
    outline: Sequence[OutlineEntry],
    sure: frozenset[Line] = frozenset(),
    title: Sequence[Line] = (),
) -> list[FoundHeading]:
    """The headings among the lines of each page, which come in reading order; those in `sure` are known to be some.

    The paper's title, printed again over a supplement, is none.
    """
    titles = {_key(entry.title): entry.level for entry in outline}
    judge = _Judge(layouts=layouts, edges=edges, body=body, titles=titles, sure=sure)
    named = _key(join_lines(line.text for line in title))
    blocks = [
        block
        for page, (layout, lines) in enumerate(zip(layouts, flow, strict=True))
        for block in blocks_of(page, lines, layout=layout, sure=sure)
    ]
    found = _accepted([block for block in blocks if _key(block.text) != named], judge=judge)
    found += _lone_italics(blocks, found, judge=judge)
    order = {line: at for lines in flow for at, line in enumerate(lines)}
    found.sort(key=lambda block: (block.page, order[block.lines[0]]))
    outlined = [titles.get(_key(block.text), 0) for block in found]
    levels = levels_of(
        [block.text for block in found], [style_of(block.lines[0]) for block in found], outlined=outlined
    )
    return [
        FoundHeading(
            page=block.page,
            text=block.text,
            level=level,
            box=bounds(line.box for line in block.lines),
            lines=block.lines,
        )
        for block, level in zip(found, levels, strict=True)
    ]


def _accepted(blocks: Sequence[Block], *, judge: _Judge) -> list[Block]:
    found: list[Block] = []
    for block in blocks:
        if judge.accepts(block, stacked=bool(found) and found[-1].lines[-1] is block.above):
            found.append(block)
    return found


def _lone_italics(blocks: Sequence[Block], found: Sequence[Block], *, judge: _Judge) -> list[Block]:
    """Headings in italics without numbers: set apart, and at least two of them in one style."""
    candidates = [
        block
        for block in blocks
        if block not in found
        and style_of(block.lines[0]).italic
        and not NUMBER.match(block.text)
        and block.text[-1].isalnum()
        and len(block.text) < 0.5 * _LONGEST
        and judge.can_be(block, block.text)
        and judge.is_short(block)
        and opens(block)
        and not runs_on(block)
        and block.below is not None
        and block.below.italic < 0.5
        and not _FORMULA.search(block.text)
        and not judge.is_row(block)
    ]
    styles = Counter((round(block.lines[0].size, 1), block.lines[0].font) for block in candidates)
    return [block for block in candidates if styles[round(block.lines[0].size, 1), block.lines[0].font] > 1]


def _key(text: str) -> str:
    return re.sub(r"\W", "", split_number(text)[1]).lower()
