"""Completes a reader's elements to a paper: captions, title, authors, heading levels, abstract, references."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ingest.document.assembly import Draft, assemble_paper
from ingest.document.authors import author_names
from ingest.document.drafts import draft_reference
from ingest.document.headings import is_references_title
from ingest.readers.float_captions import attach_captions
from ingest.readers.reading import Reading, Source, section_number
from paperscope_core.errors import PaperFileError
from paperscope_core.types import Element, Figure, Page, PaperFormat, ParsedPaper, Passage, PassageRole

__all__ = ["build_paper"]

_NO_PAGES = (Page(number=1, width=0, height=0),)
_SECTION_TITLE = re.compile(
    r"(?:abstract|summary|introduction|background|contents|table of contents|preface|acknowledge?ments?|references|"
    r"conclusions?|methods|results|overview|motivation)\b\W*$",
    re.IGNORECASE,
)
_NUMERAL = re.compile(r"(?:\d+|[IVX]+)[.)]?\s+")
_ABSTRACT_OPENINGS = ("abstract—", "abstract–", "abstract.", "abstract:")
_LIST_MARKERS = ("• ", "– ", "* ")
# A caption of fewer words is the alternative text of a badge or an icon.
_MIN_CAPTION_WORDS = 4
# The front matter between title and abstract: names, affiliations, addresses.
_MAX_AUTHOR_LINE = 600
_MAX_AUTHOR_LINES = 12
_MAX_LEVEL = 9


def build_paper(
    reading: Reading,
    *,
    source: Source,
    sha256: str,
    format: PaperFormat,  # noqa: A002
) -> ParsedPaper:
    """Returns the paper of a reading. Raises `PaperFileError` if there is no element."""
    if not reading.elements:
        reason = f" ({reading.problems[0].reason})" if reading.problems else ""
        raise PaperFileError(f"{source.name!r} holds no text that can be read{reason}. Is it the right file?")
    kept = [element for element in attach_captions(reading.elements) if not _is_decoration(element)]
    front = _find_front(kept, title=reading.title, authors=reading.authors)
    elements = _with_roles(_with_levels(front.elements))
    elements.sort(key=lambda element: _has_role(element, "furniture"))
    paper = assemble_paper(
        [Draft(at=at, element=element) for at, element in enumerate(elements)],
        sha256=sha256,
        file=source.name,
        title=front.title or source.name.rsplit(".", 1)[0],
        authors=front.authors,
        pages=tuple(reading.pages) or _NO_PAGES,
        problems=(*reading.problems, *source.images.problems),
        format=format,
    )
    return ParsedPaper(paper=paper, crops=source.images.crops)


def _is_decoration(element: Element) -> bool:
    return (
        isinstance(element, Figure)
        and not (element.crop or element.label or element.text)
        and len(element.caption.split()) < _MIN_CAPTION_WORDS
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Front:
    """The title and the authors, and all elements with their roles in the head of the paper."""

    title: str
    authors: tuple[str, ...]
    elements: list[Element]


def _find_front(elements: Sequence[Element], *, title: str, authors: Sequence[str]) -> _Front:
    """Finds title and authors; `title` and `authors` of the metadata count where the elements show none."""
    result = list(elements)
    at = _title_at(result)
    if at is None:
        return _Front(title=title, authors=tuple(authors), elements=result)
    heading = result[at]
    if isinstance(heading, Passage):
        result[at] = replace(heading, role="title", level=0)
        title = heading.text
        _drop_repeated_title(result, at, title=title)
    lines: list[str] = []
    for index in _author_lines(result, at):
        line = result[index]
        if isinstance(line, Passage):
            result[index] = replace(line, role="authors", level=0)
            lines.extend(line.text.splitlines())
    return _Front(title=title, authors=tuple(authors) or author_names(lines, metadata=""), elements=result)


def _title_at(elements: Sequence[Element]) -> int | None:
    """Returns the index of the title, None without one.

    It is the passage marked as such; else the first heading, if no text precedes it and its wording and level are not
    those of a section.
    """
    for index, element in enumerate(elements):
        if _has_role(element, "title"):
            return index
    aside: tuple[PassageRole, ...] = ("furniture", "footnote", "code")
    texts = (
        index for index, element in enumerate(elements) if isinstance(element, Passage) and element.role not in aside
    )
    first = next(texts, None)
    if first is None or not _has_role(elements[first], "heading"):
        return None
    title, *others = (element for element in elements if isinstance(element, Passage) and element.role == "heading")
    if _is_section_title(title.text):
        return None
    top = min((other.level for other in others), default=title.level + 1)
    beside_sections = any(_is_section_title(other.text) for other in others if other.level == title.level)
    return first if title.level < top or beside_sections else None


def _drop_repeated_title(elements: list[Element], at: int, *, title: str) -> None:
    """Drops the first heading after the title if it repeats the title of the front matter."""
    for index in range(at + 1, len(elements)):
        element = elements[index]
        if isinstance(element, Passage) and element.role == "heading":
            if element.text.casefold() == title.casefold():
                del elements[index]
            return


def _author_lines(elements: Sequence[Element], title: int) -> list[int]:
    """Returns the passages marked as authors; else those between title and abstract, if they are few and short."""
    marked = [index for index, element in enumerate(elements) if _has_role(element, "authors")]
    if marked:
        return marked
    lines: list[int] = []
    for index in range(title + 1, len(elements)):
        element = elements[index]
        if not isinstance(element, Passage):
            continue
        if element.role == "abstract" or element.text.lower().lstrip("*_ ").startswith("abstract"):
            return lines if len(lines) <= _MAX_AUTHOR_LINES else []
        if len(element.text) > _MAX_AUTHOR_LINE or (element.role == "heading" and _is_section_title(element.text)):
            return []
        if element.role in ("paragraph", "heading", "list"):
            lines.append(index)
    return []


def _with_levels(elements: Sequence[Element]) -> list[Element]:
    """Shifts heading levels so that the highest, and that of the abstract, is 1.

    If all headings have the same level, as some converters write them, the parts of their numbers set their levels.
    """
    levels = {
        element.level
        for element in elements
        if isinstance(element, Passage) and element.role == "heading" and not _is_abstract_title(element.text)
    }
    top = min(levels, default=1)
    result: list[Element] = []
    for element in elements:
        if isinstance(element, Passage) and element.role == "heading":
            depth = element.level - top if len(levels) > 1 else section_number(element.text).count(".")
            level = 1 if _is_abstract_title(element.text) else min(depth + 1, _MAX_LEVEL)
            result.append(replace(element, level=level))
        else:
            result.append(element)
    return result


def _with_roles(elements: Sequence[Element]) -> list[Element]:
    """Marks the abstract, and turns each paragraph and list item below a heading "References" into an entry.

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


def _has_role(element: Element, role: PassageRole) -> bool:
    return isinstance(element, Passage) and element.role == role
