"""`MarkupParser`: a file without pages to a `ParsedPaper`."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from ingest.building import paper_id
from ingest.element_text import element_text
from ingest.markup.finish import finished
from ingest.markup.pictures import Pictures
from ingest.markup.reading import Reading, Source
from ingest.markup.spots import Lines
from ingest.patience import ask_for_time
from ingest.source import read_file
from paperscope.errors import PaperFileError
from paperscope.types import PaperFormat, ParsedPaper

__all__ = ["MarkupParser"]

_MOST_BYTES = 40_000_000
_BYTES_OF_A_STEP = 1_000_000
# As much as a page of two columns holds.
_LETTERS_OF_A_PAGE = 6_000


class MarkupParser:
    """Reads papers of one format with `read`, which raises `PaperFileError` for a file that it can't read.

    `max_pages` refuses a file of more text than so many pages hold.
    """

    def __init__(
        self,
        *,
        format: PaperFormat,  # noqa: A002
        read: Callable[[Source], Reading],
        max_pages: int | None = None,
    ) -> None:
        self._format = format
        self._read = read
        self._max_pages = max_pages

    def parse(
        self, file: Path, *, password: str | None = None, on_page: Callable[[int, int], None] | None = None
    ) -> ParsedPaper:
        """See `Parser.parse`; these formats know no password."""
        del password
        data = read_file(file)
        if len(data) > _MOST_BYTES and self._format != "docx":
            raise PaperFileError(
                f"{file.name!r} is too large for a text: {len(data) / 1e6:.0f} MB, over {_MOST_BYTES / 1e6:.0f} MB. "
                "Split it into several files."
            )
        # The limit of a step is meant for a page.
        ask_for_time(1 + len(data) // _BYTES_OF_A_STEP)
        sha256 = hashlib.sha256(data).hexdigest()
        paper = paper_id(sha256)
        pictures = Pictures(file.parent)
        source = Source(name=file.name, data=data, lines=Lines(paper=paper), pictures=pictures)
        reading = self._read(source)
        self._check_length(reading, name=file.name)
        parsed = finished(reading, source=source, sha256=sha256, format=self._format)
        if on_page:
            on_page(1, 1)
        return parsed

    def _check_length(self, reading: Reading, *, name: str) -> None:
        pages = sum(len(element_text(element)) for element in reading.elements) // _LETTERS_OF_A_PAGE
        if self._max_pages is not None and pages > self._max_pages:
            raise PaperFileError(
                f"{name!r} holds as much text as {pages} pages, over the limit of {self._max_pages}; split it, or "
                "raise limits.max_pages to add it."
            )
