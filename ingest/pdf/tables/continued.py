"""Tables that are continued in the next column or on the next page: all their parts are one table."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ingest.document.captions import is_continuation_note
from ingest.document.pages import HorizontalRule
from ingest.pdf.captions import Caption
from ingest.pdf.furniture import find_furniture
from ingest.pdf.layout import PageLayout
from ingest.pdf.lines import Line
from ingest.pdf.tables.columns import Columns
from ingest.pdf.tables.grid import FoundTable, TablePart, TableRegion, read_grid
from ingest.pdf.tables.regions import RuleStack, region_of_run, ruled_region, run_of_rows
from ingest.pdf.tables.rows import PrintedRow, em_of, printed_rows, with_currency
from paperscope_core.types import Box

__all__ = ["body_of", "stack_parts", "with_further_parts", "with_open_end"]


_PITCH = 1.6
_LEAST_PITCH = 1.6
_BESIDE = 6.0


def with_open_end(table: FoundTable, below: Sequence[Line], *, note: float) -> FoundTable:
    """The table with the rows under its last rule, if they stand in its columns and only notes follow them.

    `below` are the lines under the table in its column of the page, `note` is the largest size of a note's letters.
    """
    part = table.parts[-1]
    words = [word for line in below for word in line.words]
    if not words or not part.region.ruled or len(table.grid.columns) < 2:
        return table
    em = em_of(part.region.words)
    columns = Columns(intervals=tuple(table.grid.columns), em=em)
    rows = printed_rows(part.region.words, em=em, verticals=part.region.verticals)
    pitch = max((after.baseline - row.baseline for row, after in pairwise(rows)), default=0.0)
    limit = _PITCH * max(pitch, _LEAST_PITCH * em)
    added = 0
    last = rows[-1].baseline
    under = printed_rows(with_currency(words), em=em, verticals=part.region.verticals)
    while added < len(under) and under[added].baseline - last < limit and _fits(under[added], columns, box=part.box):
        last = under[added].baseline
        added += 1
    inside = {line for line in below if line.baseline < last + 0.3 * em}
    full = sum(len(row.segments) == len(columns) for row in under[:added])
    if 2 * full < added or not added or any(line not in inside and line.size > note for line in below):
        return table
    box = Box(part.box.x0, part.box.y0, part.box.x1, max(line.box.y1 for line in inside))
    more = tuple(word for line in below if line in inside for word in line.words)
    region = replace(part.region, box=box, words=part.region.words + more)
    whole = replace(part, region=region, lines=part.lines | inside)
    return replace(table, parts=(*table.parts[:-1], whole), grid=read_grid(region))


def _fits(row: PrintedRow, columns: Columns, *, box: Box) -> bool:
    """Whether each text of a row stands in one column of its own, within the table's ends."""
    if row.box.x0 < box.x0 - _BESIDE or row.box.x1 > box.x1 + _BESIDE:
        return False
    spans = [columns.span(segment.box.x0, segment.box.x1) for segment in row.segments]
    homes = [first for first, last in spans if first == last]
    return len(set(homes)) == len(spans) and (len(spans) > 1 or homes[0] > 0)


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


def stack_parts(
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


_SAME_WIDTH = 6.0
_NOTE_SIZE = 0.95
_FEW = 3
_NEAR = 40.0

Intervals = Sequence[tuple[float, float]]


def with_further_parts(
    tables: Sequence[FoundTable],
    layouts: Sequence[PageLayout],
    *,
    captions: Sequence[Sequence[Caption]],
    stacks: Sequence[Sequence[RuleStack]],
) -> list[FoundTable]:
    """The tables, each with all its parts; `stacks` are those that no table has yet, page by page."""
    return _PartJoiner(tables, layouts, captions=captions, stacks=stacks).joined()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Spot:
    """Where a part may stand: a page (its index from 0) and a band of x."""

    page: int
    left: float
    right: float


class _PartJoiner:
    def __init__(
        self,
        tables: Sequence[FoundTable],
        layouts: Sequence[PageLayout],
        *,
        captions: Sequence[Sequence[Caption]],
        stacks: Sequence[Sequence[RuleStack]],
    ) -> None:
        self._layouts = layouts
        self._stacks = stacks
        self._taken = {line for table in tables for line in table.lines}
        self._taken |= {line for page in captions for caption in page for line in caption.lines}
        free = [[line for line in layout.lines if line not in self._taken] for layout in layouts]
        self._furniture = find_furniture(layouts, free)
        sizes = Counter(round(line.size, 1) for layout in layouts for line in layout.lines for _ in line.words)
        self._size = max(sizes, key=lambda size: sizes[size], default=0.0)
        self._tables = [
            with_open_end(table, self._below(table.parts[-1]), note=_NOTE_SIZE * self._size) for table in tables
        ]
        self._taken |= {line for table in self._tables for line in table.lines}

    def joined(self) -> list[FoundTable]:
        """The tables in their order; one that continues another is gone."""
        joined: list[FoundTable] = []
        gone: set[int] = set()
        for index, table in enumerate(self._tables):
            if index not in gone:
                parts = [table]
                while (after := self._named(parts, gone)) is not None or (after := self._unnamed(parts)) is not None:
                    parts.append(after)
                joined.append(self._one(parts) if len(parts) > 1 else table)
        return joined

    def _named(self, parts: Sequence[FoundTable], gone: set[int]) -> FoundTable | None:
        """The next table of the same label, if it says that it goes on or has the same caption and columns."""
        first, last = parts[0], parts[-1].parts[-1]
        for index, other in enumerate(self._tables):
            if index in gone or other in parts or other.page < first.page or other.caption.label != first.caption.label:
                continue
            follows = last.page <= other.page <= self._next_page(last.page)
            same = other.caption.text == first.caption.text and _shift(first, other) is not None
            if follows and (other.caption.continues or same):
                gone.add(index)
                return other
        return None

    def _unnamed(self, parts: Sequence[FoundTable]) -> FoundTable | None:
        """What stands first in the next column or on the next page, if it is the same columns going on."""
        last = parts[-1].parts[-1]
        spot = self._next_spot(last)
        if spot is None or not self._ends(last):
            return None
        lines = [line for line in self._band(spot) if line not in self._furniture[spot.page]]
        first = next((line for line in lines if not is_continuation_note(line.text)), None)
        if first is None or first in self._taken:
            return None
        layout = self._layouts[spot.page]
        for region in self._regions(spot, first, width=last.box.x1 - last.box.x0):
            if not region.words:
                continue
            part = TablePart(page=spot.page, region=region, lines=layout.lines_with(region.words))
            found = FoundTable(captions=(parts[0].caption,), parts=(part,), grid=read_grid(region))
            body = body_of(region, parts[0].parts[0].region)
            likely = region.ruled or len(body.words) < len(region.words) or len(found.grid.rows) >= _FEW
            if likely and body.words and _shift(parts[0], found) is not None:
                self._taken |= part.lines
                return found
        return None

    def _regions(self, spot: _Spot, first: Line, *, width: float) -> Iterator[TableRegion]:
        """What may be a part that begins with a line: between rules as wide as the table's, or a run of rows."""
        layout = self._layouts[spot.page]
        for stack in self._stacks[spot.page]:
            inside = stack.ys[0] - 2 < first.baseline < stack.ys[-1] and stack.x0 - 3 < first.center < stack.x1 + 3
            if inside and abs(stack.x1 - stack.x0 - width) < _SAME_WIDTH:
                yield ruled_region(layout, stack)
        run = run_of_rows(layout, edge=first.box.y0, band=(spot.left, spot.right), place="below", taken=self._taken)
        if run and (read := region_of_run(layout, run)) is not None:
            yield read[0]

    def _ends(self, part: TablePart) -> bool:
        """Whether nothing but notes stands below a part in its column."""
        return not any(line.size > _NOTE_SIZE * self._size for line in self._below(part))

    def _below(self, part: TablePart) -> list[Line]:
        """What stands below a part in its column, without furniture and notes that the table goes on."""
        return [
            line
            for line in self._band(self._spot(part))
            if line.baseline - 0.3 * line.size > part.box.y1 + 1
            and line not in part.lines
            and line not in self._furniture[part.page]
            and not is_continuation_note(line.text)
        ]

    def _one(self, parts: Sequence[FoundTable]) -> FoundTable:
        """One table of all parts, read as if they stood below each other."""
        first, *others = [self._with_notes(found.parts[0]) for found in parts]
        more = []
        for found, part in zip(parts[1:], others, strict=True):
            body = body_of(part.region, first.region)
            if body.words:
                more.append((replace(part, dx=-(_shift(parts[0], found) or 0.0)), body))
        sheet, placed = stack_parts(first, more)
        captions = tuple(dict.fromkeys(caption for found in parts for caption in found.captions))
        return FoundTable(captions=captions, parts=placed, grid=read_grid(sheet))

    def _with_notes(self, part: TablePart) -> TablePart:
        """The part with the lines around it that say only that the table goes on."""
        notes = {
            line
            for line in self._band(self._spot(part))
            if part.box.y0 - _NEAR < line.baseline < part.box.y1 + _NEAR and is_continuation_note(line.text)
        }
        return replace(part, lines=part.lines | notes)

    def _spot(self, part: TablePart) -> _Spot:
        layout = self._layouts[part.page]
        edges = (0.0, *layout.gutters, layout.content.width)
        columns = [
            (left, right) for left, right in pairwise(edges) if min(right, part.box.x1) - max(left, part.box.x0) > 15
        ]
        return _Spot(page=part.page, left=columns[0][0], right=columns[-1][1])

    def _next_spot(self, part: TablePart) -> _Spot | None:
        """The column right of a part's, or the same place on the next page."""
        layout, here = self._layouts[part.page], self._spot(part)
        edges = (0.0, *layout.gutters, layout.content.width)
        if here.right < edges[-1] and here.right - here.left < 0.9 * layout.content.width:
            return _Spot(page=part.page, left=here.right, right=edges[edges.index(here.right) + 1])
        page = self._next_page(part.page)
        if page == part.page:
            return None
        after = self._layouts[page]
        wide = here.right - here.left > 0.9 * layout.content.width
        edges = (0.0, *after.gutters, after.content.width)
        return _Spot(page=page, left=0.0, right=edges[-1] if wide else edges[1])

    def _next_page(self, page: int) -> int:
        """The index of the next page as it is held for reading in the same way, or the same index at the end."""
        here = self._layouts[page].content
        for index in range(page + 1, len(self._layouts)):
            content = self._layouts[index].content
            if content.number == here.number + 1 and content.turns == here.turns:
                return index
            if content.number > here.number + 1:
                break
        return page

    def _band(self, spot: _Spot) -> list[Line]:
        return [line for line in self._layouts[spot.page].lines if spot.left <= line.center <= spot.right]


def _shift(first: FoundTable, other: FoundTable) -> float | None:
    """How far right the columns of a table stand of another part's, None if they are not the same columns.

    A part of few rows may leave columns empty.
    """
    old, new = first.grid.columns, other.grid.columns
    if len(new) < 2 or len(new) > len(old) or (len(new) < len(old) and len(other.grid.rows) > _FEW):
        return None
    votes = Counter(
        round(shift)
        for (left, right), (x0, x1) in (
            zip(old, new, strict=True) if len(old) == len(new) else ((a, b) for b in new for a in old)
        )
        for shift in {x0 - left, x1 - right, (x0 + x1 - left - right) / 2}
    )
    shift = float(max(votes, key=lambda key: (votes[key], -abs(key))))
    shift = 0.0 if abs(shift) <= 1 else shift
    homes = [_home(old, x0 - shift, x1 - shift) for x0, x1 in new]
    return shift if None not in homes and len(set(homes)) == len(homes) else None


def _home(columns: Intervals, x0: float, x1: float) -> int | None:
    shared = [min(x1, right) - max(x0, left) for left, right in columns]
    best = max(range(len(columns)), key=lambda index: shared[index])
    return best if shared[best] > 0 else None
