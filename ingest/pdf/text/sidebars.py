"""Sidebars: small print in the margin beside the text."""

from collections.abc import Sequence

from ingest.pdf.page.edges import Edges
from ingest.pdf.page.layout import BodyStyle
from ingest.pdf.page.lines import Line, line_of

__all__ = ["sidebars_of"]

_AWAY = 3.0
_SMALL = 0.93
_LEAST_LINES = 3


def sidebars_of(
    lines: Sequence[Line], edges: Sequence[Edges], *, body: BodyStyle
) -> tuple[list[list[Line]], list[Line]]:
    """The sidebars of a page, left and right of its columns, and its other lines.

    A sidebar is at least three lines of small print that lie wholly outside the columns.
    """
    left, right = edges[0].left, edges[-1].right
    parted = [part for line in lines for part in _parted(line, at=left)]
    small = [line for line in parted if line.size < _SMALL * body.size]
    sides = [
        [line for line in small if line.box.x1 < left - _AWAY],
        [line for line in small if line.box.x0 > right + _AWAY],
    ]
    sidebars = [sorted(side, key=lambda line: line.baseline) for side in sides if len(side) >= _LEAST_LINES]
    taken = {line for sidebar in sidebars for line in sidebar}
    return (sidebars, [line for line in parted if line not in taken]) if taken else ([], list(lines))


def _parted(line: Line, *, at: float) -> list[Line]:
    """A line, or its parts left and right of a column's edge where it has a gap there."""
    outer = [word for word in line.words if word.x1 < at - _AWAY]
    inner = [word for word in line.words if word.x1 >= at - _AWAY]
    if not outer or not inner or min(word.x0 for word in inner) < at - _AWAY:
        return [line]
    return [line_of(outer), line_of(inner)]
