"""The suite of table cells: is the value that a gold cell holds answered, and is that cell cited?"""

from collections.abc import Iterator
from contextlib import contextmanager

from evaluation.asking import ASKING_MODES, settings_for
from evaluation.cells.items import cell_items
from evaluation.choosing import chosen
from evaluation.libraries import Libraries
from evaluation.suite import Loaded, Request

__all__ = ["CellsSuite"]


class CellsSuite:
    """Obeys `Suite`; its modes are without a model and with the one that is set."""

    name = "cells"
    modes = ASKING_MODES
    headline = ("right", "cited_cell", "cited_page", "answered")

    @contextmanager
    def open(self, request: Request) -> Iterator[Loaded]:
        """See `Suite.open`. Raises SettingsError where the mode needs a model that isn't set."""
        settings = settings_for(request.mode, request.settings)
        with Libraries(request.work / "libraries", settings) as libraries:
            items, bad = cell_items(request.data, libraries, seed=request.seed)
            yield Loaded(items=chosen(items, request.names, data=request.data), bad=bad)
