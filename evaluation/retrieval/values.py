"""What is asked, what would be right, what was found, and where it was looked for."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from evaluation.libraries import Libraries, Shelf

__all__ = ["Corpus", "Find", "Piece", "Question", "UnitsOf"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A piece of evidence, found with any of these units of the corpus; `kinds` are what it may be, such as "table"."""

    units: tuple[str, ...]
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question as an item of the suite calls it; `evidence` holds the pieces of each annotator."""

    name: str
    text: str
    evidence: tuple[tuple[Piece, ...], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Find:
    """A text that a system found: of which paper of the library, from which elements (none where the system cut the
    paper itself), on which pages, the first one that it is there for."""

    paper: str
    elements: tuple[str, ...]
    pages: tuple[int, ...]
    text: str


UnitsOf = Callable[[Find], tuple[str, ...]]


class Corpus(Protocol):
    """Texts, and the questions that are asked of all of them."""

    @property
    def name(self) -> str:
        """Unique within the suite."""
        ...

    @property
    def questions(self) -> tuple[Question, ...]:
        """What is asked of it."""
        ...

    @property
    def fingerprint(self) -> str:
        """Changes with the texts."""
        ...

    @property
    def file(self) -> Path | None:
        """The PDF that it is, if it is one."""
        ...

    def shelf(self, libraries: Libraries) -> Shelf:
        """Its library. Raises PaperFileError where nothing of it can be read."""
        ...

    def units_in(self, shelf: Shelf) -> UnitsOf:
        """What tells the units of the corpus that a found text shows, the one that it is there for first."""
        ...
