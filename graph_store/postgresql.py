"""Transactions of a library in a PostgreSQL database, and the translation of its failures to StoreErrors."""

import json
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import sqlalchemy.exc
from sqlalchemy import Connection, Double, and_, cast, create_engine, event, func, literal, select
from sqlalchemy.pool import ConnectionPoolEntry

from graph_store.database import Lock, check_folder_room, refused
from graph_store.schema import ADDED, metadata
from paperscope_core.errors import (
    InputError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    StoreRefusedError,
    StoreUnavailableError,
)
from paperscope_core.locations import PostgresAddress

if TYPE_CHECKING:
    import psycopg
    from psycopg.abc import Buffer, Dumper

__all__ = ["PostgresDatabase", "sqlstate_of", "storable", "take_lock"]

_LEAST_VERSION = 16
_CONNECT_SECONDS = 10
_CLOCK_SECONDS = 60
_BEGIN = "paperscope_begin"
# A write transaction locks first and reads afterwards, so that each of its statements must see what was committed
# while it waited. A read transaction sees one state.
_BEGIN_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
_BEGIN_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
# The server ends a transaction whose client's machine is gone, since others wait for its locks. Statements take
# milliseconds, which compiling them would exceed. Tables of another library in a later schema of the path are not ours.
_SESSION = (
    "SELECT set_config('search_path', quote_ident(current_schema()), false)",
    "SET jit = off",
    "SET lock_timeout = '60s'",
    "SET tcp_keepalives_idle = 30",
    "SET tcp_keepalives_interval = 10",
    "SET tcp_keepalives_count = 3",
)
# SQLSTATE, whole or its first two characters (the class).
_FULL = {"53100"}
_NO_RIGHT = {"42501"}
_READ_ONLY = {"25006", *_NO_RIGHT}
_BUSY = {"55P03", "40001", "40P01"}
_CANCELLED = {"57014"}
_LOST = {"08", "57"}
_REFUSED = {"22", "54"}
_DAMAGED = {"XX", "58"}
_MISSING = {"42P01"}
_NO_SCHEMA = {"3F000"}
_LOST_REMEDY = "what was not committed is not stored; run the same command again"


class PostgresDatabase:
    """Implements `Database` on a PostgreSQL server, with the tables in the first schema of the connection's path.

    A commit is durable when it returns, unless the server is configured otherwise (`synchronous_commit`).
    """

    def __init__(
        self, address: PostgresAddress, *, read_only: bool = False, refusal: StoreReadOnlyError | None = None
    ) -> None:
        self.where: Path | str = str(address)
        self.read_only = read_only
        self._refusal = refusal
        self._address = address
        self._psycopg = _import_psycopg()
        self._text_dumper = _text_dumper()
        self._engine = create_engine(
            "postgresql+psycopg://",
            creator=self._connect,
            pool_size=8,
            max_overflow=24,
            # A connection that was idle while the server was restarted is replaced.
            pool_pre_ping=True,
        )
        event.listen(self._engine, "begin", _begin)
        event.listen(self._engine, "checkin", self._discard_if_closed)
        self._closed = False
        # When the server was last asked for the time, and the time when this machine's clock was 0. One value, because
        # several threads use it.
        self._clock = -math.inf, 0.0
        self._writer = self._engine.execution_options(**{_BEGIN: _BEGIN_WRITE})

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Begin a read transaction, which sees one state of the library."""
        with self._translated(reads=True), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self, lock: Lock | None = "papers") -> Iterator[Connection]:
        """Begin a write transaction; see `Database.write`."""
        self.require_writable()
        with self._translated(), self._writer.begin() as connection:
            if lock is not None:
                take_lock(connection, lock)
            yield connection

    def now(self) -> float:
        """Return seconds since the epoch, by the clock of the server: those of the machines that use it may differ."""
        asked, epoch = self._clock
        if time.monotonic() >= asked + _CLOCK_SECONDS:
            seconds = cast(func.extract("epoch", func.clock_timestamp()), Double)
            with self.read() as connection:
                served = float(connection.execute(select(seconds)).scalar_one())
            asked = time.monotonic()
            epoch = served - asked
            self._clock = asked, epoch
        return epoch + time.monotonic()

    def require_writable(self) -> None:
        """Raise StoreReadOnlyError if the library is open for reading only."""
        if self.read_only:
            raise refused(self._refusal, where=self.where)

    def require_rights(self) -> None:
        """Raise StoreReadOnlyError if the user or the server doesn't allow changes."""
        rights = ("SELECT", "INSERT", "UPDATE", "DELETE")
        added = {table.name for table in ADDED}
        granted = [
            func.has_table_privilege(table, right)
            for table in metadata.tables
            for right in rights
            if table not in added
        ]
        # A library may lack these tables: nobody has been refused rights on them.
        granted += [
            func.coalesce(func.has_table_privilege(func.to_regclass(table), right), literal(True))
            for table in added
            for right in rights
        ]
        is_open = func.current_setting("default_transaction_read_only") == "off"
        with self.read() as connection:
            may_write = connection.execute(select(and_(is_open, ~func.pg_is_in_recovery(), *granted))).scalar_one()
        if not may_write:
            raise self._read_only(self.where)

    @contextmanager
    def creating(self, lock: Lock | None = "papers") -> Iterator[Connection]:
        """Begin a write transaction that creates tables; failures name the rights that it needs."""
        try:
            with self.write(lock) as connection:
                yield connection
        except StoreReadOnlyError as error:
            raise StoreError(
                "its tables can't be created by this user; as the owner of the database: "
                "GRANT CREATE, USAGE ON SCHEMA ... TO ...",
                where=error.where,
            ) from error

    def check_room(self) -> None:
        """Raise StoreError if the disk of the files is full, or the database can't be written. The room on the
        server's disk is not known."""
        self.require_writable()
        self.require_rights()
        check_folder_room(self._address.files)

    def close(self) -> None:
        """Release the connections; one that another thread uses is closed after its transaction."""
        self._closed = True
        self._engine.dispose()

    def _discard_if_closed(self, _connection: object, record: ConnectionPoolEntry) -> None:
        if self._closed:
            record.invalidate()

    def _connect(self) -> "psycopg.Connection[tuple[object, ...]]":
        from psycopg.types.json import set_json_dumps

        try:
            connection: psycopg.Connection[tuple[object, ...]] = self._psycopg.connect(
                self._address.address,
                autocommit=True,
                client_encoding="utf8",
                connect_timeout=_CONNECT_SECONDS,
                fallback_application_name="paperscope",
            )
        except self._psycopg.Error as error:
            raise StoreUnavailableError(
                "the server can't be reached, or refuses the connection; check that it runs and takes more "
                "connections, and the address, the user and the password",
                where=f"{self.where} ({_reason(error)})",
            ) from error
        info = connection.info
        encoding = info.parameter_status("server_encoding")
        if info.server_version < _LEAST_VERSION * 10_000 or encoding != "UTF8":
            found = f"PostgreSQL {info.server_version // 10_000} with a database in {encoding}"
            connection.close()
            raise StoreError(
                f"{found}; Paperscope needs PostgreSQL {_LEAST_VERSION} or later and a database in UTF8",
                where=self.where,
            )
        connection.adapters.register_dumper(str, self._text_dumper)
        set_json_dumps(_as_json, connection)
        for statement in _SESSION:
            connection.execute(statement)
        return connection

    @contextmanager
    def _translated(self, *, reads: bool = False) -> Iterator[None]:
        try:
            yield
        except sqlalchemy.exc.DBAPIError as error:
            raise self._store_error(error.orig or error, reads=reads) from error
        except sqlalchemy.exc.TimeoutError as error:
            raise StoreError(
                "all connections of this process are in use; ask less at once, or try again", where=self.where
            ) from error

    def _store_error(self, error: BaseException, *, reads: bool) -> StoreError:
        state = getattr(error, "sqlstate", None) or ""
        where = f"{self.where} ({_reason(error)})"
        if reads and state in _NO_RIGHT:
            return StoreError(
                "the user has no rights to read its tables; as their owner: GRANT SELECT ON ALL TABLES IN SCHEMA ... "
                "TO ...",
                where=where,
            )
        if state in _FULL:
            return StoreFullError(
                "the server's disk is full; free some space there and run the same command again", where=where
            )
        if state in _READ_ONLY:
            return self._read_only(where)
        if state in _BUSY:
            return StoreError(
                "another process has locked it for too long; try again when that process has finished", where=where
            )
        return self._rare_error(state, where, error)

    def _rare_error(self, state: str, where: str, error: BaseException) -> StoreError:
        if state in _CANCELLED:
            detail = "the server ended a statement that took too long for it; raise statement_timeout for this user"
        elif state[:2] in _LOST or (not state and isinstance(error, self._psycopg.OperationalError)):
            return StoreUnavailableError(
                f"the server can't be reached, or the connection was lost; {_LOST_REMEDY}", where=where
            )
        elif state[:2] in _REFUSED:
            return StoreRefusedError("the server refuses a value or its size", where=where)
        elif state[:2] in _DAMAGED:
            detail = "damaged; see the server's log, and restore the database from a backup"
        elif state in _NO_SCHEMA:
            detail = "there is no schema there; create it, or check the address (options=-csearch_path%3D...)"
        elif state in _MISSING:
            detail = "no library there any more; restore the database from a backup"
        else:
            detail = "the server refused a statement; see its log"
        return StoreError(detail, where=where)

    def _read_only(self, where: object) -> StoreReadOnlyError:
        return StoreReadOnlyError(
            "the library is not writable: the server is read-only, or the user has no rights to write its tables; "
            "ask the owner of the database for rights",
            where=where,
        )


def take_lock(connection: Connection, lock: Lock, *, seconds: float | None = None) -> None:
    """Wait for a lock of the library, at most so many seconds, and hold it until the end of the transaction."""
    if seconds is not None:
        connection.execute(select(func.set_config("lock_timeout", f"{seconds}s", True)))
    # Libraries in schemas of one database are apart.
    key = func.current_schema().concat(literal(f"/paperscope/{lock}"))
    connection.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(key, 0))))


def sqlstate_of(error: StoreError) -> str:
    """Return the server's code of an error; "" if it is not the server's."""
    cause = error.__cause__
    return getattr(getattr(cause, "orig", None), "sqlstate", None) or ""


def _reason(error: BaseException | None) -> str:
    """Return what the server or libpq says, on one line, without the statement."""
    return " ".join(str(getattr(error, "orig", None) or error).split())


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get(_BEGIN, _BEGIN_READ))


def storable(text: str) -> str:
    """Return a text for a column or a comparison. PostgreSQL's have no NUL; in values, which are JSON, it is
    escaped."""
    return text.replace("\0", "\ufffd")


def _as_json(value: object) -> str:
    """Return the JSON of a list of texts, without what PostgreSQL refuses in it: NUL and lone surrogates."""
    text = json.dumps(value, ensure_ascii=False).encode(errors="replace").decode()
    return text.replace("\\u0000", "\\ufffd")


def _text_dumper() -> "type[Dumper]":
    from psycopg.types.string import StrDumper

    class TextDumper(StrDumper):
        def dump(self, obj: str) -> "Buffer | None":
            return super().dump(storable(obj))

    return TextDumper


def _import_psycopg() -> ModuleType:
    try:
        import psycopg
    except ImportError as error:
        raise InputError(
            "a library in PostgreSQL needs psycopg: install paperscope with the extra postgresql"
        ) from error
    return psycopg
