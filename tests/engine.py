"""Libraries of tests in PostgreSQL: `pytest --engine postgresql` makes each folder of a library a schema.

Tests name libraries by their folders, copy these, and look for files in them. Here the rows of a folder's library are
in a schema of its own, and the files in the folder, with a mark that names the schema: a copy of the folder is a copy
of the library. Processes that a test starts do the same (`tests/children`).
"""

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from paperscope_core import locations
from paperscope_core.locations import Location, PostgresAddress, parse_location

__all__ = ["SERVER", "in_folders", "on_server", "patch_locations", "patch_store"]

SERVER = "TESTS_POSTGRESQL"
"""The variable with the folder of the server's socket. While it is not set, libraries are in their folders."""

_MARK = "schema"


@contextmanager
def on_server(folder: Path) -> Iterator[None]:
    """Within the block, open libraries on the server with this folder."""
    from graph_store import Store

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SERVER, str(folder))
        patch_locations(locations, patch.setattr)
        patch_store(Store, patch.setattr)
        yield


@contextmanager
def in_folders() -> Iterator[None]:
    """Within the block, open libraries in their folders."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(SERVER, raising=False)
        yield


def patch_locations(module: Any, replace: Callable[[Any, str, Any], None] = setattr) -> None:
    """Read the folder of a library as the address of its schema."""
    expanded = module._expanded
    replace(module, "_expanded", lambda path: _address(expanded(path)))
    replace(module, "_absolute", lambda text: expanded(Path(text)).absolute())


def patch_store(store: Any, replace: Callable[[Any, str, Any], None] = setattr) -> None:
    """Open the library of a folder in its schema."""
    open_anywhere = store.open.__func__

    def open_in_schema(cls: Any, /, location: Location, **options: Any) -> Any:
        address = parse_location(location)
        if isinstance(address, PostgresAddress) and SERVER in os.environ:
            _copy_once(address)
            opened = open_anywhere(cls, address, **options)
            (address.files / _MARK).write_text(_schema(address.files))
            return opened
        return open_anywhere(cls, address, **options)

    replace(store, "open", classmethod(open_in_schema))


def _schema(folder: Path) -> str:
    return f"folder_{hashlib.sha256(str(folder).encode()).hexdigest()[:16]}"


def _address(path: Path) -> Location:
    server = os.environ.get(SERVER)
    if server is None:
        return path
    folder = path.absolute()
    found = parse_location(_text(folder, _schema(folder), Path(server)))
    assert isinstance(found, PostgresAddress)
    _create_schema(found)
    return found


def _text(folder: Path, schema: str, server: Path) -> str:
    own = f"files={quote(str(folder))}&cache={quote(str(folder.with_name(f'{folder.name}-cache')))}"
    return f"postgresql://postgres@/postgres?host={server}&options=-csearch_path%3D{schema}&{own}"


def _create_schema(address: PostgresAddress) -> None:
    import psycopg

    if (address.files / _MARK).is_file() and (address.files / _MARK).read_text() == _schema(address.files):
        return
    with psycopg.connect(address.address, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(1)")
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {_schema(address.files)}")


def _copy_once(address: PostgresAddress) -> None:
    """Fill the schema with the library that a folder was copied from."""
    from sqlalchemy import func, inspect, literal, select

    from graph_store import copying
    from graph_store.database import SqliteDatabase
    from graph_store.functions import set_next_number
    from graph_store.postgresql import PostgresDatabase
    from graph_store.schema import library, metadata

    folder = address.files
    mark, file = folder / _MARK, folder / "library.sqlite"
    schema = mark.read_text() if mark.is_file() else ""
    if schema == _schema(folder) or not (schema or file.is_file()):
        return
    if schema:
        other = parse_location(_text(folder, schema, Path(os.environ[SERVER])))
        assert isinstance(other, PostgresAddress)
        source: PostgresDatabase | SqliteDatabase = PostgresDatabase(other, read_only=True)
    else:
        source = SqliteDatabase(file, mode="ro")
    with closing(source), source.read() as old, closing(PostgresDatabase(address)) as target:
        with target.write() as connection:
            if inspect(connection).get_table_names():
                return
            metadata.create_all(connection)
            connection.execute(library.insert().values(version=old.execute(select(library.c.version)).scalar_one()))
        for table in copying._tables():
            copying._copy_table(old, target, table, lambda _name, _done, _total: None)
        with target.write() as connection:
            for table in copying._NUMBERED:
                connection.execute(select(set_next_number(literal(table.name), func.max(table.c.number))))
