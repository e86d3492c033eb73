"""The cells of docling's tables."""

from collections.abc import Sequence
from typing import Literal

from ingest.docling.nodes import CellNode, Node
from ingest.docling.places import Places
from ingest.pdf.tables.rows import is_value
from paperscope.types import Cell, Place

__all__ = ["cells_of", "header_rows"]

Role = Literal["column_header", "row_header", "section", "value"]


def cells_of(node: Node, places: Places) -> tuple[Cell, ...]:
    """The cells that hold text, row by row; one without a box of its own stands where the table does.

    Where docling names no row headers, they are the texts of the first column.
    """
    own = sorted(
        (cell for cell in (node.data.table_cells if node.data else []) if cell.text.strip()),
        key=lambda cell: (cell.start_row_offset_idx, cell.start_col_offset_idx),
    )
    named = any(cell.row_header for cell in own)
    place = places.of(node)[0]
    return tuple(
        Cell(
            row=cell.start_row_offset_idx,
            column=cell.start_col_offset_idx,
            text=" ".join(cell.text.split()),
            place=_place(cell, place, places),
            row_span=cell.row_span,
            column_span=cell.col_span,
            role=_role(cell, stub=not named),
        )
        for cell in own
    )


def header_rows(cells: Sequence[Cell]) -> int:
    """How many leading rows consist of column headers."""
    roles: dict[int, set[str]] = {}
    for cell in cells:
        for row in range(cell.row, cell.row + (cell.row_span if cell.role == "column_header" else 1)):
            roles.setdefault(row, set()).add(cell.role)
    row = 0
    while "column_header" in roles.get(row, ()) and "value" not in roles[row]:
        row += 1
    return row


def _place(cell: CellNode, table: Place, places: Places) -> Place:
    return table if cell.bbox is None else places.at(table.page, cell.bbox)


def _role(cell: CellNode, *, stub: bool) -> Role:
    if cell.column_header:
        return "column_header"
    if cell.row_section:
        return "section"
    if cell.row_header or (stub and cell.start_col_offset_idx == 0 and not is_value(cell.text)):
        return "row_header"
    return "value"
