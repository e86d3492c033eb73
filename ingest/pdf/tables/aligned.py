"""Aligned rows of values among the lines of a page, with the titles above them and the rules and fills behind."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ingest.pdf.backend import HorizontalRule
from ingest.pdf.page.layout import PageLayout
from ingest.pdf.page.lines import Line, bounds
from ingest.pdf.tables.grid import TableRegion
from ingest.pdf.tables.rows import PrintedRow, em_of, is_value, printed_rows
from paperscope.types import Box

__all__ = ["aligned_regions"]

_PITCH = 2.5
_LEAST_ROWS = 3
_MOST_WORDS = 5000
_MOST_TITLES = 5
_OVERHANG = 3.0
_VALUES = 0.7
_TOUCH = 4.0
_LEAST_RULES = 2
_HALF = 0.5


def aligned_regions(layout: PageLayout, free: Sequence[Line]) -> Iterator[TableRegion]:
    """The blocks of at least three rows of values that rules or fills set off, or that are a full grid with titles.

    Text of more words than a page can show is left alone: its rows take too long to tell.
    """
    columns: dict[int, list[Line]] = defaultdict(list)
    for line in free:
        columns[layout.column(line)].append(line)
    for lines in columns.values():
        words = [word for line in lines for word in line.words]
        if sum(is_value(word.text) for word in words) < _LEAST_ROWS or len(words) > _MOST_WORDS:
            continue
        rows = printed_rows(words, em=em_of(words), verticals=())
        for start, end in _blocks(rows, em=em_of(words)):
            block = rows[_head(rows, start, end, em=em_of(words)) : end]
            region = _region(layout, block, body=rows[start:end])
            if region is not None:
                yield region


def _blocks(rows: Sequence[PrintedRow], *, em: float) -> Iterator[tuple[int, int]]:
    """Start and end of each run of rows of values; a title of one text may stand between two of them."""
    start = 0
    while start < len(rows):
        end = start
        while end < len(rows) and _is_valued(rows[end]) and (end == start or _follows(rows[end - 1], rows[end], em=em)):
            end += 1
            if end + 1 < len(rows) and _is_title(rows[end - 1 : end + 2], em=em):
                end += 1
        if end - start >= _LEAST_ROWS:
            yield start, end
        start = max(end, start + 1)


def _is_valued(row: PrintedRow) -> bool:
    """Whether values follow the first text of a row."""
    values = [segment for segment in row.segments[1:] if is_value(segment.text) or segment.text in "$€£"]
    return any(is_value(segment.text) for segment in values) and len(values) >= _VALUES * (len(row.segments) - 1)


def _is_title(rows: Sequence[PrintedRow], *, em: float) -> bool:
    above, row, below = rows
    return (
        len(row.segments) == 1
        and _is_valued(below)
        and _follows(above, row, em=em)
        and _follows(row, below, em=em)
        and row.box.x1 < below.segments[1].box.x0
    )


def _follows(above: PrintedRow, row: PrintedRow, *, em: float) -> bool:
    return row.baseline - above.baseline < _PITCH * em


def _head(rows: Sequence[PrintedRow], start: int, end: int, *, em: float) -> int:
    """Where the titles above a block begin: texts over its columns of values, or several texts in a row."""
    box = bounds(row.box for row in rows[start:end])
    left = min(row.segments[1].box.x0 for row in rows[start:end] if len(row.segments) > 1)
    first = start
    while first > 0 and start - first < _MOST_TITLES and _follows(rows[first - 1], rows[first], em=em):
        above = rows[first - 1]
        inside = above.box.x0 > box.x0 - _TOUCH and above.box.x1 < box.x1 + _OVERHANG * em
        if not inside or (len(above.segments) == 1 and above.box.x0 < left - 2 * em):
            break
        first -= 1
    return first


def _region(layout: PageLayout, block: Sequence[PrintedRow], *, body: Sequence[PrintedRow]) -> TableRegion | None:
    """The region of a block, None where no rules or fills set it off and its rows are no full grid under titles."""
    words = tuple(word for row in block for segment in row.segments for word in segment.words)
    ink = bounds(row.box for row in block)
    box = Box(ink.x0, ink.y0 - _TOUCH, ink.x1, ink.y1 + _TOUCH)
    rules = _joined([rule for rule in layout.content.horizontal if _lies_in(rule, box)])
    left = min(row.segments[1].box.x0 for row in body if len(row.segments) > 1)
    full = [rule for rule in rules if rule.x0 < left + _TOUCH and rule.x1 > ink.x1 - _TOUCH]
    fills = tuple(fill for fill in layout.content.fills if fill.y1 > box.y0 and fill.y0 < box.y1)
    set_off = len(full) >= _LEAST_RULES or _shaded(fills, body, width=ink.x1 - ink.x0)
    if not set_off and not (len(block) > len(body) and _is_plain_grid(body)):
        return None
    first = body[0].box.y0
    foot = max((rule.y for rule in full if rule.y < first + 1), default=None)
    inner = tuple(rule.y for rule in full if foot is None or rule.y >= foot)
    return TableRegion(
        box=box,
        words=words,
        rules=(box.y0, *inner, box.y1),
        partial=tuple(rule for rule in rules if rule.y not in inner),
        fills=fills,
        ruled=False,
    )


def _is_plain_grid(rows: Sequence[PrintedRow]) -> bool:
    """Whether each row is a name at the left edge and the same number of values, two or more."""
    stubs = [row.segments[0] for row in rows]
    widths = {len(row.segments) for row in rows}
    return (
        len(rows) > _LEAST_ROWS
        and len(widths) == 1
        and min(widths) > 2
        and max(stub.box.x0 for stub in stubs) - min(stub.box.x0 for stub in stubs) < 1
        and all(any(letter.isalpha() for letter in stub.text) and stub.math < _HALF for stub in stubs)
    )


def _lies_in(rule: HorizontalRule, box: Box) -> bool:
    return box.y0 <= rule.y <= box.y1 and box.x0 - _TOUCH <= rule.x0 and rule.x1 <= box.x1 + 3 * _TOUCH


def _joined(rules: Sequence[HorizontalRule]) -> list[HorizontalRule]:
    """Rules at one height, end to end, as one."""
    joined: list[HorizontalRule] = []
    for rule in sorted(rules, key=lambda rule: (round(rule.y), rule.x0)):
        last = joined[-1] if joined else None
        if last and abs(rule.y - last.y) < 1 and rule.x0 - last.x1 < _TOUCH + 1:
            joined[-1] = HorizontalRule(last.x0, max(last.x1, rule.x1), last.y)
        else:
            joined.append(rule)
    return joined


def _shaded(fills: Sequence[Box], rows: Sequence[PrintedRow], *, width: float) -> bool:
    """Whether fills lie behind most of the width of some rows and not of others."""
    behind = [
        sum(fill.x1 - fill.x0 for fill in fills if fill.y0 < row.baseline - 1 < fill.y1) > _HALF * width for row in rows
    ]
    return any(first != second for first, second in pairwise(behind))
