"""Suites and their items, the registry of all suites, and the selection of items by name."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Literal, cast

from paperscope_core.codec import to_json
from paperscope_core.errors import PaperscopeError
from paperscope_core.settings import Settings
from paperscope_core.types import content_hash
from paperscope_lab.errors import GoldFileError
from paperscope_lab.evaluation.gold.files import file_hash
from paperscope_lab.evaluation.score import Score

__all__ = ["SUITES", "Item", "Loaded", "Part", "Request", "Suite", "load_suite", "select_items"]


Part = Literal["fitting", "held-out"]
"""Choices are made on the figures of the one part of the documents, and reported on the other."""


_MAX_NAMES_SHOWN = 8
# Suites by name: the module that defines it as SUITE, and a description.
SUITES = {
    "parsing": (
        "paperscope_lab.evaluation.parsing.suite",
        "What the parser reads: tables, headings, text and its order, captions, references, equations; page layout.",
    ),
    "retrieval": (
        "paperscope_lab.evaluation.retrieval.suite",
        "Whether the evidence for a question is found: paragraphs, sentences, pages, papers.",
    ),
    "answers": (
        "paperscope_lab.evaluation.answers.suite",
        "Whether answers are right: numbers, names, lists, yes or no, free text; and whether abstaining is.",
    ),
    "graph": (
        "paperscope_lab.evaluation.graph.suite",
        "What is extracted: entities, relations, acronyms, and the quality of the graph itself.",
    ),
    "cells": (
        "paperscope_lab.evaluation.cells",
        "Table cells: is the value of a row under a column of a table answered, and is that cell cited?",
    ),
    "citations": (
        "paperscope_lab.evaluation.citations",
        "Citations: does each claim's place contain what the claim says, and is it on the right page?",
    ),
    "regions": (
        "paperscope_lab.evaluation.regions",
        "Regions: do the boxes of the sources, and those that the answer cites, show the gold evidence?",
    ),
    "verification": (
        "paperscope_lab.evaluation.verification",
        "Verification: are wrong numbers flagged that are planted in right answers, and the right ones not?",
    ),
    "cost": (
        "paperscope_lab.evaluation.cost",
        "Cost: model calls, tokens, money and time per paper and per question; the figures are means.",
    ),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """An item that a suite scores by calling `score`, which may raise PaperscopeError.

    `name` is unique within the suite: the set, "/", and the name within the set. `gold` and the content of `files` are
    everything about the item that affects its score. `part` is the part that the gold assigns to it, "" if its name
    decides.
    """

    name: str
    score: Callable[[], Score]
    gold: object = None
    files: Sequence[Path] = ()
    part: Part | Literal[""] = ""

    @property
    def fingerprint(self) -> str:
        """A hash of the gold and of the files' content."""
        return content_hash("\0".join((to_json(self.gold), *map(file_hash, self.files))).encode())


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A request to a suite for its items.

    `data` has the layout of `evaluation/gold/__init__.py`; `names` and `part` restrict the items (see `select_items`);
    `work` is a folder for reusable results that are costly, such as libraries; `seed` determines all random choices.
    """

    data: Path
    mode: str
    settings: Settings
    work: Path
    names: tuple[str, ...] = ()
    part: Part | Literal[""] = ""
    seed: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Loaded:
    """The items, the errors of unusable gold or a peer that isn't installed, and facts for the report."""

    items: Sequence[Item]
    bad: Sequence[PaperscopeError] = ()
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Suite:
    """Items and metrics that measure one aspect of the product.

    `name` is that of its command, `modes` are what it can measure, the default first, and `headline` are the most
    important metrics, shown for each set and plotted. `load` returns all items, and enters the resources that they
    share into the stack. `missing` is the error message if there is no gold.
    """

    name: str
    modes: tuple[str, ...]
    headline: tuple[str, ...]
    load: Callable[[Request, ExitStack], Loaded]
    missing: str

    @contextmanager
    def open(self, request: Request) -> Iterator[Loaded]:
        """Load the requested items, with their resources until exit. Raises GoldFileError if there is no gold."""
        with ExitStack() as stack:
            loaded = self.load(request, stack)
            if not loaded.items and not loaded.bad:
                raise GoldFileError(f"{request.data}: {self.missing}")
            yield replace(loaded, items=select_items(loaded.items, request)) if loaded.items else loaded


def select_items(items: Sequence[Item], request: Request) -> list[Item]:
    """Return the items of the requested part that match a requested name: a set ("jose"), an item ("jose/jose.00090")
    or a part of its name ("jose.00090").

    Without names, all items. Raises GoldFileError if no item matches.
    """
    for name in request.names:
        if not any(name in _names_of(item) for item in items):
            some = ", ".join(item.name for item in items[:_MAX_NAMES_SHOWN])
            more = " …" if len(items) > _MAX_NAMES_SHOWN else ""
            raise GoldFileError(f"{request.data}: no gold for {name!r}; there is {some}{more}")
    named = [item for item in items if not request.names or _names_of(item) & set(request.names)]
    return [item for item in named if not request.part or _part_of(item) == request.part]


def _part_of(item: Item) -> Part:
    """Return the part that the gold assigns; else that of the document.

    The document's name is between the set and the last component of the item's name.
    """
    if item.part:
        return item.part
    parts = item.name.split("/")
    document = "/".join(parts[1:-1] or parts[1:])
    return "fitting" if hashlib.sha256(document.encode()).digest()[0] % 2 == 0 else "held-out"


def _names_of(item: Item) -> set[str]:
    parts = item.name.split("/")
    return {item.name, *parts, *("/".join(parts[:end]) for end in range(1, len(parts)))}


def load_suite(name: str) -> Suite:
    """Import the module of a suite. Raises KeyError."""
    return cast("Suite", import_module(SUITES[name][0]).SUITE)
