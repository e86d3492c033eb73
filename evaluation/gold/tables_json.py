"""`gold_tables.json`: hand-transcribed tables."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from evaluation.gold.files import json_file
from evaluation.gold.values import GoldSpan, GoldTable, Grid
from paperscope_core.errors import GoldFileError

__all__ = ["load_gold_tables"]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Table:
    number: int | str
    grid: Grid
    page: int | None = None
    caption: str | None = None
    header_rows: tuple[int, ...] | None = None
    section_rows: tuple[int, ...] = ()
    logical_grid: Grid | None = None
    physical_to_logical: tuple[int, ...] | None = None
    spans: tuple[GoldSpan, ...] | None = None
    math_cells: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class _File:
    tables: tuple[_Table, ...]


_FILE = TypeAdapter(_File)


def load_gold_tables(file: Path) -> tuple[GoldTable, ...]:
    """The tables of a file; without `logical_grid` each printed line is a row. Raises GoldFileError."""
    return tuple(_table(table, file) for table in json_file(file, _FILE).tables)


def _table(table: _Table, file: Path) -> GoldTable:
    mapping = table.physical_to_logical or tuple(range(len(table.grid)))
    logical = table.logical_grid or table.grid
    lines = [*(table.header_rows or ()), *(span.row + span.rowspan - 1 for span in table.spans or ())]
    if len(mapping) != len(table.grid) or max(mapping, default=-1) >= len(logical):
        raise GoldFileError(
            f"{file}: table {table.number}: 'physical_to_logical' does not fit its grids; mend the gold"
        )
    if any(line >= len(table.grid) for line in lines):
        raise GoldFileError(f"{file}: table {table.number}: row {max(lines)} is not in its grid; mend the gold")
    return GoldTable(
        number=str(table.number),
        page=table.page,
        caption=table.caption,
        grid=table.grid,
        logical=logical,
        logical_row=mapping,
        header_rows=table.header_rows,
        section_rows=table.section_rows,
        spans=table.spans,
        formulas=table.math_cells,
    )
