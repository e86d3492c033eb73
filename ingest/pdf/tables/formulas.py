"""Tables of formulas, whose printed rows are numerators and limits: the stubs tell the rows."""

from collections.abc import Sequence
from statistics import median

from ingest.pdf.page.lines import Line, line_of
from ingest.pdf.page.words import Word
from ingest.pdf.tables.parts import GridRow, Piece, RowKind
from ingest.pdf.tables.rows import printed_rows

__all__ = ["formula_rows", "is_formula_table"]


def is_formula_table(words: Sequence[Word], *, em: float) -> bool:
    """Whether over 30 % of the letters are mathematical and there are many more printed rows than stubs."""
    letters = sum(len(word.text) for word in words)
    if sum(len(word.text) * word.math for word in words) <= 0.3 * letters:
        return False
    stubs = _stubs(words)
    return len(stubs) > 2 and len(printed_rows(words, em=em, verticals=())) > 1.3 * len(stubs)


def formula_rows(words: Sequence[Word], *, em: float) -> list[GridRow]:
    """A row for each stub, with what stands beside it as one cell; the first row is the header."""
    stubs = _stubs(words)
    cut = max(stub.box.x1 for stub in stubs) + 1
    anchors = sorted({round(stub.baseline, 1) for stub in stubs})
    rows: list[GridRow] = []
    for index, anchor in enumerate(anchors):
        low = (anchors[index - 1] + anchor) / 2 if index else float("-inf")
        high = (anchor + anchors[index + 1]) / 2 if index + 1 < len(anchors) else float("inf")
        inside = [word for word in words if low <= word.baseline - 0.1 * em < high]
        pieces = []
        for column, side in enumerate(
            ([word for word in inside if word.x1 <= cut], [word for word in inside if word.x1 > cut])
        ):
            if side:
                lines = tuple(line_of(row) for row in _by_line(side, em=em))
                pieces.append(Piece(first=column, last=column, lines=lines))
        kind: RowKind = "header" if index == 0 else "body"
        rows.append(GridRow(kind=kind, top=anchor, bottom=anchor, pieces=tuple(pieces)))
    return rows


def _by_line(words: Sequence[Word], *, em: float) -> list[list[Word]]:
    return [
        [word for segment in row.segments for word in segment.words] for row in printed_rows(words, em=em, verticals=())
    ]


def _stubs(words: Sequence[Word]) -> list[Line]:
    """The texts at the left edge that are not mathematical."""
    em = median(word.size for word in words for _ in word.text)
    segments = [segment for row in printed_rows(words, em=em, verticals=()) for segment in row.segments]
    plain = [segment for segment in segments if segment.math < 0.3]
    if not plain:
        return []
    right = median(segment.box.x1 for segment in plain)
    return [segment for segment in plain if segment.box.x0 < right and segment.box.x1 < right + 2 * em]
