"""The answers suite: questions of benchmarks and of one's own, asked of the product."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from evaluation.answers.items import AnswerItem
from evaluation.answers.judge import Judge
from evaluation.answers.reading import read_questions
from evaluation.asking import ASKING_MODES, settings_for
from evaluation.choosing import chosen
from evaluation.libraries import Libraries
from evaluation.suite import Loaded, Request
from graph_store import Store
from paperscope_core.errors import GoldFileError
from paperscope_core.models import build_model

__all__ = ["AnswersSuite"]


class AnswersSuite:
    """Obeys `Suite`; its modes are who answers: the embedded answerer, or the models that are configured."""

    name = "answers"
    modes = ASKING_MODES
    headline = ("right", "right_of_answered", "answered", "page")

    @contextmanager
    def open(self, request: Request) -> Iterator[Loaded]:
        """See `Suite.open`. Raises SettingsError where models are to answer and none is configured."""
        settings = settings_for(request.mode, request.settings)
        found = list(read_questions(request.data, request.work))
        bad = [error for error in found if isinstance(error, GoldFileError)]
        asked = [pair for pair in found if not isinstance(pair, GoldFileError)]
        if not found:
            raise GoldFileError(
                f"{request.data}: no questions here; name a folder with papers/NAME/paper.pdf and questions.jsonl "
                "beside it"
            )
        facts = {"judge": settings.judge.model} if settings.judge.configured else {}
        with Libraries(request.work / "libraries", settings) as libraries, _judge(request) as judge:
            items = [
                AnswerItem(question=question, source=source, libraries=libraries, judge=judge)
                for question, source in asked
            ]
            yield Loaded(items=chosen(items, request), bad=bad, facts=facts)


@contextmanager
def _judge(request: Request) -> Iterator[Judge | None]:
    """Its replies are kept, so that a verdict is paid for once."""
    if not request.settings.judge.configured:
        yield None
        return
    with closing(Store.open(request.work / "judge")) as store:
        model = build_model(request.settings.judge, store)
        yield Judge(model) if model else None
