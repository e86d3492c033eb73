"""Word's tables: merged cells go down by `vMerge`, right by `gridSpan`."""

from collections.abc import Callable
from dataclasses import dataclass

from ingest.markup.docx.styles import integer
from ingest.markup.grid import MarkedCell, cells_of_rows
from ingest.markup.nodes import Node
from ingest.markup.spots import Lines
from paperscope.types import Table

__all__ = ["CellText", "table_of"]

_WIDEST = 1000

CellText = Callable[[Node], tuple[str, bool]]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Slot:
    """A cell in its columns; `goes_on` if it belongs to the cell above."""

    column: int
    span: int
    text: str
    bold: bool
    goes_on: bool


def table_of(table: Node, *, lines: Lines, first: int, said: CellText) -> Table | None:
    """The table whose first row is line `first`; `said` is a cell's text and whether it is bold. None if empty."""
    nodes = list(table.where(lambda part: part.tag == "tr"))
    slots = [_slots(row, said=said) for row in nodes]
    rows: list[list[MarkedCell]] = []
    for number, row in enumerate(slots):
        place = lines.at(first + number, first + number)
        rows.append(
            [
                MarkedCell(
                    text=slot.text,
                    place=place,
                    row_span=1 + _below(slots, number, slot.column),
                    column_span=slot.span,
                    bold=slot.bold,
                )
                for slot in row
                if not slot.goes_on
            ]
        )
    head = 0
    while head < len(nodes) and nodes[head].one("trpr", "tblheader") is not None:
        head += 1
    cells, header_rows = cells_of_rows(rows, head=head)
    if not cells:
        return None
    place = lines.at(first, first + max(len(nodes) - 1, 0))
    return Table(id="", place=place, order=0, cells=cells, header_rows=header_rows)


def _slots(row: Node, *, said: CellText) -> list[_Slot]:
    before = row.one("trpr", "gridbefore")
    column = min(integer(before.get("val")), _WIDEST) if before is not None else 0
    slots = [_Slot(column=0, span=column, text="", bold=False, goes_on=False)] if column else []
    for cell in row.where(lambda part: part.tag == "tc"):
        wide = cell.one("tcpr", "gridspan")
        merge = cell.one("tcpr", "vmerge")
        span = max(1, min(integer(wide.get("val")), _WIDEST)) if wide is not None else 1
        goes_on = merge is not None and merge.get("val") != "restart"
        text, bold = ("", False) if goes_on else said(cell)
        slots.append(_Slot(column=column, span=span, text=text, bold=bold, goes_on=goes_on))
        column += span
    return slots


def _below(slots: list[list[_Slot]], number: int, column: int) -> int:
    """How many rows below a cell go on with it."""
    count = 0
    for row in slots[number + 1 :]:
        if not any(slot.goes_on and slot.column == column for slot in row):
            break
        count += 1
    return count
