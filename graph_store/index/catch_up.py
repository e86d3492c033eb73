"""Bringing derived indexes to the store's newest revision, paper by paper, from its log of changes."""

from collections.abc import Sequence
from typing import Protocol

from graph_store.store import Store
from graph_store.values import Mark, Searchable

__all__ = ["Derived", "catch_up"]


class Derived(Protocol):
    """An index that can be brought up to date."""

    @property
    def mark(self) -> Mark:
        """How far in the store's history the index has come."""
        ...

    def clear(self) -> None:
        """Forget everything; the mark is then that of the empty library."""
        ...

    def replace(self, paper: str, searchable: Searchable | None, *, mark: Mark) -> None:
        """Hold exactly this of a paper (None: nothing), and move to `mark`, both at once."""
        ...


def catch_up(store: Store, indexes: Sequence[Derived]) -> None:
    """Bring each index to the store's newest revision; one that belongs to another history starts anew.

    A paper is always taken as it is now, so a change that happens meanwhile is merely taken in twice.
    """
    for index in indexes:
        if store.mark(index.mark.revision) != index.mark:
            index.clear()
    oldest = min(index.mark.revision for index in indexes)
    last = {change.paper: change.mark for change in store.changes_since(oldest)}
    for paper, mark in sorted(last.items(), key=lambda item: item[1].revision):
        behind = [index for index in indexes if index.mark.revision < mark.revision]
        searchable = _searchable(store, paper) if behind else None
        for index in behind:
            index.replace(paper, searchable, mark=mark)


def _searchable(store: Store, paper: str) -> Searchable | None:
    try:
        return store.searchable(paper)
    except KeyError:
        return None
