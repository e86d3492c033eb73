"""`MinerUParser`: a folder of MinerU to a `ParsedPaper`."""

from collections.abc import Callable
from pathlib import Path

from ingest.building import paper_id, paper_of
from ingest.mineru.drafts import draft_blocks
from ingest.mineru.floats import FloatMaker
from ingest.mineru.folder import read_document, source_of
from ingest.pdf.front import author_names
from paperscope.errors import PaperFileError
from paperscope.types import PageProblem, ParsedPaper

__all__ = ["MinerUParser"]

_NOT_SIZED = "MinerU's file names no page sizes; boxes are set as if the pages were A4"


class MinerUParser:
    """Reads the folder that MinerU writes for one paper; `max_pages` refuses longer ones."""

    def __init__(self, *, max_pages: int | None = None) -> None:
        self._max_pages = max_pages

    def parse(
        self, file: Path, *, password: str | None = None, on_page: Callable[[int, int], None] | None = None
    ) -> ParsedPaper:
        """Parse a folder; MinerU's files have no password.

        Raises `PaperFileError` when its JSON can't be read; a picture that can't is a `PageProblem` of the paper.
        """
        del password
        source = source_of(file)
        document = read_document(source)
        count = len(document.pages)
        if self._max_pages is not None and count > self._max_pages:
            raise PaperFileError(
                f"{file}: {count} pages are over the limit of {self._max_pages}; raise limits.max_pages to add it."
            )
        paper = paper_id(source.sha256)
        floats = FloatMaker(document, paper=paper, folder=file)
        drafted = draft_blocks(document, paper=paper, floats=floats)
        unsized = () if document.sized else (PageProblem(page=document.pages[0].number, reason=_NOT_SIZED),)
        if on_page:
            on_page(count, count)
        return ParsedPaper(
            paper=paper_of(
                drafted.drafts,
                sha256=source.sha256,
                file=file.resolve().name,
                title=drafted.title or file.resolve().name,
                authors=author_names(drafted.authors, metadata=""),
                pages=document.pages,
                problems=(*unsized, *drafted.problems),
                format="mineru",
            ),
            crops=floats.crops,
        )
