"""Reading papers from files without pages: Markdown, HTML, DOCX, plain text, JATS and TEI."""

from collections.abc import Callable, Mapping

from ingest.markup.docx import read_docx
from ingest.markup.html import read_html
from ingest.markup.jats import read_jats
from ingest.markup.markdown import read_markdown
from ingest.markup.parser import MarkupParser
from ingest.markup.reading import Reading, Source
from ingest.markup.tei import read_tei
from ingest.markup.text import read_text
from paperscope.types import PaperFormat

__all__ = ["MarkupParser", "markup_parsers"]


def markup_parsers(*, max_pages: int | None = None) -> Mapping[PaperFormat, MarkupParser]:
    """A parser for each of these formats; `max_pages` refuses a file of more text than so many pages hold."""
    readers: dict[PaperFormat, Callable[[Source], Reading]] = {
        "docx": read_docx,
        "markdown": read_markdown,
        "html": read_html,
        "jats": read_jats,
        "tei": read_tei,
        "text": read_text,
    }
    return {kind: MarkupParser(format=kind, read=read, max_pages=max_pages) for kind, read in readers.items()}
