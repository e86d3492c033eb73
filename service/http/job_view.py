"""A job as the service shows it."""

from datetime import UTC, datetime

from pydantic import BaseModel, Field

from paperscope.codec import from_json
from paperscope.types import Job, JobKind, JobState
from service.jobs import AddRequest, AddResult, BatchRequest
from service.summary import BatchSummary

__all__ = ["JobView"]


class JobView(BaseModel):
    """A job: what it is about, how far it is, and what came of it."""

    id: str
    kind: JobKind = Field(description="add: a paper; batch: the questions of a file")
    name: str = Field(description="the file's name, as it was handed over")
    state: JobState
    stage: str = Field(description="what is being done, such as parsing")
    done: int = Field(description="how much of the stage is done: pages, pictures, questions")
    total: int = Field(description="how much there is; 0 where it can't be counted")
    cancelling: bool = Field(description="it was asked to stop, and has not yet")
    attempts: int = Field(description="how often it was begun; more than once where a worker died of it")
    error: str = Field(description="why it failed, and what helps")
    result: AddResult | BatchSummary | None = Field(description="what it came to, once it has succeeded")
    created: datetime
    started: datetime | None
    finished: datetime | None

    @classmethod
    def of(cls, job: Job) -> "JobView":
        """The view of a job."""
        asked: AddRequest | BatchRequest
        result: AddResult | BatchSummary | None
        if job.kind == "add":
            asked, result = from_json(AddRequest, job.request), from_json(AddResult, job.result) if job.result else None
        else:
            asked = from_json(BatchRequest, job.request)
            result = from_json(BatchSummary, job.result) if job.result else None
        return cls(
            id=job.id,
            kind=job.kind,
            name=asked.name,
            state=job.state,
            stage=job.stage,
            done=job.done,
            total=job.total,
            cancelling=job.cancelling,
            attempts=job.attempts,
            error=job.error,
            result=result,
            created=datetime.fromtimestamp(job.created, UTC),
            started=_time(job.started),
            finished=_time(job.finished),
        )


def _time(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
