"""The head of a paper without pages: its title and its authors."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ingest.markup.levels import section_number
from ingest.pdf.text.front import author_names
from paperscope.types import Element, Passage

__all__ = ["Front", "with_front"]

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


def with_front(elements: Sequence[Element], *, title: str, authors: Sequence[str]) -> Front:
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
