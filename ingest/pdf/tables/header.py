"""Headers of several levels, told by the partial rules under their group titles."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ingest.pdf.backend import HorizontalRule
from ingest.pdf.page.lines import Line
from ingest.pdf.tables.columns import Columns, partition
from ingest.pdf.tables.parts import GridCell, Piece
from ingest.pdf.tables.rows import PrintedRow

__all__ = ["grouped_header"]

_SAME_HEIGHT = 2.0
_SAME_BASELINE = 0.06


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Title:
    """A text with the levels it may fill, and the rule under it if it names a group."""

    text: Line
    top: int
    bottom: int
    rule: HorizontalRule | None


def grouped_header(
    rows: Sequence[PrintedRow], rules: Sequence[HorizontalRule], columns: Columns
) -> tuple[int, tuple[GridCell, ...]]:
    """The number of levels and the header's cells.

    A text above a rule is the title of the columns that the rule covers, which the titles over one rule share out. Any
    other text names its column: over all levels that no rule parts, or in the level on whose baseline it is printed.
    """
    heights = _heights(rules)
    titles = [_title(segment, rules, heights) for row in rows for segment in row.segments]
    texts: dict[tuple[int, int, int, int], list[Line]] = defaultdict(list)
    spans = _group_columns(titles, columns)
    for title in titles:
        if title.text in spans:
            first, last = spans[title.text]
            texts[title.top, first, title.bottom - title.top + 1, last - first + 1].append(title.text)
            continue
        column = columns.nearest(title.text.box.x0, title.text.box.x1)
        row, row_span = _levels(title, column, titles, columns)
        texts[row, column, row_span, 1].append(title.text)
    cells = [_cell(position, lines) for position, lines in sorted(texts.items())]
    return len(heights) + 1, tuple(cells)


def _heights(rules: Sequence[HorizontalRule]) -> list[float]:
    heights: list[float] = []
    for rule in sorted(rules, key=lambda rule: rule.y):
        if not heights or rule.y - heights[-1] > _SAME_HEIGHT:
            heights.append(rule.y)
    return heights


def _title(text: Line, rules: Sequence[HorizontalRule], heights: Sequence[float]) -> _Title:
    over = [rule for rule in rules if rule.x0 - 2 <= text.center <= rule.x1 + 2]
    below = min((rule for rule in over if rule.y > text.baseline), key=lambda rule: rule.y, default=None)
    above = max((rule.y for rule in over if rule.y <= text.baseline), default=None)
    top = 0 if above is None else sum(height <= above for height in heights)
    bottom = len(heights) if below is None else sum(height <= below.y for height in heights) - 1
    return _Title(text=text, top=top, bottom=max(top, bottom), rule=below)


def _group_columns(titles: Sequence[_Title], columns: Columns) -> Mapping[Line, tuple[int, int]]:
    """The first and last column of each group's title; titles of one baseline share what their rule covers."""
    spans: dict[Line, tuple[int, int]] = {}
    shared: dict[tuple[HorizontalRule, int], list[Line]] = defaultdict(list)
    for title in titles:
        if title.rule:
            shared[title.rule, round(title.text.baseline)].append(title.text)
    for (rule, _), unsorted in shared.items():
        covered = columns.within(rule.x0, rule.x1)
        if not covered:
            continue
        texts = sorted(unsorted, key=lambda text: text.center)
        groups = partition([text.center for text in texts], columns, first=covered[0], end=covered[-1] + 1)
        if len(texts) == 1 or not groups:
            groups = [(covered[0], covered[-1])] * len(texts)
        spans.update(zip(texts, groups, strict=True))
    return spans


def _levels(title: _Title, column: int, titles: Sequence[_Title], columns: Columns) -> tuple[int, int]:
    """The row and the row span of a column's name."""
    alike = [
        other
        for other in titles
        if other is not title
        and abs(other.text.baseline - title.text.baseline) < _SAME_BASELINE * title.text.size
        and other.top == other.bottom
        and title.top <= other.top <= title.bottom
    ]
    lines = [
        other
        for other in titles
        if (other.top, other.bottom) == (title.top, title.bottom)
        and columns.nearest(other.text.box.x0, other.text.box.x1) == column
    ]
    if alike and len(lines) == 1:
        return alike[0].top, 1
    return title.top, title.bottom - title.top + 1


def _cell(position: tuple[int, int, int, int], lines: Sequence[Line]) -> GridCell:
    row, column, row_span, column_span = position
    piece = Piece(first=column, last=column, lines=(lines[0],))
    for line in lines[1:]:
        piece = Piece(first=column, last=column, lines=(line,)).under(piece)
    return GridCell(
        row=row,
        column=column,
        row_span=row_span,
        column_span=column_span,
        lines=piece.lines,
        role="column_header",
    )
