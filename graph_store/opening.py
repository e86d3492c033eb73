"""Opens a library: creates its tables if there are none, and checks that this Paperscope knows their version."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol, TypeVar

import filelock
from sqlalchemy import Connection, Table, inspect, select, update

from graph_store.crop_files import CROPS_FOLDER
from graph_store.database import Database, SqliteDatabase, translate_errors
from graph_store.objects import open_objects
from graph_store.postgresql import PostgresDatabase
from graph_store.schema import ADDED, SCHEMA_VERSION, library, metadata, papers
from paperscope_core.errors import StoreError, StoreReadOnlyError, StoreVersionError
from paperscope_core.files import PRIVATE_FILE, create_private_file, create_private_folder
from paperscope_core.locations import Location, PostgresAddress, files_folder

__all__ = [
    "CURRENT",
    "EMPTY",
    "PRERELEASE",
    "UNFINISHED",
    "begin_copy",
    "check_unused",
    "check_version",
    "closed_on_error",
    "is_library",
    "lacking",
    "open_read_only",
    "open_writable",
    "prepare_tables",
    "remove_copy_mark",
]

# A library states a number. Versions of the schema that were in use before the first release are 1 to 14; those of
# releases are stored above 100, so that no number has two meanings. A Paperscope of before the release refuses such
# a library as a newer one.
_RELEASED = 100
CURRENT = _RELEASED + SCHEMA_VERSION
"""What a library of this version states."""

# Version 0.2 drops this number, and with it what is done with such a library.
PRERELEASE = 14
"""What a library of the last version before the first release states. It has the tables of version 1."""

EMPTY, UNFINISHED = 0, -1
"""In place of a version: there are no tables, or another library is being copied there."""

Opened = TypeVar("Opened", bound=Database)

_FILE = "library.sqlite"
# What a library with papers has beside its database; opening a new one creates no file in them.
_OTHER_FOLDERS = (CROPS_FOLDER, "index", "originals", "jobs")
# In a folder in which a copy begins, until its database has tables that say so.
_COPYING = "copying"
# Opening a library takes milliseconds.
_LOCK_SECONDS = 60


class Prepare(Protocol):
    """Creates the tables of a library, or checks those that there are."""

    def __call__(self, connection: Connection, /, *, where: Path | str, files: Location) -> None: ...


def check_version(connection: Connection, *, where: Path | str, unfinished: bool = False) -> int:
    """Return CURRENT, PRERELEASE or EMPTY, and UNFINISHED if `unfinished` allows it.

    Raises:
        StoreVersionError: The library is of another version.
        StoreError: The tables are not those of a library, or a copy to this place has not ended.
    """
    tables = inspect(connection).get_table_names()
    if not tables:
        return EMPTY
    if library.name not in tables:
        raise StoreError("this database is no Paperscope library; choose another place for the library", where=where)
    found = int(connection.execute(select(library.c.version)).scalar_one())
    if found == UNFINISHED and not unfinished:
        raise _unfinished(where)
    if found > PRERELEASE and found != CURRENT:
        number = found - _RELEASED if found > _RELEASED else found
        raise StoreVersionError(
            f"written by a newer Paperscope (library version {number}; this one reads version {SCHEMA_VERSION}); "
            "update Paperscope, or choose another place for the library",
            where=where,
        )
    if 0 < found < PRERELEASE:
        raise StoreVersionError(
            f"written by a Paperscope from before the first release (library version {found}; this one reads version "
            f"{PRERELEASE} of those); open it once with the last Paperscope before 0.1.0, or add its papers to a new "
            "library",
            where=where,
        )
    return found


def prepare_tables(connection: Connection, *, where: Path | str, files: Location) -> None:
    """Create the tables that are missing, and upgrade a library of PRERELEASE.

    Raises:
        StoreError: There are no tables, but `files` has files of a library.
    """
    found = check_version(connection, where=where)
    if found == EMPTY:
        check_unused(files)
        metadata.create_all(connection)
        connection.execute(library.insert().values(version=CURRENT))
        return
    metadata.create_all(connection, tables=ADDED)
    if found == PRERELEASE:
        connection.execute(update(library).values(version=CURRENT))


def lacking(connection: Connection, *tables: Table) -> list[Table]:
    """Return those of ADDED, or of `tables` among them, that a library lacks: it was written before these were added,
    and has not been opened for writing since."""
    inspector = inspect(connection)
    return [table for table in tables or ADDED if not inspector.has_table(table.name)]


def _unfinished(where: object) -> StoreError:
    return StoreError("a copy of a library to this place has not ended; run `paperscope migrate` again", where=where)


def begin_copy(location: Location) -> None:
    """Mark a place as that of a copy before anything of a library is in it, so that it is never taken for the place of
    a new library if the copy is killed. `_COPYING` is there as soon as its folder is."""
    folder = files_folder(location)
    with translate_errors(folder):
        if (folder / CROPS_FOLDER).exists():
            return
        if not folder.exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            with TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as above:
                create_private_folder(made := Path(above) / folder.name)
                create_private_file(made / _COPYING)
                made.rename(folder)
        else:
            create_private_file(folder / _COPYING)


def remove_copy_mark(location: Location) -> None:
    """Remove the mark of a copy, whose database says itself that it is unfinished."""
    folder = files_folder(location)
    with translate_errors(folder):
        (folder / _COPYING).unlink(missing_ok=True)


def check_unused(location: Location, *, copying: bool = False) -> None:
    """Raise StoreError if there are files of a library, whose database must have been lost, or a copy has begun there
    and this is not `copying` itself."""
    objects = open_objects(location)
    folder = files_folder(location)
    if not copying and (folder / _COPYING).exists():
        raise _unfinished(location)
    for other in _OTHER_FOLDERS:
        if any(path.is_file() for path in (folder / other).rglob("*")) or objects.names(other):
            raise StoreError(
                f"the database ({_FILE}, or that of the server) is missing or empty, but {other!r} has files of a "
                "library: restore it from a backup, or delete the folder and add the papers again",
                where=location,
            )


def open_writable(location: Location, *, prepare: Prepare = prepare_tables) -> Database:
    """Open a library for writing; `prepare` creates its tables or checks them."""
    if isinstance(location, PostgresAddress):
        return _open_server(location, prepare)
    return _open_file(location, prepare)


def _open_server(address: PostgresAddress, prepare: Prepare) -> Database:
    with closed_on_error(PostgresDatabase(address)) as database:
        with database.read() as connection:
            found = check_version(connection, where=database.where, unfinished=True)
            complete = found == CURRENT and not lacking(connection)
            if found not in (EMPTY, UNFINISHED):
                _require_files(connection, address)
        if found != EMPTY:
            database.require_rights()
        with translate_errors(address.files):
            create_private_folder(address.files)
            create_private_folder(address.files / CROPS_FOLDER)
        if complete and prepare is prepare_tables:
            return database
        # Of several processes, the first one creates the tables while the others wait for its lock.
        with database.creating() as connection:
            prepare(connection, where=database.where, files=address)
    return database


def _require_files(connection: Connection, address: PostgresAddress) -> None:
    """Raise StoreError if a library has papers and the folder of its files is not there, such as an unmounted one:
    other machines would miss what is written into another folder."""
    with translate_errors(address.files):
        is_there = (address.files / CROPS_FOLDER).is_dir()
    if not is_there and connection.execute(select(papers.c.id).limit(1)).first():
        raise StoreError(
            "the library has papers, but this folder has none of its files; mount it, or correct `files` in the "
            f"address. If the files are lost, create the folder {CROPS_FOLDER} in it, and add the papers again",
            where=address.files,
        )


def _open_file(folder: Path, prepare: Prepare) -> Database:
    file = folder / _FILE
    with translate_errors(folder):
        create_private_folder(folder)
        create_private_folder(folder / CROPS_FOLDER)
        # Two processes can't switch a new file to WAL at the same time.
        with filelock.FileLock(folder / "library.lock", timeout=_LOCK_SECONDS, mode=PRIVATE_FILE):
            # SQLite gives its log and shared memory the mode of the file.
            create_private_file(file)
            with closed_on_error(SqliteDatabase(file, mode="rwc")) as database, database.write() as connection:
                prepare(connection, where=file, files=folder)
    return database


@contextmanager
def closed_on_error(database: Opened) -> Iterator[Opened]:
    """Within the block, give the database, which is closed if the block fails."""
    with ExitStack() as stack:
        stack.callback(database.close)
        yield database
        stack.pop_all()


def _no_library(location: Location) -> StoreError:
    check_unused(location)
    return StoreError("no library there; add a paper first, or choose another place", where=location)


def open_read_only(location: Location, *, refusal: StoreReadOnlyError | None = None) -> Database:
    """Open a library for reading only; nothing is created or upgraded. `refusal` says why changes are refused."""
    if isinstance(location, PostgresAddress):
        database: Database = PostgresDatabase(location, read_only=True, refusal=refusal)
    elif (file := location / _FILE).is_file():
        with translate_errors(file):
            database = SqliteDatabase(file, mode="ro", refusal=refusal)
    else:
        raise _no_library(location)
    with closed_on_error(database), database.read() as connection:
        if check_version(connection, where=database.where) == EMPTY:
            raise _no_library(location)
    return database


def is_library(location: Location) -> bool:
    """Return whether a library was created there; its folder may be missing, its server must answer."""
    if not isinstance(location, PostgresAddress):
        return (location / _FILE).is_file()
    with closing(PostgresDatabase(location, read_only=True)) as database, database.read() as connection:
        return check_version(connection, where=database.where) != EMPTY
