"""Failures of SQLite and of the disk, translated once into the errors of the library."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock
import sqlalchemy.exc

from paperscope.errors import StoreError, StoreFullError, StoreReadOnlyError

__all__ = ["is_damage", "translated"]

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_FULL = {errno.ENOSPC, errno.EDQUOT}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Raise what goes wrong inside as a StoreError that names `path` and the remedy."""
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


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the file itself is broken, so that a derived one is best built anew."""
    return _primary_code(error) in _DAMAGED


def _primary_code(error: BaseException | None) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _from_sqlite(path: Path, error: BaseException | None) -> StoreError:
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


def _from_system(path: Path, error: OSError) -> StoreError:
    if error.errno in _FULL:
        return _full(path)
    if error.errno in _FORBIDDEN:
        return _read_only(path)
    return StoreError(
        f"{error.strerror or error}; check the path, or choose another folder for the library", where=path
    )


def _full(path: Path) -> StoreFullError:
    return StoreFullError("the disk is full; free some space and run the same command again", where=path)


def _read_only(path: Path) -> StoreReadOnlyError:
    return StoreReadOnlyError("may not be written; open the library read-only, or get the right to write", where=path)


def _busy(path: Path) -> StoreError:
    return StoreError("another process has held it for long; try again when that has finished", where=path)
