"""Opening the database of a library, for writing or for reading only."""

from pathlib import Path

import filelock

from graph_store.database import Database
from graph_store.failures import translated
from graph_store.migrations import check_version, upgrade
from paperscope.errors import StoreError

__all__ = ["CROPS", "open_read_only", "open_writable"]

CROPS = "crops"
_FILE = "library.sqlite"
_LOCK_SECONDS = 60


def open_writable(folder: Path) -> Database:
    """Open a library for writing; make it where there is none, bring it up to date where it is older."""
    file = folder / _FILE
    with translated(folder):
        (folder / CROPS).mkdir(parents=True, exist_ok=True)
        # Switching a new file to WAL can't wait for another process that does the same.
        with filelock.FileLock(folder / "library.lock", timeout=_LOCK_SECONDS):
            database = Database(file, mode="rwc")
            try:
                with database.write() as connection:
                    upgrade(connection, file=file)
            except BaseException:
                database.close()
                raise
    return database


def open_read_only(folder: Path) -> Database:
    """Open a library for reading; nothing is made and nothing is changed."""
    file = folder / _FILE
    if not file.is_file():
        raise StoreError("no library there; add a paper first, or choose another folder", where=folder)
    with translated(file):
        database = Database(file, mode="ro")
    try:
        with database.read() as connection:
            check_version(connection, file=file)
    except StoreError:
        database.close()
        raise
    return database
