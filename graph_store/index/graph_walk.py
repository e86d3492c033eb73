"""Finds entities near others by personalised PageRank over the relations of some papers, which are kept in arrays."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from math import fsum
from typing import Self

import numpy as np
from numpy import float64, int64
from numpy.typing import NDArray

from graph_store.reading import Edge

__all__ = ["EdgeArrays", "WalkedGraph", "neighbourhood", "personalized_pagerank"]

# Sums of multiples of its reciprocal are exact in any order, as most weights are.
_EXACT = 1024
_FIRST_EDGES = 500
_SECOND_EDGES = 1500
_DAMPING = 0.6
_CLOSE = 1e-9


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class EdgeArrays:
    """Edges of a graph: ids of its entities, the positions of both ends of each edge in them (shape (2, n)), and the
    weights."""

    ids: Sequence[str]
    ends: NDArray[int64]
    weights: NDArray[float64]

    @classmethod
    def of(cls, edges: Iterable[Edge]) -> Self:
        """Return these edges."""
        known: dict[str, int] = {}
        ends = [[known.setdefault(end, len(known)) for end in (edge.source, edge.target)] for edge in edges]
        weights = np.array([edge.weight for edge in edges], dtype=float64)
        return cls(ids=tuple(known), ends=np.array(ends, dtype=int64).reshape(-1, 2).T, weights=weights)

    def __iter__(self) -> Iterator[Edge]:
        for source, target, weight in zip(*self.ends.tolist(), self.weights.tolist(), strict=True):
            yield Edge(self.ids[source], self.ids[target], weight)

    def to_bytes(self) -> bytes:
        """Return the stored form, which `from_bytes` reads."""
        ends = np.ascontiguousarray(self.ends, dtype="<i4")
        return json.dumps(self.ids).encode() + b"\n" + ends.tobytes() + self.weights.astype("<f8").tobytes()

    @classmethod
    def from_bytes(cls, stored: bytes) -> Self:
        """Read the stored form."""
        head, _, body = stored.partition(b"\n")
        count = len(body) // 16
        ends = np.frombuffer(body, dtype="<i4", count=2 * count).reshape(2, count)
        weights = np.frombuffer(body, dtype="<f8", offset=8 * count)
        return cls(ids=json.loads(head), ends=ends.astype(int64), weights=weights.astype(float64))


class WalkedGraph:
    """The relations of some papers, which are merged when they are read.

    Args:
        papers: The relations of each paper.
        homes: By paper, the ids of entities that have another id in the library, and that id.
    """

    def __init__(self, papers: Mapping[str, EdgeArrays], homes: Mapping[str, Mapping[str, str]]) -> None:
        found = list(papers.values())
        ids = list(chain.from_iterable(_in_library(one.ids, homes.get(paper, {})) for paper, one in papers.items()))
        # Numbers are in the order of the ids, so that they decide ties as the ids do.
        self._ids = sorted(set(ids))
        self._numbers = {key: number for number, key in enumerate(self._ids)}
        numbers = np.array([self._numbers[key] for key in ids], dtype=int64)
        starts = accumulate((len(one.ids) for one in found), initial=0)
        places = [one.ends + start for one, start in zip(found, starts, strict=False)]
        ends = numbers[np.concatenate([np.empty((2, 0), dtype=int64), *places], axis=1)]
        weights = np.concatenate([np.empty(0), *(one.weights for one in found)])
        apart = ends[0] != ends[1]
        self._ends, self._weights = ends[:, apart], weights[apart]

    def edges_of(self, entities: Iterable[str], limit: int) -> EdgeArrays:
        """Return the heaviest edges of these entities, heaviest first; those from an entity to itself are left out."""
        wanted = np.zeros(len(self._ids), dtype=bool)
        wanted[[self._numbers[key] for key in entities if key in self._numbers]] = True
        touching = np.flatnonzero(wanted[self._ends].any(axis=0))
        ends, weights = _merged(self._ends[:, touching], self._weights[touching])
        best = np.lexsort((ends[1], ends[0], -weights))[: max(limit, 0)]
        return EdgeArrays(ids=self._ids, ends=ends[:, best], weights=weights[best])


def _in_library(ids: Sequence[str], homes: Mapping[str, str]) -> Sequence[str]:
    return [homes.get(key, key) for key in ids] if homes else ids


def _merged(ends: NDArray[int64], weights: NDArray[float64]) -> tuple[NDArray[int64], NDArray[float64]]:
    """Return the distinct pairs of a source and a target, and the sums of their weights."""
    order = np.lexsort((ends[1], ends[0]))
    ends, weights = ends[:, order], weights[order]
    first = np.ones(len(weights), dtype=bool)
    first[1:] = (ends[:, 1:] != ends[:, :-1]).any(axis=0)
    starts = np.flatnonzero(first)
    sums = np.add.reduceat(weights, starts) if len(starts) else weights
    if ((weights * _EXACT) % 1).any():
        counts = np.diff(starts, append=len(weights))
        for place in np.flatnonzero(counts > 1).tolist():
            # The same sum in any order.
            sums[place] = fsum(weights[starts[place] : starts[place] + counts[place]].tolist())
    return ends[:, starts], sums


def neighbourhood(seeds: Sequence[str], graph: WalkedGraph) -> EdgeArrays:
    """Return the heaviest edges within two steps of the seeds, limited in number."""
    first = graph.edges_of(seeds, _FIRST_EDGES)
    reached = (first.ids[number] for number in set(first.ends.ravel().tolist()))
    beyond = sorted(set(reached).difference(seeds))
    if not beyond:
        return first
    second = graph.edges_of(beyond, _SECOND_EDGES)
    ends = np.concatenate((first.ends, second.ends), axis=1)
    _, places = np.unique(ends[0] * len(second.ids) + ends[1], return_index=True)
    places.sort()
    weights = np.concatenate((first.weights, second.weights))
    return EdgeArrays(ids=second.ids, ends=ends[:, places], weights=weights[places])


def personalized_pagerank(seeds: Mapping[str, float], edges: EdgeArrays) -> dict[str, float]:
    """Return the other entities that a random walk from the seeds (entity to weight) visits, each with its share of the
    time.

    Personalised PageRank (Page et al. 1999; Haveliwala 2002) by power iteration over the undirected graph of `edges`,
    with a damping of 0.6: an answer is rarely more than two steps from an entity that the question names.
    """
    used = (edges.weights > 0) & (edges.ends[0] != edges.ends[1])
    # Numbered as they occur, so that sums do not depend on the other entities of the graph.
    numbers, first, places = np.unique(edges.ends[:, used].T, return_index=True, return_inverse=True)
    order = np.argsort(first)
    ids = [edges.ids[number] for number in numbers[order].tolist()]
    one, other = np.argsort(order)[places].reshape(-1, 2).T
    start = np.array([max(seeds.get(key, 0.0), 0.0) for key in ids])
    if not start.any():
        return {}
    start /= start.sum()
    origins, ends = np.concatenate((one, other)), np.concatenate((other, one))
    weights = np.tile(edges.weights[used], 2)
    steps = weights / np.bincount(origins, weights)[origins]
    shares, before = start, np.zeros_like(start)
    while np.abs(shares - before).sum() > _CLOSE:
        before = shares
        shares = _DAMPING * np.bincount(ends, before[origins] * steps) + (1 - _DAMPING) * start
    return {key: share for key, share in zip(ids, shares.tolist(), strict=True) if share > 0 and key not in seeds}
