"""Searches and sorts the papers of a library by what they say about themselves."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

from paperscope_core.paper_lookup import matching_entries
from paperscope_core.text.words import fold_spelling
from paperscope_core.types import Filters, PaperEntry

__all__ = ["PaperOrder", "search_papers"]

PaperOrder = Literal["added", "title", "year", "author"]


def search_papers(
    entries: Iterable[PaperEntry],
    *,
    query: str,
    tags: Mapping[str, Sequence[str]] = MappingProxyType({}),
    years: str | None,
    order: PaperOrder | None,
) -> list[PaperEntry]:
    """Return the papers of these years that match a query (see `matching_entries`).

    Without an order, the papers stay as they are.

    Raises:
        InputError: The years are no range.
    """
    filters = Filters.of(years=years)
    found = [one for one in matching_entries(entries, query, tags=tags) if filters.allows_year(one.year)]
    return found if order is None else sorted(found, key=_KEYS[order])


def _title(entry: PaperEntry) -> str:
    return fold_spelling(entry.title or entry.file).casefold()


def _surname(entry: PaperEntry) -> str:
    return fold_spelling(entry.authors[0]).casefold().rpartition(" ")[2] if entry.authors else ""


_KEYS: Mapping[PaperOrder, Callable[[PaperEntry], tuple[Any, ...]]] = {
    "added": lambda entry: (-entry.revision,),
    "title": lambda entry: (_title(entry), entry.revision),
    "year": lambda entry: (-(entry.year or 0), _title(entry)),
    "author": lambda entry: (not entry.authors, _surname(entry), _title(entry)),
}
