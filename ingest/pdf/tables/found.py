"""A table that was found, with the parts in which it is printed."""

from dataclasses import dataclass

from ingest.pdf.captions import Caption
from ingest.pdf.page.lines import Line, bounds
from ingest.pdf.tables.grid import Grid, TableRegion
from ingest.pdf.tables.parts import GridCell
from paperscope.types import Box

__all__ = ["FoundTable", "TablePart"]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class TablePart:
    """What is printed of a table in one place: a page (its index from 0), a region and the lines in it.

    Its words were moved by `dx` and `dy` for reading; there they stand from `top` on.
    """

    page: int
    region: TableRegion
    lines: frozenset[Line]
    dx: float = 0.0
    dy: float = 0.0
    top: float = float("-inf")

    @property
    def box(self) -> Box:
        """Where the part stands on its page."""
        return self.region.box


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FoundTable:
    """A table of one or several parts, read as one grid; `captions` has the captions of its further parts too."""

    captions: tuple[Caption, ...]
    parts: tuple[TablePart, ...]
    grid: Grid

    @property
    def caption(self) -> Caption:
        """The caption that names the table."""
        return self.captions[0]

    @property
    def page(self) -> int:
        """The page where the table begins."""
        return self.parts[0].page

    @property
    def box(self) -> Box:
        """Where the first part stands."""
        return self.parts[0].box

    @property
    def lines(self) -> frozenset[Line]:
        """The lines of all parts."""
        return frozenset(line for part in self.parts for line in part.lines)

    def spot(self, cell: GridCell) -> tuple[int, Box]:
        """The page of a cell, that of its first line, and its box there."""
        part = self._part(cell.lines[0])
        x0, y0, x1, y1 = bounds(line.box for line in cell.lines if self._part(line) is part)
        return part.page, Box(x0 - part.dx, y0 - part.dy, x1 - part.dx, y1 - part.dy)

    def _part(self, line: Line) -> TablePart:
        return next(part for part in reversed(self.parts) if line.baseline >= part.top)
