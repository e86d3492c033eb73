"""Finds entities near others in the graph by personalised PageRank over their neighbourhood."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from graph_store.index.edges import EdgeArrays

__all__ = ["EdgesOf", "neighbourhood", "personalized_pagerank"]

EdgesOf: TypeAlias = Callable[[Sequence[str], int], EdgeArrays]
"""The edges of entities, heaviest first, at most so many. All of a graph have the same ids."""

_FIRST_EDGES = 500
_SECOND_EDGES = 1500
_DAMPING = 0.6
_CLOSE = 1e-9


def neighbourhood(seeds: Sequence[str], edges_of: EdgesOf) -> EdgeArrays:
    """Return the heaviest edges within two steps of the seeds, limited in number."""
    first = edges_of(seeds, _FIRST_EDGES)
    reached = (first.ids[number] for number in np.unique(first.ends).tolist())
    beyond = sorted(set(reached).difference(seeds))
    if not beyond:
        return first
    second = edges_of(beyond, _SECOND_EDGES)
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
