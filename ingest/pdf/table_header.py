"""Headers of several levels, told by the partial rules under their group titles."""

from collections import defaultdict
from collections.abc import Sequence

from ingest.pdf.backend import HorizontalRule
from ingest.pdf.lines import Line
from ingest.pdf.table_columns import Columns
from ingest.pdf.table_parts import GridCell, Piece
from ingest.pdf.table_rows import PrintedRow

__all__ = ["grouped_header"]


def grouped_header(
    rows: Sequence[PrintedRow], rules: Sequence[HorizontalRule], columns: Columns
) -> tuple[int, tuple[GridCell, ...]]:
    """The number of levels and the header's cells.

    A text above a rule is the title of the columns that the rule covers; one below all its rules names a column of
    the last level; one without a rule names its column over all levels.
    """
    levels = len({round(rule.y) for rule in rules}) + 1
    texts: dict[tuple[int, int, int, int], list[Line]] = defaultdict(list)
    for segment in (segment for row in rows for segment in row.segments):
        texts[_position(segment, rules, columns, levels=levels)].append(segment)
    cells = []
    for (row, column, row_span, column_span), lines in sorted(texts.items()):
        piece = Piece(first=column, last=column, lines=(lines[0],))
        for line in lines[1:]:
            piece = Piece(first=column, last=column, lines=(line,)).under(piece)
        cells.append(
            GridCell(
                row=row,
                column=column,
                row_span=row_span,
                column_span=column_span,
                lines=piece.lines,
                role="column_header",
            )
        )
    return levels, tuple(cells)


def _position(
    segment: Line, rules: Sequence[HorizontalRule], columns: Columns, *, levels: int
) -> tuple[int, int, int, int]:
    """(row, column, row span, column span) of a header's text."""
    over = sorted((rule for rule in rules if rule.x0 - 2 <= segment.center <= rule.x1 + 2), key=lambda rule: rule.y)
    column = columns.span(segment.box.x0, segment.box.x1)[0]
    if not over:
        return 0, column, levels, 1
    level = sum(segment.baseline > rule.y for rule in over)
    covered = columns.within(over[level].x0, over[level].x1) if level < len(over) else []
    if covered:
        return level, covered[0], 1, len(covered)
    return levels - 1, column, 1, 1
