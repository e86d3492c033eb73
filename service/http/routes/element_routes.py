"""A paper's elements, tables as CSV, checks of its numbers, and the results, tables and figures of all papers."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field, StrictBool

from ingest.export import remove_control_characters
from paperscope_core.types import Element, Equation, Figure, Passage, PassageRole, Reference, Table, places_of
from service.http.auth import ComputingLibraryOf, LibraryOf
from service.http.parameters import PAPER_PATTERN, ElementOf, Name, PaperOf, TableOf
from service.http.responses import document_content, document_example, file_response, html_response, json_response
from service.http.views import DiscrepancyList, ElementList, Gallery, LeaderboardList

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["papers"])

Kind = Literal["passage", "table", "figure", "equation", "reference"]


@router.get(
    "/papers/{paper}/elements",
    summary="List a paper's elements",
    response_model=ElementList,
    responses=document_example("elements"),
)
def list_elements(
    paper: PaperOf,
    *,
    kind: Annotated[Kind | None, Query(description="Only elements of this kind.")] = None,
    role: Annotated[PassageRole | None, Query(description="Only passages with this role.")] = None,
    page: Annotated[int | None, Query(ge=1, le=10**6, description="Only elements on this page.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="At most so many.")] = 100,
    offset: Annotated[int, Query(ge=0, le=10**9, description="Skip so many.")] = 0,
) -> Response:
    """Return a paper's elements in reading order: all, or those of a kind, with a role, on a page."""

    def matches(element: Element) -> bool:
        on_page = page is None or any(place.page == page for place in places_of(element))
        has_role = role is None or (isinstance(element, Passage) and element.role == role)
        return on_page and has_role and kind in (None, element.kind)

    found = tuple(filter(matches, paper.elements))
    part = found[offset : offset + limit]
    return json_response(ElementList(elements=part, total=len(found), limit=limit, offset=offset))


@router.get(
    "/papers/{paper}/elements/{element}",
    summary="Show an element",
    response_model=Passage | Table | Figure | Equation | Reference,
    responses=document_example("element"),
)
def show_element(element: ElementOf) -> Response:
    """Return one element: the path of `PAPER/table-3` ends in `PAPER/elements/table-3`."""
    return json_response(element)


@router.get("/papers/{paper}/check", summary="Check a paper's numbers", response_model=DiscrepancyList)
def check_numbers(paper: PaperOf, library: ComputingLibraryOf) -> Response:
    """Return the numbers of a paper that do not fit together: totals, means, percentages, F1, bold values, values that
    the text cites from tables, means of whole numbers (GRIM) and p-values, each with its arithmetic and places. It
    calls no model."""
    return json_response(DiscrepancyList(discrepancies=tuple(library.check(paper.id))))


_Words = Annotated[str, Query(max_length=300, description="Only those with these words in their names.")]


@router.get("/results", summary="List results by dataset and metric", response_model=LeaderboardList)
def list_results(
    library: ComputingLibraryOf,
    *,
    dataset: _Words = "",
    metric: _Words = "",
    task: _Words = "",
    limit: Annotated[int, Query(ge=1, le=1000, description="At most so many leaderboards.")] = 20,
) -> Response:
    """Return the results in the tables of all papers by dataset and metric, the best first, each with its cell, and
    values of one method that differ (`disagreements`). It calls no model."""
    found = tuple(library.results(dataset=dataset, metric=metric, task=task))
    return json_response(LeaderboardList(leaderboards=found[:limit], total=len(found)))


class SeparationBody(BaseModel):
    """What is called so in a paper is another thing than in others, or with `apart` false, the same again."""

    model_config = ConfigDict(extra="forbid")

    paper: Annotated[str, Field(pattern=PAPER_PATTERN)]
    entity: Name
    apart: StrictBool = True


@router.patch("/results", summary="Undo a join of results", status_code=204)
def separate_entity(body: SeparationBody, library: LibraryOf) -> Response:
    """Keep a method, dataset or metric of a paper apart from that of this name in other papers, or join it again. It
    stays so when the paper is read again."""
    library.separate(body.paper, body.entity, apart=body.apart)
    return Response(status_code=204)


@router.get("/gallery", summary="List the tables and figures of all papers", response_model=Gallery)
def show_gallery(
    library: ComputingLibraryOf,
    *,
    query: Annotated[str, Query(max_length=300, description="Only with these words in label and caption.")] = "",
    kind: Annotated[Literal["table", "figure"] | None, Query(description="Only elements of this kind.")] = None,
    paper: Annotated[tuple[Name, ...], Query(max_length=1000, description="Only of these papers, or of #TAG.")] = (),
    limit: Annotated[int, Query(ge=1, le=1000, description="At most so many.")] = 60,
    offset: Annotated[int, Query(ge=0, le=10**9, description="Skip so many.")] = 0,
) -> Response:
    """Return tables and figures without their content. `/v1/crops/{crop}` is the picture of each,
    `/v1/papers/{paper}/tables/{table}.csv` its cells."""
    found = library.gallery(query, kinds=(kind,) if kind else ("table", "figure"), papers=paper)
    items = tuple(found[offset : offset + limit])
    return json_response(Gallery(items=items, total=len(found), limit=limit, offset=offset))


@router.get(
    "/papers/{paper}/tables/{table}.csv",
    summary="A table as CSV",
    response_class=Response,
    responses=document_content("text/csv"),
)
def show_table_csv(table: TableOf) -> Response:
    """Return a table's grid (RFC 4180). A cell that a spreadsheet could run as a formula begins with an apostrophe."""
    text = remove_control_characters(table).to_csv()
    return file_response(text, name=f"{table.id.replace('/', '-')}.csv", media_type="text/csv")


@router.get(
    "/papers/{paper}/tables/{table}.html",
    summary="A table as an HTML page",
    response_class=Response,
    responses=document_content("text/html"),
)
def show_table_page(table: TableOf, library: LibraryOf) -> Response:
    """Return a table and its crop as an HTML page, which neither runs scripts nor loads anything."""
    title = ", ".join(filter(None, [table.label, library.entry(table.place.paper).title]))
    return html_response(title, library.show(table).html)
