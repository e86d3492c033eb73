"""Parsed papers and their elements: passages, figures, equations, references, sections, pages."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from paperscope_core.types.displayable import Displayable
from paperscope_core.types.place import Place
from paperscope_core.types.tables import Table

__all__ = [
    "Element",
    "Equation",
    "Figure",
    "Link",
    "Page",
    "PageProblem",
    "Panel",
    "Paper",
    "PaperEntry",
    "PaperFile",
    "PaperFormat",
    "ParsedPaper",
    "Passage",
    "PassageRole",
    "Reference",
    "Section",
    "content_hash",
    "crops_of",
    "places_of",
    "title_lines",
]

PassageRole = Literal["title", "authors", "abstract", "heading", "paragraph", "list", "footnote", "code", "furniture"]
PaperFormat = Literal["pdf", "image", "markdown", "html", "docx", "text", "jats", "tei", "mineru"]


def content_hash(data: bytes) -> str:
    """The name of stored bytes (a crop, a file): their SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage(Displayable):
    """Running text.

    Attributes:
        text: The text. A "list" passage is one item with its mark ("• ", "(a) ", "1. "); a "code" passage is a listing
            or an algorithm with its line breaks and indentation.
        role: The kind of text; "furniture" is page headers, page numbers and the like.
        level: The level of a heading, from 1; else 0.
        more_places: The places of its continuation in another column or on another page.
        label: The label of a floating listing or algorithm ("Algorithm 1"), else "".
        caption: The caption of a floating listing or algorithm, else "".
    """

    id: str
    place: Place
    order: int
    text: str
    role: PassageRole = "paragraph"
    section: str = ""
    level: int = 0
    more_places: tuple[Place, ...] = ()
    label: str = ""
    caption: str = ""
    kind: Literal["passage"] = "passage"


@dataclass(frozen=True, kw_only=True, slots=True)
class Panel:
    """A subfigure; `mark` is "a" for "(a)", and `caption` is the text at the mark."""

    mark: str
    place: Place
    caption: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure(Displayable):
    """A figure.

    Attributes:
        label: As printed ("Figure 2"), "" if it has none.
        text: What is printed inside its box, such as axis labels.
        crop: The content hash of its picture.
        panels: Its subfigures in reading order.
    """

    id: str
    place: Place
    order: int
    label: str = ""
    caption: str = ""
    caption_place: Place | None = None
    text: str = ""
    section: str = ""
    crop: str | None = None
    panels: tuple[Panel, ...] = ()
    kind: Literal["figure"] = "figure"


@dataclass(frozen=True, kw_only=True, slots=True)
class Equation(Displayable):
    """A display equation; `label` is "Equation 3" if it is numbered, else ""."""

    id: str
    place: Place
    order: int
    text: str
    label: str = ""
    section: str = ""
    crop: str | None = None
    kind: Literal["equation"] = "equation"


@dataclass(frozen=True, kw_only=True, slots=True)
class Reference(Displayable):
    """One entry of the bibliography.

    `label` is as cited ("[12]", "Li et al., 2020"), "" if unknown. `more_places` are the places of its continuation.
    """

    id: str
    place: Place
    order: int
    text: str
    label: str = ""
    year: int | None = None
    section: str = ""
    more_places: tuple[Place, ...] = ()
    kind: Literal["reference"] = "reference"


Element = Passage | Table | Figure | Equation | Reference


def crops_of(element: Element) -> tuple[str, ...]:
    """The content hashes of an element's pictures, including those of a continued table's further parts."""
    if not isinstance(element, Table | Figure | Equation):
        return ()
    more = element.more_crops if isinstance(element, Table) else ()
    return tuple(crop for crop in (element.crop, *more) if crop is not None)


def places_of(element: Element) -> tuple[Place, ...]:
    """An element's places: its beginning, then its continuation."""
    more = () if isinstance(element, Figure | Equation) else element.more_places
    return (element.place, *more)


def title_lines(element: Table | Figure) -> list[str]:
    """Label and caption on one line, without repeating the label; empty if it has neither."""
    caption = " ".join(element.caption.split())
    if element.label and not caption.casefold().startswith(element.label.casefold()):
        return [f"{element.label}: {caption}" if caption else element.label]
    return [caption] if caption else []


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """A section; `path` includes its parents ("4 Experiments > 4.2 Results"), `level` counts from 1."""

    id: str
    number: str
    title: str
    level: int
    path: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """A page's number, from 1, and size in points. A file without pages has one page of size 0."""

    number: int
    width: float
    height: float


@dataclass(frozen=True, kw_only=True, slots=True)
class PageProblem:
    """A page, or part of one, that could not be read, with the reason."""

    page: int
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """A cross-reference: `text` ("Table 6", "Eq. (3)", "[12]") in element `source` refers to element `target`."""

    source: str
    target: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Paper(Displayable):
    """A parsed paper.

    Attributes:
        id: Derived from the file's SHA-256.
        elements: All elements in reading order. Their ids are `PAPER/KIND-N`, with N counting from 1 within the kind
            (`3f2a9c1b7d10/table-5`).
        problems: What could not be read.
    """

    id: str
    title: str
    authors: tuple[str, ...]
    sha256: str
    file: str
    pages: tuple[Page, ...]
    sections: tuple[Section, ...]
    elements: tuple[Element, ...]
    links: tuple[Link, ...] = ()
    problems: tuple[PageProblem, ...] = ()
    format: PaperFormat = "pdf"

    @property
    def paged(self) -> bool:
        """Whether the file has pages; places in a file without pages count lines."""
        return any(page.width > 0 for page in self.pages)


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperEntry:
    """A paper as the library lists it, without its elements.

    Attributes:
        source: The path that it was added from.
        embedder: The name of the embedder of its vectors.
        revision: The store's revision that added it.
        year: The year of publication, None if the paper does not state it.
    """

    id: str
    title: str
    file: str
    source: str
    sha256: str
    embedder: str
    revision: int
    authors: tuple[str, ...] = ()
    year: int | None = None


@dataclass(frozen=True, slots=True)
class PaperFile:
    """The file or folder of a paper, with its password if it is encrypted."""

    path: Path
    password: str | None = field(default=None, kw_only=True, repr=False)

    @property
    def name(self) -> str:
        """The file's name without its folder."""
        return self.path.name


@dataclass(frozen=True, kw_only=True, slots=True)
class ParsedPaper:
    """A parser's result: the paper, and the PNG bytes of its crops by content hash."""

    paper: Paper
    crops: Mapping[str, bytes] = field(default_factory=dict)
