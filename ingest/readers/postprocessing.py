"""From a reader's elements to a paper: captions, title, authors, heading levels, abstract, references."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ingest.document.assembly import Draft, assemble_paper
from ingest.document.authors import author_names
from ingest.document.headings import is_references_title
from ingest.document.references import entry_label, entry_year
from ingest.readers.float_captions import attach_captions
from ingest.readers.reading import Reading, Source, normalize_levels, section_number
from paperscope_core.errors import PaperFileError
from paperscope_core.types import Element, Figure, Page, PaperFormat, ParsedPaper, Passage, Reference

__all__ = ["Front", "build_paper", "with_title_and_authors"]


_OPENS = re.compile(
    r"(?:abstract|summary|introduction|background|contents|table of contents|preface|acknowledge?ments?|references|"
    r"conclusions?|methods|results|overview|motivation)\b\W*$",
    re.IGNORECASE,
)
_NUMERAL = re.compile(r"(?:\d+|[IVX]+)[.)]?\s+")
_LONGEST_LINE = 600
_MOST_LINES = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class Front:
    """What the head says, and all elements with their roles in it."""

    title: str
    authors: tuple[str, ...]
    elements: list[Element]


def with_title_and_authors(elements: Sequence[Element], *, title: str, authors: Sequence[str]) -> Front:
    """Find title and authors; `title` and `authors` are what the file claims, and count where it shows none."""
    result = list(elements)
    at = _title_at(result)
    if at is None:
        return Front(title=title, authors=tuple(authors), elements=result)
    own = result[at]
    if isinstance(own, Passage):
        result[at] = replace(own, role="title", level=0)
        title = own.text
        _drop_repeated(result, at, title=title)
    found: list[str] = []
    for index in _author_lines(result, at):
        line = result[index]
        if isinstance(line, Passage):
            result[index] = replace(line, role="authors", level=0)
            found.append(line.text)
    names = tuple(authors) or author_names([line for text in found for line in text.splitlines()], metadata="")
    return Front(title=title, authors=names, elements=result)


def _title_at(elements: Sequence[Element]) -> int | None:
    """A passage marked as the title; else the first heading if nothing but pictures stands above it and its name and
    level are not those of a section."""
    marked = [index for index, element in enumerate(elements) if _is(element, "title")]
    if marked:
        return marked[0]
    text = (index for index, element in enumerate(elements) if isinstance(element, Passage) and not _outside(element))
    first = next(text, None)
    if first is None or not _is(elements[first], "heading"):
        return None
    headings = [element for element in elements if isinstance(element, Passage) and element.role == "heading"]
    title, others = headings[0], headings[1:]
    if _is_section(title.text):
        return None
    level = min((other.level for other in others), default=title.level + 1)
    named = any(_is_section(other.text) for other in others if other.level == title.level)
    return first if title.level < level or named else None


def _drop_repeated(elements: list[Element], at: int, *, title: str) -> None:
    """Take out the heading that says the title of the front matter again."""
    after = range(at + 1, len(elements))
    heading = next((index for index in after if _is(elements[index], "heading")), None)
    again = elements[heading] if heading is not None else None
    if heading is not None and isinstance(again, Passage) and again.text.casefold() == title.casefold():
        del elements[heading]


def _author_lines(elements: Sequence[Element], title: int) -> list[int]:
    """What stands between the title and the abstract, if it is short enough and the abstract follows."""
    if any(_is(element, "authors") for element in elements):
        return [index for index, element in enumerate(elements) if _is(element, "authors")]
    lines: list[int] = []
    for index in range(title + 1, len(elements)):
        element = elements[index]
        if not isinstance(element, Passage):
            continue
        opens = element.text.lower().lstrip("*_ ").startswith("abstract")
        if opens or _is(element, "abstract"):
            return lines if len(lines) <= _MOST_LINES else []
        if len(element.text) > _LONGEST_LINE or (element.role == "heading" and _is_section(element.text)):
            return []
        if element.role in ("paragraph", "heading", "list"):
            lines.append(index)
    return []


def _is_section(text: str) -> bool:
    """Whether a heading's words are those of a section, not of a title."""
    name = _NUMERAL.sub("", text, count=1)
    return bool(_OPENS.match(name)) or bool(section_number(text))


def _is(element: Element, role: str) -> bool:
    return isinstance(element, Passage) and element.role == role


def _outside(passage: Passage) -> bool:
    return passage.role in ("furniture", "footnote", "code")


_ONE_PAGE = (Page(number=1, width=0, height=0),)
_FEWEST_WORDS = 4
_MARKS = ("• ", "– ", "* ")


def build_paper(
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
    kept = [element for element in attach_captions(reading.elements) if _is_worth_keeping(element)]
    front = with_title_and_authors(kept, title=reading.title, authors=reading.authors)
    drafts = _furniture_last(_with_references(_with_abstract(normalize_levels(front.elements))))
    paper = assemble_paper(
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
