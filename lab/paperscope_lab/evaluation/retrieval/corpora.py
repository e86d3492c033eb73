"""Corpora of retrieval questions: their units, evidence, and libraries."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from paperscope_core.errors import PaperFileError
from paperscope_core.files import output_errors, write_atomically
from paperscope_core.types import Paper, content_hash
from paperscope_lab.evaluation.gold.files import file_hash
from paperscope_lab.evaluation.libraries import BuiltLibrary, Libraries
from paperscope_lab.evaluation.matching import remove_spaces, similarity

__all__ = [
    "Corpus",
    "EvidencePiece",
    "FilesCorpus",
    "FoundText",
    "PdfCorpus",
    "Question",
    "UnitTexts",
    "UnitsCorpus",
    "UnitsOf",
    "hash_of",
]

# On the development data the units contain nearly all quotations, ignoring spaces and quotation marks. For the others,
# the most similar unit reaches at most 0.7 if it is not the quoted one.
_MIN_SIMILARITY = 0.75


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidencePiece:
    """A piece of evidence, found with any of these units of the corpus; `kinds` are its possible kinds, such as
    "table"."""

    units: tuple[str, ...]
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question; `name` is that of its item, `evidence` are the pieces of each annotator."""

    name: str
    text: str
    evidence: tuple[tuple[EvidencePiece, ...], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundText:
    """A text that a system found: its paper, its elements (empty if the system split the paper itself), and its pages,
    of which the first is the main one."""

    paper: str
    elements: tuple[str, ...]
    pages: tuple[int, ...]
    text: str


UnitsOf = Callable[[FoundText], tuple[str, ...]]


class UnitTexts:
    """Finds quotations in the units of a corpus."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._folded = [_folded(text) for text in texts]

    def holding(self, quotation: str) -> list[int]:
        """Return the positions of the units that equal the quotation, else those that contain it, else those that are
        parts of it, else the most similar one if it is similar enough. Ignores case and spaces."""
        wanted = _folded(quotation)
        for holds in (str.__eq__, str.__contains__, _is_part_of):
            if found := [place for place, text in enumerate(self._folded) if holds(text, wanted)]:
                return found
        likeness = [similarity(text, quotation) for text in self._texts]
        return [likeness.index(max(likeness))] if max(likeness, default=0.0) >= _MIN_SIMILARITY else []


def _folded(text: str) -> str:
    return remove_spaces(text).casefold()


def _is_part_of(text: str, wanted: str) -> bool:
    return text in wanted


@dataclass(frozen=True, kw_only=True, slots=True)
class UnitsCorpus:
    """A paper made of texts; the units are the elements that `ids` names."""

    name: str
    questions: tuple[Question, ...]
    paper: Paper
    ids: frozenset[str]

    @property
    def fingerprint(self) -> str:
        """Changes with the texts."""
        return self.paper.sha256

    def build_library(self, libraries: Libraries) -> BuiltLibrary:
        """Build the library of the paper."""
        return libraries.of_papers([self.paper])

    def units_in(self, _built_library: BuiltLibrary) -> UnitsOf:
        """Return a function from a found text to the units that it contains, the main one first."""
        return lambda found: tuple(element for element in found.elements if element in self.ids)


@dataclass(frozen=True, kw_only=True, slots=True)
class PdfCorpus:
    """One PDF; the units are its pages: "page 3"."""

    name: str
    questions: tuple[Question, ...]
    file: Path

    @property
    def fingerprint(self) -> str:
        """Changes with the file."""
        return file_hash(self.file)

    def build_library(self, libraries: Libraries) -> BuiltLibrary:
        """Build the library of the file. Raises PaperFileError if it can't be read."""
        built = libraries.of_files([self.file])
        for problem in built.problems.values():
            raise PaperFileError(problem)
        return built

    def units_in(self, _built_library: BuiltLibrary) -> UnitsOf:
        """Return a function from a found text to its pages, the main one first."""
        return lambda found: tuple(f"page {page}" for page in found.pages)


@dataclass(frozen=True, kw_only=True)
class FilesCorpus:
    """Texts that are separate papers; the units are the names of the texts.

    They are written into `folder`, with this suffix, on first use.
    """

    name: str
    questions: tuple[Question, ...]
    texts: Mapping[str, str]
    suffix: str
    folder: Path

    @cached_property
    def fingerprint(self) -> str:
        """Changes with the texts and their names."""
        return hash_of(*self.texts, *self.texts.values())

    def build_library(self, libraries: Libraries) -> BuiltLibrary:
        """Build the library of the texts."""
        files = self._files()
        for unit, file in files.items():
            if not file.is_file():
                with output_errors(file):
                    file.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(file, self.texts[unit].encode())
        return libraries.of_files(list(files.values()))

    def units_in(self, built: BuiltLibrary) -> UnitsOf:
        """Return a function from a found text to its unit; equal texts are one paper, which counts for all of them."""
        units: dict[str, tuple[str, ...]] = {}
        for unit, file in self._files().items():
            if paper := built.ids.get(str(file)):
                units[paper] = (*units.get(paper, ()), unit)
        return lambda found: units.get(found.paper, ())

    def _files(self) -> dict[str, Path]:
        folder = self.folder / self.fingerprint[:16]
        return {unit: folder / f"{number:05}{self.suffix}" for number, unit in enumerate(self.texts, start=1)}


Corpus = UnitsCorpus | PdfCorpus | FilesCorpus


def hash_of(*texts: str) -> str:
    """Return one hash for several texts."""
    return content_hash("\0".join(texts).encode())
