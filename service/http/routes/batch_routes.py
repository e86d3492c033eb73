"""Batches: submit questions, which become a job, and download its results."""

import asyncio
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi import Path as PathParameter
from pydantic import BaseModel, ConfigDict, Field

from graph_store.job_queue import Job
from paperscope_core.errors import QuestionFileError
from paperscope_core.locations import Location
from service.batch import BadQuestion, parse_questions
from service.batch.folder import finished_rows, newly_finished
from service.batch.rows import BatchRow
from service.http.auth import ComputingLibraryOf
from service.http.pictures import with_pictures
from service.http.problems import ProblemError
from service.http.responses import json_response
from service.http.routes.job_routes import JobOf
from service.http.uploads import (
    JobSubmitterOf,
    document_upload,
    file_name,
    is_form,
    read_form,
    read_json,
    uploaded_file,
)
from service.http.views import BatchRowHead, BatchRows, JobView
from service.jobs.requests import BatchRequest, JobFiles, upload_name

__all__ = ["MAX_QUESTIONS", "router"]

router = APIRouter(tags=["batch"])

MAX_QUESTIONS = 10_000
"""The most questions of a batch: with a local model, they take a day."""

_MAX_BATCH_BYTES = 16_000_000
_ANSWERS, _PROGRESS = "answers.jsonl", "progress.jsonl"
_MEDIA_TYPES = {".jsonl": "application/x-ndjson", ".csv": "text/csv", ".md": "text/markdown", ".png": "image/png"}


class Questions(BaseModel):
    """Questions: each a text, or an object as in a question file, with `question` and optional `answer` and
    `filters`."""

    model_config = ConfigDict(extra="forbid")

    questions: list[str | dict[str, object]] = Field(min_length=1)


_BODY = document_upload(
    Questions,
    file="JSON lines (DocBench's among them), CSV, or one question a line",
    example={"questions": ["Which model has the highest F1?"]},
)


@router.post(
    "/v1/batch",
    status_code=202,
    summary="Answer a file of questions",
    openapi_extra=_BODY,
)
async def add_batch(request: Request, response: Response, queue: JobSubmitterOf) -> JobView:
    """Return a job, whose address is in `Location`; its results are at `/v1/jobs/{job}/results/`. A failed question
    does not stop the others, and no finished one is asked again, even if the service is restarted."""
    form = is_form(request)
    await queue.check_capacity()
    if form:
        async with read_form(request, max_bytes=_MAX_BATCH_BYTES) as fields:
            file = uploaded_file(fields)
            name, data = file_name(file, default="questions"), await file.read()
    else:
        body = await read_json(request, Questions, max_bytes=_MAX_BATCH_BYTES)
        name, data = "questions.jsonl", await asyncio.to_thread(_to_jsonl, body.questions)
    count = await asyncio.to_thread(_count_questions, data, name)
    job = BatchRequest(name=name, file=upload_name(name), questions=count)
    return await queue.submit(job, response, upload=io.BytesIO(data))


def _to_jsonl(questions: Sequence[str | dict[str, object]]) -> bytes:
    records = ({"question": question} if isinstance(question, str) else question for question in questions)
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def _count_questions(data: bytes, name: str) -> int:
    """Return the number of questions in a file.

    Raises QuestionFileError if none can be read, and ProblemError if there are more than the limit.
    """
    questions = parse_questions(data, name=name, max_questions=MAX_QUESTIONS + 1)
    if len(questions) > MAX_QUESTIONS:
        detail = f"{name}: over {MAX_QUESTIONS} questions, the limit of a batch; send several."
        raise ProblemError(422, "too-many-questions", detail)
    bad = [question for question in questions if isinstance(question, BadQuestion)]
    if len(bad) == len(questions):
        raise QuestionFileError(f"none of the {len(bad)} rows is a question: {bad[0].reason}")
    return len(questions)


@router.get("/v1/jobs/{job}/rows", summary="List the rows of a batch")
async def list_rows(
    job: JobOf,
    queue: JobSubmitterOf,
    _turn: ComputingLibraryOf,
    after: Annotated[int, Query(ge=0, le=10**9, description="The `next` of the response before.")] = 0,
) -> BatchRows:
    """Return the rows without their answers' claims and context. While the batch runs, those finished since the last
    request; `scored` is false then, and failed questions have no row yet. When it has ended, all rows, in the order of
    the questions."""
    folder = _results_folder(job, queue.folder)
    data = await asyncio.to_thread(_read, folder / _ANSWERS) if job.ended else None
    if data is not None:
        rows = await asyncio.to_thread(lambda: [BatchRowHead.model_validate_json(line) for line in data.splitlines()])
        return BatchRows(rows=rows, next=0, scored=True)
    new, count = await asyncio.to_thread(newly_finished, folder / _PROGRESS, after=after)
    return BatchRows(rows=[BatchRowHead.of(row) for row in new], next=count, scored=False)


@router.get("/v1/jobs/{job}/rows/{index}", summary="Show a row of a batch", response_model=BatchRow)
async def show_row(
    job: JobOf,
    queue: JobSubmitterOf,
    _turn: ComputingLibraryOf,
    index: Annotated[int, PathParameter(ge=0, le=10**9)],
) -> Response:
    """Return a question with its whole answer, as `/v1/query` returns it; a failed question has none. Gold answers and
    scores are in the list of rows."""
    rows = await asyncio.to_thread(finished_rows, _results_folder(job, queue.folder) / _PROGRESS)
    found = next(((row, row.answer) for row in rows if row.index == index), None)
    if found is None or (answer := found[1]) is None:
        raise ProblemError(404, "no-results", f"The job {job.id!r} ({job.state}) has no answer to question {index}.")
    return json_response(replace(found[0], answer=with_pictures(answer)))


@router.get("/v1/jobs/{job}/results/{file}", summary="Download the results of a batch", response_class=Response)
async def get_results(
    job: JobOf,
    queue: JobSubmitterOf,
    _turn: ComputingLibraryOf,
    file: Literal["answers.jsonl", "answers.csv", "report.md"],
) -> Response:
    """While the batch runs, `answers.jsonl` has the rows finished so far; the other files exist once it has ended or
    was cancelled."""
    folder = _results_folder(job, queue.folder)
    data = await asyncio.to_thread(_read, folder / file)
    if data is None and file == _ANSWERS and not job.ended:
        rows = await asyncio.to_thread(finished_rows, folder / _PROGRESS)
        data = "".join(row.to_json() + "\n" for row in rows).encode()
    return _file_response(data, file, job)


@router.get("/v1/jobs/{job}/results/images/{image}", summary="Download an image of a batch's report")
async def get_image(
    job: JobOf, queue: JobSubmitterOf, image: Annotated[str, PathParameter(pattern=r"^[A-Za-z0-9-]{1,200}\.png$")]
) -> Response:
    """Return a crop by its name in `report.md` and `answers.jsonl` (`images/…`)."""
    data = await asyncio.to_thread(_read, _results_folder(job, queue.folder) / "images" / image)
    return _file_response(data, image, job)


def _results_folder(job: Job, library: Location) -> Path:
    if job.kind != "batch":
        raise ProblemError(404, "no-results", f"The job {job.id!r} is no batch; its result is in the job itself.")
    return JobFiles(library).folder(job.id)


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None


def _file_response(data: bytes | None, name: str, job: Job) -> Response:
    if data is None:
        raise ProblemError(404, "no-results", f"The job {job.id!r} ({job.state}) has no {name!r}, or not yet.")
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(data, media_type=_MEDIA_TYPES[Path(name).suffix], headers=headers)
