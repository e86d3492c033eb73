"""Parsed papers and their elements: passages, figures, equations, references, sections, pages."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Literal

from paperscope_core.types.bibliographic import UNPUBLISHED, Publication
from paperscope_core.types.displayable import Displayable
from paperscope_core.types.place import Box, Place, PrintedLine
from paperscope_core.types.tables import Table

__all__ = [
    "UNKNOWN_CHARACTER",
    "Element",
    "ElementHead",
    "Equation",
    "Figure",
    "Link",
    "OtherFile",
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
    "ProblemKind",
    "Reference",
    "Section",
    "captioned_places_of",
    "content_hash",
    "crops_of",
    "main_element",
    "places_of",
    "title_lines",
]

_PAGE_NUMBER = re.compile(r"[0-9]{1,6}")
UNKNOWN_CHARACTER = "\ufffd"
"""Stands for a printed character that is not known: neither the file nor its shape says what it is."""

PassageRole = Literal["title", "authors", "abstract", "heading", "paragraph", "list", "footnote", "code", "furniture"]
ProblemKind = Literal["text", "other"]
PaperFormat = Literal[
    "pdf", "image", "markdown", "html", "docx", "text", "jats", "tei", "mineru", "xlsx", "pptx", "epub", "odt", "latex"
]


def content_hash(data: bytes) -> str:
    """Return the name of stored bytes (a crop, a file): their SHA-256 in hexadecimal."""
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
        caption_place: The place of that caption.
        lines: The printed lines of the text; empty if there is one line, or the reader doesn't know them.

    Example:
        >>> place = Place(paper="3f2a9c1b7d10", page=1, box=Box(72, 100, 300, 140))
        >>> passage = Passage(id="3f2a9c1b7d10/passage-3", place=place, order=2, text="We compare four losses.")
        >>> passage.role
        'paragraph'
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
    caption_place: Place | None = None
    lines: tuple[PrintedLine, ...] = field(default=(), repr=False)
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
        more_places: The places of its continuation in another column or on another page; `more_crops` are their
            pictures.
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
    more_places: tuple[Place, ...] = ()
    more_crops: tuple[str, ...] = ()
    kind: Literal["figure"] = "figure"


@dataclass(frozen=True, kw_only=True, slots=True)
class Equation(Displayable):
    """A display equation.

    Attributes:
        text: The formula as a line of plain text, with brackets wherever its meaning needs them: `((x-c)/v)²`.
        label: "Equation 3" if it is numbered, else "".
        latex: The formula as LaTeX if the file's format states it (MathML, Word, LaTeX), else "".
    """

    id: str
    place: Place
    order: int
    text: str
    label: str = ""
    section: str = ""
    crop: str | None = None
    latex: str = ""
    kind: Literal["equation"] = "equation"

    @property
    def latex_line(self) -> str:
        """Its LaTeX as a line for models, "" if there is none or it says no more than the text."""
        return f"LaTeX: {self.latex}" if self.latex and "".join(self.latex.split()) not in self.text else ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reference(Displayable):
    """One entry of the bibliography.

    `label` is as cited ("[12]", "Li et al., 2020"), "" if unknown. `more_places` are the places of its continuation;
    for `lines` see `Passage`.
    """

    id: str
    place: Place
    order: int
    text: str
    label: str = ""
    year: int | None = None
    section: str = ""
    more_places: tuple[Place, ...] = ()
    lines: tuple[PrintedLine, ...] = field(default=(), repr=False)
    kind: Literal["reference"] = "reference"


Element = Passage | Table | Figure | Equation | Reference


def crops_of(element: Element) -> tuple[str, ...]:
    """Return the content hashes of an element's pictures, including its further parts'."""
    if not isinstance(element, Table | Figure | Equation):
        return ()
    more = element.more_crops if isinstance(element, Table | Figure) else ()
    return tuple(crop for crop in (element.crop, *more) if crop is not None)


def main_element(elements: Sequence[Element]) -> Element:
    """Return the element that a chunk is about: its table, figure or equation, or else its first one that is no
    heading."""
    floats = (element for element in elements if isinstance(element, Table | Figure | Equation))
    bodies = (element for element in elements if not (isinstance(element, Passage) and element.role == "heading"))
    return next(floats, next(bodies, elements[0]))


def places_of(element: Element, quote: str = "") -> tuple[Place, ...]:
    """Return an element's places, its beginning first; for a quotation, the places of the lines that print it.

    Lines below each other are one place. A quotation from a caption has the caption's place. A quotation whose lines
    aren't known has all places of its element.
    """
    if not quote:
        return _all_places(element)
    if isinstance(element, Passage | Table | Figure) and element.caption_place and _is_in_title(quote, element):
        return (element.caption_place,)
    if isinstance(element, Passage | Reference):
        start = element.text.find(quote)
        if start >= 0 and (lines := _lines_of(element, start, start + len(quote))):
            return _around(lines, paper=element.place.paper)
    return _all_places(element)


def _is_in_title(quote: str, element: Passage | Table | Figure) -> bool:
    return any(quote in line for line in title_lines(element))


def _all_places(element: Element) -> tuple[Place, ...]:
    more = () if isinstance(element, Equation) else element.more_places
    return (element.place, *more)


def captioned_places_of(element: Element) -> tuple[Place, ...]:
    """Return all places of an element, and its caption's if that is elsewhere."""
    caption = None if isinstance(element, Equation | Reference) else element.caption_place
    return tuple(dict.fromkeys((*places_of(element), *([caption] if caption else ()))))


def _lines_of(element: Passage | Reference, start: int, end: int) -> list[PrintedLine]:
    """Return the lines that print the characters from `start` up to `end`."""
    ends = (*(line.start for line in element.lines[1:]), len(element.text))
    return [line for line, until in zip(element.lines, ends, strict=False) if line.start < end and until > start]


def _around(lines: Iterable[PrintedLine], *, paper: str) -> tuple[Place, ...]:
    runs: list[list[PrintedLine]] = []
    for line in lines:
        if runs and _is_below(line, runs[-1][-1]):
            runs[-1].append(line)
        else:
            runs.append([line])
    return tuple(
        Place(paper=paper, page=run[0].page, box=reduce(Box.union, (line.box for line in run))) for run in runs
    )


def _is_below(line: PrintedLine, other: PrintedLine) -> bool:
    lower = line.page == other.page and line.box.middle >= other.box.middle
    return lower and line.box.x0 < other.box.x1 and other.box.x0 < line.box.x1


def title_lines(element: Passage | Table | Figure) -> list[str]:
    """Return label and caption on one line, without repeating the label; empty if it has neither."""
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
    """A page, or part of one, that could not be read, with the reason.

    Attributes:
        kind: "text" if the page's text is missing, or was recognised from its image and may be wrong.
    """

    page: int
    reason: str
    kind: ProblemKind = "other"


@dataclass(frozen=True, kw_only=True, slots=True)
class ElementHead:
    """A table, figure or equation without its content, of the `kind` of this name; `title` is that of its paper."""

    id: str
    place: Place
    kind: str = ""
    title: str = ""
    label: str = ""
    caption: str = ""
    crop: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """A cross-reference: `text` ("Table 6", "Eq. (3)", "[12]") in element `source` refers to element `target`."""

    source: str
    target: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherFile:
    """Another file of a paper, such as its HTML: its name, the path or address that it comes from, and its SHA-256."""

    file: str
    source: str
    sha256: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Paper(Displayable):
    """A parsed paper.

    Attributes:
        id: Derived from the file's SHA-256.
        elements: All elements in reading order. An id consists of the paper's id and the label: `3f2a9c1b7d10/table-5`
            is Table 5, `…/table-5-2` a second one. Without a label it is `…/passage-3` or `…/table-unlabelled-1`.
        problems: What could not be read.
        others: The markup files of the same paper from which cells and formulas were taken; places are the file's.

    Example:
        >>> paper = Paper(
        ...     id="3f2a9c1b7d10",
        ...     title="Four Reports, Four Rulers",
        ...     authors=("A. Author",),
        ...     sha256="3f2a9c1b7d10",
        ...     file="rulers.pdf",
        ...     pages=(Page(number=1, width=595, height=842),),
        ...     sections=(),
        ...     elements=(),
        ... )
        >>> paper.paged
        True
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
    publication: Publication = UNPUBLISHED
    others: tuple[OtherFile, ...] = ()

    @property
    def files(self) -> str:
        """The names of its files, separated by commas."""
        return ", ".join((self.file, *(one.file for one in self.others)))

    @property
    def paged(self) -> bool:
        """Whether the file has pages; places in a file without pages count lines."""
        return any(page.width > 0 for page in self.pages)

    @property
    def has_page_images(self) -> bool:
        """Whether the file has pages that can be rendered; text formats and MinerU's folders have none."""
        return self.format in ("pdf", "image") and self.paged

    def page_number(self, number: int) -> int | None:
        """Return the page of this number, from 1; else the page on which it is printed as the page's number, as in
        proceedings; None if there is none."""
        known = {page.number for page in self.pages}
        page = number if number in known else number - self.pages_before
        return page if page in known else None

    @property
    def pages_before(self) -> int:
        """How much the printed numbers of pages are above the pages' numbers; 0 if most pages do not tell."""
        shifts = Counter(
            int(element.text) - element.place.page
            for element in self.elements
            if isinstance(element, Passage)
            and element.role == "furniture"
            and _PAGE_NUMBER.fullmatch(element.text)
            and not element.place.by_line
        )
        ((shift, count),) = shifts.most_common(1) or [(0, 0)]
        return shift if count > 1 and 2 * count > len(self.pages) else 0

    def section_path(self, element: Element) -> str:
        """Return the path of the section in which an element stands; "" if it stands in none."""
        return next((section.path for section in self.sections if section.id == element.section), element.section)

    def headings(self, element: Element) -> str:
        """Return the title of the paper and those of the sections in which an element stands, a line each."""
        path = self.section_path(element)
        titles = (one.title for one in self.sections if f"{path} > ".startswith(f"{one.path} > "))
        return "\n".join(filter(None, (self.title, *titles)))

    def problem_lines(self, problems: Iterable[PageProblem]) -> list[str]:
        """Return what is wrong, a line for each page; one for each problem if the paper has no pages."""
        reasons: dict[int, list[str]] = {}
        for number, problem in enumerate(problems):
            reasons.setdefault(problem.page if self.paged else number, []).append(problem.reason)
        lines = ((page, "; ".join(dict.fromkeys(found))) for page, found in reasons.items())
        return [f"page {page}: {line}" if self.paged else line for page, line in lines]

    @property
    def doubtful_pages(self) -> frozenset[int]:
        """The numbers of the pages whose text is missing or was recognised from an image."""
        return frozenset(problem.page for problem in self.problems if problem.kind == "text")


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperEntry:
    """A paper as the library lists it, without its elements.

    Attributes:
        source: The path that it was added from.
        embedder: The name of the embedder of its vectors.
        revision: The store's revision that added it.
        year: The year of publication, None if the paper does not state it.
        venue: The journal or the proceedings; like the DOI and the arXiv id, "" if the paper does not state it.
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
    venue: str = ""
    doi: str = ""
    arxiv: str = ""


@dataclass(frozen=True, slots=True)
class PaperFile:
    """The file or folder of a paper, with its password if it is encrypted.

    Attributes:
        content: The bytes of the file, if they were read already; of MinerU's JSON if it is a folder.
        sha256: The hash of these bytes; "" before they are read.
    """

    path: Path
    password: str | None = field(default=None, kw_only=True, repr=False)
    content: bytes | None = field(default=None, kw_only=True, repr=False)
    sha256: str = field(default="", kw_only=True)

    @classmethod
    def of(cls, file: "PaperFile | Path | str", *, password: str | None) -> "PaperFile":
        """Return a file that is given as a value or by its path; a value has its password already."""
        return file if isinstance(file, PaperFile) else cls(Path(file), password=password)

    @property
    def name(self) -> str:
        """The file's name without its folder."""
        return self.path.name


@dataclass(frozen=True, kw_only=True, slots=True)
class ParsedPaper:
    """A parser's result: the paper, and the PNG bytes of its crops by content hash."""

    paper: Paper
    crops: Mapping[str, bytes] = field(default_factory=dict)
