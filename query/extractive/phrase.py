"""How values are spoken of: where they stand and what they are called."""

from collections.abc import Iterable, Sequence

from paperscope_core.types import Claim, Evidence, Table
from query.extractive.grid import Datum, Part

__all__ = ["claim", "column_name", "full_name", "listed", "part_names", "row_name", "table_name"]


def table_name(table: Table) -> str:
    """Its label as printed, or where it stands."""
    return table.label or f"the table {_at(table)}"


def _at(table: Table) -> str:
    return f"{'in' if table.place.by_line else 'on'} {table.place.where}"


def row_name(datum: Datum) -> str:
    """The row's own names; a section's title is spoken of with the column."""
    return _joined(part for part in datum.row if part.level != "section")


def column_name(datum: Datum) -> str:
    """The column's full name, after the title of the section that the row stands in."""
    sections = [part for part in datum.row if part.level == "section"]
    return " ".join(dict.fromkeys(part.text for part in (*sections, *datum.column)))


def full_name(datum: Datum) -> str:
    """Row and column."""
    return " under ".join(name for name in (row_name(datum), column_name(datum)) if name)


def part_names(parts: Iterable[Part]) -> str:
    """Names of either axis, without repeats."""
    return _joined(parts)


def listed(items: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, (", ".join(items[:-1]), items[-1]))) if items else ""


def claim(text: str, table: Table, data: Iterable[Datum]) -> Claim:
    """A statement that rests on these values' cells."""
    cells = dict.fromkeys(cell for datum in data for cell in (datum.cell, datum.note) if cell is not None)
    evidence = tuple(Evidence(element=table.id, place=cell.place, quote=cell.text) for cell in cells)
    return Claim(text=text, evidence=evidence)


def _joined(parts: Iterable[Part]) -> str:
    return " / ".join(dict.fromkeys(part.text for part in parts))
