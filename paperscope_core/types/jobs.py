"""Background jobs of a library."""

from dataclasses import dataclass
from typing import Literal, get_args

__all__ = ["ENDED", "JOB_STATES", "Job", "JobKind", "JobState"]

JobKind = Literal["add", "batch"]
JobState = Literal["queued", "running", "succeeded", "failed", "cancelled"]

JOB_STATES: tuple[JobState, ...] = get_args(JobState)
ENDED: frozenset[JobState] = frozenset({"succeeded", "failed", "cancelled"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """One background job.

    Attributes:
        id: The job's id.
        kind: What it does.
        state: Its state.
        request: JSON; its form depends on the kind.
        created: When it was created. All times are seconds since the epoch.
        stage: What it is doing.
        done: How much of the stage is done.
        total: How much the stage comprises; 0 if that can't be counted.
        error: Why it failed.
        result: JSON; its form depends on the kind.
        attempts: How many times a worker started it.
        cancelling: Whether cancellation was requested and has not taken effect yet.
        started: When it was last started.
        finished: When it ended.
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
        return self.state in ENDED
