"""The suite of citations: does each claim's place contain what the claim says, and is it on the right page?"""

from collections.abc import Iterator
from contextlib import contextmanager

from evaluation.asking import ASKING_MODES, settings_for
from evaluation.choosing import chosen
from evaluation.citations.items import citation_items
from evaluation.libraries import Libraries
from evaluation.suite import Loaded, Request

__all__ = ["CitationsSuite"]


class CitationsSuite:
    """Obeys `Suite`; its modes are without a model and with the one that is set."""

    name = "citations"
    modes = ASKING_MODES
    headline = ("place", "quote", "numbers", "words", "page")

    @contextmanager
    def open(self, request: Request) -> Iterator[Loaded]:
        """See `Suite.open`. Raises SettingsError where the mode needs a model that isn't set."""
        settings = settings_for(request.mode, request.settings)
        with Libraries(request.work / "libraries", settings) as libraries:
            items, bad = citation_items(request.data, libraries)
            yield Loaded(items=chosen(items, request.names, data=request.data), bad=bad)
