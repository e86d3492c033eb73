"""Finds the candidates of a question in an index of words and one of vectors, and by walking over the graph."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from numpy import float32
from numpy.typing import NDArray

from graph_store.index.graph_walk import WalkedGraph, neighbourhood, personalized_pagerank
from graph_store.store import Store
from paperscope_core.errors import SettingsError
from paperscope_core.types import Candidates, Hit, RetrievalRequest

__all__ = ["NameHits", "check_dimension", "find_candidates", "find_named"]

ReadGraph: TypeAlias = Callable[[Sequence[str]], WalkedGraph]
"""The relations of some papers."""

_SEEDS = 20
_GUESSED_SEEDS = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class NameHits:
    """What an index of names found in a text.

    Attributes:
        exact: The entities whose name or alias occurs in the text, with the length of the occurrence, longest first.
        guessed: The entities whose names share words with the text, by BM25; in a large library the rarer words only.
    """

    exact: Mapping[str, int]
    guessed: Sequence[Hit]


def find_candidates(
    store: Store,
    request: RetrievalRequest,
    *,
    by_words: Sequence[Hit],
    by_vectors: Sequence[Hit],
    names: NameHits,
    graph: ReadGraph,
) -> Candidates:
    """Return the candidates of a question, at most `request.limit` in each list.

    Args:
        by_words: The allowed chunks that contain words of the question, best first, by BM25 as a share (0 to 1) of the
            maximum possible score. A chunk that contains every word often has a score near 1, one that contains only
            common words a score near 0. In a large library only the rarer words are searched for.
        by_vectors: The allowed chunks that are nearest to the question's vector, with their inner products.
        graph: Reads the relations of papers, which are walked over.
    """
    papers, limit = request.filters.papers, max(request.limit, 0)
    named = find_named(store, names, papers=papers, limit=limit)
    exact = sum(hit.score > 1 for hit in named)
    seeds = named[: min(exact, _SEEDS) or _GUESSED_SEEDS]
    nearest = _best(by_vectors, limit=limit)
    # The walk is restricted to the papers found, because a large library has too many relations of "accuracy" to read.
    near = papers or tuple(dict.fromkeys(hit.id.partition("/")[0] for hit in (*by_words, *nearest)))
    reached = _best(_reached(seeds, graph(near)), limit=limit) if near else ()
    return Candidates(by_words=tuple(by_words), by_vectors=nearest, named=named, reached=reached)


def find_named(store: Store, names: NameHits, *, papers: Sequence[str], limit: int) -> tuple[Hit, ...]:
    """Return the entities that a text names.

    Those whose name occurs in it come first, the longest name first (score: 1 + its length); then those that share
    words with it (score below 1).
    """
    scores = {key: 1.0 + length for key, length in names.exact.items()}
    scores = {hit.id: hit.score / (1 + hit.score) for hit in reversed(names.guessed)} | scores
    ranked = (*names.exact, *(hit.id for hit in names.guessed))
    library_ids = store.library_ids(ranked, papers=papers)
    named: dict[str, Hit] = {}
    for key in ranked:
        for entity in library_ids[key]:
            named.setdefault(entity, Hit(id=entity, score=scores[key]))
    return tuple(named.values())[:limit]


def check_dimension(vector: NDArray[float32], dimension: int, *, embedder: str) -> None:
    """Raise SettingsError if a question's vector has another length than the papers' vectors."""
    if vector.shape != (dimension,):
        raise SettingsError(
            f"the question's vector has shape {vector.shape}, the papers' vectors have {dimension} numbers "
            f"(embedder {embedder!r}); choose that embedder again, or add the papers again"
        )


def _reached(seeds: Sequence[Hit], graph: WalkedGraph) -> list[Hit]:
    edges = neighbourhood([hit.id for hit in seeds], graph)
    shares = personalized_pagerank({hit.id: hit.score for hit in seeds}, edges)
    return [Hit(id=entity, score=share) for entity, share in shares.items()]


def _best(hits: Sequence[Hit], *, limit: int) -> tuple[Hit, ...]:
    return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit])
