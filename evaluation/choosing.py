"""Restricting a suite's items to those that are named, or to a part of the documents."""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

from evaluation.suite import Part, Request, SuiteItem
from paperscope_core.errors import GoldFileError

__all__ = ["chosen"]


_SHOWN = 8

T = TypeVar("T", bound=SuiteItem)


def chosen(items: Sequence[T], request: Request) -> list[T]:
    """The items that the request asks for: of its part, and under any of its names: a set ("jose"), an item
    ("jose/jose.00090") or a part of its name ("jose.00090").

    Without names, all. Raises GoldFileError where no item is called so.
    """
    for name in request.names:
        if not any(name in _names_of(item) for item in items):
            some = ", ".join(item.name for item in items[:_SHOWN])
            more = " …" if len(items) > _SHOWN else ""
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
