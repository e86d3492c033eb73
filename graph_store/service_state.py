"""What the processes of a service share while they run: sessions, the rate of requests, and what is to be stopped.

None of it belongs to the library: it may be lost, and `copying` leaves it out. A library in PostgreSQL has it in tables
of its own, for all services of the library; otherwise it is in a file of one service.
"""

import shutil
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import cast

import filelock
from sqlalchemy import Column, Float, MetaData, Table, delete, select

from graph_store.database import Database, SqliteDatabase, translate_errors
from graph_store.opening import closed_on_error, open_writable
from graph_store.postgresql import PostgresDatabase
from graph_store.schema import Text
from paperscope_core.files import PRIVATE_FILE, create_private_file
from paperscope_core.locations import Location, PostgresAddress

__all__ = ["ServiceState"]

_metadata = MetaData()

# Times are seconds since the epoch. A token is stored as its hash.
_sessions = Table(
    "service_sessions",
    _metadata,
    Column("token", Text, primary_key=True),
    Column("key", Text, nullable=False),
    Column("ends", Float, nullable=False, index=True),
)

# A token bucket for each caller, as it was at a time.
_rates = Table(
    "service_rates",
    _metadata,
    Column("caller", Text, primary_key=True),
    Column("tokens", Float, nullable=False),
    Column("time", Float, nullable=False, index=True),
)

_stops = Table(
    "service_stops", _metadata, Column("work", Text, primary_key=True), Column("time", Float, nullable=False)
)

_MINUTE = 60.0
# Work that is stopped ends within seconds.
_STOP_SECONDS = 600.0
# Bounds the size: the oldest sessions of a key end, and none of another.
_MAX_SESSIONS = 100


class ServiceState:
    """The shared state; safe for several threads and processes. Every method may raise StoreError.

    A library in PostgreSQL has the state of all its services; otherwise it is in a file. It is opened when it is first
    used.

    Args:
        location: The service's library.
        folder: The folder of the file; by default a temporary one, which `close` deletes.
        clock: Returns seconds since the epoch; by default, by the clock of the database.
    """

    def __init__(
        self, location: Location, *, folder: Path | None = None, clock: Callable[[], float] | None = None
    ) -> None:
        self._location = location
        self._folder = folder
        self._temporary: Path | None = None
        self._clock = clock
        self._opened: Database | None = None
        self._opening = threading.Lock()

    @property
    def _database(self) -> Database:
        with self._opening:
            if self._opened is None:
                self._opened = self._open()
            return self._opened

    def _open(self) -> Database:
        if isinstance(self._location, PostgresAddress):
            server = cast("PostgresDatabase", open_writable(self._location))
            with closed_on_error(server), server.creating("service") as connection:
                _metadata.create_all(connection)
            return server
        with translate_errors("the temporary folder"):
            if self._folder is None:
                self._folder = self._temporary = Path(tempfile.mkdtemp(prefix="paperscope-"))
            file = self._folder / "state.sqlite"
            # Two processes can't switch a new file to WAL at the same time.
            with filelock.FileLock(f"{file}.lock", mode=PRIVATE_FILE):
                create_private_file(file)
                database = SqliteDatabase(file, mode="rwc", durable=False)
                with closed_on_error(database), database.write("service") as connection:
                    _metadata.create_all(connection)
        return database

    def _now(self) -> float:
        return (self._clock or self._database.now)()

    def close(self) -> None:
        """Release the database."""
        with self._opening:
            if self._opened is not None:
                self._opened.close()
            if self._temporary is not None:
                shutil.rmtree(self._temporary, ignore_errors=True)

    def begin_session(self, token: str, key: str, *, seconds: float) -> None:
        """Store a session of an API key."""
        now = self._now()
        with self._database.write("service") as connection:
            connection.execute(delete(_sessions).where(_sessions.c.ends <= now))
            own = _sessions.c.key == key
            newest = select(_sessions.c.token).where(own).order_by(_sessions.c.ends.desc()).limit(_MAX_SESSIONS - 1)
            connection.execute(delete(_sessions).where(own, _sessions.c.token.not_in(newest)))
            connection.execute(_sessions.insert().values(token=token, key=key, ends=now + seconds))

    def session_key(self, token: str) -> str | None:
        """Return the id of a session's key; None if there is no such session, or it has ended."""
        query = select(_sessions.c.key).where(_sessions.c.token == token, _sessions.c.ends > self._now())
        with self._database.read() as connection:
            return connection.execute(query).scalar()

    def end_session(self, token: str) -> None:
        """End a session, if there is one."""
        with self._database.write("service") as connection:
            connection.execute(delete(_sessions).where(_sessions.c.token == token))

    def take(self, caller: str, *, per_minute: int) -> float:
        """Take a token from the caller's bucket, which holds those of a minute and refills evenly.

        Returns the seconds until there is one; 0 if there was one.
        """
        now, per_second = self._now(), per_minute / _MINUTE
        with self._database.write("service") as connection:
            # A bucket is full again after a minute.
            connection.execute(delete(_rates).where(_rates.c.time < now - _MINUTE))
            found = connection.execute(select(_rates.c.tokens, _rates.c.time).where(_rates.c.caller == caller)).first()
            before, since = (found.tokens, found.time) if found else (float(per_minute), now)
            # The clock may have been set back since.
            tokens = min(float(per_minute), before + max(0.0, now - since) * per_second)
            left = tokens - 1 if tokens >= 1 else tokens
            connection.execute(delete(_rates).where(_rates.c.caller == caller))
            connection.execute(_rates.insert().values(caller=caller, tokens=left, time=now))
        return 0.0 if tokens >= 1 else (1 - tokens) / per_second

    def stop(self, work: str) -> None:
        """Ask every process to stop this work, by changing what `last_stop` returns."""
        now = self._now()
        with self._database.write("service") as connection:
            gone = (_stops.c.time < now - _STOP_SECONDS) | (_stops.c.work == work)
            connection.execute(delete(_stops).where(gone))
            connection.execute(_stops.insert().values(work=work, time=now))

    def last_stop(self, work: str) -> float:
        """When work was last asked to stop; 0 if that is long ago."""
        with self._database.read() as connection:
            found = connection.execute(select(_stops.c.time).where(_stops.c.work == work)).scalar()
        return float(found or 0)
