"""The literature tables of a library: their columns and papers, their cells, and what people corrected in them."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import ColumnElement, Connection, RowMapping, delete, select, update

from graph_store.database import Database
from graph_store.opening import lacking
from graph_store.schema import bylines, given, literature_cells, literature_tables, papers
from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import InputError, StoreError, UnknownTableError
from paperscope_core.text.escaping import one_line, without_control_characters
from paperscope_core.types import content_hash
from paperscope_core.types.literature import ColumnSet, LiteratureCell, LiteratureRow, LiteratureTable

__all__ = ["LiteratureTables", "table_id"]

_LONGEST_CORRECTION, _LONGEST_REASON = 4000, 500
_CELLS = literature_cells.c


@dataclass(frozen=True, kw_only=True, slots=True)
class _Definition:
    """What is stored of a table besides its cells; `excluded` are reasons by paper and row."""

    columns: ColumnSet
    papers: tuple[str, ...]
    excluded: tuple[tuple[str, str, str], ...] = ()


def table_id(title: str) -> str:
    """Return the id of the table with this title."""
    return f"table-{content_hash(' '.join(title.split()).casefold().encode())[:12]}"


class LiteratureTables:
    """Literature tables in the store; safe for several threads and processes. Changes are durable when a method
    returns.

    Every method with the id of a table raises UnknownTableError if there is none.

    Args:
        clock: Returns seconds since the epoch.
    """

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def define(self, columns: ColumnSet, asked: Sequence[str]) -> str:
        """Create a table, or change the columns and papers (ids) of the table with this title; return its id.

        Cells of columns and papers that it no longer has are kept, in case that they return.
        """
        table, now = table_id(columns.title), self._clock()
        with self._database.write("tables") as connection:
            row = _find(connection, table)
            defined = _Definition(columns=columns, papers=tuple(dict.fromkeys(asked)))
            if row is None:
                values = {"id": table, "value": to_json(defined), "created": now, "updated": now}
                connection.execute(literature_tables.insert().values(values))
            else:
                kept = from_json(_Definition, row["value"]).excluded
                self._touch(connection, table, replace(defined, excluded=kept))
        return table

    def all(self) -> Sequence[LiteratureTable]:
        """Return the tables without their rows, the one that was changed last first."""
        query = select(literature_tables).order_by(literature_tables.c.updated.desc(), literature_tables.c.id)
        with self._database.read() as connection:
            rows = [] if lacking(connection, literature_tables) else connection.execute(query).mappings().all()
        return [self._table(row) for row in rows]

    def get(self, table: str) -> LiteratureTable:
        """Return a table as far as it is filled. Papers that the library no longer has are left out."""
        query = select(literature_cells).where(_CELLS.table_id == table).order_by(_CELLS.position, _CELLS.row_name)
        with self._database.read() as connection:
            found = self._definition(connection, table)
            head = self._table(found)
            cells = connection.execute(query).mappings().all()
            titles = select(papers.c.id, papers.c.title, papers.c.file, bylines.c.year).outerjoin(bylines)
            asked = titles.where(papers.c.id.in_(given("papers")))
            names = {
                paper: f"{title or file}{f' ({year})' if year else ''}"
                for paper, title, file, year in connection.execute(asked, {"papers": list(head.papers)})
            }
        return replace(head, rows=_rows(head, from_json(_Definition, found["value"]), cells, names))

    def put(self, table: str, paper: str, rows: Mapping[str, Sequence[LiteratureCell]]) -> None:
        """Store the cells of a paper's rows, by the names of these. Corrections stay."""
        with self._database.write("tables") as connection:
            self._definition(connection, table)
            known = self._known(connection, table, paper)
            for name, cells in rows.items():
                position = known.setdefault(name, len(known))
                for cell in cells:
                    _put_cell(connection, (table, paper, name), position, cell)
            self._touch(connection, table)

    def correct(self, table: str, paper: str, column: str, text: str | None, *, row: str = "") -> None:
        """Write a correction in the place of a cell's value, or take it back (None). It stays when the cell is filled
        again.

        Raises:
            UnknownTableError: The table has no such row or column.
            InputError: The text is too long.
        """
        if text is not None and len(text) > _LONGEST_CORRECTION:
            raise InputError(f"the correction has {len(text)} characters; the maximum is {_LONGEST_CORRECTION}")
        with self._database.write("tables") as connection:
            defined = self._row(connection, table, paper, row)
            if column not in {one.name for one in defined.columns.columns}:
                raise UnknownTableError(f"the table has no column {column!r}")
            key = (table, paper, row)
            values = {"correction": None if text is None else without_control_characters(text)}
            if not connection.execute(update(literature_cells).where(*_at(key, column)).values(values)).rowcount:
                position = self._known(connection, table, paper).get(row, 0)
                _put_cell(connection, key, position, LiteratureCell(column=column))
                connection.execute(update(literature_cells).where(*_at(key, column)).values(values))
            self._touch(connection, table)

    def exclude(self, table: str, paper: str, reason: str, *, row: str = "") -> None:
        """Leave a row out for a reason, or take it back in ("").

        Raises:
            UnknownTableError: The table has no such row.
            InputError: The reason is too long.
        """
        line = one_line(reason)
        if len(line) > _LONGEST_REASON:
            raise InputError(f"the reason has {len(line)} characters; the maximum is {_LONGEST_REASON}")
        with self._database.write("tables") as connection:
            defined = self._row(connection, table, paper, row)
            others = tuple(one for one in defined.excluded if one[:2] != (paper, row))
            excluded = (*others, (paper, row, line)) if line else others
            self._touch(connection, table, replace(defined, excluded=excluded))

    def delete(self, table: str) -> None:
        """Delete a table with its cells and corrections."""
        with self._database.write("tables") as connection:
            self._definition(connection, table)
            connection.execute(delete(literature_tables).where(literature_tables.c.id == table))

    def _table(self, row: RowMapping) -> LiteratureTable:
        try:
            defined = from_json(_Definition, row["value"])
        except ValueError as error:
            detail = f"the literature table {row['id']!r} is damaged; delete it"
            raise StoreError(detail, where=self._database.where) from error
        return LiteratureTable(
            id=row["id"],
            columns=defined.columns,
            papers=defined.papers,
            created=row["created"],
            updated=row["updated"],
        )

    def _definition(self, connection: Connection, table: str) -> RowMapping:
        found = None if lacking(connection, literature_tables) else _find(connection, table)
        if found is None:
            raise UnknownTableError(f"no literature table {table!r} in this library; it may have been deleted")
        return found

    def _row(self, connection: Connection, table: str, paper: str, row: str) -> _Definition:
        """Return the definition of a table that has this row. Raises UnknownTableError."""
        defined = from_json(_Definition, self._definition(connection, table)["value"])
        of_paper = defined.columns.rows == "paper"
        known = {""} if of_paper else set(self._known(connection, table, paper))
        if paper not in defined.papers or row not in known:
            raise UnknownTableError(f"the table has no row {row!r} of the paper {paper!r}")
        return defined

    def _known(self, connection: Connection, table: str, paper: str) -> dict[str, int]:
        query = select(_CELLS.row_name, _CELLS.position).distinct()
        rows = connection.execute(query.where(_CELLS.table_id == table, _CELLS.paper == paper))
        return {str(name): int(position) for name, position in rows}

    def _touch(self, connection: Connection, table: str, defined: _Definition | None = None) -> None:
        changed = {"value": to_json(defined)} if defined else {}
        values = {**changed, "updated": self._clock()}
        connection.execute(update(literature_tables).where(literature_tables.c.id == table).values(values))


def _find(connection: Connection, table: str) -> RowMapping | None:
    return connection.execute(select(literature_tables).where(literature_tables.c.id == table)).mappings().first()


def _at(key: tuple[str, str, str], column: str) -> list[ColumnElement[bool]]:
    table, paper, row = key
    return [_CELLS.table_id == table, _CELLS.paper == paper, _CELLS.row_name == row, _CELLS.column_name == column]


def _put_cell(connection: Connection, key: tuple[str, str, str], position: int, cell: LiteratureCell) -> None:
    values = {"position": position, "made": cell.made, "value": to_json(replace(cell, correction=None, made=""))}
    if not connection.execute(update(literature_cells).where(*_at(key, cell.column)).values(values)).rowcount:
        table, paper, row = key
        keys = {"table_id": table, "paper": paper, "row_name": row, "column_name": cell.column}
        connection.execute(literature_cells.insert().values({**keys, **values}))


def _rows(
    table: LiteratureTable, defined: _Definition, cells: Sequence[RowMapping], names: Mapping[str, str]
) -> tuple[LiteratureRow, ...]:
    """Return the rows of papers that have names, those without a cell, too."""
    of_paper = table.columns.rows == "paper"
    order = [column.name for column in table.columns.columns]
    reasons = {(paper, row): reason for paper, row, reason in defined.excluded}
    stored: dict[str, dict[str, dict[str, LiteratureCell]]] = {}
    for one in cells:
        if of_paper == (not one["row_name"]) and one["column_name"] in order:
            stored_cell = from_json(LiteratureCell, one["value"])
            cell = replace(stored_cell, correction=one["correction"], made=one["made"])
            stored.setdefault(one["paper"], {}).setdefault(one["row_name"], {})[cell.column] = cell
    return tuple(
        LiteratureRow(
            paper=paper,
            title=names[paper],
            name=row,
            cells=tuple(found[name] for name in order if name in found),
            excluded=reasons.get((paper, row), ""),
        )
        for paper in table.papers
        if paper in names
        for row, found in stored.get(paper, {"": {}}).items()
    )
