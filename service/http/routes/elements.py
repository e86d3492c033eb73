"""Elements and tables of a paper."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response

from ingest.export import remove_control_characters, to_csv
from paperscope_core.types import Element, Equation, Figure, Passage, Reference, Table, places_of
from service.http import example_paper
from service.http.auth import LibraryOf
from service.http.parameters import ElementOf, PaperOf, TableOf
from service.http.responses import document_content, document_example, file_response, html_response, json_response
from service.http.views import ElementList, TableList, table_head_of

__all__ = ["router"]


router = APIRouter(prefix="/v1", tags=["papers"])

Kind = Literal["passage", "table", "figure", "equation", "reference"]


@router.get(
    "/papers/{paper}/elements",
    summary="List a paper's elements",
    response_model=ElementList,
    responses=document_example(example_paper.ELEMENTS),
)
def list_elements(
    paper: PaperOf,
    kind: Annotated[Kind | None, Query(description="Only those of this kind.")] = None,
    page: Annotated[int | None, Query(ge=1, le=10**6, description="Only those on this page.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="At most so many.")] = 100,
    offset: Annotated[int, Query(ge=0, le=10**9, description="After so many.")] = 0,
) -> Response:
    """A paper's elements in reading order, all or those of a kind, or on a page."""

    def wanted(element: Element) -> bool:
        on_page = page is None or any(place.page == page for place in places_of(element))
        return on_page and kind in (None, element.kind)

    found = tuple(filter(wanted, paper.elements))
    part = found[offset : offset + limit]
    return json_response(ElementList(elements=part, total=len(found), limit=limit, offset=offset))


@router.get(
    "/papers/{paper}/elements/{element}",
    summary="Show an element",
    response_model=Passage | Table | Figure | Equation | Reference,
    responses=document_example(example_paper.ELEMENT),
)
def show_element(element: ElementOf) -> Response:
    """One element. Its id is `PAPER/table-3`, its path ends in `PAPER/elements/table-3`."""
    return json_response(element)


@router.get(
    "/papers/{paper}/tables",
    summary="List a paper's tables",
    response_model=TableList,
    responses=document_example(example_paper.TABLES),
)
def list_tables(paper: PaperOf) -> Response:
    """A paper's tables in reading order, without their cells."""
    tables = (element for element in paper.elements if isinstance(element, Table))
    return json_response(TableList(tables=tuple(map(table_head_of, tables))))


@router.get(
    "/papers/{paper}/tables/{table}.csv",
    summary="A table as CSV",
    response_class=Response,
    responses=document_content("text/csv"),
)
def show_table_csv(table: TableOf) -> Response:
    """A table's grid (RFC 4180). A cell that a spreadsheet would run as a formula reaching beyond the sheet gets an
    apostrophe before it."""
    return file_response(
        to_csv(remove_control_characters(table)), name=f"{table.id.replace('/', '-')}.csv", media_type="text/csv"
    )


@router.get(
    "/papers/{paper}/tables/{table}.html",
    summary="A table as a page",
    response_class=Response,
    responses=document_content("text/html"),
)
def show_table_page(table: TableOf, library: LibraryOf) -> Response:
    """A table, and how it is printed, as a page of its own that runs and fetches nothing."""
    title = ", ".join(filter(None, [table.label, library.entry(table.place.paper).title]))
    return html_response(title, library.show(table).html)


@router.get(
    "/papers/{paper}/tables/{table}",
    summary="A table as JSON",
    response_model=Table,
    responses=document_example(example_paper.TABLE),
)
def show_table(table: TableOf) -> Response:
    """A table with its cells; `.csv` and `.html` behind the path give it in these forms."""
    return json_response(table)
