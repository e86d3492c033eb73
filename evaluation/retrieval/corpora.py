"""Three kinds of corpora: a text cut into units, one PDF, and many short files."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evaluation.libraries import Libraries, Shelf
from evaluation.retrieval.values import Question, UnitsOf
from paperscope_core.errors import PaperFileError
from paperscope_core.files import output_errors, write_atomically
from paperscope_core.types import Paper, content_hash

__all__ = ["FilesCorpus", "PdfCorpus", "UnitsCorpus", "hash_of"]


@dataclass(frozen=True, kw_only=True, slots=True)
class UnitsCorpus:
    """A paper made of texts; the units are those of its elements that `ids` names."""

    name: str
    questions: tuple[Question, ...]
    paper: Paper
    ids: frozenset[str]
    file: None = None

    @property
    def fingerprint(self) -> str:
        """See `Corpus.fingerprint`."""
        return self.paper.sha256

    def shelf(self, libraries: Libraries) -> Shelf:
        """See `Corpus.shelf`."""
        return libraries.of_papers([self.paper])

    def units_in(self, _shelf: Shelf) -> UnitsOf:
        """See `Corpus.units_in`."""
        return lambda find: tuple(element for element in find.elements if element in self.ids)


@dataclass(frozen=True, kw_only=True, slots=True)
class PdfCorpus:
    """One PDF; the units are its pages: "page 3"."""

    name: str
    questions: tuple[Question, ...]
    file: Path
    fingerprint: str

    def shelf(self, libraries: Libraries) -> Shelf:
        """See `Corpus.shelf`."""
        shelf = libraries.of_files([self.file])
        for problem in shelf.problems.values():
            raise PaperFileError(problem)
        return shelf

    def units_in(self, _shelf: Shelf) -> UnitsOf:
        """See `Corpus.units_in`."""
        return lambda find: tuple(f"page {page}" for page in find.pages)


@dataclass(frozen=True, kw_only=True, slots=True)
class FilesCorpus:
    """Texts that are papers of their own; the units are the texts, under the names that they have in `texts`.

    They are written into `folder`, with this suffix, when they are first asked for.
    """

    name: str
    questions: tuple[Question, ...]
    texts: Mapping[str, str]
    suffix: str
    folder: Path
    fingerprint: str
    file: None = None

    def shelf(self, libraries: Libraries) -> Shelf:
        """See `Corpus.shelf`."""
        files = self._files()
        for unit, file in files.items():
            if not file.is_file():
                with output_errors(file):
                    file.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(file, self.texts[unit].encode())
        return libraries.of_files(list(files.values()))

    def units_in(self, shelf: Shelf) -> UnitsOf:
        """See `Corpus.units_in`. Texts that are the same are one paper, and all found with it."""
        units: dict[str, tuple[str, ...]] = {}
        for unit, file in self._files().items():
            if paper := shelf.ids.get(str(file)):
                units[paper] = (*units.get(paper, ()), unit)
        return lambda find: units.get(find.paper, ())

    def _files(self) -> dict[str, Path]:
        folder = self.folder / self.fingerprint[:16]
        return {unit: folder / f"{number:05}{self.suffix}" for number, unit in enumerate(self.texts, start=1)}


def hash_of(*texts: str) -> str:
    """One hash for several texts."""
    return content_hash("\0".join(texts).encode())
