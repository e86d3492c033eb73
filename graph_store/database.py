"""Transactions of a library, on its SQLite file; `graph_store.postgresql` has those on a server.

Failures of SQLite, locks and the disk are raised as StoreErrors.
"""

import errno
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Literal, Protocol

import filelock
import sqlalchemy.exc
from sqlalchemy import Connection, QueuePool, create_engine, event

from paperscope_core.errors import StoreError, StoreFullError, StoreReadOnlyError

__all__ = [
    "Database",
    "Lock",
    "SqliteDatabase",
    "check_folder_room",
    "enlarge_cache",
    "is_corruption",
    "read_only_uri",
    "refused",
    "translate_errors",
]

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_FULL = {errno.ENOSPC, errno.EDQUOT}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}

_BUSY_SECONDS = 60.0
_BEGIN = "paperscope_begin"
_CACHE_KB = 65_536
_LOG_PAGES = 8_000
# Bytes of a model's reply, and of what SQLite writes with it.
_ROOM = 1_000_000


@contextmanager
def translate_errors(path: Path | str) -> Iterator[None]:
    """Raise failures of SQLite, locks and the disk as a StoreError that names `path` and the remedy."""
    try:
        yield
    except sqlalchemy.exc.DBAPIError as error:
        raise _from_sqlite(path, error.orig) from error
    except sqlite3.Error as error:
        raise _from_sqlite(path, error) from error
    except (filelock.Timeout, sqlalchemy.exc.TimeoutError) as error:
        raise _busy(path) from error
    except OSError as error:
        raise _from_system(path, error) from error


def check_folder_room(folder: Path) -> None:
    """Raise StoreFullError if the disk of a folder is full."""
    with translate_errors(folder):
        if shutil.disk_usage(folder).free < _ROOM:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def is_corruption(error: sqlite3.Error) -> bool:
    """Return whether the file itself is corrupt, so that a derived index must be rebuilt."""
    return _primary_code(error) in _DAMAGED


def _primary_code(error: BaseException | None) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _from_sqlite(path: Path | str, error: BaseException | None) -> StoreError:
    code = _primary_code(error)
    if code == sqlite3.SQLITE_FULL:
        return _full(path)
    if code == sqlite3.SQLITE_READONLY:
        return _read_only(path)
    if code in _BUSY:
        return _busy(path)
    if code in _DAMAGED:
        return StoreError(
            f"damaged ({error}); restore it from a backup, or add the papers to a new library", where=path
        )
    return StoreError(f"{error}; check that the disk and the folder can be read and written", where=path)


def refused(refusal: StoreReadOnlyError | None, *, where: object) -> StoreReadOnlyError:
    """Return the error of a change of a library that is open for reading only, because writing was refused or nobody
    wanted to write."""
    if refusal is None:
        return StoreReadOnlyError("the library is open for reading only; open it for writing", where=where)
    # Raised again and again, an error would keep all its tracebacks.
    return StoreReadOnlyError(refusal.public, where=refusal.where)


def _from_system(path: Path | str, error: OSError) -> StoreError:
    # An error of a file names it, which may be in another place than the database.
    path = error.filename or path
    if error.errno in _FULL:
        return _full(path)
    if error.errno in _FORBIDDEN:
        return _read_only(path)
    return StoreError(
        f"{error.strerror or error}; check the path, or choose another folder for the library", where=path
    )


def _full(path: Path | str) -> StoreFullError:
    return StoreFullError("the disk is full; free some space and run the same command again", where=path)


def _read_only(path: Path | str) -> StoreReadOnlyError:
    return StoreReadOnlyError(
        "the library is not writable, or its files are not readable; change its permissions", where=path
    )


def _busy(path: Path | str) -> StoreError:
    return StoreError(
        "another process has locked it for too long; try again when that process has finished", where=path
    )


Lock = Literal["papers", "calls", "conversations", "tables", "index", "service", "notes"]
"""What a write transaction changes: those that change the same wait for each other."""


class Database(Protocol):
    """Transactions on a library; safe for several threads and processes.

    Failures are raised as StoreError. A commit is durable when it returns.

    Attributes:
        where: What messages name: a file, or an address without its password.
    """

    where: Path | str
    read_only: bool

    def read(self) -> AbstractContextManager[Connection]:
        """Return a read transaction, which sees one state of the library."""

    def write(self, lock: Lock | None = "papers") -> AbstractContextManager[Connection]:
        """Return a write transaction; commits unless the block raises.

        Args:
            lock: What is changed; held from the start of the transaction. None: the statements lock their rows. The
                embedded engine has one lock for everything.
        """

    def now(self) -> float:
        """Return seconds since the epoch, by one clock for all processes of a library; not for use in a transaction."""

    def require_writable(self) -> None:
        """Raise StoreReadOnlyError if the library is open for reading only."""

    def check_room(self) -> None:
        """Raise StoreError if nothing can be stored: a disk is full, or the library can't be written."""

    def close(self) -> None:
        """Release the file or the connections."""


class SqliteDatabase:
    """Implements `Database` on one file.

    Failures are raised as StoreError. A commit is durable when it returns, even if the power fails right after it (WAL
    with synchronous=FULL), unless the file need not be `durable`.
    """

    def __init__(
        self,
        file: Path,
        *,
        mode: Literal["ro", "rwc"],
        durable: bool = True,
        refusal: StoreReadOnlyError | None = None,
    ) -> None:
        self.where: Path | str = file
        self._file = file
        self._durable = durable
        self.read_only = mode == "ro"
        self._refusal = refusal
        self._uri = read_only_uri(file) if self.read_only else f"{file.resolve().as_uri()}?mode=rwc"
        # SQLite polls for its lock, which is unfair, so the threads of one process wait for this lock.
        self._writing = threading.Lock()
        self._engine = create_engine("sqlite://", creator=self._connect, poolclass=QueuePool, pool_size=8)
        event.listen(self._engine, "begin", _begin)
        self._writer = self._engine.execution_options(**{_BEGIN: "BEGIN IMMEDIATE"})

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Begin a read transaction, which sees one state of the library."""
        with translate_errors(self.where), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self, lock: Lock | None = "papers") -> Iterator[Connection]:  # noqa: ARG002
        """Begin a write transaction, which holds the write lock from its start; commits unless the block raises."""
        self.require_writable()
        with self._writing, translate_errors(self.where), self._writer.begin() as connection:
            # What is written to a file that was deleted is lost, although every statement succeeds.
            self._file.stat()
            yield connection

    def now(self) -> float:
        """Return seconds since the epoch, by the clock of this machine, which alone writes the file."""
        return time.time()

    def require_writable(self) -> None:
        """Raise StoreReadOnlyError if the file is open for reading only."""
        if self.read_only:
            raise refused(self._refusal, where=self.where)

    def check_room(self) -> None:
        """Raise StoreFullError if the disk is full, and StoreError if the file can't be written any more."""
        self.require_writable()
        with translate_errors(self.where):
            self._file.stat()
        if not os.access(self._file, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
            raise _read_only(self.where)
        check_folder_room(self._file.parent)

    def close(self) -> None:
        """Release the file."""
        self._engine.dispose()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        if not self.read_only:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(f"PRAGMA synchronous={'FULL' if self._durable else 'OFF'}")
            # A removed paper does not remain in free pages, which not every build of SQLite overwrites by default.
            connection.execute("PRAGMA secure_delete=ON")
        connection.execute("PRAGMA foreign_keys=ON")
        enlarge_cache(connection)
        return connection


def read_only_uri(file: Path) -> str:
    """Return the URI that opens a file for reading only.

    Reading a database in WAL mode needs its `-wal` and `-shm` files. Where they are missing and can't be created (the
    folder is read-only and no writer runs), no commit is pending, and the file is opened as immutable.
    """
    uri = f"{file.resolve().as_uri()}?mode=ro"
    wal = file.with_name(f"{file.name}-wal")
    if wal.exists() and wal.stat().st_size > 0:
        return uri
    try:
        probe = sqlite3.connect(uri, uri=True)
        try:
            probe.execute("SELECT count(*) FROM sqlite_master")
        finally:
            probe.close()
    except sqlite3.OperationalError:
        return f"{uri}&immutable=1"
    return uri


def enlarge_cache(connection: sqlite3.Connection) -> None:
    """Enlarge the page cache and the write-ahead log, so that adding a paper to a large library is as fast as to a
    small one.

    A paper's names are spread over the pages of an index: with SQLite's default cache of 2 MB they are read again for
    each paper, and with its default log of 4 MB most are written back for each.
    """
    connection.execute(f"PRAGMA cache_size=-{_CACHE_KB}")
    connection.execute(f"PRAGMA wal_autocheckpoint={_LOG_PAGES}")


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get(_BEGIN, "BEGIN"))
