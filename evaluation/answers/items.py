"""A question as an item of the answers suite."""

from dataclasses import dataclass

from evaluation.answers.judge import Judge, Verdict
from evaluation.answers.question import GoldQuestion, Source
from evaluation.answers.scoring import Cited, score_answer
from evaluation.libraries import Libraries, Shelf
from evaluation.metrics.benchmarks import NOT_ANSWERABLE
from evaluation.values import Score
from paperscope.library import Library
from paperscope_core.codec import to_json
from paperscope_core.errors import PaperFileError
from paperscope_core.types import Answer, content_hash

__all__ = ["AnswerItem"]


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerItem:
    """Asks the library of the question's source, which is made when it is first needed, and scores the answer."""

    question: GoldQuestion
    source: Source
    libraries: Libraries
    judge: Judge | None = None

    @property
    def name(self) -> str:
        """See `SuiteItem.name`."""
        return self.question.name

    @property
    def fingerprint(self) -> str:
        """A hash of the gold and of what is asked."""
        return content_hash(to_json(self.question).encode()) + self.source.fingerprint

    def score(self) -> Score:
        """Raises PaperFileError where the source can't be read, ModelError where a model fails."""
        shelf, library = self._library()
        answer = library.ask(self.question.question)
        verdict = self._verdict(library, answer)
        return score_answer(self.question, answer, cited=self._cited(answer, shelf), verdict=verdict)

    def _verdict(self, library: Library, answer: Answer) -> Verdict | None:
        """None where nobody judges, or nothing was answered: there our rules are certain."""
        if self.judge is None or answer.status == "unanswerable":
            return None
        gold = self.question.references if self.question.answerable else (NOT_ANSWERABLE,)
        return library.wait(self.judge.judge(self.question.question, gold, answer.text))

    def _library(self) -> tuple[Shelf, Library]:
        of = self.libraries
        shelf = of.of_papers(self.source.papers) if self.source.papers else of.of_files(self.source.files)
        if not shelf.ids:
            raise PaperFileError("; ".join(shelf.problems.values()))
        return shelf, of.library(shelf)

    def _cited(self, answer: Answer, shelf: Shelf) -> Cited:
        evidence = [found for claim in answer.claims for found in claim.evidence]
        texts = {
            element.id: element.text
            for paper in self.source.papers
            for element in paper.elements
            if element.kind == "passage"
        }
        gold = ((shelf.ids.get(str(file), ""), page) for file, page in self.question.pages)
        return Cited(
            pages=frozenset((found.place.paper, found.place.page) for found in evidence),
            gold_pages=frozenset(gold),
            texts=tuple(dict.fromkeys(texts[found.element] for found in evidence if found.element in texts)),
        )
