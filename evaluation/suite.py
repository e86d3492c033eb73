"""The protocol of a suite and its items, the registry of all suites, and the selection of items by name."""

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Literal, Protocol, TypeVar, cast

from evaluation.score import Score
from paperscope_core.errors import GoldFileError, PaperscopeError
from paperscope_core.settings import Settings

__all__ = ["SUITES", "Loaded", "Part", "Request", "Suite", "SuiteItem", "load_suite", "select_items"]


Part = Literal["fitting", "held-out"]
"""Choices are made on the figures of the one part of the documents, and reported on the other."""


_MAX_NAMES_SHOWN = 8
# Suites by name: module, factory and description.
SUITES = {
    "parsing": (
        "evaluation.parsing.suite:ParsingSuite",
        "What the parser reads: tables, headings, text and its order, captions, references, equations.",
    ),
    "retrieval": (
        "evaluation.retrieval.suite:RetrievalSuite",
        "Whether the evidence for a question is found: paragraphs, sentences, pages, papers.",
    ),
    "answers": (
        "evaluation.answers.suite:AnswersSuite",
        "Whether answers are right: numbers, names, lists, yes or no, free text; and whether abstaining is.",
    ),
    "graph": (
        "evaluation.graph.suite:GraphSuite",
        "What is extracted: entities, relations, acronyms, and the quality of the graph itself.",
    ),
    "cells": (
        "evaluation.cells:cells_suite",
        "Table cells: is the value of a row under a column of a table answered, and is that cell cited?",
    ),
    "citations": (
        "evaluation.citations:citations_suite",
        "Citations: does each claim's place contain what the claim says, and is it on the right page?",
    ),
    "verification": (
        "evaluation.verification:verification_suite",
        "Verification: are wrong numbers flagged that are planted in right answers, and the right ones not?",
    ),
    "cost": (
        "evaluation.cost:cost_suite",
        "Cost: model calls, tokens, money and time per paper and per question; the figures are means.",
    ),
}


class SuiteItem(Protocol):
    """An item that a suite scores."""

    @property
    def name(self) -> str:
        """Unique within the suite: the set, "/", and the name within the set."""
        ...

    @property
    def fingerprint(self) -> str:
        """Changes with everything about the item that affects its score."""
        ...

    def score(self) -> Score:
        """Scores the item. Raises PaperscopeError."""
        ...


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

    items: Sequence[SuiteItem]
    bad: Sequence[PaperscopeError] = ()
    facts: Mapping[str, str] = field(default_factory=dict)


class Suite(Protocol):
    """Items and metrics that measure one aspect of the product."""

    @property
    def name(self) -> str:
        """The name of its command."""
        ...

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes that can be measured, the default first."""
        ...

    @property
    def headline(self) -> tuple[str, ...]:
        """The most important metrics, shown for each set and plotted."""
        ...

    def open(self, request: Request) -> AbstractContextManager[Loaded]:
        """Loads the items; shared resources are released on exit. Raises GoldFileError if there are no items."""
        ...


Item = TypeVar("Item", bound=SuiteItem)


def select_items(items: Sequence[Item], request: Request) -> list[Item]:
    """The items of the requested part that match a requested name: a set ("jose"), an item ("jose/jose.00090") or a
    part of its name ("jose.00090").

    Without names, all items. Raises GoldFileError if no item matches.
    """
    for name in request.names:
        if not any(name in _names_of(item) for item in items):
            some = ", ".join(item.name for item in items[:_MAX_NAMES_SHOWN])
            more = " …" if len(items) > _MAX_NAMES_SHOWN else ""
            raise GoldFileError(f"{request.data}: no gold for {name!r}; there is {some}{more}")
    named = [item for item in items if not request.names or _names_of(item) & set(request.names)]
    return [item for item in named if not request.part or _part_of(item) == request.part]


def _part_of(item: SuiteItem) -> Part:
    """The part of the item's document, whose name is between the set and the last component of the item's name."""
    parts = item.name.split("/")
    document = "/".join(parts[1:-1] or parts[1:])
    return "fitting" if hashlib.sha256(document.encode()).digest()[0] % 2 == 0 else "held-out"


def _names_of(item: SuiteItem) -> set[str]:
    parts = item.name.split("/")
    return {item.name, *parts, *("/".join(parts[:end]) for end in range(1, len(parts)))}


def load_suite(name: str) -> Suite:
    """Imports the suite's module and creates the suite. Raises KeyError."""
    module, _, maker = SUITES[name][0].partition(":")
    return cast("Suite", getattr(import_module(module), maker)())
