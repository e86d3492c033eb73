"""Classifies the rows of a table as headers, section titles or body, and reads headers of several levels."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import groupby, pairwise

from ingest.document.cell_values import is_annotation, is_value
from ingest.document.geometry import runs_of
from ingest.document.pages import HorizontalRule
from ingest.pdf.lines import Line, line_of
from ingest.pdf.pdf_words import Word
from ingest.pdf.tables.rotated_labels import is_rotated
from ingest.pdf.tables.row_breaks import has_room
from ingest.pdf.tables.table_columns import Columns, Strip, cut_at_strips, partition
from ingest.pdf.tables.table_values import GridCell, GridRow, Piece, PrintedRow, RowKind, TableRegion

__all__ = ["body_rows", "cut_titles", "grouped_header"]

# Points, or letter sizes; chosen on the development papers.
_SAME_HEIGHT = 2.0  # The largest distance, in points, between rules of one level.
_SAME_BASELINE = 0.06  # The largest difference in baseline between titles of one level.
_MAX_HEADER_ROWS = 5  # The most rows of a header without group rules.
_MAX_ROWS_ABOVE = 10  # More printed rows above the first inner rule are a part of the body.
_INDENT = 0.5  # The least indent of stubs below the title of their group.
_CENTRED = 4.0  # The tolerance of centring, in points.
_APART = 1.0  # The least distance of titles between which the columns part.
_TITLE_SPACE = 0.65  # The widest space in the title of a group: bold words are 0.4 apart, monospaced ones 0.6.
_STRIPE_HEIGHT = 3.0  # The largest height of the fill of a section title; a taller fill is a block of rows.
_SET_OFF = 0.6  # The least share of bold or italic letters in a section title.


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Title:
    """A text with the levels that it may fill, and the rule below it if it names a group."""

    text: Line
    top: int
    bottom: int
    rule: HorizontalRule | None


def grouped_header(
    rows: Sequence[PrintedRow], rules: Sequence[HorizontalRule], columns: Columns
) -> tuple[int, tuple[GridCell, ...]]:
    """Read a header whose group titles are underlined by rules.

    A text above a rule is the title of the columns that the rule covers; several titles over one rule share them. Any
    other text names its column, across all levels without a rule between them, or in the level of its baseline.

    Returns:
        The number of levels, and the header's cells.
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
        column = _column(title, columns)
        row, row_span = _levels(title, column, titles, columns)
        texts[row, column, row_span, 1].append(title.text)
    return len(heights) + 1, tuple(_cell(position, lines) for position, lines in sorted(texts.items()))


def cut_titles(
    rows: Sequence[PrintedRow], rules: Sequence[HorizontalRule], strips: Sequence[Strip], columns: Columns
) -> list[PrintedRow]:
    """Return the rows of a header cut into its titles.

    The words over one rule above the titles of its columns are the title of their group; others are cut at the strips.
    """
    words = [word for row in rows for word in row.words]
    groups = {
        rule
        for rule in rules
        if len(columns.within(rule.x0, rule.x1)) > 1
        and any(word.baseline > rule.y and _is_over(word, rule) for word in words)
    }
    cut: list[PrintedRow] = []
    for row in rows:
        last: HorizontalRule | None = None
        names: list[Line] = []
        titles: list[list[Word]] = []
        for segment in row.segments:
            over = [_rule_below(word, rules) for word in segment.words]
            if not groups.issuperset(over):
                names.append(segment)
                continue
            for rule, group in groupby(zip(over, segment.words, strict=True), key=lambda pair: pair[0]):
                run = [word for _, word in group]
                if last is rule and run[0].x0 - titles[-1][-1].x1 <= _TITLE_SPACE * columns.em:
                    titles[-1].extend(run)
                else:
                    titles.append(run)
                last = rule
        segments = [line_of(run) for run in titles]
        if names:
            segments.extend(cut_at_strips(replace(row, segments=tuple(names)), strips, columns, named=True).segments)
        cut.append(replace(row, segments=tuple(sorted(segments, key=lambda segment: segment.box.x0))))
    return cut


def _is_over(text: Word | Line, rule: HorizontalRule) -> bool:
    """Return whether the middle of a text is over or under a rule."""
    return rule.x0 - 2 <= text.center <= rule.x1 + 2


def _rule_below(text: Word | Line, rules: Sequence[HorizontalRule]) -> HorizontalRule | None:
    below = (rule for rule in rules if rule.y > text.baseline and _is_over(text, rule))
    return min(below, key=lambda rule: rule.y, default=None)


def _heights(rules: Sequence[HorizontalRule]) -> list[float]:
    runs = runs_of(sorted(rule.y for rule in rules), joins=lambda run, y: y - run[0] <= _SAME_HEIGHT)
    return [run[0] for run in runs]


def _title(text: Line, rules: Sequence[HorizontalRule], heights: Sequence[float]) -> _Title:
    below = _rule_below(text, rules)
    above = max((rule.y for rule in rules if _is_over(text, rule) and rule.y <= text.baseline), default=None)
    top = 0 if above is None else sum(height <= above for height in heights)
    bottom = len(heights) if below is None else sum(height <= below.y for height in heights) - 1
    return _Title(text=text, top=top, bottom=max(top, bottom), rule=below)


def _group_columns(titles: Sequence[_Title], columns: Columns) -> Mapping[Line, tuple[int, int]]:
    """Return the first and last column of each group's title; titles on one baseline share what their rule covers."""
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
        groups = _shares(texts, columns, first=covered[0], end=covered[-1] + 1)
        if len(texts) == 1 or not groups:
            groups = [(covered[0], covered[-1])] * len(texts)
        spans.update(zip(texts, groups, strict=True))
    return spans


def _shares(titles: Sequence[Line], columns: Columns, *, first: int, end: int) -> list[tuple[int, int]] | None:
    """Return the first and last column of each title, None if they are not certain.

    One strip between columns is between two titles, or else the titles are centred over their columns, or their groups
    are equally large.
    """
    bounds = [
        [column for column in range(first + 1, end) if left.box.x1 < columns.edge(column) < right.box.x0]
        for left, right in pairwise(titles)
    ]
    size, rest = divmod(end - first, len(titles))
    equal = [first + size * count for count in range(1, len(titles))]
    apart = all(right.box.x0 - left.box.x1 > _APART * columns.em for left, right in pairwise(titles))
    if apart and all(len(between) == 1 for between in bounds):
        starts = [between[0] for between in bounds]
    elif groups := partition([title.center for title in titles], columns, first=first, end=end):
        return groups
    elif not rest and all(start in between for start, between in zip(equal, bounds, strict=True)):
        starts = equal
    else:
        return None
    return [(start, stop - 1) for start, stop in pairwise([first, *starts, end])]


def _column(title: _Title, columns: Columns) -> int:
    return columns.nearest(title.text.box.x0, title.text.box.x1)


def _levels(title: _Title, column: int, titles: Sequence[_Title], columns: Columns) -> tuple[int, int]:
    """Return the row and the row span of a column's name."""
    lines = [
        other
        for other in titles
        if (other.top, other.bottom) == (title.top, title.bottom) and _column(other, columns) == column
    ]
    levels = [
        {
            other.top
            for other in titles
            if abs(other.text.baseline - line.text.baseline) < _SAME_BASELINE * line.text.size
            and title.top <= other.top == other.bottom <= title.bottom
        }
        for line in lines
    ]
    if title.top < title.bottom and (shared := set.intersection(*levels)):
        return min(shared), 1
    return title.top, title.bottom - title.top + 1


def _cell(position: tuple[int, int, int, int], lines: Sequence[Line]) -> GridCell:
    row, column, row_span, column_span = position
    pieces = [Piece(first=column, last=column, lines=(line,)) for line in lines]
    lines = reduce(lambda above, piece: piece.under(above), pieces).lines
    return GridCell(
        row=row, column=column, row_span=row_span, column_span=column_span, lines=lines, role="column_header"
    )


def body_rows(rows: Sequence[PrintedRow], columns: Columns, region: TableRegion, *, headed: bool) -> list[GridRow]:
    """Return a `GridRow` for each printed row, or for each one below a grouped header (`headed`)."""
    drafted: list[GridRow] = []
    rows_in = Counter(region.zone(row.baseline) for row in rows)
    for row in rows:
        alone = bool(region.inner_rules) and rows_in[region.zone(row.baseline)] == 1
        wraps = bool(drafted) and region.zone(row.baseline) == 0 and _wraps_title(drafted[-1], row, columns, region)
        section = not wraps and _is_section(row, columns, region, alone=alone)
        whole = Piece(first=0, last=len(columns) - 1, lines=row.segments)
        pieces = (whole,) if section else _pieces(row, columns)
        kind: RowKind = "section" if section else "body"
        drafted.append(GridRow(kind=kind, top=row.baseline, bottom=row.baseline, pieces=pieces))
    drafted = [
        replace(row, kind="section") if below and _is_group_title(row, below, columns) else row
        for row, below in zip(drafted, [*drafted[1:], None], strict=True)
    ]
    heads = set() if headed else _first_headers(drafted, region)
    header_texts = {_texts(drafted[index]) for index in heads}
    # A header that is printed again in the middle of the table is a header, too.
    heads |= {index for index, row in enumerate(drafted) if row.kind == "body" and _texts(row) in header_texts}
    return [
        _as_header(row, columns, last=index + 1 not in heads) if index in heads else row
        for index, row in enumerate(drafted)
    ]


def _pieces(row: PrintedRow, columns: Columns) -> tuple[Piece, ...]:
    """Return a row's segments in their columns; a run of values that was read as one segment is cut at the columns."""
    pieces: list[Piece] = []
    for segment in row.segments:
        first, last = columns.span(segment.box.x0, segment.box.x1)
        if last > first and is_value(segment.text) and (home := columns.holding(segment.box.x0, segment.box.x1)):
            first = last = home
        homes = [columns.span(word.x0, word.x1)[0] for word in segment.words]
        placed = list(zip(segment.words, homes, strict=True))
        if last > first and len(set(homes)) > 1 and all(is_value(word.text) for word, home in placed if home > 0):
            for home in sorted(set(homes)):
                line = line_of(word for word, at in placed if at == home)
                _put(pieces, Piece(first=home, last=home, lines=(line,)))
        else:
            _put(pieces, Piece(first=first, last=last, lines=(segment,)))
    return tuple(pieces)


def _put(pieces: list[Piece], piece: Piece) -> None:
    if pieces and pieces[-1].last >= piece.first:
        pieces[-1] = piece.under(pieces[-1])
    else:
        pieces.append(piece)


def _wraps_title(above: GridRow, row: PrintedRow, columns: Columns, region: TableRegion) -> bool:
    """Return whether a row continues the title of the first column, above the rule of the header."""
    title = above.stub
    if not region.inner_rules or len(row.segments) != 1 or title is None or above.kind == "section":
        return False
    below = Piece(first=0, last=0, lines=row.segments)
    box = row.segments[0].box
    return columns.span(box.x0, box.x1) == (0, 0) and title.last == 0 and not has_room(title, below, columns)


def _is_group_title(row: GridRow, below: GridRow, columns: Columns) -> bool:
    """Return whether a row that consists of a stub is above a row whose stub is indented."""
    title, stub = row.stub, below.stub
    if row.kind != "body" or len(row.pieces) != 1 or len(below.pieces) < 2 or title is None or stub is None:
        return False
    return not is_rotated(title.lines[0]) and stub.box.x0 - title.box.x0 > _INDENT * columns.em


def _texts(row: GridRow) -> tuple[str, ...]:
    return tuple(piece.text for piece in row.pieces)


def _is_section(row: PrintedRow, columns: Columns, region: TableRegion, *, alone: bool) -> bool:
    """Return whether a row has one text that is not a cell: in a filled stripe, alone between rules, centred, set off
    by its font, or a unit in parentheses over all columns of values."""
    if len(row.segments) != 1 or len(columns) < 2 or is_rotated(row.segments[0]):
        return False
    segment, box = row.segments[0], region.box
    if any(
        fill.x0 <= box.x0 + _CENTRED
        and fill.x1 >= box.x1 - _CENTRED
        and fill.y0 < segment.middle < fill.y1 < fill.y0 + _STRIPE_HEIGHT * segment.size
        for fill in region.fills
    ):
        return True
    first, last = columns.span(segment.box.x0, segment.box.x1)
    centred = abs(segment.center - box.center) < _CENTRED and len(columns) > 2
    left, right = columns.intervals[first]
    if centred and abs(segment.center - (left + right) / 2) > _CENTRED and segment.box.x0 - left > _CENTRED:
        return True
    if is_value(segment.text) or first == len(columns) - 1:
        return False
    parenthesized = segment.text[0] + segment.text[-1] == "()" and not is_annotation(segment.text)
    if parenthesized and abs(segment.center - columns.center(1, len(columns) - 1)) < _CENTRED:
        return True
    set_off = segment.bold > _SET_OFF or segment.italic > _SET_OFF or alone
    return set_off or last > first if centred else first == 0 and set_off


def _first_headers(rows: Sequence[GridRow], region: TableRegion) -> set[int]:
    """Return the header rows at the top: those above the first inner rule, or the first row without one.

    Of a header in two rows, only one of which has the stub's title, both count, even with a rule between them.
    """
    plain = [index for index, row in enumerate(rows) if row.kind != "section"]
    if not plain:
        return set()
    first = plain[0]
    zone = region.zone(rows[first].top)
    above = sum(region.zone(rows[index].top) == zone for index in plain)
    ruled = zone < len(region.inner_rules) and above <= _MAX_ROWS_ABOVE
    heads = [first]
    for index in plain[1:_MAX_HEADER_ROWS]:
        row = rows[index]
        same_zone = ruled and region.zone(row.top) == zone
        values = any(is_value(piece.text) for piece in row.pieces if piece.first > 0)
        if index != heads[-1] + 1 or (values and not (same_zone and row.stub is None)):
            break
        stubbed = any(rows[head].stub for head in heads)
        if not same_zone and (len(row.pieces) < 2 or bool(row.stub) == stubbed):
            break
        heads.append(index)
    return set(heads)


def _as_header(row: GridRow, columns: Columns, *, last: bool) -> GridRow:
    """Return a header row; its centred titles span the columns if another header row is below it."""
    pieces = row.pieces
    if not last and 2 <= len(pieces) < len(columns) - 1:
        stub = pieces[0].box.x0 < columns.intervals[0][1]
        titles = pieces[1:] if stub else pieces
        groups = partition([piece.box.center for piece in titles], columns, first=1)
        if groups:
            shared = [
                Piece(first=first, last=end, lines=piece.lines)
                for piece, (first, end) in zip(titles, groups, strict=True)
            ]
            pieces = (*(pieces[:1] if stub else ()), *shared)
    return GridRow(kind="header", top=row.top, bottom=row.bottom, pieces=tuple(pieces))
