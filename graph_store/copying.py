"""Copies a library to another place, such as from SQLite to PostgreSQL or back.

The target is made equal to the source, table by table in batches, so that a copy that was killed continues where it
ended. Until everything is compared, the target can't be opened.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from sqlalchemy import ColumnElement, Connection, Table, Tuple, delete, func, inspect, literal, select, tuple_, update

from graph_store.crop_files import CROPS_FOLDER
from graph_store.database import Database, translate_errors
from graph_store.functions import set_next_number
from graph_store.objects import FolderObjects, Objects, open_objects
from graph_store.opening import (
    CURRENT,
    UNFINISHED,
    begin_copy,
    check_unused,
    check_version,
    lacking,
    open_read_only,
    open_writable,
    remove_copy_mark,
)
from graph_store.schema import chunks, conversations, jobs, library, metadata, paper_crops, papers
from paperscope_core.errors import StoreError
from paperscope_core.locations import Location, files_folder

__all__ = ["CopyReport", "OnProgress", "copy_library"]

# A row of `papers` may have a megabyte.
_BATCH = 500
_NUMBERED = (chunks, jobs, conversations)

Row = tuple[object, ...]
OnProgress = Callable[[str, int, int], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class CopyReport:
    """What the source and the target have.

    Attributes:
        rows: The number of rows of each table that has any.
    """

    rows: Mapping[str, int]
    files: int


def copy_library(source: Location, target: Location, *, on_progress: OnProgress) -> CopyReport:
    """Copy a library as it is at one moment, and compare the copy with it. Other processes may use it meanwhile.

    Args:
        source: The library, which is not changed.
        target: An empty place, or one to which a copy was begun.
        on_progress: Called with the name of a table, or "files", and with how many of how many are done.

    Raises:
        StoreError: The source is no library or of another version, the target has a library, they differ after the
            copy because a disk or another process changed the target, or files of a paper that was removed meanwhile
            were deleted before they were copied.
    """
    if files_folder(source).resolve() == files_folder(target).resolve():
        raise StoreError("the copy needs another folder for its files than the library itself", where=target)
    with closing(open_read_only(source)) as old, old.read() as connection:
        # The first statement fixes what the transaction sees.
        check_version(connection, where=old.where)
        begin_copy(target)
        with closing(open_writable(target, prepare=_prepare)) as new:
            remove_copy_mark(target)
            # Files are there before the rows that name them.
            files = _copy_files(source, target, on_progress)
            _check_removed(old, connection, files)
            missing = lacking(connection)
            tables = [table for table in _tables() if table not in missing]
            rows = {table.name: _copy_table(connection, new, table, on_progress) for table in tables}
            with new.write() as writing:
                for table in _NUMBERED:
                    writing.execute(select(set_next_number(literal(table.name), func.max(table.c.number))))
                writing.execute(update(library).values(version=CURRENT))
    return CopyReport(rows={name: count for name, count in rows.items() if count}, files=len(files))


def _tables() -> list[Table]:
    """Return all tables with content, each after those that it references."""
    return [table for table in metadata.sorted_tables if table is not library]


def _prepare(connection: Connection, *, where: Path | str, files: Location) -> None:
    """Create the tables of a copy, or find those of one that was begun."""
    if not inspect(connection).get_table_names():
        check_unused(files, copying=True)
        metadata.create_all(connection)
        connection.execute(library.insert().values(version=UNFINISHED))
    elif check_version(connection, where=where, unfinished=True) != UNFINISHED:
        count = connection.execute(select(func.count()).select_from(papers)).scalar_one()
        raise StoreError(f"there is a library with {count} papers already; choose an empty place", where=where)


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
    """Yield the rows of a table by its key, in batches: each with the last keys of the batch before and of this one,
    which is None for the last batch."""
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
    """Return a row as both engines have it: PostgreSQL stores no NUL in texts."""
    return tuple(value.replace("\0", "\ufffd") if isinstance(value, str) else value for value in row)


def _key(table: Table, row: Row) -> Row:
    columns = list(table.c)
    return tuple(row[columns.index(column)] for column in table.primary_key)


def _between(table: Table, low: Row | None, high: Row | None) -> list[ColumnElement[bool]]:
    """Return the condition on keys above `low`, up to and with `high`."""
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


def _copy_files(source: Location, target: Location, on_progress: OnProgress) -> list[str]:
    """Copy the files that the target lacks, and compare all; return the names of those that are there."""
    objects = open_objects(source), open_objects(target)
    of_jobs = FolderObjects(files_folder(source)), FolderObjects(files_folder(target))
    with translate_errors(files_folder(source)):
        places = ((CROPS_FOLDER, *objects), ("originals", *objects), ("jobs", *of_jobs))
        files = [(name, old, new) for folder, old, new in places for name in old.names(folder)]
    copied = []
    for done, (name, old, new) in enumerate(files, start=1):
        with translate_errors(files_folder(target)):
            data = _content(old, name)
            # Temporary files, and those of jobs and papers that end or are removed meanwhile, are deleted.
            if data is not None:
                copied.append(name)
                if _content(new, name) != data:
                    new.write({name: data})
                    if _content(new, name) != data:
                        detail = f"the copy of {name} differs from what was written; check the disk"
                        raise StoreError(detail, where=target)
        on_progress("files", done, len(files))
    return copied


def _check_removed(source: Database, snapshot: Connection, copied: Sequence[str]) -> None:
    """Raise StoreError if files that `snapshot` names were deleted with their papers before they were copied."""
    with source.read() as connection:
        removed = _contents(snapshot) - _contents(connection)
    there = {part for name in map(PurePosixPath, copied) for part in (name.stem, name.parent.name)}
    if removed - there:
        detail = "papers were removed while their files were copied; run the same command again"
        raise StoreError(detail, where=source.where)


def _contents(connection: Connection) -> set[str]:
    """Return the hashes of the crops and of the papers' files, after which the files of a library are named."""
    return set(connection.execute(select(paper_crops.c.crop).union(select(papers.c.sha256))).scalars())


def _content(objects: Objects, name: str) -> bytes | None:
    try:
        return objects.read(name)
    except FileNotFoundError:
        return None
