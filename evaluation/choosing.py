"""Restricting a suite's items to those that are named."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from evaluation.suite import SuiteItem
from paperscope.errors import GoldFileError

__all__ = ["chosen"]

_SHOWN = 8

T = TypeVar("T", bound=SuiteItem)


def chosen(items: Sequence[T], names: Sequence[str], *, data: Path) -> list[T]:
    """The items under any of the names: a set ("jose"), an item ("jose/jose.00090") or a part ("jose.00090").

    Without names, all. Raises GoldFileError where no item is called so.
    """
    for name in names:
        if not any(name in _names_of(item) for item in items):
            some = ", ".join(item.name for item in items[:_SHOWN])
            raise GoldFileError(f"{data}: no gold for {name!r}; there is {some}{' …' if len(items) > _SHOWN else ''}")
    return [item for item in items if not names or _names_of(item) & set(names)]


def _names_of(item: SuiteItem) -> set[str]:
    parts = item.name.split("/")
    return {item.name, *parts, *("/".join(parts[:end]) for end in range(1, len(parts)))}
