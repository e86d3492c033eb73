"""The answers suite: asks the product benchmark questions and a user's own."""

import os
from collections.abc import Mapping
from contextlib import ExitStack, closing
from functools import partial

from pydantic import ValidationError

from graph_store import Store
from paperscope_core.errors import PaperFileError, SettingsError
from paperscope_core.models import build_model
from paperscope_core.settings import RoleSettings
from paperscope_core.types import Answer, Passage, Place
from paperscope_lab.evaluation.answers.questions import GoldQuestion, Source, read_questions
from paperscope_lab.evaluation.answers.scoring import Cited, Judge, score_answer
from paperscope_lab.evaluation.gold.files import separate_errors
from paperscope_lab.evaluation.libraries import BuiltLibrary, Libraries
from paperscope_lab.evaluation.metrics.benchmarks import NOT_ANSWERABLE
from paperscope_lab.evaluation.question_suite import ANSWER_MODES, settings_for
from paperscope_lab.evaluation.score import Score
from paperscope_lab.evaluation.suite import Item, Loaded, Request, Suite

__all__ = ["SUITE", "ask_and_score", "judge_of"]


def judge_of(environ: Mapping[str, str]) -> RoleSettings:
    """Return the model that judges answers: JUDGE_MODEL, JUDGE_BASE_URL and JUDGE_API_KEY, or none.

    It takes nothing from the product's settings, because a model should not judge its own answers.

    Raises:
        SettingsError: A value is wrong.
    """
    names = ("model", "base_url", "api_key")
    try:
        return RoleSettings.model_validate({name: environ.get(f"JUDGE_{name.upper()}", "") for name in names})
    except ValidationError as error:
        raise SettingsError(
            f"the judge (JUDGE_MODEL, JUDGE_BASE_URL, JUDGE_API_KEY): {error.errors()[0]['msg']}"
        ) from None


def ask_and_score(question: GoldQuestion, source: Source, libraries: Libraries, judge: Judge | None = None) -> Score:
    """Ask the library of the question's source, which is built on first use, and score the answer.

    The judge is asked about answers only; that there is none, our rules score exactly. Raises PaperFileError if the
    source can't be read, ModelError if a model fails.
    """
    built = libraries.of_papers(source.papers) if source.papers else libraries.of_files(source.files)
    if not built.ids:
        raise PaperFileError("; ".join(built.problems.values()))
    library = libraries.library(built)
    answer = library.ask(question.question)
    verdict = None
    if judge and answer.status == "answered":
        gold = question.references if question.answerable else (NOT_ANSWERABLE,)
        verdict = library.wait(judge.judge(question.question, gold, answer.text))
    return score_answer(question, answer, cited=_cited(answer, question, source, built), verdict=verdict)


def _cited(answer: Answer, question: GoldQuestion, source: Source, built: BuiltLibrary) -> Cited:
    ids = {file: built.ids.get(str(file), "") for file in source.files}
    evidence = answer.evidence
    places = tuple(place for found in evidence for place in found.places)
    passages = (element for paper in source.papers for element in paper.elements if isinstance(element, Passage))
    texts = {passage.id: passage.text for passage in passages}
    return Cited(
        pages=frozenset((place.paper, place.page) for place in places),
        gold_pages=frozenset((ids[file], page) for file, page in question.pages),
        places=places,
        gold_places=tuple(Place(paper=ids[file], page=page, box=box) for file, page, box in question.regions),
        texts=tuple(dict.fromkeys(texts[found.element] for found in evidence if found.element in texts)),
    )


def _load(request: Request, stack: ExitStack) -> Loaded:
    settings = settings_for(request.mode, request.settings)
    libraries = stack.enter_context(Libraries(request.work / "libraries", settings))
    judge, facts, role = None, {}, judge_of(os.environ)
    if role.configured:
        # Its replies are cached, so that a verdict is paid for once.
        store = stack.enter_context(closing(Store.open(request.work / "judge")))
        model = build_model(role, store, calls=settings.calls)
        judge, facts = Judge(model) if model else None, {"judge": role.model}
    asked, bad = separate_errors(read_questions(request.data, request.work))
    items = [
        Item(
            name=question.name,
            score=partial(ask_and_score, question, source, libraries, judge),
            gold=(question, [paper.sha256 for paper in source.papers]),
            files=source.files,
        )
        for question, source in asked
    ]
    return Loaded(items=items, bad=bad, facts=facts)


SUITE = Suite(
    name="answers",
    modes=ANSWER_MODES,
    headline=("right", "right_of_answered", "answered", "places", "page"),
    load=_load,
    missing="no questions here; name a folder with papers/NAME/paper.pdf and questions.jsonl beside it",
)
