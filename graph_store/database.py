"""The library's SQLite file: connections, and transactions that read or write."""

import errno
import os
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from sqlalchemy import Connection, QueuePool, create_engine, event

from graph_store.failures import translated
from paperscope.errors import StoreReadOnlyError

__all__ = ["Database", "readable_uri", "use_memory"]

_BUSY_SECONDS = 60.0
_BEGIN = "paperscope_begin"
_CACHE_KB = 65_536
_LOG_PAGES = 8_000
# What a model replies, and what SQLite writes along with it.
_ROOM = 1_000_000


class Database:
    """Transactions on one file; safe to use from many threads and processes.

    Every failure leaves as a StoreError. A commit is on the disk when it returns, also if the power goes the moment
    after (WAL with synchronous=FULL).
    """

    def __init__(self, file: Path, *, mode: Literal["ro", "rwc"]) -> None:
        self.file = file
        self.read_only = mode == "ro"
        self._uri = readable_uri(file) if self.read_only else f"{file.resolve().as_uri()}?mode=rwc"
        # SQLite's own waiting polls and is unfair; threads of one process queue here instead.
        self._writing = threading.Lock()
        self._engine = create_engine("sqlite://", creator=self._connect, poolclass=QueuePool, pool_size=8)
        event.listen(self._engine, "begin", _begin)
        self._writer = self._engine.execution_options(**{_BEGIN: "BEGIN IMMEDIATE"})

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that sees one state of the library throughout."""
        with translated(self.file), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that holds the write lock from its start; it commits unless the block raises."""
        self.require_writable()
        with self._writing, translated(self.file), self._writer.begin() as connection:
            yield connection

    def require_writable(self) -> None:
        """Raise StoreReadOnlyError if the file was opened for reading only."""
        if self.read_only:
            raise StoreReadOnlyError("the library is open for reading only; open it for writing", where=self.file)

    def check_room(self) -> None:
        """Raise StoreFullError where the disk is full, and StoreReadOnlyError as `require_writable` does."""
        self.require_writable()
        with translated(self.file):
            if shutil.disk_usage(self.file.parent).free < _ROOM:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def close(self) -> None:
        """Release the file."""
        self._engine.dispose()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        if not self.read_only:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            # A password that a job came with must not stay in the file's gaps; not every SQLite sees to it by itself.
            connection.execute("PRAGMA secure_delete=ON")
        connection.execute("PRAGMA foreign_keys=ON")
        use_memory(connection)
        return connection


def readable_uri(file: Path) -> str:
    """How to open a file that may not be written.

    Reading a WAL file takes its two companions. Where they are missing and can't be made (a read-only folder, and no
    writer at work), nothing is pending in them, and the file is read as immutable.
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


def use_memory(connection: sqlite3.Connection) -> None:
    """Keep a large library's pages at hand, so that one paper more costs it what it costs a small one.

    A paper's names fall all over the indexes: with SQLite's 2 MB of cache their pages are read anew for each paper, and
    with its 4 MB of log most are written back to the file for each.
    """
    connection.execute(f"PRAGMA cache_size=-{_CACHE_KB}")
    connection.execute(f"PRAGMA wal_autocheckpoint={_LOG_PAGES}")


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get(_BEGIN, "BEGIN"))
