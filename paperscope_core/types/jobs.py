"""Background jobs."""

from dataclasses import dataclass
from typing import Literal, get_args

__all__ = ["ENDED", "JOB_STATES", "Job", "JobKind", "JobState"]


JobKind = Literal["add", "batch"]
JobState = Literal["queued", "running", "succeeded", "failed", "cancelled"]

JOB_STATES: tuple[JobState, ...] = get_args(JobState)
ENDED: frozenset[JobState] = frozenset({"succeeded", "failed", "cancelled"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """One job of a library.

    `stage`, `done` and `total` tell how far it is (`total` is 0 where a stage can't be counted). `request` and `result`
    are JSON texts in the form of the job's kind, `error` says why it failed. `attempts` counts how often a worker took
    it. `cancelling` tells that it was asked to stop and has not yet. Times are seconds since the epoch.
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
        """Whether nothing more will happen to it."""
        return self.state in ENDED
