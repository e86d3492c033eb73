"""The left and right edges of the text columns of a page."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ingest.pdf.page.layout import BodyStyle, PageLayout
from ingest.pdf.page.lines import Line

__all__ = ["Edges", "column_edges"]

_ENOUGH = 10
_JUSTIFIED = 0.2


@dataclass(frozen=True, kw_only=True, slots=True)
class Edges:
    """Where the lines of a column begin and end (x); in ragged text, where the longest of them end."""

    left: float
    right: float


def column_edges(
    layouts: Sequence[PageLayout], free: Sequence[Sequence[Line]], *, body: BodyStyle
) -> list[tuple[Edges, ...]]:
    """The edges of each page's columns: its own if it has ten lines of body text, else the document's."""
    per_page = [
        [
            [line for line in lines if layout.column(line) == column and abs(line.size - body.size) < 0.7]
            for column in range(layout.columns)
        ]
        for layout, lines in zip(layouts, free, strict=True)
    ]
    common: dict[tuple[int, int], Edges] = {}
    for columns in {len(page) for page in per_page}:
        for column in range(columns):
            lines = [line for page in per_page if len(page) == columns for line in page[column]]
            if lines:
                common[columns, column] = _edges(lines)
    result: list[tuple[Edges, ...]] = []
    for layout, page in zip(layouts, per_page, strict=True):
        whole = Edges(left=0.0, right=layout.content.width)
        result.append(
            tuple(
                _edges(lines) if len(lines) >= _ENOUGH else common.get((len(page), column), whole)
                for column, lines in enumerate(page)
            )
        )
    return result


def _edges(lines: Sequence[Line]) -> Edges:
    lefts = Counter(round(line.box.x0) for line in lines)
    rights = Counter(round(line.box.x1) for line in lines)
    right, count = rights.most_common(1)[0]
    if count < _JUSTIFIED * len(lines):
        right = sorted(rights.elements())[int(0.95 * (len(lines) - 1))]
    return Edges(left=float(lefts.most_common(1)[0][0]), right=float(right))
