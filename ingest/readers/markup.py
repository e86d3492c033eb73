"""`MarkupParser` converts a file without pages (Markdown, HTML, DOCX, plain text, JATS, TEI) to a `ParsedPaper`."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ingest.document.assembly import paper_id
from ingest.document.element_text import element_text
from ingest.document.source import read_file
from ingest.readers.docx import read_docx
from ingest.readers.embedded_images import EmbeddedImages
from ingest.readers.html import read_html
from ingest.readers.jats import read_jats
from ingest.readers.markdown import read_markdown
from ingest.readers.plain_text import read_text
from ingest.readers.postprocessing import build_paper
from ingest.readers.reading import Reading, Source, SourceLines
from ingest.readers.tei import read_tei
from paperscope_core.cancellation import extend_time_limit
from paperscope_core.errors import PaperFileError
from paperscope_core.protocols import PageCallback
from paperscope_core.types import PaperFile, PaperFormat, ParsedPaper

__all__ = ["MarkupParser", "markup_parsers"]

# A book of 1,000 pages has 3 MB of text; markup multiplies that.
_MAX_BYTES = 40_000_000
# The time limit is set for one page; a megabyte of markup takes about as long.
_BYTES_PER_STEP = 1_000_000
# The letters on a page of two columns.
_LETTERS_PER_PAGE = 6_000


@dataclass(frozen=True, kw_only=True, slots=True)
class MarkupParser:
    """Reads papers of one format.

    Attributes:
        format: The format.
        read: Reads a file's elements; raises `PaperFileError` if it can't.
        max_pages: Files with more text than fits on so many pages are refused.
    """

    format: PaperFormat
    read: Callable[[Source], Reading]
    max_pages: int | None = None

    def parse(self, file: PaperFile, *, on_page: PageCallback | None = None) -> ParsedPaper:
        """See `Parser.parse`; these formats have no passwords."""
        data = read_file(file.path)
        if len(data) > _MAX_BYTES and self.format != "docx":
            raise PaperFileError(
                f"{file.name!r} is too large for a text: {len(data) / 1e6:.0f} MB, over {_MAX_BYTES / 1e6:.0f} MB. "
                "Split it into several files."
            )
        extend_time_limit(1 + len(data) // _BYTES_PER_STEP)
        sha256 = hashlib.sha256(data).hexdigest()
        source = Source(
            name=file.name,
            data=data,
            lines=SourceLines(paper=paper_id(sha256)),
            images=EmbeddedImages(file.path.parent),
        )
        reading = self.read(source)
        pages = sum(len(element_text(element)) for element in reading.elements) // _LETTERS_PER_PAGE
        if self.max_pages is not None and pages > self.max_pages:
            raise PaperFileError(
                f"{file.name!r} holds as much text as {pages} pages, over the limit of {self.max_pages}; split it, or "
                "raise limits.max_pages to add it."
            )
        parsed = build_paper(reading, source=source, sha256=sha256, format=self.format)
        if on_page:
            on_page(1, 1)
        return parsed


def markup_parsers(*, max_pages: int | None = None) -> Mapping[PaperFormat, MarkupParser]:
    """Returns a parser for each of these formats."""
    readers: dict[PaperFormat, Callable[[Source], Reading]] = {
        "docx": read_docx,
        "markdown": read_markdown,
        "html": read_html,
        "jats": read_jats,
        "tei": read_tei,
        "text": read_text,
    }
    return {name: MarkupParser(format=name, read=read, max_pages=max_pages) for name, read in readers.items()}
