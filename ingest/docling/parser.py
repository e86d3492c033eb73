"""`DoclingParser`: docling reads a PDF, and what it found becomes a `ParsedPaper`."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from ingest.building import paper_id, paper_of
from ingest.docling.drafts import draft_nodes
from ingest.docling.engine import convert
from ingest.docling.nodes import DoclingFile
from ingest.docling.places import Places
from ingest.ocr import needs_recognition
from ingest.pdf.backend import Backend, Document, PageContent, PageReadError
from ingest.pdf.crops import add_crops
from ingest.pdf.source import read_pdf
from ingest.pdf.text.front import author_names
from paperscope.errors import PaperFileError
from paperscope.types import PageProblem, Paper, ParsedPaper

__all__ = ["DoclingParser", "paper_of_docling"]

_NO_TEXT = (
    "docling found no text on this page, which has ink; parser.engine = 'paperscope' with the extra ocr reads scans"
)


class DoclingParser:
    """Reads papers from PDF files with docling and the models in the folder `models`.

    `backend` opens the file too, for the pictures of tables, figures and equations, at `dpi`.
    """

    def __init__(
        self, *, models: Path, backend: Backend, ocr: bool, seconds: float, dpi: int, max_pages: int | None = None
    ) -> None:
        self._models = models
        self._backend = backend
        self._ocr = ocr
        self._seconds = seconds
        self._dpi = dpi
        self._max_pages = max_pages

    def parse(
        self, file: Path, *, password: str | None = None, on_page: Callable[[int, int], None] | None = None
    ) -> ParsedPaper:
        """See `Parser.parse`; raises `SettingsError` as well, where the models can't be loaded."""
        data = read_pdf(file)
        with self._backend.open(data, name=file.name, password=password) as document:
            count = document.page_count
            if self._max_pages is not None and count > self._max_pages:
                raise PaperFileError(
                    f"{file.name!r} has {count} pages, over the limit of {self._max_pages}; raise limits.max_pages to "
                    "add it."
                )
            converted = convert(
                data,
                name=file.name,
                models=self._models,
                ocr=self._ocr,
                seconds=self._seconds,
                password=password,
                on_page=on_page,
            )
            paper = paper_of_docling(
                converted.document,
                sha256=hashlib.sha256(data).hexdigest(),
                file=file.name,
                problems=converted.problems,
            )
            views = _views(document)
            paper = replace(paper, problems=tuple(sorted((*paper.problems, *_wordless(paper, views)), key=_page)))
            return add_crops(paper, document, views=views, dpi=self._dpi)


def paper_of_docling(
    document: Mapping[str, object], *, sha256: str, file: str, problems: tuple[PageProblem, ...] = ()
) -> Paper:
    """The paper, without crops, in a DoclingDocument's JSON shape. Raises `PaperFileError` for another shape."""
    try:
        read = DoclingFile.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise PaperFileError(
            f"{file!r}: {key}: {first['msg']}; it is no DoclingDocument that Paperscope knows (1.x)"
        ) from error
    if not read.pages:
        raise PaperFileError(f"{file!r}: docling found no page in it. Fetch the file again.")
    places = Places(read, paper=paper_id(sha256))
    drafted = draft_nodes(read, places)
    return paper_of(
        drafted.drafts,
        sha256=sha256,
        file=file,
        title=drafted.title or file,
        authors=author_names(drafted.authors, metadata=""),
        pages=places.pages,
        problems=(*problems, *drafted.problems),
        format="pdf",
    )


def _views(document: Document) -> Sequence[PageContent]:
    """The pages that can be read."""
    views: list[PageContent] = []
    for number in range(1, document.page_count + 1):
        try:
            views.append(document.read(number))
        except PageReadError:
            # What docling made of the page stands; that it can't be drawn either is told with the crops.
            continue
    return views


def _wordless(paper: Paper, views: Sequence[PageContent]) -> list[PageProblem]:
    """A problem for each page with ink on which docling found no text."""
    worded = {element.place.page for element in paper.elements if element.kind != "figure"}
    return [
        PageProblem(page=view.number, reason=_NO_TEXT)
        for view in views
        if view.number not in worded and needs_recognition(view)
    ]


def _page(problem: PageProblem) -> int:
    return problem.page
