"""Filters, retrieval requests and candidates, and the retrieved context."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

from paperscope_core.errors import InputError
from paperscope_core.text.words import plain_words
from paperscope_core.types.displayable import Displayable
from paperscope_core.types.elements import Paper
from paperscope_core.types.findings import Finding
from paperscope_core.types.graph import Chunk, Extraction
from paperscope_core.types.image_findings import PaperImages
from paperscope_core.types.place import Place, where

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

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
_KINDS: tuple[ElementKind, ...] = get_args(ElementKind)
_YEAR_RANGE = re.compile(r"(?P<first>\d{4})?(?P<to>\s*(?:-|\u2013|\.\.)\s*)?(?P<last>\d{4})?")
_SECTION_NUMBER = re.compile(
    r"(?:appendix |section |chapter )?(?P<number>[a-z](?: \d+)*|[ivxl]{2,}|[a-z]?\d+(?: \d+)*)(?: |$)"
)
_KIND_OF_ID = re.compile(r"/(table|figure|equation|reference)-[^/]+$")


@dataclass(frozen=True, kw_only=True, slots=True)
class Filters:
    """Restricts the papers and elements that a question may be answered from.

    An empty or None field restricts nothing; several values of one field are alternatives.

    Attributes:
        papers: For `Library` anything that identifies a paper (id, file name, title); for the query engine ids.
        sections: A section's number ("5.1", "Appendix A.2") or the start of its title; its subsections are included.
        first_year: The earliest year of publication. A paper of unknown year is left out if a year is given.
        last_year: The latest year of publication.

    Raises:
        InputError: A value has another form.

    Example:
        >>> filters = Filters.of(kinds=["Tables"], years="2018-2020")
        >>> filters.kinds
        ('table',)
        >>> filters.allows_year(2021)
        False
        >>> Filters(sections=("5.1",)).allows_section("5 Results > 5.1 Ablations")
        True
    """

    papers: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    kinds: tuple[ElementKind, ...] = ()
    first_year: int | None = None
    last_year: int | None = None

    def __post_init__(self) -> None:
        for section in self.sections:
            if not plain_words(section):
                raise InputError(f"{section!r} names no section; give its number or the start of its title")
        for kind in self.kinds:
            _parse_kind(kind)
        if self.first_year is not None and self.last_year is not None and self.first_year > self.last_year:
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
        """Parse filters in the form in which users write them.

        Args:
            papers: See `Filters`.
            sections: See `Filters`.
            kinds: Kinds of elements in any case, in the singular or plural ("Tables").
            years: 2020, 2018-2020, 2018- or -2020.

        Raises:
            InputError: A value has another form.
        """
        first, last = _parse_years(years) if years is not None else (None, None)
        return cls(
            papers=tuple(papers),
            sections=tuple(sections),
            kinds=tuple(_parse_kind(kind) for kind in kinds),
            first_year=first,
            last_year=last,
        )

    @property
    def by_year(self) -> bool:
        """Whether papers are restricted by year."""
        return self.first_year is not None or self.last_year is not None

    def allows_year(self, year: int | None) -> bool:
        """Return whether a paper of this year (None: unknown) is allowed."""
        if not self.by_year:
            return True
        return year is not None and (self.first_year or year) <= year <= (self.last_year or year)

    def allows_section(self, path: str) -> bool:
        """Return whether the section with this path ("4 Experiments > 4.2 Results") is allowed."""
        return not self.sections or any(_matches_section(section, path) for section in self.sections)

    def allows(self, chunk: Chunk) -> bool:
        """Return whether a chunk is allowed; its paper's year is not checked."""
        in_paper = not self.papers or chunk.paper in self.papers
        return in_paper and self.allows_section(chunk.section) and (not self.kinds or kind_of(chunk) in self.kinds)


def kind_of(chunk: Chunk) -> ElementKind:
    """Return the kind of a chunk's table, figure or equation; "reference" for a part of the bibliography, else
    "text"."""
    # An element's id contains its kind (see `Paper`).
    found = [match[1] for element in chunk.elements if (match := _KIND_OF_ID.search(element))]
    floats = [kind for kind in found if kind != "reference"]
    if floats:
        return _parse_kind(floats[0])
    return "reference" if found and len(found) == len(chunk.elements) else "text"


def _matches_section(section: str, path: str) -> bool:
    """Return whether a part of the path has this number, or a title that starts with this text."""
    wanted = " ".join(plain_words(section))
    number = _SECTION_NUMBER.fullmatch(wanted)
    for title in (" ".join(plain_words(part)) for part in path.split(" > ")):
        own = _SECTION_NUMBER.match(title)
        if number is None:
            unnumbered = title[own.end() :] if own else title
            matches = title.startswith(wanted) or unnumbered.startswith(wanted)
        else:
            matches = own is not None and f"{own['number']} ".startswith(f"{number['number']} ")
        if matches:
            return True
    return False


def _parse_kind(text: str) -> ElementKind:
    word = text.strip().casefold()
    for kind in _KINDS:
        if word in (kind, f"{kind}s"):
            return kind
    raise InputError(f"{text!r} is no kind of element; take some of {', '.join(_KINDS)}")


def _parse_years(text: str) -> tuple[int | None, int | None]:
    match = _YEAR_RANGE.fullmatch(text.strip())
    if match is None or not (match["first"] or match["last"]):
        raise InputError(f"{text!r} is no range of years; write 2020, 2018-2020, 2018- or -2020")
    first, last = (int(year) if year else None for year in (match["first"], match["last"]))
    return (first, last) if match["to"] else (first or last, first or last)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class IndexedPaper:
    """Everything that one paper adds to the library.

    Attributes:
        vectors: A unit-length row per chunk, of shape (chunks, d).
    """

    paper: Paper
    chunks: tuple[Chunk, ...]
    extraction: Extraction
    vectors: "NDArray[float32]"
    images: PaperImages = PaperImages()


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RetrievalRequest:
    """A request to an index.

    Attributes:
        vector: Its unit-length vector, of shape (d,).
        filters: Papers, sections and kinds are applied before `limit`. Years are ignored: the caller selects papers by
            year.
        limit: The maximum number of candidates of each sort.
    """

    text: str
    vector: "NDArray[float32]"
    filters: Filters = field(default_factory=Filters)
    limit: int = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """The id of a chunk or entity with its score; higher is better, and comparable within one list only."""

    id: str
    score: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidates:
    """The candidates that an index finds, each list in descending order of score.

    Attributes:
        by_words: Chunks by BM25, as a share (0 to 1) of the maximum score of any text; an index that does not search by
            words scores its own ranking from 0 to 1.
        by_vectors: Chunks by cosine similarity.
        named: Entities that the question names.
        reached: Entities that are connected to them in the graph.
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

    A table that exceeds the token budget is an excerpt, whose last line states how much of the table it shows.

    Attributes:
        more_places: Where it continues.
        paper: What people call the paper: "Four Reports, Four Rulers (2024)".
        section: The path of its section ("4 Results > 4.2 KLUE").
        label: As printed ("Table 5").
    """

    id: int
    content: str
    element: str
    place: Place
    more_places: tuple[Place, ...] = ()
    paper: str = ""
    section: str = ""
    label: str = ""

    @property
    def places(self) -> tuple[Place, ...]:
        """All places, the beginning first."""
        return (self.place, *self.more_places)

    @property
    def page(self) -> str:
        """Its pages, or lines of a file without pages, for readers: `page 3`."""
        return where(self.places)


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextImage:
    """An image that is worth reading for the question.

    Attributes:
        element: The id of its element; of a page, that of an element on it or before it, "" if the paper has none.
        crop: Its content hash; "" if it is the image of the whole page at `place`.
    """

    id: int
    element: str
    label: str
    caption: str
    crop: str
    place: Place


@dataclass(frozen=True, kw_only=True, slots=True)
class Context(Displayable):
    """The retrieved context, on which an answer is based.

    Row ids count from 0 within each section, in order of relevance. `query.render_context` renders it as CSV.

    Attributes:
        findings: What was left out. The context of an answer has none: they are in the answer.

    Example:
        >>> print(Context())
        0 sources, 0 entities, 0 relationships, 0 images
    """

    entities: tuple[ContextEntity, ...] = ()
    relations: tuple[ContextRelation, ...] = ()
    sources: tuple[ContextSource, ...] = ()
    images: tuple[ContextImage, ...] = ()
    findings: tuple[Finding, ...] = ()
