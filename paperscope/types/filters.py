"""What a question may be answered from."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from paperscope.errors import InputError
from paperscope.types.knowledge import Chunk

__all__ = ["ElementKind", "Filters", "kind_of"]

ElementKind = Literal["text", "table", "figure", "equation", "reference"]
_KINDS: tuple[str, ...] = get_args(ElementKind)
_SPAN = re.compile(r"(?P<first>\d{4})?(?P<to>\s*(?:-|\u2013|\.\.)\s*)?(?P<last>\d{4})?")
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
        first, last = _span(years) if years is not None else (None, None)
        return cls(
            papers=tuple(papers),
            sections=tuple(sections),
            kinds=tuple(_kind(kind) for kind in kinds),
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
        return not self.sections or any(_leads_to(section, path) for section in self.sections)

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
        return _kind(floats[0])
    return "reference" if found and len(found) == len(chunk.elements) else "text"


def _leads_to(section: str, path: str) -> bool:
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


def _kind(text: str) -> ElementKind:
    word = text.strip().casefold()
    for kind in get_args(ElementKind):
        if word in (kind, f"{kind}s"):
            found: ElementKind = kind
            return found
    raise InputError(f"{text!r} is no kind of element; take some of {', '.join(_KINDS)}")


def _span(text: str) -> tuple[int | None, int | None]:
    match = _SPAN.fullmatch(text.strip())
    if match is None or not (match["first"] or match["last"]):
        raise InputError(f"{text!r} is no range of years; write 2020, 2018-2020, 2018- or -2020")
    first, last = (int(year) if year else None for year in (match["first"], match["last"]))
    return (first, last) if match["to"] else (first or last, first or last)
