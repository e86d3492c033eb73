"""Joins tables that are continued in the next column or on the next page."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ingest.document.caption_wording import is_continuation_note
from ingest.document.geometry import bounding_box, runs_of
from ingest.document.pages import HorizontalRule
from ingest.pdf.furniture import find_furniture
from ingest.pdf.layout import PageLayout
from ingest.pdf.lines import Line
from ingest.pdf.tables.grid import read_grid, read_table
from ingest.pdf.tables.regions import RuleStack, columns_touched, region_of_run, ruled_region, run_of_rows
from ingest.pdf.tables.table_values import (
    FoundTable,
    PrintedRow,
    TablePart,
    TableRegion,
    em_of,
    printed_rows,
)
from paperscope_core.types import Box

__all__ = ["with_further_parts"]

# Points unless said otherwise; chosen on the development papers.
_SAME_WIDTH = 6.0  # The largest difference in width between parts of one table.
_NOTE_SIZE = 0.95  # A share of the usual letter size: notes below a table are smaller.
_FEW_ROWS = 3  # A part of this many rows may leave columns empty, and is likely to lack a repeated header.
_NOTE_DISTANCE = 40.0  # The largest distance of a note "continued on the next page" from its part.
_WHOLE_WIDTH = 0.9  # A share of the page's width: a table over all columns continues on the next page.
_USUAL_PITCH = 1.5  # The pitch of a part with one row, in letter sizes.
_HALF_LETTER = 0.3  # The height of the middle of letters above their baseline, in letter sizes.


def with_further_parts(
    tables: Sequence[FoundTable],
    layouts: Sequence[PageLayout],
    *,
    stacks: Sequence[Sequence[RuleStack]],
) -> list[FoundTable]:
    """Return the tables, each with all its parts; a table that continues another one is removed from the list.

    Args:
        tables: The tables with captions, in reading order.
        layouts: The pages.
        stacks: The unassigned rule stacks of each page.
    """
    return _PartJoiner(tables, layouts, stacks=stacks).joined()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Spot:
    """Where a part may be: a band of x on a page."""

    layout: PageLayout
    left: float
    right: float

    @property
    def lines(self) -> list[Line]:
        """The lines of the band."""
        return [line for line in self.layout.lines if self.left <= line.center <= self.right]


class _PartJoiner:
    def __init__(
        self, tables: Sequence[FoundTable], layouts: Sequence[PageLayout], *, stacks: Sequence[Sequence[RuleStack]]
    ) -> None:
        self._layouts = layouts
        self._stacks = stacks
        self._taken = {line for table in tables for line in table.lines}
        self._taken |= {line for layout in layouts for caption in layout.captions for line in caption.lines}
        free = [[line for line in layout.lines if line not in self._taken] for layout in layouts]
        self._furniture = find_furniture(layouts, free)
        sizes = Counter(round(line.size, 1) for layout in layouts for line in layout.lines for _ in line.words)
        self._note_size = _NOTE_SIZE * max(sizes, key=lambda size: sizes[size], default=0.0)
        self._tables = list(tables)

    def joined(self) -> list[FoundTable]:
        joined: list[FoundTable] = []
        gone: set[FoundTable] = set()
        for table in self._tables:
            if table not in gone:
                parts = [table]
                while (after := self._named(parts, gone) or self._unnamed(parts)) is not None:
                    parts.append(after)
                gone.update(parts)
                joined.append(self._merged(parts) if len(parts) > 1 else table)
        return joined

    def _named(self, parts: Sequence[FoundTable], gone: Collection[FoundTable]) -> FoundTable | None:
        """Return the next table of the same label, if marked as continued or with the same caption and columns."""
        first, last = parts[0], parts[-1].parts[-1]
        reach = range(max(first.page, last.page), self._next_page(last.page) + 1)
        for other in self._tables:
            if other in gone or other in parts or other.page not in reach or other.caption.label != first.caption.label:
                continue
            same = other.caption.text == first.caption.text and _shift(first, other) is not None
            if other.caption.continues or same:
                return other
        return None

    def _unnamed(self, parts: Sequence[FoundTable]) -> FoundTable | None:
        """Return the first table in the next column or on the next page, if it continues the same columns."""
        last = parts[-1].parts[-1]
        spot = self._next_spot(last)
        # Only notes may be below the previous part.
        if spot is None or any(line.size > self._note_size for line in self._below(last)):
            return None
        first = self._begin(spot)
        if first is None or first in self._taken:
            return None
        for region in self._regions(spot, first, width=last.box.width):
            found = read_table(spot.layout, region, parts[0].caption)
            if found is None:
                continue
            body = _without_repeated_header(region, parts[0].parts[0].region)
            likely = region.ruled or len(body.words) < len(region.words) or len(found.grid.rows) >= _FEW_ROWS
            if likely and body.words and _shift(parts[0], found) is not None:
                self._taken |= found.lines
                return found
        return None

    def _begin(self, spot: _Spot) -> Line | None:
        """Return the first line of a place that is neither furniture nor a note on the continuation."""
        text = (line for line in spot.lines if line not in self._furniture[spot.layout.index])
        return next((line for line in text if not is_continuation_note(line.text)), None)

    def _regions(self, spot: _Spot, first: Line, *, width: float) -> Iterator[TableRegion]:
        """Yield the possible parts that begin with a line: between rules as wide as the table's, or a run of rows."""
        for stack in self._stacks[spot.layout.index]:
            inside = stack.ys[0] - 2 < first.baseline < stack.ys[-1] and stack.x0 - 3 < first.center < stack.x1 + 3
            if inside and abs(stack.box.width - width) < _SAME_WIDTH:
                yield ruled_region(spot.layout, stack)
        band = spot.left, spot.right
        run = run_of_rows(spot.layout, edge=first.box.y0, band=band, side="below", taken=self._taken)
        if run and (region := region_of_run(spot.layout, run)) is not None:
            yield region

    def _below(self, part: TablePart) -> list[Line]:
        """Return the lines below a part in its column, without furniture and continuation notes."""
        return [
            line
            for line in self._spot(part).lines
            if line.middle > part.box.y1 + 1
            and line not in part.lines
            and line not in self._furniture[part.page]
            and not is_continuation_note(line.text)
        ]

    def _merged(self, parts: Sequence[FoundTable]) -> FoundTable:
        """Return one table of all parts, read as if they were stacked vertically."""
        first, *others = [self._with_notes(found.parts[0]) for found in parts]
        more = []
        for found, part in zip(parts[1:], others, strict=True):
            body = _without_repeated_header(part.region, first.region)
            if body.words:
                more.append((replace(part, dx=-(_shift(parts[0], found) or 0.0)), body))
        region, placed = _stacked(first, more)
        captions = tuple(dict.fromkeys(caption for found in parts for caption in found.captions))
        captions = tuple(caption for caption in captions if caption.lines) or captions[:1]
        return FoundTable(captions=captions, parts=placed, grid=read_grid(region))

    def _with_notes(self, part: TablePart) -> TablePart:
        """Return the part with the continuation notes around it."""
        around = part.box.grown(0, _NOTE_DISTANCE)
        notes = {
            line
            for line in self._spot(part).lines
            if around.y0 < line.baseline < around.y1 and is_continuation_note(line.text)
        }
        return replace(part, lines=part.lines | notes)

    def _spot(self, part: TablePart) -> _Spot:
        layout = self._layouts[part.page]
        left, right = columns_touched(layout, part.box) or (0.0, layout.content.width)
        return _Spot(layout=layout, left=left, right=right)

    def _next_spot(self, part: TablePart) -> _Spot | None:
        """Return the column to the right of a part's, or the same place on the next page; None at the end."""
        here = self._spot(part)
        bounds = here.layout.column_bounds
        wide = here.right - here.left > _WHOLE_WIDTH * here.layout.content.width
        if here.right < bounds[-1] and not wide:
            return _Spot(layout=here.layout, left=here.right, right=bounds[bounds.index(here.right) + 1])
        after = self._layouts[self._next_page(part.page)]
        right = after.column_bounds[-1 if wide else 1]
        return None if after is here.layout else _Spot(layout=after, left=0.0, right=right)

    def _next_page(self, page: int) -> int:
        """Return the index of the next page with the same rotation; the same index if there is none."""
        here = self._layouts[page].content
        return next(
            (
                layout.index
                for layout in self._layouts[page + 1 :]
                if (layout.content.number, layout.content.turns) == (here.number + 1, here.turns)
            ),
            page,
        )


def _shift(first: FoundTable, other: FoundTable) -> float | None:
    """Return how far the columns of another part are shifted to the right, None if they are not the table's.

    A part of few rows may leave columns empty.
    """
    old, new = first.grid.columns, other.grid.columns
    if len(new) < 2 or len(new) > len(old) or (len(new) < len(old) and len(other.grid.rows) > _FEW_ROWS):
        return None
    pairs = zip(old, new, strict=True) if len(old) == len(new) else ((a, b) for b in new for a in old)
    votes = Counter(
        round(shift)
        for (left, right), (x0, x1) in pairs
        for shift in {x0 - left, x1 - right, (x0 + x1 - left - right) / 2}
    )
    shift = float(max(votes, key=lambda key: (votes[key], -abs(key))))
    shift = 0.0 if abs(shift) <= 1 else shift
    homes = [_home(old, x0 - shift, x1 - shift) for x0, x1 in new]
    return shift if None not in homes and len(set(homes)) == len(homes) else None


def _home(columns: Sequence[tuple[float, float]], x0: float, x1: float) -> int | None:
    """Return the column that an interval overlaps most, None if it overlaps none."""
    shared = [min(x1, right) - max(x0, left) for left, right in columns]
    best = max(range(len(columns)), key=lambda index: shared[index])
    return best if shared[best] > 0 else None


def _without_repeated_header(region: TableRegion, first: TableRegion) -> TableRegion:
    """Return a further part without the rows that repeat the first part's header; it may have no words left."""
    rows, head = _rows(_without_notes(region)), _rows(_without_notes(first))
    repeated = 0
    while repeated < min(len(rows), len(head)) and _letters(rows[repeated]) == _letters(head[repeated]):
        repeated += 1
    rest = rows[repeated:]
    words = tuple(word for row in rest for word in row.words)
    top = rest[0].baseline - _HALF_LETTER * em_of(words) if rest else region.box.y1
    return replace(
        region,
        words=words,
        rules=tuple(y for y in region.rules if y > top),
        partial=tuple(rule for rule in region.partial if rule.y > top),
        fills=tuple(fill for fill in region.fills if fill.y1 > top),
    )


def _letters(row: PrintedRow) -> str:
    return "".join(word.text for word in row.words)


def _without_notes(region: TableRegion) -> TableRegion:
    """Return the region without rows that only note the continuation."""
    rows = [row for row in _rows(region) if not is_continuation_note(row.text)]
    return replace(region, words=tuple(word for row in rows for word in row.words))


def _rows(region: TableRegion) -> list[PrintedRow]:
    if not region.words:
        return []
    return printed_rows(region.words, em=em_of(region.words), verticals=region.verticals)


def _widest_pitch(rows: Sequence[PrintedRow]) -> float:
    return max((below.baseline - row.baseline for row, below in pairwise(rows)), default=0.0)


def _stacked(
    first: TablePart, more: Sequence[tuple[TablePart, TableRegion]]
) -> tuple[TableRegion, tuple[TablePart, ...]]:
    """Stack the parts of a table vertically, each with the region of it that is read.

    The rules that close a part at the foot of its page are left out. Return one region with all words and rules, and
    the parts with their positions in it.
    """
    regions, parts = [_without_notes(first.region)], [first]
    # A page never ends within a row, so the widest pitch separates parts.
    gap = _widest_pitch(_rows(regions[0])) or _USUAL_PITCH * em_of(regions[0].words)
    for part, body in more:
        last = max(word.baseline for word in regions[-1].words)
        dy = last + gap - min(word.baseline for word in body.words)
        regions[-1] = replace(regions[-1], rules=tuple(y for y in regions[-1].rules if y < last))
        regions.append(_moved(body, dx=part.dx, dy=dy))
        parts.append(replace(part, dy=dy, top=last + gap / 2))
    box = bounding_box(region.box for region in regions)._replace(y0=regions[0].box.y0, y1=regions[-1].box.y1)
    edges = runs_of(sorted(x for region in regions for x in region.verticals), joins=lambda run, x: x - run[0] <= 1)
    region = TableRegion(
        box=box,
        words=tuple(word for region in regions for word in region.words),
        rules=tuple(y for region in regions for y in region.rules),
        partial=tuple(rule for region in regions for rule in region.partial),
        verticals=tuple(run[0] for run in edges),
        fills=tuple(fill for region in regions for fill in region.fills),
        ruled=first.region.ruled,
    )
    return region, tuple(parts)


def _moved(region: TableRegion, *, dx: float, dy: float) -> TableRegion:
    def moved(box: Box) -> Box:
        return Box(box.x0 + dx, box.y0 + dy, box.x1 + dx, box.y1 + dy)

    return TableRegion(
        box=moved(region.box),
        words=tuple(
            replace(word, x0=word.x0 + dx, x1=word.x1 + dx, baseline=word.baseline + dy) for word in region.words
        ),
        rules=tuple(y + dy for y in region.rules),
        partial=tuple(HorizontalRule(rule.x0 + dx, rule.x1 + dx, rule.y + dy) for rule in region.partial),
        verticals=tuple(x + dx for x in region.verticals),
        fills=tuple(map(moved, region.fills)),
    )
