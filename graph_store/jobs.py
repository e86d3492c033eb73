"""The jobs of a library: a queue that survives its workers.

A worker claims a job for a while (a lease) and renews it as it goes on; the job of a worker that died is claimed again
when its lease is over, or at once where somebody saw it die. A job that outlived too many workers has failed.
"""

import secrets
import time
from collections.abc import Callable, Mapping, Sequence

from sqlalchemy import ColumnElement, Connection, RowMapping, delete, func, or_, select, update

from graph_store.database import Database
from graph_store.schema import jobs
from paperscope_core.errors import JobLostError, UnknownJobError
from paperscope_core.types import ENDED, Job, JobKind, JobState

__all__ = ["ATTEMPTS", "LEASE_SECONDS", "JobQueue"]


ATTEMPTS = 3
LEASE_SECONDS = 30.0

_WORN_OUT = f"{ATTEMPTS} workers died of this job; look at the file or the questions it is about, then send it again"


class JobQueue:
    """Jobs in the store; safe to use from many threads and processes. What a method returned is on the disk.

    `clock` gives seconds since the epoch.
    """

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def create(self, kind: JobKind, request: str, *, secret: str = "", job: str | None = None) -> Job:
        """Queue a job; `request` is its JSON text. `secret` (a password) is kept apart, and forgotten at its end.

        `job` is its id where the caller has chosen one (see `new_id`).
        """
        row = {
            "id": job or self.new_id(),
            "kind": kind,
            "state": "queued",
            "request": request,
            "secret": secret,
            "created": self._clock(),
        }
        with self._database.write() as connection:
            connection.execute(jobs.insert().values(row))
            return _job(connection, str(row["id"]))

    @staticmethod
    def new_id() -> str:
        """An id that nobody guesses."""
        return f"job-{secrets.token_hex(12)}"

    def get(self, job: str) -> Job:
        """The job with this id. Raises UnknownJobError."""
        with self._database.read() as connection:
            return _job(connection, job)

    def all(self, *, limit: int = 100) -> Sequence[Job]:
        """The newest jobs, newest first."""
        query = select(jobs).order_by(jobs.c.number.desc()).limit(limit)
        with self._database.read() as connection:
            return [_read(row) for row in connection.execute(query).mappings()]

    def counts(self) -> Mapping[JobState, int]:
        """How many jobs are in each state; states without any are left out."""
        query = select(jobs.c.state, func.count()).group_by(jobs.c.state)
        with self._database.read() as connection:
            return {state: int(count) for state, count in connection.execute(query)}

    def claim(self, owner: str) -> Job | None:
        """Take the oldest job that waits or whose worker is gone; None where there is none.

        It is the owner's for LEASE_SECONDS; `renew` makes that longer.
        """
        now = self._clock()
        waits = or_(jobs.c.state == "queued", (jobs.c.state == "running") & (jobs.c.lease_end < now))
        query = select(jobs).where(waits).order_by(jobs.c.number).limit(1)
        # A look first, so that an idle worker writes nothing.
        with self._database.read() as connection:
            if connection.execute(query).first() is None:
                return None
        with self._database.write() as connection:
            while row := connection.execute(query).mappings().first():
                if row["cancelling"]:
                    _end(connection, row["id"], state="cancelled", now=now)
                elif row["attempts"] >= ATTEMPTS:
                    _end(connection, row["id"], state="failed", now=now, error=_WORN_OUT)
                else:
                    values = {
                        "state": "running",
                        "owner": owner,
                        "lease_end": now + LEASE_SECONDS,
                        "attempts": row["attempts"] + 1,
                        "started": row["started"] or now,
                    }
                    connection.execute(update(jobs).where(jobs.c.id == row["id"]).values(values))
                    return _job(connection, row["id"])
        return None

    def secret(self, job: str, owner: str) -> str:
        """The secret that the job was queued with. Raises JobLostError."""
        with self._database.read() as connection:
            found = connection.execute(select(jobs.c.secret).where(_held(job, owner))).scalar()
        if found is None:
            raise JobLostError(f"the job {job!r} is no longer of this worker")
        return str(found)

    def renew(self, job: str, owner: str, *, stage: str = "", done: int = 0, total: int = 0) -> Job:
        """Say how far the job is, and keep it; its `cancelling` tells whether to stop. Raises JobLostError where it is
        another worker's by now."""
        values = {"lease_end": self._clock() + LEASE_SECONDS, "stage": stage, "done": done, "total": total}
        with self._database.write() as connection:
            if connection.execute(update(jobs).where(_held(job, owner)).values(values)).rowcount == 0:
                raise JobLostError(f"the job {job!r} is no longer of this worker")
            return _job(connection, job)

    def finish(self, job: str, owner: str, *, state: JobState, result: str = "", error: str = "") -> Job:
        """End a job, with its result as JSON text or the reason why there is none. Raises JobLostError."""
        if state not in ENDED:
            raise ValueError(f"{state!r} is no state of a job that has ended")
        with self._database.write() as connection:
            if connection.execute(select(jobs.c.id).where(_held(job, owner))).first() is None:
                raise JobLostError(f"the job {job!r} is no longer of this worker")
            _end(connection, job, state=state, now=self._clock(), result=result, error=error)
            return _job(connection, job)

    def cancel(self, job: str) -> Job:
        """Cancel a job: one that waits at once, one that runs as soon as its worker hears of it. One that has ended
        stays as it is. Raises UnknownJobError."""
        with self._database.write() as connection:
            found = _job(connection, job)
            if found.state == "queued":
                _end(connection, job, state="cancelled", now=self._clock())
            elif found.state == "running":
                connection.execute(update(jobs).where(jobs.c.id == job).values(cancelling=True))
            return _job(connection, job)

    def release(self, owner: str, *, died: bool) -> Sequence[str]:
        """Put back the jobs of a worker that has ended, and return their ids; one that did not die did not fail at
        them: that attempt does not count."""
        held = (jobs.c.state == "running") & (jobs.c.owner == owner)
        attempts = jobs.c.attempts if died else jobs.c.attempts - 1
        with self._database.write() as connection:
            ids = connection.execute(select(jobs.c.id).where(held)).scalars().all()
            connection.execute(update(jobs).where(held).values(state="queued", owner="", attempts=attempts))
            return list(ids)

    def forget(self, *, before: float) -> Sequence[str]:
        """Delete the jobs that ended before this time; return their ids."""
        old = jobs.c.state.in_(ENDED) & (jobs.c.finished < before)
        with self._database.write() as connection:
            ids = connection.execute(select(jobs.c.id).where(old)).scalars().all()
            connection.execute(delete(jobs).where(old))
            return list(ids)


def _held(job: str, owner: str) -> ColumnElement[bool]:
    return (jobs.c.id == job) & (jobs.c.owner == owner) & (jobs.c.state == "running")


def _end(connection: Connection, job: str, *, state: JobState, now: float, result: str = "", error: str = "") -> None:
    values = {"state": state, "finished": now, "result": result, "error": error, "owner": "", "secret": ""}
    connection.execute(update(jobs).where(jobs.c.id == job).values(cancelling=False, **values))


def _job(connection: Connection, job: str) -> Job:
    row = connection.execute(select(jobs).where(jobs.c.id == job)).mappings().first()
    if row is None:
        raise UnknownJobError(f"no job {job!r} in this library; ended jobs are kept for a while only")
    return _read(row)


def _read(row: RowMapping) -> Job:
    return Job(
        id=row["id"],
        kind=row["kind"],
        state=row["state"],
        request=row["request"],
        created=row["created"],
        stage=row["stage"],
        done=row["done"],
        total=row["total"],
        error=row["error"],
        result=row["result"],
        attempts=row["attempts"],
        cancelling=row["cancelling"],
        started=row["started"],
        finished=row["finished"],
    )
