"""What a suite is: it turns a data folder into items that are scored one by one."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from evaluation.values import Score
from paperscope_core.errors import PaperscopeError
from paperscope_core.settings import Settings

__all__ = ["Loaded", "Part", "Request", "Suite", "SuiteItem"]


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
