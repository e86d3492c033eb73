"""The parts of a table that goes on over columns and pages, set below each other as on one tall sheet."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from ingest.pdf.backend import HorizontalRule
from ingest.pdf.tables.found import TablePart
from ingest.pdf.tables.grid import TableRegion
from ingest.pdf.tables.notes import is_continuation_note
from ingest.pdf.tables.rows import PrintedRow, em_of, printed_rows
from paperscope.types import Box

__all__ = ["body_of", "on_one_sheet"]


def body_of(region: TableRegion, first: TableRegion) -> TableRegion:
    """A further part without the head of the first one, if that is printed again; it may have no words left."""
    rows, head = _rows(_without_notes(region)), _rows(_without_notes(first))
    repeated = 0
    while repeated < min(len(rows), len(head)) and _text(rows[repeated]) == _text(head[repeated]):
        repeated += 1
    rest = rows[repeated:]
    words = tuple(word for row in rest for segment in row.segments for word in segment.words)
    top = rest[0].baseline - 0.3 * em_of(words) if rest else region.box.y1
    return replace(
        region,
        words=words,
        rules=tuple(y for y in region.rules if y > top),
        partial=tuple(rule for rule in region.partial if rule.y > top),
        fills=tuple(fill for fill in region.fills if fill.y1 > top),
    )


def on_one_sheet(
    first: TablePart, more: Sequence[tuple[TablePart, TableRegion]]
) -> tuple[TableRegion, tuple[TablePart, ...]]:
    """The region of all parts and the parts as they stand in it; with each further part comes what is to be read of it.

    The rules that close a part at the foot of its page are left out: they part no rows.
    """
    regions, parts = [_without_notes(first.region)], [first]
    gap = _pitch(regions[0])
    for part, body in more:
        last = max(word.baseline for word in regions[-1].words)
        top = min(word.baseline for word in body.words)
        dy = last + gap - top
        moved = _moved(body, dx=part.dx, dy=dy)
        regions[-1] = replace(regions[-1], rules=tuple(y for y in regions[-1].rules if y < last))
        regions.append(moved)
        parts.append(replace(part, dy=dy, top=last + gap / 2))
    box = Box(
        min(region.box.x0 for region in regions),
        regions[0].box.y0,
        max(region.box.x1 for region in regions),
        regions[-1].box.y1,
    )
    sheet = TableRegion(
        box=box,
        words=tuple(word for region in regions for word in region.words),
        rules=tuple(y for region in regions for y in region.rules),
        partial=tuple(rule for region in regions for rule in region.partial),
        verticals=_merged([x for region in regions for x in region.verticals]),
        fills=tuple(fill for region in regions for fill in region.fills),
        ruled=first.region.ruled,
    )
    return sheet, tuple(parts)


def _without_notes(region: TableRegion) -> TableRegion:
    """The region without rows that say only that the table goes on."""
    words = [
        [word for segment in row.segments for word in segment.words]
        for row in _rows(region)
        if not is_continuation_note(" ".join(segment.text for segment in row.segments))
    ]
    return replace(region, words=tuple(word for row in words for word in row))


def _moved(region: TableRegion, *, dx: float, dy: float) -> TableRegion:
    def box(old: Box) -> Box:
        return Box(old.x0 + dx, old.y0 + dy, old.x1 + dx, old.y1 + dy)

    return TableRegion(
        box=box(region.box),
        words=tuple(
            replace(word, x0=word.x0 + dx, x1=word.x1 + dx, baseline=word.baseline + dy) for word in region.words
        ),
        rules=tuple(y + dy for y in region.rules),
        partial=tuple(HorizontalRule(rule.x0 + dx, rule.x1 + dx, rule.y + dy) for rule in region.partial),
        verticals=tuple(x + dx for x in region.verticals),
        fills=tuple(map(box, region.fills)),
    )


def _pitch(region: TableRegion) -> float:
    """The widest step from row to row: a page never ends within a row."""
    steps = [below.baseline - row.baseline for row, below in pairwise(_rows(region))]
    return max(steps, default=1.5 * em_of(region.words))


def _merged(verticals: Sequence[float]) -> tuple[float, ...]:
    kept: list[float] = []
    for x in sorted(verticals):
        if not kept or x - kept[-1] > 1:
            kept.append(x)
    return tuple(kept)


def _rows(region: TableRegion) -> list[PrintedRow]:
    if not region.words:
        return []
    return printed_rows(region.words, em=em_of(region.words), verticals=region.verticals)


def _text(row: PrintedRow) -> str:
    return "".join(word.text for segment in row.segments for word in segment.words)
