"""Questions whose answers' claims are checked."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from evaluation.asking import shelf_of
from evaluation.citations.checking import Checker
from evaluation.gold.docbench import DocBenchQuestion, docbench_questions
from evaluation.gold.mmlongbench import mmlongbench_questions
from evaluation.libraries import Libraries
from evaluation.values import Score
from paperscope_core.errors import GoldFileError

__all__ = ["CitationItem", "citation_items"]


@dataclass(frozen=True, kw_only=True, slots=True)
class CitationItem:
    """Asks the library of the paper, and checks what the answer cites; `pages` are the gold's, none where unknown."""

    name: str
    file: Path
    question: str
    pages: tuple[int, ...]
    libraries: Libraries

    @property
    def fingerprint(self) -> str:
        """A hash of the file, the question and the gold's pages."""
        data = self.file.read_bytes() if self.file.is_file() else b""
        return hashlib.sha256(data + f"\0{self.question}\0{self.pages}".encode()).hexdigest()

    def score(self) -> Score:
        """Raises PaperFileError, and ModelError where a model is asked."""
        library = self.libraries.library(shelf_of(self.libraries, self.file))
        checker = Checker(file=self.file, element=library.element)
        return checker.check(library.ask(self.question), gold_pages=frozenset(self.pages))


def citation_items(data: Path, libraries: Libraries) -> tuple[list[CitationItem], list[GoldFileError]]:
    """The questions below `data` on PDFs, and the gold that can't be used. Raises GoldFileError where there is none.

    Sets: "papers" (question files beside papers) and "mmlongbench".
    """
    found = list(_questions(data, libraries))
    items = [item for item in found if isinstance(item, CitationItem)]
    bad = [error for error in found if isinstance(error, GoldFileError)]
    if not items:
        raise (
            bad[0]
            if bad
            else GoldFileError(
                f"{data}: no questions here; name a folder with papers/NAME/paper.pdf and questions.jsonl beside it"
            )
        )
    return items, bad


def _questions(data: Path, libraries: Libraries) -> Iterator[CitationItem | GoldFileError]:
    for found in chain(docbench_questions(data), mmlongbench_questions(data)):
        if isinstance(found, GoldFileError):
            yield found
            continue
        if isinstance(found, DocBenchQuestion):
            name = f"papers/{found.paper}/{found.number}"
        else:
            name = f"mmlongbench/{found.file.stem}/{found.id}"
        yield CitationItem(
            name=name, file=found.file, question=found.question, pages=found.evidence_pages, libraries=libraries
        )
