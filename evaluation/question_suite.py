"""Suites that ask questions, with or without a language model."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from evaluation.gold.files import separate_errors
from evaluation.libraries import BuiltLibrary, Libraries
from evaluation.suite import Loaded, Request, SuiteItem, select_items
from paperscope_core.errors import GoldFileError, PaperFileError, SettingsError
from paperscope_core.settings import AnswerSettings, ExtractSettings, RoleSettings, Settings

__all__ = ["ANSWER_MODES", "QuestionSuite", "library_of_paper", "require_model", "settings_for", "without_models"]


AnswerMode = Literal["extractive", "model"]
ANSWER_MODES: tuple[str, ...] = get_args(AnswerMode)


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionSuite:
    """A `Suite` whose modes answer without a language model, or with the configured one.

    `read` returns the items, and the errors of unusable gold; `missing` is the message if there are neither.
    """

    name: str
    headline: tuple[str, ...]
    read: Callable[[Request, Libraries], Iterable[SuiteItem | GoldFileError]]
    missing: str
    modes: tuple[str, ...] = ANSWER_MODES

    @contextmanager
    def open(self, request: Request) -> Iterator[Loaded]:
        """See `Suite.open`. Raises SettingsError if the mode needs a model and none is configured."""
        settings = settings_for(request.mode, request.settings)
        with Libraries(request.work / "libraries", settings) as libraries:
            items, bad = separate_errors(self.read(request, libraries))
            if not items:
                raise bad[0] if bad else GoldFileError(f"{request.data}: {self.missing}")
            yield Loaded(items=select_items(items, request), bad=bad)


def settings_for(mode: str, settings: Settings) -> Settings:
    """The settings of a mode: without models ("extractive"), or unchanged ("model")."""
    return require_model(settings) if mode == "model" else without_models(settings)


def without_models(settings: Settings) -> Settings:
    """The settings without a language or vision model; the embedder stays."""
    none = {"answer": AnswerSettings(), "extract": ExtractSettings(), "vision": RoleSettings()}
    return settings.model_copy(update=none)


def require_model(settings: Settings) -> Settings:
    """Returns the same settings. Raises SettingsError if no answering model is configured."""
    if not settings.answer.configured:
        raise SettingsError(
            "mode 'model' needs a model that answers: set PAPERSCOPE_MODEL and PAPERSCOPE_BASE_URL, or [answer] in "
            "paperscope.toml, or measure with --mode extractive"
        )
    return settings


def library_of_paper(libraries: Libraries, file: Path) -> BuiltLibrary:
    """The library with this paper only. Raises PaperFileError if the paper can't be added."""
    built = libraries.of_files([file])
    if str(file) not in built.ids:
        raise PaperFileError(built.problems.get(str(file), f"{file} is not in its library"))
    return built
