"""`MinerUParser`: a folder of MinerU to a `ParsedPaper`."""

from collections.abc import Callable
from pathlib import Path

from ingest.building import paper_id, paper_of
from ingest.mineru.drafts import draft_blocks
from ingest.mineru.floats import FloatMaker
from ingest.mineru.folder import read_document, source_of
from ingest.pdf.text.front import author_names
from paperscope.errors import PaperFileError
from paperscope.types import PageProblem, PaperFormat, ParsedPaper

__all__ = ["MinerUParser", "read_folder"]

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
        parsed = read_folder(file, name=file.resolve().name, max_pages=self._max_pages)
        if on_page:
            on_page(len(parsed.paper.pages), len(parsed.paper.pages))
        return parsed


def read_folder(
    folder: Path,
    *,
    name: str,
    max_pages: int | None,
    sha256: str = "",
    format: PaperFormat = "mineru",  # noqa: A002 -- the field's name
) -> ParsedPaper:
    """The paper in a folder of MinerU. Without the `sha256` of the file that MinerU read it is known by MinerU's JSON.

    Raises `PaperFileError` as `MinerUParser.parse` does.
    """
    source = source_of(folder)
    sha256 = sha256 or source.sha256
    document = read_document(source)
    count = len(document.pages)
    if max_pages is not None and count > max_pages:
        raise PaperFileError(
            f"{name}: {count} pages are over the limit of {max_pages}; raise limits.max_pages to add it."
        )
    floats = FloatMaker(document, paper=paper_id(sha256), folder=folder)
    drafted = draft_blocks(document, paper=paper_id(sha256), floats=floats)
    unsized = () if document.sized else (PageProblem(page=document.pages[0].number, reason=_NOT_SIZED),)
    return ParsedPaper(
        paper=paper_of(
            drafted.drafts,
            sha256=sha256,
            file=name,
            title=drafted.title or name,
            authors=author_names(drafted.authors, metadata=""),
            pages=document.pages,
            problems=(*unsized, *drafted.problems),
            format=format,
        ),
        crops=floats.crops,
    )
