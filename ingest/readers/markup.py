"""`MarkupParser` converts a file that is neither PDF nor an image (Markdown, DOCX, JATS, ...) to a `ParsedPaper`."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ingest.document.assembly import assemble_paper, paper_id
from ingest.document.bylines import author_names
from ingest.document.caption_wording import is_references_title
from ingest.document.drafts import draft_reference
from ingest.document.element_text import element_text
from ingest.document.source import read_file
from ingest.readers.docx import read_docx
from ingest.readers.element_collector import Reading, Source, SourceLines, section_number
from ingest.readers.embedded_images import EmbeddedImages
from ingest.readers.epub import read_epub
from ingest.readers.float_captions import attach_captions
from ingest.readers.html import read_html
from ingest.readers.jats import read_jats
from ingest.readers.latex_source import read_latex
from ingest.readers.markdown import read_markdown
from ingest.readers.odt import read_odt
from ingest.readers.plain_text import read_text
from ingest.readers.pptx import read_pptx
from ingest.readers.tei import read_tei
from ingest.readers.xlsx import read_xlsx
from paperscope_core.cancellation import extend_time_limit
from paperscope_core.errors import PaperFileError
from paperscope_core.protocols import PageCallback
from paperscope_core.types import (
    Element,
    Figure,
    Page,
    PaperFile,
    PaperFormat,
    ParsedPaper,
    Passage,
    PassageRole,
    content_hash,
)

__all__ = ["MarkupParser", "markup_parsers"]

# A book of 1,000 pages has 3 MB of text; markup multiplies that.
_MAX_BYTES = 40_000_000
# Their parts have limits of their own.
_ARCHIVES = frozenset(("docx", "xlsx", "pptx", "epub", "odt", "latex"))
# The time limit is set for one page; a megabyte of markup takes about as long.
_BYTES_PER_STEP = 1_000_000
# The letters on a page of two columns.
_LETTERS_PER_PAGE = 6_000

_NO_PAGES = (Page(number=1, width=0, height=0),)
_SECTION_TITLE = re.compile(
    r"(?:abstract|summary|introduction|background|contents|table of contents|preface|acknowledge?ments?|references|"
    r"conclusions?|methods|results|overview|motivation)\b\W*$",
    re.IGNORECASE,
)
_NUMERAL = re.compile(r"(?:(?<!\d)\d+|(?<![IVX])[IVX]+)[.)]?\s+")
_ABSTRACT_OPENINGS = ("abstract—", "abstract–", "abstract.", "abstract:")
_LIST_MARKERS = ("• ", "– ", "* ")
# A caption of fewer words is the alternative text of a badge or an icon.
_MIN_CAPTION_WORDS = 4
# The front matter between title and abstract: names, affiliations, addresses.
_MAX_AUTHOR_LINE = 600
_MAX_AUTHOR_LINES = 12
_MAX_LEVEL = 9


@dataclass(frozen=True, kw_only=True, slots=True)
class MarkupParser:
    """Reads papers of one format.

    Attributes:
        format: The format.
        read: Reads a file's elements; raises `PaperFileError` if it can't.
        max_pages: Files with more text than fits on this many pages are refused.
    """

    format: PaperFormat
    read: Callable[[Source], Reading]
    max_pages: int | None = None

    def parse(self, file: PaperFile, *, on_page: PageCallback | None = None) -> ParsedPaper:
        """See `Parser.parse`; these formats have no passwords."""
        data = read_file(file)
        if len(data) > _MAX_BYTES and self.format not in _ARCHIVES:
            raise PaperFileError(
                f"{file.name!r} is too large for a text: {len(data) / 1e6:.0f} MB, over {_MAX_BYTES / 1e6:.0f} MB. "
                "Split it into several files."
            )
        extend_time_limit(1 + len(data) // _BYTES_PER_STEP)
        sha256 = file.sha256 or content_hash(data)
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
    """Return a parser for each of these formats."""
    readers: dict[PaperFormat, Callable[[Source], Reading]] = {
        "docx": read_docx,
        "markdown": read_markdown,
        "html": read_html,
        "jats": read_jats,
        "tei": read_tei,
        "text": read_text,
        "xlsx": read_xlsx,
        "epub": read_epub,
        "odt": read_odt,
        "pptx": read_pptx,
        "latex": read_latex,
    }
    return {name: MarkupParser(format=name, read=read, max_pages=max_pages) for name, read in readers.items()}


def build_paper(
    reading: Reading,
    *,
    source: Source,
    sha256: str,
    format: PaperFormat,  # noqa: A002
) -> ParsedPaper:
    """Return the paper of a reading. Raise `PaperFileError` if there is no element."""
    if not reading.elements:
        reason = f" ({reading.problems[0].reason})" if reading.problems else ""
        raise PaperFileError(f"{source.name!r} holds no text that can be read{reason}. Is it the right file?")
    kept = [element for element in attach_captions(reading.elements) if not _is_decoration(element)]
    reading = _with_front(replace(reading, elements=kept))
    elements = _with_roles(_with_levels(reading.elements))
    elements.sort(key=lambda element: isinstance(element, Passage) and element.role == "furniture")
    paper = assemble_paper(
        elements,
        sha256=sha256,
        file=source.name,
        title=reading.title or source.name.rsplit(".", 1)[0],
        authors=tuple(reading.authors) or tuple(reading.creators),
        pages=tuple(reading.pages) or _NO_PAGES,
        problems=(*reading.problems, *source.images.problems),
        format=format,
        stated=reading.publication,
    )
    return ParsedPaper(paper=paper, crops=source.images.crops)


def _is_decoration(element: Element) -> bool:
    return (
        isinstance(element, Figure)
        and not (element.crop or element.label or element.text)
        and len(element.caption.split()) < _MIN_CAPTION_WORDS
    )


def _with_front(reading: Reading) -> Reading:
    """Find title and authors among the elements; without a title there, the metadata's count."""
    passages = [element for element in reading.elements if isinstance(element, Passage)]
    heading = _find_title(passages)
    if heading is None:
        return reading
    below = passages[next(at for at, passage in enumerate(passages) if passage is heading) + 1 :]
    repeated = next((passage for passage in below if passage.role == "heading"), None)
    if repeated and repeated.text.casefold() != heading.text.casefold():
        repeated = None
    lines = [passage for passage in passages if passage.role == "authors"]
    lines = lines or _lines_above_abstract([passage for passage in below if passage is not repeated])
    names = author_names([line for passage in lines for line in passage.text.splitlines()], metadata="")
    roles: dict[int, PassageRole] = {id(heading): "title", **dict.fromkeys(map(id, lines), "authors")}
    return replace(
        reading,
        title=heading.text,
        authors=tuple(reading.authors) or names,
        elements=[
            replace(element, role=roles[id(element)], level=0)
            if isinstance(element, Passage) and id(element) in roles
            else element
            for element in reading.elements
            if element is not repeated
        ],
    )


def _find_title(passages: Sequence[Passage]) -> Passage | None:
    """Return the passage marked as the title; else the first heading, if no text precedes it and its wording and level
    are not a section's."""
    if marked := next((passage for passage in passages if passage.role == "title"), None):
        return marked
    texts = [passage for passage in passages if passage.role not in ("furniture", "footnote", "code")]
    if not texts or texts[0].role != "heading" or _is_section_title(texts[0].text):
        return None
    title, *others = (passage for passage in texts if passage.role == "heading")
    top = min((other.level for other in others), default=title.level + 1)
    beside_sections = any(_is_section_title(other.text) for other in others if other.level == title.level)
    return title if title.level < top or beside_sections else None


def _lines_above_abstract(passages: Sequence[Passage]) -> list[Passage]:
    """Return the passages above the abstract, [] if there is none, or if they are not few and short."""
    lines: list[Passage] = []
    for passage in passages:
        if passage.role == "abstract" or passage.text.lower().lstrip("*_ ").startswith("abstract"):
            return lines if len(lines) <= _MAX_AUTHOR_LINES else []
        if len(passage.text) > _MAX_AUTHOR_LINE or (passage.role == "heading" and _is_section_title(passage.text)):
            return []
        if passage.role in ("paragraph", "heading", "list"):
            lines.append(passage)
    return []


def _with_levels(elements: Sequence[Element]) -> list[Element]:
    """Shift heading levels so that the highest, and the abstract's, is 1.

    If all headings have the same level, as some converters write them, the parts of their numbers set their levels.
    """
    headings = [element for element in elements if isinstance(element, Passage) and element.role == "heading"]
    levels = {heading.level for heading in headings if not _is_abstract_title(heading.text)}
    top = min(levels, default=1)

    def level(heading: Passage) -> int:
        depth = heading.level - top if len(levels) > 1 else section_number(heading.text).count(".")
        return 1 if _is_abstract_title(heading.text) else min(depth + 1, _MAX_LEVEL)

    return [
        replace(element, level=level(element))
        if isinstance(element, Passage) and element.role == "heading"
        else element
        for element in elements
    ]


def _with_roles(elements: Sequence[Element]) -> list[Element]:
    """Mark the abstract, and turns each paragraph and list item below a heading "References" into an entry.

    The paragraphs below the heading "Abstract", and those that begin with the word, are the abstract.
    """
    result: list[Element] = []
    heading = ""
    for element in elements:
        if isinstance(element, Passage) and element.role == "heading":
            heading = element.text
        if isinstance(element, Passage) and element.role in ("paragraph", "list"):
            opens = element.text.lower().startswith(_ABSTRACT_OPENINGS)
            if element.role == "paragraph" and (opens or _is_abstract_title(heading)):
                result.append(replace(element, role="abstract"))
                continue
            if is_references_title(heading):
                text = element.text
                for marker in _LIST_MARKERS:
                    text = text.removeprefix(marker)
                result.append(draft_reference(text, element.place))
                continue
        result.append(element)
    return result


def _is_abstract_title(text: str) -> bool:
    return text.lower().strip(" .:—") == "abstract"


def _is_section_title(text: str) -> bool:
    return bool(_SECTION_TITLE.match(_NUMERAL.sub("", text, count=1))) or bool(section_number(text))
