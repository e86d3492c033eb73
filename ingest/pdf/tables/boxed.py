"""Reads a box of text that is captioned as a table, such as a prompt or an example: a column of paragraphs."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from ingest.document.geometry import bounding_box, runs_of
from ingest.pdf.frames import Frame, FramedFloat
from ingest.pdf.layout import PageLayout
from ingest.pdf.lines import Line, line_of
from ingest.pdf.tables.model import FoundTable, Grid, GridCell, TablePart, TableRegion
from ingest.pdf.tables.rows import PrintedRow, em_of, printed_rows

__all__ = ["boxed_table"]

_CONFIDENCE = 0.2  # As of any other grid of one column.
_PITCH = 1.25  # Usual pitches; a larger one separates paragraphs.
_ROW_SHIFT = 0.4  # The largest difference in baseline between parts of one row, in letter sizes.
_SPLIT_SHARE = 0.35  # The largest share of rows of several parts in running text.
_SPACE = 0.25  # The width of a space in letter sizes.
_INSET = 2.0  # Points; vertical rules further inside a frame separate columns.


def boxed_table(framed: FramedFloat, layouts: Sequence[PageLayout]) -> FoundTable | None:
    """Returns a table of one column, None if the frames have columns and so are a table with an outline."""
    parts: list[TablePart] = []
    cells: list[GridCell] = []
    dy = 0.0
    for frame in framed.frames:
        words = tuple(word for line in frame.lines if line not in framed.caption.lines for word in line.words)
        if not words:
            continue
        em = em_of(words)
        rows = printed_rows(words, em=em)
        if _has_columns(frame, layouts[frame.page]):
            return None
        region = TableRegion(box=frame.box, words=words, rules=(frame.box.y0, frame.box.y1))
        top = frame.box.y0 + dy if parts else float("-inf")
        parts.append(TablePart(page=frame.page, region=region, lines=frozenset(frame.lines), dy=dy, top=top))
        for lines in _paragraphs(rows, right=max(row.box.x1 for row in rows)):
            moved = tuple(_moved(line, dy) for line in lines)
            cells.append(GridCell(row=len(cells), column=0, row_span=1, column_span=1, lines=moved, role="value"))
        dy += layouts[frame.page].content.height
    if not cells:
        return None
    box = bounding_box(part.box for part in parts)
    grid = Grid(cells=tuple(cells), header_rows=0, confidence=_CONFIDENCE, columns=((box.x0, box.x1),))
    return FoundTable(captions=(framed.caption,), parts=tuple(parts), grid=grid)


def _has_columns(frame: Frame, layout: PageLayout) -> bool:
    """Whether a vertical rule or wide gaps separate the text of a frame."""
    left, right = min(line.box.x0 for line in frame.lines), max(line.box.x1 for line in frame.lines)
    rows = runs_of(frame.lines, joins=lambda row, line: line.baseline - row[0].baseline < _ROW_SHIFT * line.size)
    return sum(len(row) > 1 for row in rows) > _SPLIT_SHARE * len(rows) or any(
        left + _INSET < rule.x < right - _INSET and rule.y1 > frame.box.y0 and rule.y0 < frame.box.y1
        for rule in layout.content.vertical
    )


def _paragraphs(rows: Sequence[PrintedRow], *, right: float) -> list[list[Line]]:
    """Returns the rows as paragraphs: one ends where the next word would have fitted, or at a wide pitch."""
    lines = [line_of(row.words) for row in rows]
    pitches = sorted(below.baseline - line.baseline for line, below in pairwise(lines))
    usual = pitches[len(pitches) // 3] if pitches else 0.0

    def joins(run: list[Line], line: Line) -> bool:
        last, first = run[-1], line.words[0]
        fits = last.box.x1 + _SPACE * line.size + (first.x1 - first.x0) < right
        return not fits and line.baseline - last.baseline < _PITCH * usual

    return runs_of(lines, joins=joins)


def _moved(line: Line, dy: float) -> Line:
    return line_of(replace(word, baseline=word.baseline + dy) for word in line.words)
