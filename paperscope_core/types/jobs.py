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
        return self.state in ENDED
