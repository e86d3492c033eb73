"""Copies a library to another place, such as from SQLite to PostgreSQL or back.

The target is made equal to the source, table by table in batches, so that a copy that was killed continues where it
ended. Until everything is compared, the target can't be opened.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import ColumnElement, Connection, Table, Tuple, delete, func, inspect, literal, select, tuple_, update

from graph_store.database import Database, translate_errors
from graph_store.functions import set_next_number
from graph_store.migrations import CROPS_FOLDER, UNFINISHED, check_unused, check_version, open_read_only, open_writable
from graph_store.schema import SCHEMA_VERSION, chunks, conversations, jobs, library, metadata, papers
from paperscope_core.errors import StoreError
from paperscope_core.files import PRIVATE_FILE, create_private_folder, replace_file
from paperscope_core.locations import Location, files_folder

__all__ = ["CopyReport", "OnProgress", "copy_library"]

# A row of `papers` may have a megabyte.
_BATCH = 500
_FOLDERS = (CROPS_FOLDER, "originals", "jobs")
_NUMBERED = (chunks, jobs, conversations)

Row = tuple[object, ...]
OnProgress = Callable[[str, int, int], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class CopyReport:
    """What the source and the target have.

    Attributes:
        rows: The number of rows of each table that has any.
        files: The number of crops, uploaded papers and files of jobs.
    """

    rows: Mapping[str, int]
    files: int


def copy_library(source: Location, target: Location, *, on_progress: OnProgress) -> CopyReport:
    """Copy a library as it is at one moment, and compare the copy with it.

    Args:
        source: The library, which is not changed.
        target: An empty place, or one to which a copy was begun.
        on_progress: Called with the name of a table, or "files", and with how many of how many are done.

    Raises:
        StoreError: The source is no library or of another version, the target has a library, or they differ after the
            copy because a disk or another process changed one of them.
    """
    if files_folder(source).resolve() == files_folder(target).resolve():
        raise StoreError("the copy needs another folder for its files than the library itself", where=target)
    with closing(open_read_only(source)) as old, old.read() as connection:
        found = check_version(connection, where=old.where)
        if found < SCHEMA_VERSION:
            detail = (
                f"of an older Paperscope (library version {found}); open it once, which upgrades it: paperscope papers"
            )
            raise StoreError(detail, where=source)
        with closing(open_writable(target, prepare=_prepare)) as new:
            # Files are there before the rows that name them.
            files = _copy_files(files_folder(source), files_folder(target), on_progress)
            rows = {table.name: _copy_table(connection, new, table, on_progress) for table in _tables()}
            with new.write() as writing:
                for table in _NUMBERED:
                    writing.execute(select(set_next_number(literal(table.name), func.max(table.c.number))))
                writing.execute(update(library).values(version=SCHEMA_VERSION))
    return CopyReport(rows={name: count for name, count in rows.items() if count}, files=files)


def _tables() -> list[Table]:
    """All tables with content, each after those that it references."""
    return [table for table in metadata.sorted_tables if table is not library]


def _prepare(connection: Connection, *, where: Path | str, files: Path) -> bool:
    """Create the tables of a copy, or find those of one that was begun."""
    if not inspect(connection).get_table_names():
        check_unused(files)
        metadata.create_all(connection)
        connection.execute(library.insert().values(version=UNFINISHED))
        return True
    if check_version(connection, where=where, unfinished=True) != UNFINISHED:
        count = connection.execute(select(func.count()).select_from(papers)).scalar_one()
        raise StoreError(f"there is a library with {count} papers already; choose an empty place", where=where)
    return False


def _copy_table(source: Connection, target: Database, table: Table, on_progress: OnProgress) -> int:
    """Make a table equal to that of the source; return its number of rows."""
    total = source.execute(select(func.count()).select_from(table)).scalar_one()
    digest = hashlib.sha256()
    done = 0
    on_progress(table.name, done, total)
    for low, high, rows in _batches(source, table):
        with target.write() as connection:
            _replace_rows(connection, table, rows, between=_between(table, low, high))
        _add_to(digest, rows)
        done += len(rows)
        on_progress(table.name, done, total)
    copied = hashlib.sha256()
    with target.read() as connection:
        for _, _, rows in _batches(connection, table):
            _add_to(copied, rows)
    if copied.digest() != digest.digest():
        raise StoreError(
            f"the table {table.name} was changed while it was copied; run the copy again", where=target.where
        )
    return int(total)


def _batches(connection: Connection, table: Table) -> Iterator[tuple[Row | None, Row | None, list[Row]]]:
    """The rows of a table by its key, in batches: each with the last keys of the batch before and of this one, which is
    None for the last batch."""
    low: Row | None = None
    while True:
        query = select(table).where(*_between(table, low, None)).order_by(*table.primary_key).limit(_BATCH)
        rows = [_comparable(row) for row in connection.execute(query)]
        high = _key(table, rows[-1]) if len(rows) == _BATCH else None
        yield low, high, rows
        if high is None:
            return
        low = high


def _comparable(row: Sequence[object]) -> Row:
    """A row as both engines have it: PostgreSQL stores no NUL in texts."""
    return tuple(value.replace("\0", "\ufffd") if isinstance(value, str) else value for value in row)


def _key(table: Table, row: Row) -> Row:
    columns = list(table.c)
    return tuple(row[columns.index(column)] for column in table.primary_key)


def _between(table: Table, low: Row | None, high: Row | None) -> list[ColumnElement[bool]]:
    """The condition on keys above `low`, up to and with `high`."""
    key = tuple_(*table.primary_key)

    def bound(row: Row) -> Tuple:
        return tuple_(*(literal(value, column.type) for value, column in zip(row, table.primary_key, strict=True)))

    return ([] if low is None else [key > bound(low)]) + ([] if high is None else [key <= bound(high)])


def _replace_rows(
    connection: Connection, table: Table, rows: Sequence[Row], *, between: Sequence[ColumnElement[bool]]
) -> None:
    """Write the rows with these keys, unless they are there."""
    if [
        _comparable(row) for row in connection.execute(select(table).where(*between).order_by(*table.primary_key))
    ] == list(rows):
        return
    connection.execute(delete(table).where(*between))
    if rows:
        names = table.c.keys()
        connection.execute(table.insert(), [dict(zip(names, row, strict=True)) for row in rows])


def _add_to(digest: "hashlib._Hash", rows: Sequence[Row]) -> None:
    for row in rows:
        digest.update(repr(row).encode("utf-8", "surrogatepass"))


def _copy_files(source: Path, target: Path, on_progress: OnProgress) -> int:
    """Copy the files that the target lacks, and compare all; return their number."""
    with translate_errors(source):
        paths = [path for folder in _FOLDERS for path in sorted((source / folder).rglob("*")) if path.is_file()]
    for done, path in enumerate(paths, start=1):
        copy = target / path.relative_to(source)
        with translate_errors(path):
            data = path.read_bytes()
        with translate_errors(copy):
            if not copy.is_file() or copy.read_bytes() != data:
                for folder in reversed(copy.relative_to(target).parents[:-1]):
                    create_private_folder(target / folder)
                replace_file(copy, data, mode=PRIVATE_FILE)
                if copy.read_bytes() != data:
                    raise StoreError("the disk returned other bytes than were written; check it", where=copy)
        on_progress("files", done, len(paths))
    return len(paths)
