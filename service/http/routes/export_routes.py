"""Answers as files: Markdown with numbered citations, CSV, an HTML page with pictures, or the context as CSV."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field

from paperscope.bibliographies import references
from paperscope.library import Library
from paperscope_core.text.citation_marks import place_marks, split_at_marks
from paperscope_core.text.escaping import markdown_line, markdown_text, spreadsheet_csv
from paperscope_core.types import Answer
from query import render_context
from service.http.auth import ComputingLibraryOf
from service.http.responses import document_content, file_response, html_page

__all__ = ["EXPORTED", "ExportFormat", "export_response", "router"]

router = APIRouter(prefix="/v1/export", tags=["questions"])

ExportFormat = Literal["markdown", "csv", "html", "context"]

# Unicode reserves it for use within a program.
_MARK = "\ufdd0"
_FILES: Mapping[ExportFormat, tuple[str, str]] = {
    "markdown": ("answers.md", "text/markdown"),
    "csv": ("answers.csv", "text/csv"),
    "html": ("answers.html", "text/html"),
    "context": ("context.csv", "text/csv"),
}
_CSV_HEADER = (
    *("question", "status", "answer", "claim", "claim_text"),
    *("evidence", "paper", "element", "page", "box", "quote"),
)


class ExportBody(BaseModel):
    """Answers to export, as `POST /v1/query` returns them; `title` is that of an HTML page."""

    model_config = ConfigDict(extra="forbid")

    answers: list[Answer] = Field(min_length=1, max_length=100)
    format: ExportFormat
    title: str = "Answers"


EXPORTED = document_content(*dict.fromkeys(media_type for _, media_type in _FILES.values()))


@router.post("", summary="Export answers", response_class=Response, responses=EXPORTED)
def export_answers(body: ExportBody, library: ComputingLibraryOf) -> Response:
    """Return answers as Markdown with numbered citations and references to the cited papers, as CSV with a row for
    each cited place, as an HTML page with the pictures of what they cite, or their contexts as CSV sections.
    `GET /v1/conversations/{conversation}?format=…` exports a stored conversation."""
    return export_response(body.answers, body.format, title=body.title, library=library)


def export_response(answers: Sequence[Answer], format_: ExportFormat, *, title: str, library: Library) -> Response:
    """Return a file with the answers."""
    match format_:
        case "markdown":
            listed = [f"- {markdown_line(one)}" for one in _references(answers, library)]
            end = ["References:\n\n" + "\n".join(listed)] if listed else []
            text = "\n\n".join(["\n\n---\n\n".join(map(_markdown, answers)), *end]) + "\n"
        case "csv":
            text = spreadsheet_csv([_CSV_HEADER, *(row for answer in answers for row in _rows(answer))])
        case "html":
            text = html_page(title, library.show(answers).html)
        case "context":
            text = "\n".join(render_context(answer.context) for answer in answers)
    name, media_type = _FILES[format_]
    return file_response(text, name=name, media_type=media_type)


def _markdown(answer: Answer) -> str:
    claims = [
        f"{number}. {'; '.join(dict.fromkeys(markdown_line(str(one)) for one in claim.evidence)) or 'no evidence'}"
        for number, claim in enumerate(answer.claims, start=1)
    ]
    lists = {
        "Evidence": claims,
        "Arithmetic": [f"- {markdown_line(formula)}" for formula in answer.formulas],
        "Notes": [f"- {markdown_line(str(finding))}" for finding in answer.findings],
    }
    parts = [f"**{markdown_line(answer.question)}**", _marked_markdown(answer)]
    return "\n\n".join([*parts, *(f"{name}:\n\n" + "\n".join(items) for name, items in lists.items() if items)])


def _references(answers: Sequence[Answer], library: Library) -> list[str]:
    """Return references to the cited papers that the library has."""
    cited = {place.paper for answer in answers for one in answer.evidence for place in one.places}
    entries = [entry for entry in library.entries() if entry.id in cited]
    return references(entries, library.publications([entry.id for entry in entries]))


def _marked_markdown(answer: Answer) -> str:
    """Return the text with the number of each claim where it is stated."""
    text = answer.text.replace(_MARK, "")
    parts = list(split_at_marks(text, place_marks(text, [claim.text for claim in answer.claims])))
    # Escaped as a whole, because what a line begins with is escaped differently.
    escaped = markdown_text(_MARK.join(part for part, _ in parts)).split(_MARK)
    return "".join(
        part + "".join(f"[{claim + 1}]" for claim in claims) for part, (_, claims) in zip(escaped, parts, strict=True)
    )


def _rows(answer: Answer) -> Iterator[tuple[object, ...]]:
    """Yield a row for each cited place, one for a claim without evidence, one for an answer without claims."""
    head = (answer.question, answer.status, answer.text)
    if not answer.claims:
        yield (*head, *[""] * 8)
    for number, claim in enumerate(answer.claims, start=1):
        start = (*head, number, claim.text)
        if not claim.evidence:
            yield (*start, *[""] * 6)
        for one in claim.evidence:
            for place in one.places:
                box = " ".join(f"{value:g}" for value in place.box)
                yield (*start, one.name, place.paper, one.element, place.page, box, one.quote)
