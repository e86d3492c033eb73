"""What a peer makes of a corpus, as the runner sees it."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from evaluation.peers.job import Found, PeerCorpus

__all__ = ["Index", "System", "findable", "told"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Index:
    """A corpus taken in: `search(question, limit)` gives the best texts first; `problems` as in `PeerIndexed`."""

    search: Callable[[str, int], Sequence[Found]]
    units: int
    problems: tuple[str, ...] = ()


# Takes in a corpus; what that holds is given back with the block. Both may raise whatever the peer's packages raise.
System = Callable[[PeerCorpus], AbstractContextManager[Index]]


def findable(corpus: PeerCorpus) -> list[Found]:
    """All units that have a text, in their order. Raises ValueError where there are none."""
    found = [
        Found(unit=unit.id, document=document.id, pages=unit.pages, text=unit.text)
        for document in corpus.documents
        for unit in document.units
        if unit.text.strip()
    ]
    if not found:
        raise ValueError(f"no text in the corpus {corpus.name!r}")
    return found


def told(error: Exception) -> str:
    """An error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())
