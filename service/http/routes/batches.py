"""Batches: submit questions, and read their results."""

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

from paperscope_core.errors import QuestionFileError
from paperscope_core.types import Job
from service.batch.folder import finished_rows
from service.batch.questions import BadQuestion, parse_questions
from service.http.problems import ProblemError
from service.http.routes.jobs import JobOf
from service.http.uploads import (
    UNLIMITED_BYTES,
    JobSubmitterOf,
    document_upload,
    is_form,
    read_form,
    read_json,
    uploaded_file,
)
from service.http.views import JobView
from service.jobs.requests import BatchRequest, JobFiles

__all__ = ["router"]


router = APIRouter(tags=["batch"])

_MAX_BATCH_BYTES = 16_000_000
_MAX_NAME_CHARACTERS = 200
_MEDIA_TYPES = {".jsonl": "application/x-ndjson", ".csv": "text/csv", ".md": "text/markdown", ".png": "image/png"}


class Questions(BaseModel):
    """Questions, each a text, or an object as in a question file: with `question`, and maybe `answer` and `filters`."""

    model_config = ConfigDict(extra="forbid")

    questions: list[str | dict[str, object]] = Field(min_length=1)


_BATCH_BODY = document_upload(
    Questions,
    file="JSON lines (DocBench's among them), CSV, or one question a line",
    example={"questions": ["Which model has the highest F1?"]},
)


@router.post(
    "/v1/batch",
    status_code=202,
    summary="Answer a file of questions",
    openapi_extra=_BATCH_BODY,
    max_body_size=UNLIMITED_BYTES,
)
async def add_batch(request: Request, response: Response, queue: JobSubmitterOf) -> JobView:
    """The answer is a job, under `Location`; its results are under `/v1/jobs/{job}/results/`. A question that fails
    doesn't stop the rest, and none that is finished is asked again, whatever happens to the service."""
    form = is_form(request)
    await queue.check_room()
    if form:
        async with read_form(request, most=_MAX_BATCH_BYTES) as parts:
            file = uploaded_file(parts)
            name, data = (file.filename or "questions")[-_MAX_NAME_CHARACTERS:], await file.read()
    else:
        asked = await read_json(request, Questions, most=_MAX_BATCH_BYTES)
        name, data = "questions.jsonl", await asyncio.to_thread(_question_lines, asked.questions)
    count = await asyncio.to_thread(_count_questions, data, name, queue.service.settings.service.batch_questions)
    made = partial(_batch_request, name=name, questions=count)
    return await queue.hand_over(io.BytesIO(data), response, name=name, request=made)


def _question_lines(questions: Sequence[str | dict[str, object]]) -> bytes:
    asked = ({"question": question} if isinstance(question, str) else question for question in questions)
    return "".join(json.dumps(one) + "\n" for one in asked).encode()


def _batch_request(file: str, *, name: str, questions: int) -> BatchRequest:
    return BatchRequest(name=name, file=file, questions=questions)


def _count_questions(data: bytes, name: str, most: int) -> int:
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
    job: JobOf, queue: JobSubmitterOf, file: Literal["answers.jsonl", "answers.csv", "report.md"]
) -> Response:
    """`answers.jsonl` holds the rows that are finished while the batch runs; the other files are there at its end, or
    when it was cancelled."""
    folder = _results_folder(job, queue.folder)
    data = await asyncio.to_thread(_read, folder / file)
    if data is None and file == "answers.jsonl" and not job.ended:
        rows = await asyncio.to_thread(finished_rows, folder / "progress.jsonl")
        data = "".join(row.to_json() + "\n" for row in rows).encode()
    return _result_response(data, file, job)


@router.get("/v1/jobs/{job}/results/images/{image}", summary="A picture that a batch's report shows")
async def get_image(
    job: JobOf, queue: JobSubmitterOf, image: Annotated[str, PathParameter(pattern=r"^[A-Za-z0-9-]{1,200}\.png$")]
) -> Response:
    """A crop, as `report.md` and `answers.jsonl` name it (`images/…`)."""
    return _result_response(
        await asyncio.to_thread(_read, _results_folder(job, queue.folder) / "images" / image), image, job
    )


def _results_folder(job: Job, library: Path) -> Path:
    if job.kind != "batch":
        raise ProblemError(404, "no-results", f"The job {job.id!r} adds a paper; its result is in the job itself.")
    return JobFiles(library).folder(job.id)


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None


def _result_response(data: bytes | None, name: str, job: Job) -> Response:
    if data is None:
        raise ProblemError(404, "no-results", f"The job {job.id!r} ({job.state}) has no {name!r}, or not yet.")
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(data, media_type=_MEDIA_TYPES[Path(name).suffix], headers=headers)
