"""The jobs of a library: a queue that survives its workers.

A worker leases a job and renews the lease while it works. If the worker dies, its jobs go to the quarantine when the
lease expires, or at once if the supervisor noticed: each may have killed the worker. Jobs in quarantine are claimed by
a worker of their own, one at a time. A job fails if workers die that work on nothing else.

A job that needs a secret is reserved for the workers of the service that has it in memory, until the service ends.
"""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal, NamedTuple, get_args

from sqlalchemy import ColumnElement, Connection, and_, delete, exists, func, or_, select, update

from graph_store.database import Database
from graph_store.schema import jobs
from paperscope_core.errors import JobLostError, UnknownJobError

__all__ = [
    "ATTEMPTS",
    "JOB_STATES",
    "LEASE_SECONDS",
    "RESERVATION_SECONDS",
    "Job",
    "JobKind",
    "JobQueue",
    "JobState",
    "PendingJobs",
]

JobKind = Literal["add", "batch", "table"]
JobState = Literal["queued", "running", "succeeded", "failed", "cancelled"]

JOB_STATES: tuple[JobState, ...] = get_args(JobState)
_ENDED: frozenset[JobState] = frozenset({"succeeded", "failed", "cancelled"})

# The first worker may have died of another job. The others die in quarantine. A worker may also be killed from outside:
# with three deaths in quarantine, 1 of 36 harmless jobs failed when all workers were killed 12 times in 100 s.
ATTEMPTS = 6
LEASE_SECONDS = 30.0
# A service extends its reservations as often as a lease lasts, and may be late.
RESERVATION_SECONDS = 3 * LEASE_SECONDS

_TOO_MANY_ATTEMPTS = (
    f"{ATTEMPTS - 1} workers died while they worked on this job only, or the server of the library did; look at the "
    "file or the questions it is about, then send it again"
)
_QUARANTINE = "in quarantine"


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """One background job.

    Attributes:
        request: JSON; its form depends on the kind.
        created: The time of creation. All times are seconds since the epoch.
        done: Completed steps (pages, images, questions) of the last stage that can be counted.
        total: All steps of that stage; 0 before the first one.
        result: JSON; its form depends on the kind.
        attempts: The number of times that a worker started it.
        cancelling: Whether cancellation was requested and has not taken effect yet.
    """

    id: str
    kind: JobKind
    state: JobState
    request: str
    created: float
    stage: str = ""
    done: int = 0
    total: int = 0
    error: str = ""
    result: str = ""
    attempts: int = 0
    cancelling: bool = False
    started: float | None = None
    finished: float | None = None

    @property
    def ended(self) -> bool:
        """Whether its state is final."""
        return self.state in _ENDED


# All except the worker and its lease.
_JOB = select(*(jobs.c[field.name] for field in fields(Job)))


class PendingJobs(NamedTuple):
    """Whether jobs wait that no worker died of, whether jobs wait in quarantine, and whether jobs run.

    Jobs that wait for another service don't count as waiting.
    """

    new: bool
    quarantined: bool
    running: bool


class JobQueue:
    """Jobs in the store; safe for several threads and processes. Changes are durable when a method returns.

    A transaction locks the rows that it changes before it reads them; the embedded engine has one lock for everything.

    `clock` gives seconds since the epoch; by default, it is that of the library.
    """

    def __init__(self, database: Database, *, clock: Callable[[], float] | None = None) -> None:
        self._database = database
        self._clock = clock or database.now

    def create(self, kind: JobKind, request: str, *, job: str | None = None, reserved: str = "") -> Job:
        """Queue a job; `request` is its JSON text.

        `job` is the job's id if the caller has chosen one (see `new_id`), `reserved` the only service whose workers may
        take it within RESERVATION_SECONDS; `reserve` extends this.
        """
        job, now = job or self.new_id(), self._clock()
        row = {"id": job, "kind": kind, "state": "queued", "request": request, "reserved": reserved}
        with self._database.write(lock=None) as connection:
            connection.execute(jobs.insert().values(created=now, lease_end=now + RESERVATION_SECONDS, **row))
            return _read(connection, job)

    @staticmethod
    def new_id() -> str:
        """Return an id that can't be guessed."""
        return f"job-{secrets.token_hex(12)}"

    def get(self, job: str) -> Job:
        """Return the job with this id. Raises UnknownJobError."""
        with self._database.read() as connection:
            return _read(connection, job)

    def all(self, *, limit: int = 100) -> Sequence[Job]:
        """Return the most recent jobs, newest first."""
        query = _JOB.order_by(jobs.c.number.desc()).limit(limit)
        with self._database.read() as connection:
            return [Job(**row) for row in connection.execute(query).mappings()]

    def counts(self) -> Mapping[JobState, int]:
        """Return the number of jobs in each state; states without jobs are left out."""
        query = select(jobs.c.state, func.count()).group_by(jobs.c.state)
        with self._database.read() as connection:
            return {state: int(count) for state, count in connection.execute(query)}

    def pending(self, *, service: str = "") -> PendingJobs:
        """Return which jobs have not ended, as far as the workers of this service may take them."""
        waits = (self._waits(quarantined=quarantined, service=service) for quarantined in (False, True))
        conditions = (*waits, jobs.c.state == "running")
        with self._database.read() as connection:
            row = connection.execute(select(*(exists().where(condition) for condition in conditions))).one()
            return PendingJobs(*(bool(found) for found in row))

    def claim(self, owner: str, *, quarantined: bool = False, service: str = "") -> Job | None:
        """Lease the oldest waiting job that the workers of this service may take; None if there is none.

        In quarantine, the job of which the fewest workers died comes first. The lease lasts LEASE_SECONDS; `renew`
        extends it.
        """
        now = self._clock()
        waits = self._waits(quarantined=quarantined, service=service)
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

    def _waits(self, *, quarantined: bool, service: str) -> ColumnElement[bool]:
        """Return the jobs that workers of a service can claim from the quarantine, or from outside it."""
        now = self._clock()
        expired, allowed = jobs.c.lease_end < now, jobs.c.reserved.in_(["", service])
        queued = and_(jobs.c.state == "queued", or_(allowed, expired))
        if not quarantined:
            return and_(queued, jobs.c.attempts == 0)
        # The lease of a running job is its worker's; its service then has as long as for a queued one.
        abandoned = jobs.c.lease_end < now - RESERVATION_SECONDS
        running = and_(jobs.c.state == "running", or_(and_(allowed, expired), abandoned))
        return or_(and_(queued, jobs.c.attempts > 0), running)

    def renew(self, job: str, owner: str, *, stage: str = "", done: int = 0, total: int = 0) -> Job:
        """Report progress and extend the lease; the returned job's `cancelling` says whether to stop. Raises
        JobLostError if the lease has been lost."""
        lease_end = self._clock() + LEASE_SECONDS
        with self._database.write(lock=None) as connection:
            _require_lease(connection, job, owner)
            return _update(connection, job, lease_end=lease_end, stage=stage, done=done, total=total)

    def finish(self, job: str, owner: str, *, state: JobState, result: str = "", error: str = "") -> Job:
        """End a job with its result as JSON text, or with the reason for its failure. Raises JobLostError."""
        if state not in _ENDED:
            raise ValueError(f"{state!r} is not a final state of a job")
        now = self._clock()
        with self._database.write(lock=None) as connection:
            _require_lease(connection, job, owner)
            return _end(connection, job, state=state, now=now, result=result, error=error)

    def cancel(self, job: str) -> Job:
        """Cancel a queued job at once, and a running one when its worker renews the lease. A job that has ended is
        unchanged. Raises UnknownJobError."""
        now = self._clock()
        with self._database.write(lock=None) as connection:
            found = _read(connection, job, locked=True)
            if found.state == "queued":
                return _end(connection, job, state="cancelled", now=now)
            return _update(connection, job, cancelling=True) if found.state == "running" else found

    def release(self, owner: str, *, died: bool, job: str | None = None) -> Sequence[str]:
        """Queue the jobs of a worker again, or only one of them, and return their ids. The attempt counts only if the
        worker died, or the server of the library did; the jobs are then in quarantine."""
        held = (jobs.c.state == "running") & (jobs.c.owner == owner)
        if job is not None:
            held &= jobs.c.id == job
        values: dict[str, object] = {"stage": _QUARANTINE} if died else {"attempts": jobs.c.attempts - 1}
        # The lease of a reservation.
        values["lease_end"] = self._clock() + RESERVATION_SECONDS
        with self._database.write(lock=None) as connection:
            ids = connection.execute(select(jobs.c.id).where(held).with_for_update()).scalars().all()
            connection.execute(update(jobs).where(jobs.c.id.in_(ids)).values(state="queued", owner="", **values))
            return list(ids)

    def reserve(self, service: str) -> None:
        """Extend the reservations of a service by RESERVATION_SECONDS."""
        reserved = (jobs.c.state == "queued") & (jobs.c.reserved == service)
        lease_end = self._clock() + RESERVATION_SECONDS
        with self._database.write(lock=None) as connection:
            connection.execute(update(jobs).where(reserved).values(lease_end=lease_end))

    def end_reservations(self, service: str) -> None:
        """Let every worker take what was reserved for a service that has ended."""
        with self._database.write(lock=None) as connection:
            connection.execute(update(jobs).where(jobs.c.reserved == service).values(reserved=""))

    def forget(self, *, seconds: float) -> Sequence[str]:
        """Delete jobs that ended more than so many seconds ago, and return their ids."""
        old = jobs.c.state.in_(_ENDED) & (jobs.c.finished < self._clock() - seconds)
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
