"""The element that a found table becomes."""

from ingest.pdf.places import Places
from ingest.pdf.tables.found import FoundTable
from paperscope.types import Cell, Table

__all__ = ["table_element"]


def table_element(found: FoundTable, places: Places) -> Table:
    """A table with its cells, each at the place where it is printed."""
    first, *more = [places.at(part.page, part.box) for part in found.parts]
    return Table(
        id="",
        place=first,
        order=0,
        cells=tuple(
            Cell(
                row=cell.row,
                column=cell.column,
                text=cell.text,
                place=places.at(*found.spot(cell)),
                row_span=cell.row_span,
                column_span=cell.column_span,
                role=cell.role,
                bold=cell.bold,
            )
            for cell in found.grid.cells
        ),
        label=found.caption.label,
        caption=found.caption.text,
        caption_place=places.at(found.page, found.caption.box) if found.caption.lines else None,
        header_rows=found.grid.header_rows,
        confidence=found.grid.confidence,
        more_places=tuple(more),
    )
