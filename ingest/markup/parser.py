"""`MarkupParser`: a file without pages to a `ParsedPaper`."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from ingest.building import paper_id
from ingest.markup.finish import finished
from ingest.markup.pictures import Pictures
from ingest.markup.reading import Reading, Source
from ingest.markup.spots import Lines
from ingest.source import read_file
from paperscope.errors import PaperFileError
from paperscope.types import PaperFormat, ParsedPaper

__all__ = ["MarkupParser"]

_MOST_BYTES = 40_000_000


class MarkupParser:
    """Reads papers of one format with `read`, which raises `PaperFileError` for a file that it can't read."""

    def __init__(self, *, format: PaperFormat, read: Callable[[Source], Reading]) -> None:  # noqa: A002
        self._format = format
        self._read = read

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
        sha256 = hashlib.sha256(data).hexdigest()
        paper = paper_id(sha256)
        pictures = Pictures(file.parent)
        source = Source(name=file.name, data=data, lines=Lines(paper=paper), pictures=pictures)
        parsed = finished(self._read(source), source=source, sha256=sha256, format=self._format)
        if on_page:
            on_page(1, 1)
        return parsed
