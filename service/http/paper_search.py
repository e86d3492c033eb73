"""Searches and sorts the papers of a library by what they say about themselves."""

import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from paperscope_core.types import Filters, PaperEntry

__all__ = ["PaperOrder", "search_papers"]

PaperOrder = Literal["added", "title", "year", "author"]


def search_papers(
    entries: Iterable[PaperEntry], *, query: str, years: str | None, order: PaperOrder | None
) -> list[PaperEntry]:
    """Return the papers that have every word of the query in title, authors, file name, venue, DOI, arXiv id or id.

    Case and accents make no difference. Without an order, the papers stay as they are.

    Raises:
        InputError: The years are no range.
    """
    filters, words = Filters.of(years=years), _fold(query).split()
    found = [one for one in entries if filters.allows_year(one.year) and (not words or _has(one, words))]
    return found if order is None else sorted(found, key=_KEYS[order])


def _has(entry: PaperEntry, words: Iterable[str]) -> bool:
    text = _fold(" ".join((entry.title, *entry.authors, entry.file, entry.venue, entry.doi, entry.arxiv, entry.id)))
    return all(word in text for word in words)


def _fold(text: str) -> str:
    """Return a text without case and accents."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def _title(entry: PaperEntry) -> str:
    return _fold(entry.title or entry.file)


def _surname(entry: PaperEntry) -> str:
    return _fold(entry.authors[0]).rpartition(" ")[2] if entry.authors else ""


_KEYS: Mapping[PaperOrder, Callable[[PaperEntry], tuple[Any, ...]]] = {
    "added": lambda entry: (-entry.revision,),
    "title": lambda entry: (_title(entry), entry.revision),
    "year": lambda entry: (-(entry.year or 0), _title(entry)),
    "author": lambda entry: (not entry.authors, _surname(entry), _title(entry)),
}
