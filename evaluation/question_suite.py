"""The suites that ask questions, with a language model or without."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from evaluation.libraries import BuiltLibrary, Libraries
from evaluation.suite import Loaded, Request, SuiteItem, select_items
from paperscope_core.errors import GoldFileError, PaperFileError, SettingsError
from paperscope_core.settings import AnswerSettings, ExtractSettings, RoleSettings, Settings

__all__ = ["ANSWER_MODES", "QuestionSuite", "library_of_paper", "require_model", "settings_for", "without_models"]


AnswerMode = Literal["extractive", "model"]
ANSWER_MODES: tuple[str, ...] = get_args(AnswerMode)
ReadItems = Callable[[Request, Libraries], tuple[Sequence[SuiteItem], Sequence[GoldFileError]]]


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionSuite:
    """Obeys `Suite`; its modes are without a model and with the one that is set.

    `read` gives the items, and the gold that can't be used.
    """

    name: str
    headline: tuple[str, ...]
    read: ReadItems
    modes: tuple[str, ...] = ANSWER_MODES

    @contextmanager
    def open(self, request: Request) -> Iterator[Loaded]:
        """See `Suite.open`. Raises SettingsError where the mode needs a model that isn't set."""
        settings = settings_for(request.mode, request.settings)
        with Libraries(request.work / "libraries", settings) as libraries:
            items, bad = self.read(request, libraries)
            yield Loaded(items=select_items(items, request), bad=bad)


def settings_for(mode: str, settings: Settings) -> Settings:
    """The settings under which a mode asks: without models ("extractive"), or as they are ("model")."""
    return require_model(settings) if mode == "model" else without_models(settings)


def without_models(settings: Settings) -> Settings:
    """The settings with no language or vision model; the embedder stays as it is set."""
    none = {"answer": AnswerSettings(), "extract": ExtractSettings(), "vision": RoleSettings()}
    return settings.model_copy(update=none)


def require_model(settings: Settings) -> Settings:
    """The same settings. Raises SettingsError where no model is set that answers."""
    if not settings.answer.configured:
        raise SettingsError(
            "mode 'model' needs a model that answers: set PAPERSCOPE_MODEL and PAPERSCOPE_BASE_URL, or [answer] in "
            "paperscope.toml, or measure with --mode extractive"
        )
    return settings


def library_of_paper(libraries: Libraries, file: Path) -> BuiltLibrary:
    """The library of this paper alone. Raises PaperFileError where the paper can't be added."""
    shelf = libraries.of_files([file])
    if str(file) not in shelf.ids:
        raise PaperFileError(shelf.problems.get(str(file), f"{file} is not in its library"))
    return shelf
