"""Reading tools: look up parts of papers by what names them."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from paperscope_core.types import MAX_QUESTION_LENGTH, ToolCall, ToolName, ToolResult
from service.http.answering import QuestionRunnerOf
from service.http.pictures import with_tool_pictures
from service.http.responses import document_example, json_response

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["papers"])


@router.get(
    "/tools/{tool}",
    summary="Look up a part of a paper",
    response_model=ToolResult,
    responses=document_example("tool"),
)
async def look_up(
    runner: QuestionRunnerOf,
    *,
    tool: Annotated[ToolName, Path(description="The tool.", examples=["outline"])],
    argument: Annotated[
        str, Query(max_length=MAX_QUESTION_LENGTH, description="What to look up; an outline needs nothing.")
    ] = "",
    paper: Annotated[
        str, Query(max_length=1000, description="The paper: its id, file name or title; by default all papers.")
    ] = "",
    part: Annotated[int, Query(ge=1, le=10**6, description="Which part of a large result.")] = 1,
) -> Response:
    """Return what a reading tool finds, whole, with its places and the paths of its pictures.

    - `search`: the texts, tables, figures and equations about the argument, best first;
    - `section`: a section with its subsections, by number (`4.2`, `Appendix B`) or title;
    - `element`: a table, figure, equation, algorithm or listing, by label (`Table 3`), id or caption;
    - `page`: the text of a page, then its tables and figures;
    - `reference`: an entry of the bibliography, by mark (`[29]`), authors and year, or title, and what cites it;
    - `outline`: the record of a paper, its sections, tables, figures and listings;
    - `papers`: the papers with these words in title, authors, file, venue or ids; all if there are none.

    A large result has several `parts`, and `left` counts the tokens of an item in further ones.
    """
    call = ToolCall(tool=tool, argument=argument, paper=paper, part=part)
    return json_response(with_tool_pictures(await runner.look_up(call)))
