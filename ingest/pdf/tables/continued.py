"""Tables that go on in the next column or on the next page: all their parts are one table."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ingest.pdf.captions import Caption
from ingest.pdf.page.furniture import furniture_of
from ingest.pdf.page.layout import PageLayout
from ingest.pdf.page.lines import Line
from ingest.pdf.tables.borderless import region_of_run, run_of_rows
from ingest.pdf.tables.found import FoundTable, TablePart
from ingest.pdf.tables.grid import TableRegion, read_grid
from ingest.pdf.tables.notes import is_continuation_note
from ingest.pdf.tables.open_end import with_open_end
from ingest.pdf.tables.regions import RuleStack
from ingest.pdf.tables.ruled import ruled_region
from ingest.pdf.tables.sheet import body_of, on_one_sheet

__all__ = ["with_further_parts"]

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
    return _Joining(tables, layouts, captions=captions, stacks=stacks).joined()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Spot:
    """Where a part may stand: a page (its index from 0) and a band of x."""

    page: int
    left: float
    right: float


class _Joining:
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
        self._furniture = furniture_of(layouts, free)
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
        sheet, placed = on_one_sheet(first, more)
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
