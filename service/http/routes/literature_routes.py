"""Literature tables: fill, list, read, correct, export and delete them."""

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from paperscope.question_estimates import QuestionEstimate
from paperscope_core.column_sets import READY_COLUMNS, TableRecord
from paperscope_core.types.literature import LiteratureColumn, LiteratureTable
from service.http.answering import QuestionRunnerOf
from service.http.auth import ComputingLibraryOf, LibraryOf
from service.http.parameters import PAPER_PATTERN, Name
from service.http.responses import document_content, file_response, json_response
from service.http.uploads import JobSubmitterOf
from service.http.views import JobView
from service.jobs.requests import TableRequest

__all__ = ["router"]

router = APIRouter(prefix="/v1/tables", tags=["tables"])

TABLE_PATTERN = r"^table-[0-9a-f]{12}$"

_TableId = Annotated[str, Path(pattern=TABLE_PATTERN, description="A literature table's id.")]
_PaperId = Annotated[str, Field(pattern=PAPER_PATTERN)]
_RowName = Annotated[str, Field(default="", max_length=1000, description="the row within the paper, if it has several")]


class TableBody(TableRecord):
    """A table to fill."""

    title: str = Field(min_length=1, max_length=200, description="the library knows the table by it")
    papers: list[Name] = Field(
        default=[], max_length=1000, description="ids, file names, titles or #TAG; none for all papers"
    )


class CorrectionBody(BaseModel):
    """What a cell should say; null takes a correction back."""

    model_config = ConfigDict(extra="forbid")

    paper: _PaperId
    row: _RowName
    column: Name
    correction: Annotated[str, Field(max_length=4000)] | None


class ExclusionBody(BaseModel):
    """Why a row is left out; an empty reason takes it back in."""

    model_config = ConfigDict(extra="forbid")

    paper: _PaperId
    row: _RowName
    reason: str = Field(max_length=500)


class TableList(BaseModel):
    """The tables without their rows, the one that was changed last first, and the ready-made columns."""

    tables: tuple[LiteratureTable, ...]
    ready_columns: tuple[LiteratureColumn, ...]


class FillingView(BaseModel):
    """The id of a table, and the job that fills it."""

    table: str
    job: JobView


@router.get("", summary="List the literature tables", response_model=TableList)
def list_tables(library: ComputingLibraryOf) -> Response:
    """Return the library's literature tables. All callers of the library share them."""
    return json_response(TableList(tables=tuple(library.tables.all()), ready_columns=tuple(READY_COLUMNS.values())))


@router.post("", status_code=202, summary="Fill a literature table")
async def fill_table(body: TableBody, response: Response, queue: JobSubmitterOf) -> FillingView:
    """Create the table of this title, or change its columns and papers, and fill what it lacks. Return its id, and a
    job, whose address is in `Location`. Only cells that are new are asked for; corrections and excluded rows stay. The
    table can be read while it is filled."""
    await queue.check_capacity()
    asked = body.column_set(body.title)
    table = await asyncio.to_thread(queue.library.define_table, asked, body.papers)
    job = await queue.submit(TableRequest(name=asked.title, table=table), response)
    return FillingView(table=table, job=job)


@router.post("/estimate", summary="Estimate the cost of a literature table", response_model=QuestionEstimate)
async def estimate_table(body: TableBody, runner: QuestionRunnerOf) -> Response:
    """Return the calls, tokens and cost of filling what a table lacks, by role, at the prices that are set: at least,
    and at most. Takes the body of `POST /v1/tables`; it stores nothing and calls no language model."""
    columns = body.column_set(body.title)
    return json_response(await runner.estimate(lambda estimator: estimator.estimate_table(columns, body.papers)))


@router.get(
    "/{table_id}",
    summary="Show or export a literature table",
    response_model=LiteratureTable,
    responses=document_content("text/csv", "text/markdown", "application/x-tex", "application/x-bibtex"),
)
def show_table(
    table_id: _TableId,
    library: ComputingLibraryOf,
    form: Annotated[
        Literal["json", "csv", "xlsx", "md", "tex", "bib"],
        Query(alias="format", description="`json` is shown, the others are files to save."),
    ] = "json",
) -> Response:
    """Return a table as far as it is filled: each cell with its value, status, evidence with boxes, checks, findings
    and correction."""
    from paperscope.table_exports import EXPORTS, export_table

    found = library.tables.get(table_id)
    if form == "json":
        return json_response(found)
    entries = library.entries()
    data = export_table(found, entries, form, publications=library.publications([one.id for one in entries]))
    return file_response(data, name=f"{found.title}.{form}", media_type=EXPORTS[form][0])


@router.patch("/{table_id}/cells", summary="Correct a cell", status_code=204)
def correct_cell(table_id: _TableId, body: CorrectionBody, library: LibraryOf) -> Response:
    """Write a correction in the place of a cell's value. It is kept when the cell is filled again."""
    library.tables.correct(table_id, body.paper, body.column, body.correction, row=body.row)
    return Response(status_code=204)


@router.patch("/{table_id}/rows", summary="Exclude a row", status_code=204)
def exclude_row(table_id: _TableId, body: ExclusionBody, library: LibraryOf) -> Response:
    """Leave a row out of exports, for a reason."""
    library.tables.exclude(table_id, body.paper, body.reason, row=body.row)
    return Response(status_code=204)


@router.delete("/{table_id}", summary="Delete a literature table", status_code=204)
def delete_table(table_id: _TableId, library: LibraryOf) -> Response:
    """Delete a table with its cells and corrections. A job that fills it fails."""
    library.tables.delete(table_id)
    return Response(status_code=204)
