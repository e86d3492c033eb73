"""Filters, retrieval requests and candidates, and the retrieved context."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, get_args

from numpy import float32
from numpy.typing import NDArray

from paperscope_core.errors import InputError
from paperscope_core.types.displayable import Displayable
from paperscope_core.types.elements import Paper
from paperscope_core.types.graph import Chunk, Extraction
from paperscope_core.types.images import PaperImages
from paperscope_core.types.place import Place

__all__ = [
    "Candidates",
    "Context",
    "ContextEntity",
    "ContextImage",
    "ContextRelation",
    "ContextSource",
    "ElementKind",
    "Filters",
    "Hit",
    "IndexedPaper",
    "RetrievalRequest",
    "kind_of",
]


ElementKind = Literal["text", "table", "figure", "equation", "reference"]
_KINDS: tuple[str, ...] = get_args(ElementKind)
_YEAR_RANGE = re.compile(r"(?P<first>\d{4})?(?P<to>\s*(?:-|\u2013|\.\.)\s*)?(?P<last>\d{4})?")
_OWN_NUMBER = re.compile(
    r"(?:appendix |section |chapter )?(?P<number>[a-z](?: \d+)*|[ivxl]{2,}|[a-z]?\d+(?: \d+)*)(?: |$)"
)
_KIND_OF_ID = re.compile(r"/(table|figure|equation|reference)-\d+$")


@dataclass(frozen=True, kw_only=True, slots=True)
class Filters:
    """Restricts a question; a field that is empty or None restricts nothing, several values of one are alternatives.

    `papers` are ids for the query engine, and for `Library` anything that names a paper. A section is given by its
    number ("5.1", "Appendix A.2") or by the start of its title; what is below it belongs to it. `first_year` and
    `last_year` bound the years of papers, both included; a paper whose year is not known is then left out. Raises
    InputError.
    """

    papers: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    kinds: tuple[ElementKind, ...] = ()
    first_year: int | None = None
    last_year: int | None = None

    def __post_init__(self) -> None:
        for section in self.sections:
            if not _folded(section):
                raise InputError(f"{section!r} names no section; give its number or the start of its title")
        for kind in self.kinds:
            if kind not in _KINDS:
                raise InputError(f"{kind!r} is no kind of element; take some of {', '.join(_KINDS)}")
        if None not in (self.first_year, self.last_year) and self.first_year > self.last_year:  # type: ignore[operator]
            raise InputError(f"no year is from {self.first_year} to {self.last_year}; give the earlier one first")

    @classmethod
    def of(
        cls,
        *,
        papers: Iterable[str] = (),
        sections: Iterable[str] = (),
        kinds: Iterable[str] = (),
        years: str | None = None,
    ) -> "Filters":
        """As people write them: kinds in any case and number ("Tables"), years as 2020, 2018-2020, 2018- or -2020.

        Raises InputError.
        """
        first, last = _year_range(years) if years is not None else (None, None)
        return cls(
            papers=tuple(papers),
            sections=tuple(sections),
            kinds=tuple(_parse_kind(kind) for kind in kinds),
            first_year=first,
            last_year=last,
        )

    @property
    def by_year(self) -> bool:
        """Whether papers are chosen by their year."""
        return self.first_year is not None or self.last_year is not None

    def allows_year(self, year: int | None) -> bool:
        """Whether a paper of this year (None: not known) may be used."""
        if not self.by_year:
            return True
        return year is not None and (self.first_year or year) <= year <= (self.last_year or year)

    def allows_section(self, path: str) -> bool:
        """Whether what stands in the section with this path ("4 Experiments > 4.2 Results") may be used."""
        return not self.sections or any(_matches_section(section, path) for section in self.sections)

    def allows(self, chunk: Chunk) -> bool:
        """Whether a chunk may be used; its paper's year is not asked."""
        in_paper = not self.papers or chunk.paper in self.papers
        return in_paper and self.allows_section(chunk.section) and (not self.kinds or kind_of(chunk) in self.kinds)


def kind_of(chunk: Chunk) -> ElementKind:
    """What a chunk is there for: its table, figure or equation, or else its text, which a bibliography is not.

    Ids tell the kind of an element (see `Paper`).
    """
    found = [match[1] for element in chunk.elements if (match := _KIND_OF_ID.search(element))]
    floats = [kind for kind in found if kind != "reference"]
    if floats:
        return _parse_kind(floats[0])
    return "reference" if found and len(found) == len(chunk.elements) else "text"


def _matches_section(section: str, path: str) -> bool:
    """Whether a part of the path has the number that `section` is, or a title that begins with it."""
    wanted = _folded(section)
    number = _OWN_NUMBER.fullmatch(wanted)
    for title in map(_folded, path.split(" > ")):
        own = _OWN_NUMBER.match(title)
        if number is None:
            bare = title[own.end() :] if own else title
            fits = title.startswith(wanted) or bare.startswith(wanted)
        else:
            fits = own is not None and f"{own['number']} ".startswith(f"{number['number']} ")
        if fits:
            return True
    return False


def _folded(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


def _parse_kind(text: str) -> ElementKind:
    word = text.strip().casefold()
    for kind in get_args(ElementKind):
        if word in (kind, f"{kind}s"):
            found: ElementKind = kind
            return found
    raise InputError(f"{text!r} is no kind of element; take some of {', '.join(_KINDS)}")


def _year_range(text: str) -> tuple[int | None, int | None]:
    match = _YEAR_RANGE.fullmatch(text.strip())
    if match is None or not (match["first"] or match["last"]):
        raise InputError(f"{text!r} is no range of years; write 2020, 2018-2020, 2018- or -2020")
    first, last = (int(year) if year else None for year in (match["first"], match["last"]))
    return (first, last) if match["to"] else (first or last, first or last)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class IndexedPaper:
    """All that one paper adds to the library; `vectors` has a unit-length row for each chunk, shape (chunks, d)."""

    paper: Paper
    chunks: tuple[Chunk, ...]
    extraction: Extraction
    vectors: NDArray[float32]
    images: PaperImages = PaperImages()


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RetrievalRequest:
    """A question as text and as a unit-length vector of shape (d,).

    Of `filters` the papers, sections and kinds restrict what is found, before `limit` cuts it; years don't: whoever
    asks chooses the papers by them.
    """

    text: str
    vector: NDArray[float32]
    filters: Filters = field(default_factory=Filters)
    limit: int = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """An id (of a chunk or entity) with a score; higher is better, comparable within one list only."""

    id: str
    score: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidates:
    """An index's proposals, each list best first: chunks by words and by vectors, entities named in the question,
    and entities reached from them over the graph.

    A chunk's score by words is a share (0 to 1) of what a text that holds the question's words over and over would
    have; by vectors it is the cosine.
    """

    by_words: tuple[Hit, ...] = ()
    by_vectors: tuple[Hit, ...] = ()
    named: tuple[Hit, ...] = ()
    reached: tuple[Hit, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextEntity:
    """A row of the Entities section; `rank` is the entity's degree in the graph."""

    id: int
    entity: str
    type: str
    description: str
    rank: int
    places: tuple[Place, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextRelation:
    """A row of the Relationships section; `source` and `target` are entity names, `rank` the sum of their degrees."""

    id: int
    source: str
    target: str
    description: str
    weight: float
    rank: int
    places: tuple[Place, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextSource:
    """A row of the Sources section: a passage, table, caption or equation in full, with its element and place.

    Of a table too large for the budget it is an excerpt, whose last line says how much of it is shown.
    """

    id: int
    content: str
    element: str
    place: Place


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextImage:
    """An image worth reading for the question: its element, label, caption, crop (content hash) and place."""

    id: int
    element: str
    label: str
    caption: str
    crop: str
    place: Place


@dataclass(frozen=True, kw_only=True, slots=True)
class Context(Displayable):
    """What retrieval hands over. Row ids count from 0 within each section, in the order of relevance."""

    entities: tuple[ContextEntity, ...] = ()
    relations: tuple[ContextRelation, ...] = ()
    sources: tuple[ContextSource, ...] = ()
    images: tuple[ContextImage, ...] = ()
