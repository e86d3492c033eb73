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
"""What is chosen by looking at figures is chosen on the one part of the documents, and reported on the other."""


class SuiteItem(Protocol):
    """What a suite scores one by one."""

    @property
    def name(self) -> str:
        """Unique within the suite: its set, "/", and what it is called there."""
        ...

    @property
    def fingerprint(self) -> str:
        """Changes with whatever of the item decides its score."""
        ...

    def score(self) -> Score:
        """Do the work. Raises PaperscopeError."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """What is asked of a suite.

    `data` is laid out as `evaluation/gold/__init__.py` says; `names` and `part` restrict the items (see `chosen`);
    `work` is a folder for what is costly to make and can be used again, such as libraries; `seed` decides every draw.
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
    """The items, what can't be used (bad gold, a peer that isn't installed), and what decided the items beside the
    settings, for the report."""

    items: Sequence[SuiteItem]
    bad: Sequence[PaperscopeError] = ()
    facts: Mapping[str, str] = field(default_factory=dict)


class Suite(Protocol):
    """Measures one thing."""

    @property
    def name(self) -> str:
        """The command's word for it."""
        ...

    @property
    def modes(self) -> tuple[str, ...]:
        """What can be measured, the default first."""
        ...

    @property
    def headline(self) -> tuple[str, ...]:
        """The metrics that matter most; they are shown for each set, and drawn."""
        ...

    def open(self, request: Request) -> AbstractContextManager[Loaded]:
        """The items; what they share is released at the end. Raises GoldFileError where there is nothing to score."""
        ...


_MAX_NAMES_SHOWN = 8

Item = TypeVar("Item", bound=SuiteItem)


def select_items(items: Sequence[Item], request: Request) -> list[Item]:
    """The items that the request asks for: of its part, and under any of its names: a set ("jose"), an item
    ("jose/jose.00090") or a part of its name ("jose.00090").

    Without names, all. Raises GoldFileError where no item is called so.
    """
    for name in request.names:
        if not any(name in _names_of(item) for item in items):
            some = ", ".join(item.name for item in items[:_MAX_NAMES_SHOWN])
            more = " …" if len(items) > _MAX_NAMES_SHOWN else ""
            raise GoldFileError(f"{request.data}: no gold for {name!r}; there is {some}{more}")
    named = [item for item in items if not request.names or _names_of(item) & set(request.names)]
    return [item for item in named if not request.part or _part_of(item) == request.part]


def _part_of(item: SuiteItem) -> Part:
    """By the document that the item is about, whatever the set: what its name says but for the set and its own part."""
    parts = item.name.split("/")
    document = "/".join(parts[1:-1] or parts[1:])
    return "fitting" if hashlib.sha256(document.encode()).digest()[0] % 2 == 0 else "held-out"


def _names_of(item: SuiteItem) -> set[str]:
    parts = item.name.split("/")
    return {item.name, *parts, *("/".join(parts[:end]) for end in range(1, len(parts)))}


# The command's word for a suite: its module and what makes it there, and what it measures.
SUITES = {
    "parsing": (
        "evaluation.parsing.suite:ParsingSuite",
        "What is read from papers: tables, headings, text and its order, captions, references, equations.",
    ),
    "retrieval": (
        "evaluation.retrieval.suite:RetrievalSuite",
        "Whether the evidence for a question is found: paragraphs, sentences, pages, papers.",
    ),
    "answers": (
        "evaluation.answers.suite:AnswersSuite",
        "What is answered: numbers, names, lists, yes or no, free text; and what is rightly left unanswered.",
    ),
    "graph": (
        "evaluation.graph.suite:GraphSuite",
        "What is drawn from papers: entities, relations, acronyms, and how sound the graph is by itself.",
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
        "Cost: model calls, tokens, money and time, a paper and a question; the figures are means.",
    ),
}


def load_suite(name: str) -> Suite:
    """The suite; raises KeyError."""
    module, _, maker = SUITES[name][0].partition(":")
    return cast("Suite", getattr(import_module(module), maker)())
