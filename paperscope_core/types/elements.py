"""Parsed papers and their elements: passages, figures, equations, references, sections, pages."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
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
    "PaperFormat",
    "ParsedPaper",
    "Passage",
    "PassageRole",
    "Reference",
    "Section",
    "content_hash",
    "crops_of",
    "places_of",
]


PassageRole = Literal["title", "authors", "abstract", "heading", "paragraph", "list", "footnote", "code", "furniture"]
PaperFormat = Literal["pdf", "image", "markdown", "html", "docx", "text", "jats", "tei", "mineru"]


def content_hash(data: bytes) -> str:
    """The name under which bytes (a crop, a file) are kept: their SHA-256 in hex."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage(Displayable):
    """Running text. `more_places` holds the rest of a passage that goes on in another column or page.

    A passage with the role "list" is one item with its mark ("• ", "(a) ", "1. "); one with the role "code" is a
    listing or an algorithm, its line breaks and indentation kept. `label` ("Algorithm 1", "Listing 2") and `caption`
    are those of a listing or an algorithm that floats, else "".
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
    """A part of a figure that is named on its own: `mark` is "a" for "(a)", `caption` what stands beside the mark."""

    mark: str
    place: Place
    caption: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure(Displayable):
    """A picture; `text` is what the page itself prints inside its box (axis labels and the like).

    `panels` are its subfigures in reading order, empty where it has none.
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
    """A display equation; `label` is "Equation 3" where a number stands beside it, else ""."""

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
    """One entry of the bibliography; `label` is as cited ("[12]", "Li et al., 2020"), "" if unknown.

    `more_places` holds the rest of an entry that goes on in another column or page.
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
    """The crops of an element, those of a continued table's further parts included."""
    if not isinstance(element, Table | Figure | Equation):
        return ()
    more = element.more_crops if isinstance(element, Table) else ()
    return tuple(crop for crop in (element.crop, *more) if crop is not None)


def places_of(element: Element) -> tuple[Place, ...]:
    """Where an element stands: first where it begins, then where it goes on, in another column or on another page."""
    more = () if isinstance(element, Figure | Equation) else element.more_places
    return (element.place, *more)


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """A section; `path` names it with its parents ("4 Experiments > 4.2 Results"), `level` counts from 1."""

    id: str
    number: str
    title: str
    level: int
    path: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """A page's number (from 1) and size in points; a file without pages is one page of size 0."""

    number: int
    width: float
    height: float


@dataclass(frozen=True, kw_only=True, slots=True)
class PageProblem:
    """A page, or part of one, that could not be read, and why."""

    page: int
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """A cross-reference: element `source` names element `target` with `text` ("Table 6", "Eq. (3)", "[12]")."""

    source: str
    target: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Paper(Displayable):
    """A parsed paper. `id` derives from the file's SHA-256; `file` is the file's name; elements are in reading order.

    Element ids are `PAPER/KIND-N`, N counting from 1 within the kind in reading order (`3f2a9c1b7d10/table-5`).
    `format` is what the file is.
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
        """Whether the file has pages; the places in one without count lines."""
        return any(page.width > 0 for page in self.pages)


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperEntry:
    """A paper as the library lists it, without its elements; `source` is the file it was added from, `revision` the
    one that added it, `embedder` names the weights of its vectors; `year` is None where the paper does not say it."""

    id: str
    title: str
    file: str
    source: str
    sha256: str
    embedder: str
    revision: int
    authors: tuple[str, ...] = ()
    year: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ParsedPaper:
    """What a parser hands over: the paper, and the PNG bytes of its crops by content hash."""

    paper: Paper
    crops: Mapping[str, bytes] = field(default_factory=dict)
