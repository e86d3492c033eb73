"""Batches: a file of questions in, a job, and files of answers out."""

import asyncio
import io
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Request, Response
from fastapi import Path as PathParameter
from pydantic import BaseModel, ConfigDict, Field

from paperscope.errors import QuestionFileError
from paperscope.types import Job
from service.http.bodies import ANY_SIZE, file_or_json, is_form, read_form, read_json, the_file
from service.http.job_view import JobView
from service.http.problems import ProblemError
from service.http.queueing import QueueOf
from service.http.routes.jobs import JobOf
from service.job_files import JobFiles
from service.jobs import BatchRequest
from service.progress import finished_rows
from service.questions import BadQuestion, parse_questions

__all__ = ["router"]

router = APIRouter(tags=["batch"])

_LARGEST = 16_000_000
_LONGEST_NAME = 200
_KINDS = {".jsonl": "application/x-ndjson", ".csv": "text/csv", ".md": "text/markdown", ".png": "image/png"}


class Questions(BaseModel):
    """Questions, each a text, or an object as in a question file: with `question`, and maybe `answer` and `filters`."""

    model_config = ConfigDict(extra="forbid")

    questions: list[str | dict[str, object]] = Field(min_length=1)


_BODY = file_or_json(
    Questions,
    file="JSON lines (DocBench's among them), CSV, or one question a line",
    example={"questions": ["Which model has the highest F1?"]},
)


@router.post(
    "/v1/batch", status_code=202, summary="Answer a file of questions", openapi_extra=_BODY, max_body_size=ANY_SIZE
)
async def add_batch(request: Request, response: Response, queue: QueueOf) -> JobView:
    """The answer is a job, under `Location`; its results are under `/v1/jobs/{job}/results/`. A question that fails
    doesn't stop the rest, and none that is finished is asked again, whatever happens to the service."""
    form = is_form(request)
    await queue.check_room()
    if form:
        async with read_form(request, most=_LARGEST) as parts:
            file = the_file(parts)
            name, data = (file.filename or "questions")[-_LONGEST_NAME:], await file.read()
    else:
        asked = await read_json(request, Questions, most=_LARGEST)
        name, data = "questions.jsonl", await asyncio.to_thread(_lines, asked.questions)
    count = await asyncio.to_thread(_count, data, name, queue.service.settings.service.batch_questions)
    made = partial(_request, name=name, questions=count)
    return await queue.hand_over(io.BytesIO(data), response, name=name, request=made)


def _lines(questions: Sequence[str | dict[str, object]]) -> bytes:
    asked = ({"question": question} if isinstance(question, str) else question for question in questions)
    return "".join(json.dumps(one) + "\n" for one in asked).encode()


def _request(file: str, *, name: str, questions: int) -> BatchRequest:
    return BatchRequest(name=name, file=file, questions=questions)


def _count(data: bytes, name: str, most: int) -> int:
    """How many questions a file holds. Raises QuestionFileError where not one can be read, and ProblemError where there
    are more than `most`."""
    questions = parse_questions(data, name=name, most=most + 1)
    if len(questions) > most:
        detail = (
            f"{name}: over {most} questions, the most of one batch; send several, or raise service.batch_questions."
        )
        raise ProblemError(422, "too-many-questions", detail)
    bad = [question for question in questions if isinstance(question, BadQuestion)]
    if len(bad) == len(questions):
        raise QuestionFileError(f"none of the {len(bad)} rows is a question: {bad[0].reason}")
    return len(questions)


@router.get("/v1/jobs/{job}/results/{file}", summary="The results of a batch", response_class=Response)
async def get_results(
    job: JobOf, queue: QueueOf, file: Literal["answers.jsonl", "answers.csv", "report.md"]
) -> Response:
    """`answers.jsonl` holds the rows that are finished while the batch runs; the other files are there at its end, or
    when it was cancelled."""
    folder = _folder(job, queue.folder)
    data = await asyncio.to_thread(_read, folder / file)
    if data is None and file == "answers.jsonl" and not job.ended:
        rows = await asyncio.to_thread(finished_rows, folder / "progress.jsonl")
        data = "".join(row.to_json() + "\n" for row in rows).encode()
    return _file(data, file, job)


@router.get("/v1/jobs/{job}/results/images/{image}", summary="A picture that a batch's report shows")
async def get_image(
    job: JobOf, queue: QueueOf, image: Annotated[str, PathParameter(pattern=r"^[A-Za-z0-9-]{1,200}\.png$")]
) -> Response:
    """A crop, as `report.md` and `answers.jsonl` name it (`images/…`)."""
    return _file(await asyncio.to_thread(_read, _folder(job, queue.folder) / "images" / image), image, job)


def _folder(job: Job, library: Path) -> Path:
    if job.kind != "batch":
        raise ProblemError(404, "no-results", f"The job {job.id!r} adds a paper; its result is in the job itself.")
    return JobFiles(library).folder(job.id)


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None


def _file(data: bytes | None, name: str, job: Job) -> Response:
    if data is None:
        raise ProblemError(404, "no-results", f"The job {job.id!r} ({job.state}) has no {name!r}, or not yet.")
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(data, media_type=_KINDS[Path(name).suffix], headers=headers)
