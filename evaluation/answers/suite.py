"""The answers suite: asks the product benchmark questions and a user's own."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

from evaluation.answers.questions import GoldQuestion, Source, read_questions
from evaluation.answers.scoring import Cited, Judge, Verdict, score_answer
from evaluation.gold.files import separate_errors
from evaluation.libraries import BuiltLibrary, Libraries
from evaluation.metrics.benchmarks import NOT_ANSWERABLE
from evaluation.question_suite import ANSWER_MODES, settings_for
from evaluation.score import Score
from evaluation.suite import Loaded, Request, select_items
from graph_store import Store
from paperscope.library import Library
from paperscope_core.codec import to_json
from paperscope_core.errors import GoldFileError, PaperFileError
from paperscope_core.models import build_model
from paperscope_core.types import Answer, Place, content_hash

__all__ = ["AnswerItem", "AnswersSuite"]


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerItem:
    """Asks the library of the question's source, which is built on first use, and scores the answer."""

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
        """A hash of the gold and of the source."""
        return content_hash(to_json(self.question).encode()) + self.source.fingerprint

    def score(self) -> Score:
        """Raises PaperFileError if the source can't be read, ModelError if a model fails."""
        built, library = self._library()
        answer = library.ask(self.question.question)
        verdict = self._verdict(library, answer)
        return score_answer(self.question, answer, cited=self._cited(answer, built), verdict=verdict)

    def _verdict(self, library: Library, answer: Answer) -> Verdict | None:
        """The judge's verdict; None without a judge, or without an answer, which our rules score exactly."""
        if self.judge is None or answer.status != "answered":
            return None
        gold = self.question.references if self.question.answerable else (NOT_ANSWERABLE,)
        return library.wait(self.judge.judge(self.question.question, gold, answer.text))

    def _library(self) -> tuple[BuiltLibrary, Library]:
        of = self.libraries
        built = of.of_papers(self.source.papers) if self.source.papers else of.of_files(self.source.files)
        if not built.ids:
            raise PaperFileError("; ".join(built.problems.values()))
        return built, of.library(built)

    def _cited(self, answer: Answer, built: BuiltLibrary) -> Cited:
        evidence = [found for claim in answer.claims for found in claim.evidence]
        texts = {
            element.id: element.text
            for paper in self.source.papers
            for element in paper.elements
            if element.kind == "passage"
        }
        gold = ((built.ids.get(str(file), ""), page) for file, page in self.question.pages)
        regions = self.question.regions
        return Cited(
            pages=frozenset((found.place.paper, found.place.page) for found in evidence),
            gold_pages=frozenset(gold),
            places=tuple(found.place for found in evidence),
            gold_places=tuple(
                Place(paper=built.ids.get(str(file), ""), page=page, box=box) for file, page, box in regions
            ),
            texts=tuple(dict.fromkeys(texts[found.element] for found in evidence if found.element in texts)),
        )


class AnswersSuite:
    """Implements `Suite`; its modes are the extractive answerer and the models that are configured."""

    name = "answers"
    modes = ANSWER_MODES
    headline = ("right", "right_of_answered", "answered", "places", "page")

    @contextmanager
    def open(self, request: Request) -> Iterator[Loaded]:
        """See `Suite.open`. Raises SettingsError if the mode needs a model and none is configured."""
        settings = settings_for(request.mode, request.settings)
        asked, bad = separate_errors(read_questions(request.data, request.work))
        if not asked and not bad:
            raise GoldFileError(
                f"{request.data}: no questions here; name a folder with papers/NAME/paper.pdf and questions.jsonl "
                "beside it"
            )
        facts = {"judge": settings.judge.model} if settings.judge.configured else {}
        with Libraries(request.work / "libraries", settings) as libraries, _open_judge(request) as judge:
            items = [
                AnswerItem(question=question, source=source, libraries=libraries, judge=judge)
                for question, source in asked
            ]
            yield Loaded(items=select_items(items, request), bad=bad, facts=facts)


@contextmanager
def _open_judge(request: Request) -> Iterator[Judge | None]:
    """Opens the judge, whose replies are cached, so that a verdict is paid for once."""
    if not request.settings.judge.configured:
        yield None
        return
    with closing(Store.open(request.work / "judge")) as store:
        model = build_model(request.settings.judge, store)
        yield Judge(model) if model else None
