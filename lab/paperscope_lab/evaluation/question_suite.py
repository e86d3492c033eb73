"""Suites that ask questions, with or without a language model."""

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path

from paperscope_core.errors import PaperFileError, SettingsError
from paperscope_core.settings import AnswerSettings, ExtractSettings, RoleSettings, Settings
from paperscope_lab.errors import GoldFileError
from paperscope_lab.evaluation.gold.files import separate_errors
from paperscope_lab.evaluation.libraries import BuiltLibrary, Libraries
from paperscope_lab.evaluation.suite import Item, Loaded, Request, Suite

__all__ = ["ANSWER_MODES", "library_of_paper", "question_suite", "settings_for"]


ANSWER_MODES = ("extractive", "model")


def question_suite(
    name: str,
    read: Callable[[Request, Libraries], Iterable[Item | GoldFileError]],
    *,
    headline: tuple[str, ...],
    missing: str,
) -> Suite:
    """Return a suite whose modes answer without a language model, or with the configured one.

    `read` returns the items, which ask the libraries of the run, and the errors of unusable gold; see `Suite` for the
    others. Opening the suite raises SettingsError if the mode needs a model and none is configured.
    """

    def load(request: Request, stack: ExitStack) -> Loaded:
        settings = settings_for(request.mode, request.settings)
        libraries = stack.enter_context(Libraries(request.work / "libraries", settings))
        items, bad = separate_errors(read(request, libraries))
        return Loaded(items=items, bad=bad)

    return Suite(name=name, modes=ANSWER_MODES, headline=headline, load=load, missing=missing)


def settings_for(mode: str, settings: Settings) -> Settings:
    """Return the settings of a mode: without language and vision models ("extractive"), or unchanged ("model").

    Raises SettingsError if mode "model" has no model that answers.
    """
    if mode == "extractive":
        extract = ExtractSettings(recognizer=settings.extract.recognizer)
        none = {"answer": AnswerSettings(), "extract": extract, "vision": RoleSettings()}
        return settings.model_copy(update=none)
    if not settings.answer.configured:
        raise SettingsError(
            "mode 'model' needs a model that answers: set PAPERSCOPE_MODEL and PAPERSCOPE_BASE_URL, or [answer] in "
            "paperscope.toml, or measure with --mode extractive"
        )
    return settings


def library_of_paper(libraries: Libraries, file: Path) -> BuiltLibrary:
    """Return the library with this paper only. Raises PaperFileError if the paper can't be added."""
    built = libraries.of_files([file])
    if str(file) not in built.ids:
        raise PaperFileError(built.problems.get(str(file), f"{file} is not in its library"))
    return built
