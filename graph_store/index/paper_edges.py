"""The relations of papers as the walk over the graph needs them: read as arrays, without decoding relations."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import fsum
from typing import Self

import numpy as np
from numpy import float64, int64
from numpy.typing import NDArray

from graph_store.reading import Edge

__all__ = ["PaperEdges", "WalkedGraph"]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PaperEdges:
    """The relations of a paper: the ids that it uses for its entities, the positions of both ends of each relation in
    them (shape (2, n)), and the relations' weights."""

    ids: Sequence[str]
    ends: NDArray[int64]
    weights: NDArray[float64]

    @classmethod
    def of(cls, edges: Sequence[Edge]) -> Self:
        """The relations of a paper."""
        position = {key: place for place, key in enumerate(dict.fromkeys(chain.from_iterable(map(_ends, edges))))}
        ends = [[position[end] for end in _ends(edge)] for edge in edges]
        weights = np.array([edge.weight for edge in edges], dtype=float64)
        return cls(ids=tuple(position), ends=np.array(ends, dtype=int64).reshape(-1, 2).T, weights=weights)

    def to_bytes(self) -> bytes:
        """The stored form, which `from_bytes` reads."""
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
    """The merged relations of some papers.

    Args:
        papers: The relations of each paper.
        homes: By paper, the ids of entities that have another id in the library, and that id.
    """

    def __init__(self, papers: Mapping[str, PaperEdges], homes: Mapping[str, Mapping[str, str]]) -> None:
        found = [(edges, _in_library(edges.ids, homes.get(paper, {}))) for paper, edges in papers.items()]
        # Numbers are in the order of the ids, so that they decide ties as the ids do.
        self._ids = sorted(set(chain.from_iterable(ids for _, ids in found)))
        self._numbers = {key: number for number, key in enumerate(self._ids)}
        ends = [np.array([self._numbers[key] for key in ids], dtype=int64)[edges.ends] for edges, ids in found if ids]
        self._sources, self._targets, self._weights = _merged(
            np.concatenate([np.empty((2, 0), dtype=int64), *ends], axis=1),
            np.concatenate([np.empty(0), *(edges.weights for edges, ids in found if ids)]),
        )

    def edges_of(self, entities: Iterable[str], limit: int) -> list[Edge]:
        """The heaviest edges of these entities, heaviest first; those from an entity to itself are left out."""
        wanted = np.zeros(len(self._ids), dtype=bool)
        wanted[[self._numbers[key] for key in entities if key in self._numbers]] = True
        touching = np.flatnonzero(wanted[self._sources] | wanted[self._targets])
        sources, targets, weights = self._sources[touching], self._targets[touching], self._weights[touching]
        best = np.lexsort((targets, sources, -weights))[: max(limit, 0)]
        rows = zip(sources[best].tolist(), targets[best].tolist(), weights[best].tolist(), strict=True)
        return [
            Edge(source=self._ids[source], target=self._ids[target], weight=weight) for source, target, weight in rows
        ]


def _ends(edge: Edge) -> tuple[str, str]:
    return edge.source, edge.target


def _in_library(ids: Sequence[str], homes: Mapping[str, str]) -> Sequence[str]:
    return [homes.get(key, key) for key in ids] if homes else ids


def _merged(ends: NDArray[int64], weights: NDArray[float64]) -> tuple[NDArray[int64], NDArray[int64], NDArray[float64]]:
    """The distinct pairs of a source and another target, and the sums of their weights."""
    apart = ends[0] != ends[1]
    ends, weights = ends[:, apart], weights[apart]
    order = np.lexsort((ends[1], ends[0]))
    ends, weights = ends[:, order], weights[order]
    first = np.ones(len(weights), dtype=bool)
    first[1:] = (ends[:, 1:] != ends[:, :-1]).any(axis=0)
    starts = np.flatnonzero(first)
    counts = np.diff(starts, append=len(weights))
    sums = weights[starts]
    for place in np.flatnonzero(counts > 1).tolist():
        # The same sum in any order.
        sums[place] = fsum(weights[starts[place] : starts[place] + counts[place]].tolist())
    return ends[0, starts], ends[1, starts], sums
