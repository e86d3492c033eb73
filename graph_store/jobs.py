"""The jobs of a library: a queue that survives its workers.

A worker leases a job and renews the lease while it works. If the worker dies, its jobs go to the quarantine when the
lease expires, or at once if the supervisor noticed: each may have killed the worker. Jobs in quarantine are claimed by
a worker of their own, one at a time. A job fails if workers die that work on nothing else.
"""

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, delete, exists, func, or_, select, update

from graph_store.database import Database
from graph_store.schema import jobs
from paperscope_core.errors import JobLostError, UnknownJobError
from paperscope_core.types import ENDED, Job, JobKind, JobState

__all__ = ["ATTEMPTS", "LEASE_SECONDS", "JobQueue", "PendingJobs"]

# The first worker may have died of another job. The others die in quarantine. A worker may also be killed from outside:
# with three deaths in quarantine, 1 of 36 harmless jobs failed when all workers were killed 12 times in 100 s.
ATTEMPTS = 6
LEASE_SECONDS = 30.0

_TOO_MANY_ATTEMPTS = (
    f"{ATTEMPTS - 1} workers died while they worked on this job only; look at the file or the questions it is about, "
    "then send it again"
)
_QUARANTINE = "in quarantine"
# All except the worker and its lease.
_JOB = select(*(jobs.c[field.name] for field in fields(Job)))


class PendingJobs(NamedTuple):
    """Whether jobs wait that no worker died of, whether jobs wait in quarantine, and whether jobs run."""

    new: bool
    quarantined: bool
    running: bool


class JobQueue:
    """Jobs in the store; safe for several threads and processes. Changes are durable when a method returns.

    A transaction locks the rows that it changes before it reads them; the embedded engine has one lock for everything.

    `clock` gives seconds since the epoch.
    """

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def create(self, kind: JobKind, request: str, *, job: str | None = None) -> Job:
        """Queue a job; `request` is its JSON text.

        `job` is the job's id if the caller has chosen one (see `new_id`).
        """
        job = job or self.new_id()
        row = {"id": job, "kind": kind, "state": "queued", "request": request}
        with self._database.write(lock=None) as connection:
            connection.execute(jobs.insert().values(created=self._clock(), **row))
            return _read(connection, job)

    @staticmethod
    def new_id() -> str:
        """Returns an id that can't be guessed."""
        return f"job-{secrets.token_hex(12)}"

    def get(self, job: str) -> Job:
        """The job with this id. Raises UnknownJobError."""
        with self._database.read() as connection:
            return _read(connection, job)

    def all(self, *, limit: int = 100) -> Sequence[Job]:
        """The most recent jobs, newest first."""
        query = _JOB.order_by(jobs.c.number.desc()).limit(limit)
        with self._database.read() as connection:
            return [Job(**row) for row in connection.execute(query).mappings()]

    def counts(self) -> Mapping[JobState, int]:
        """The number of jobs in each state; states without jobs are left out."""
        query = select(jobs.c.state, func.count()).group_by(jobs.c.state)
        with self._database.read() as connection:
            return {state: int(count) for state, count in connection.execute(query)}

    def pending(self) -> PendingJobs:
        """Which jobs have not ended."""
        conditions = (self._waits(quarantined=False), self._waits(quarantined=True), jobs.c.state == "running")
        with self._database.read() as connection:
            row = connection.execute(select(*(exists().where(condition) for condition in conditions))).one()
            return PendingJobs(*(bool(found) for found in row))

    def claim(self, owner: str, *, quarantined: bool = False) -> Job | None:
        """Lease the oldest waiting job; None if there is none.

        In quarantine, the job of which the fewest workers died comes first. The lease lasts LEASE_SECONDS; `renew`
        extends it.
        """
        now = self._clock()
        waits = self._waits(quarantined=quarantined)
        query = _JOB.where(waits).order_by(jobs.c.attempts, jobs.c.number).limit(1)
        # Read first, so that an idle worker takes no write lock.
        with self._database.read() as connection:
            if connection.execute(query).first() is None:
                return None
        with self._database.write(lock=None) as connection:
            while row := connection.execute(query.with_for_update(skip_locked=True)).mappings().first():
                job = Job(**row)
                if job.cancelling:
                    _end(connection, job.id, state="cancelled", now=now)
                elif job.attempts >= ATTEMPTS:
                    _end(connection, job.id, state="failed", now=now, error=_TOO_MANY_ATTEMPTS)
                else:
                    lease = {"state": "running", "owner": owner, "lease_end": now + LEASE_SECONDS}
                    return _update(connection, job.id, **lease, attempts=job.attempts + 1, started=job.started or now)
        return None

    def _waits(self, *, quarantined: bool) -> ColumnElement[bool]:
        """The jobs that can be claimed from the quarantine, or from outside it."""
        if not quarantined:
            return and_(jobs.c.state == "queued", jobs.c.attempts == 0)
        expired = and_(jobs.c.state == "running", jobs.c.lease_end < self._clock())
        return or_(and_(jobs.c.state == "queued", jobs.c.attempts > 0), expired)

    def renew(self, job: str, owner: str, *, stage: str = "", done: int = 0, total: int = 0) -> Job:
        """Report progress and extend the lease; the returned job's `cancelling` says whether to stop. Raises
        JobLostError if the lease has been lost."""
        lease_end = self._clock() + LEASE_SECONDS
        with self._database.write(lock=None) as connection:
            _require_lease(connection, job, owner)
            return _update(connection, job, lease_end=lease_end, stage=stage, done=done, total=total)

    def finish(self, job: str, owner: str, *, state: JobState, result: str = "", error: str = "") -> Job:
        """End a job with its result as JSON text, or with the reason for its failure. Raises JobLostError."""
        if state not in ENDED:
            raise ValueError(f"{state!r} is not a final state of a job")
        with self._database.write(lock=None) as connection:
            _require_lease(connection, job, owner)
            return _end(connection, job, state=state, now=self._clock(), result=result, error=error)

    def cancel(self, job: str) -> Job:
        """Cancel a queued job at once, and a running one when its worker renews the lease. A job that has ended is
        unchanged. Raises UnknownJobError."""
        with self._database.write(lock=None) as connection:
            found = _read(connection, job, locked=True)
            if found.state == "queued":
                return _end(connection, job, state="cancelled", now=self._clock())
            return _update(connection, job, cancelling=True) if found.state == "running" else found

    def release(self, owner: str, *, died: bool) -> Sequence[str]:
        """Queue the jobs of a worker that has ended again, and return their ids. The attempt counts only if the worker
        died; the jobs are then in quarantine."""
        held = (jobs.c.state == "running") & (jobs.c.owner == owner)
        values = {"stage": _QUARANTINE} if died else {"attempts": jobs.c.attempts - 1}
        with self._database.write(lock=None) as connection:
            ids = connection.execute(select(jobs.c.id).where(held).with_for_update()).scalars().all()
            connection.execute(update(jobs).where(jobs.c.id.in_(ids)).values(state="queued", owner="", **values))
            return list(ids)

    def forget(self, *, before: float) -> Sequence[str]:
        """Delete jobs that ended before this time, and return their ids."""
        old = jobs.c.state.in_(ENDED) & (jobs.c.finished < before)
        with self._database.write(lock=None) as connection:
            ids = connection.execute(select(jobs.c.id).where(old).with_for_update(skip_locked=True)).scalars().all()
            connection.execute(delete(jobs).where(jobs.c.id.in_(ids)))
            return list(ids)


def _require_lease(connection: Connection, job: str, owner: str) -> None:
    leased = (jobs.c.id == job) & (jobs.c.owner == owner) & (jobs.c.state == "running")
    if connection.execute(select(jobs.c.id).where(leased).with_for_update()).scalar() is None:
        raise JobLostError(f"the job {job!r} is no longer leased by this worker")


def _end(connection: Connection, job: str, *, state: JobState, now: float, result: str = "", error: str = "") -> Job:
    values = {"state": state, "finished": now, "result": result, "error": error, "owner": ""}
    return _update(connection, job, cancelling=False, **values)


def _update(connection: Connection, job: str, **values: object) -> Job:
    connection.execute(update(jobs).where(jobs.c.id == job).values(values))
    return _read(connection, job)


def _read(connection: Connection, job: str, *, locked: bool = False) -> Job:
    query = _JOB.where(jobs.c.id == job)
    row = connection.execute(query.with_for_update() if locked else query).mappings().first()
    if row is None:
        raise UnknownJobError(f"no job {job!r} in this library; jobs are deleted some time after they have ended")
    return Job(**row)
