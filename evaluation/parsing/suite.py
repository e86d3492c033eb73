"""The parsing suite: what is read from papers, held against their gold."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import cast, get_args

from evaluation.choosing import chosen
from evaluation.gold import load_items
from evaluation.parsing.items import ParsingItem, outline_reader
from evaluation.suite import Loaded, Request
from ingest.pdf.backends import BackendName, backend_for

__all__ = ["ParsingSuite"]

# Crops are not scored: a low resolution saves time.
_DPI = 36


class ParsingSuite:
    """Obeys `Suite`; its modes are the libraries below our rules."""

    name = "parsing"
    modes: tuple[str, ...] = get_args(BackendName)
    headline = (
        "tables.cells",
        "tables.teds",
        "tables.lookups",
        "headings.found",
        "captions.found",
        "text.in_order",
        "references.count",
        "olmocr.tests",
    )

    @contextmanager
    def open(self, request: Request) -> Iterator[Loaded]:
        """See `Suite.open`."""
        backend = backend_for(cast("BackendName", request.mode))
        settings = request.settings.parser.model_copy(update={"backend": request.mode, "dpi": _DPI})
        gold, bad = load_items(request.data, read_outline=partial(outline_reader, backend))
        items = [ParsingItem(gold=item, settings=settings, backend=backend) for item in gold]
        yield Loaded(items=chosen(items, request), bad=bad)
