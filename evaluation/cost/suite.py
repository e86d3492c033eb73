"""The suite of cost: what adding a paper and asking a question takes."""

from collections.abc import Iterator
from contextlib import contextmanager

from evaluation.asking import ASKING_MODES, settings_for
from evaluation.choosing import chosen
from evaluation.cost.items import cost_items
from evaluation.libraries import Libraries
from evaluation.suite import Loaded, Request

__all__ = ["CostSuite"]


class CostSuite:
    """Obeys `Suite`; its modes are without a model and with the one that is set."""

    name = "cost"
    modes = ASKING_MODES
    headline = ("add.calls", "add.cost", "ask.calls", "ask.cost", "ask.context_words")

    @contextmanager
    def open(self, request: Request) -> Iterator[Loaded]:
        """See `Suite.open`. Raises SettingsError where the mode needs a model that isn't set."""
        settings = settings_for(request.mode, request.settings)
        with Libraries(request.work / "libraries", settings) as libraries:
            items, bad = cost_items(request.data, libraries)
            yield Loaded(items=chosen(items, request.names, data=request.data), bad=bad)
