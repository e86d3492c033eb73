"""From the elements that a reader found to a paper: captions bound, title, levels, abstract, references, ids, links."""

from collections.abc import Sequence
from dataclasses import replace

from ingest.building import paper_of
from ingest.markup.captions import bound_captions
from ingest.markup.front import with_front
from ingest.markup.levels import with_levels
from ingest.markup.reading import Reading, Source
from ingest.pdf.drafts import Draft
from ingest.pdf.references.entry import entry_label, entry_year
from ingest.pdf.text.heading_styles import is_references_title
from paperscope.errors import PaperFileError
from paperscope.types import Element, Figure, Page, PaperFormat, ParsedPaper, Passage, Reference

__all__ = ["finished"]

_ONE_PAGE = (Page(number=1, width=0, height=0),)
_FEWEST_WORDS = 4
_MARKS = ("• ", "– ", "* ")


def finished(
    reading: Reading,
    *,
    source: Source,
    sha256: str,
    format: PaperFormat,  # noqa: A002
) -> ParsedPaper:
    """The paper. Raises `PaperFileError` where the file holds nothing that could be asked about."""
    if not reading.elements:
        why = f" ({reading.problems[0].reason})" if reading.problems else ""
        raise PaperFileError(f"{source.name!r} holds no text that can be read{why}. Is it the right file?")
    kept = [element for element in bound_captions(reading.elements) if _is_worth_keeping(element)]
    front = with_front(kept, title=reading.title, authors=reading.authors)
    drafts = _furniture_last(_with_references(_with_abstract(with_levels(front.elements))))
    paper = paper_of(
        [Draft(at=at, element=element) for at, element in enumerate(drafts)],
        sha256=sha256,
        file=source.name,
        title=front.title or source.name.rsplit(".", 1)[0],
        authors=front.authors,
        pages=tuple(reading.pages) or _ONE_PAGE,
        problems=(*reading.problems, *source.pictures.problems),
        format=format,
    )
    return ParsedPaper(paper=paper, crops=source.pictures.crops)


def _is_worth_keeping(element: Element) -> bool:
    """A figure without a picture must at least be named or described; a badge or an icon is neither."""
    if not isinstance(element, Figure) or element.crop or element.label or element.text:
        return True
    return len(element.caption.split()) >= _FEWEST_WORDS


def _with_abstract(elements: Sequence[Element]) -> list[Element]:
    """The paragraphs under the heading "Abstract" are the abstract, and one that begins with the word."""
    result: list[Element] = []
    inside = False
    for element in elements:
        own = element
        if isinstance(element, Passage):
            if element.role == "heading":
                inside = element.text.lower().strip(" .:—") == "abstract"
            elif element.role == "paragraph" and (
                inside or element.text.lower().startswith(("abstract—", "abstract–", "abstract.", "abstract:"))
            ):
                own = replace(element, role="abstract")
        result.append(own)
    return result


def _with_references(elements: Sequence[Element]) -> list[Element]:
    """Each paragraph or item under a heading "References" is one entry."""
    result: list[Element] = []
    inside = False
    for element in elements:
        if isinstance(element, Passage) and element.role == "heading":
            inside = is_references_title(element.text)
        if inside and isinstance(element, Passage) and element.role in ("paragraph", "list"):
            text = element.text
            for mark in _MARKS:
                text = text.removeprefix(mark)
            result.append(
                Reference(
                    id="", place=element.place, order=0, text=text, label=entry_label(text), year=entry_year(text)
                )
            )
        else:
            result.append(element)
    return result


def _furniture_last(elements: Sequence[Element]) -> list[Element]:
    return sorted(elements, key=lambda element: isinstance(element, Passage) and element.role == "furniture")
