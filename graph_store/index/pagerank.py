"""Finds entities near others in the graph by personalised PageRank over their neighbourhood."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from graph_store.reading import Edge

__all__ = ["neighbourhood", "personalized_pagerank"]


_FIRST_EDGES = 500
_SECOND_EDGES = 1500
_DAMPING = 0.6
_CLOSE = 1e-9


def neighbourhood(seeds: Sequence[str], edges_of: Callable[[Sequence[str], int], Sequence[Edge]]) -> list[Edge]:
    """The heaviest edges within two steps of the seeds, limited in number.

    `edges_of(entities, limit)` reads the edges of the entities, heaviest first.
    """
    first = edges_of(seeds, _FIRST_EDGES)
    beyond = sorted({end for edge in first for end in (edge.source, edge.target)}.difference(seeds))
    second = edges_of(beyond, _SECOND_EDGES) if beyond else ()
    return list(dict.fromkeys((*first, *second)))


def personalized_pagerank(seeds: Mapping[str, float], edges: Sequence[Edge]) -> dict[str, float]:
    """The other entities that a random walk from the seeds (entity to weight) visits, each with its share of the time.

    Personalised PageRank (Page et al. 1999; Haveliwala 2002) by power iteration over the undirected graph of `edges`,
    with a damping of 0.6: an answer is rarely more than two steps from an entity that the question names.
    """
    used = [edge for edge in edges if edge.weight > 0 and edge.source != edge.target]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(end for edge in used for end in _ends(edge)))}
    start = np.zeros(len(numbers))
    for seed, weight in seeds.items():
        if seed in numbers and weight > 0:
            start[numbers[seed]] = weight
    if not start.any():
        return {}
    start /= start.sum()
    one, other = np.array([[numbers[end] for end in _ends(edge)] for edge in used]).T
    origins, ends = np.concatenate((one, other)), np.concatenate((other, one))
    weights = np.tile([edge.weight for edge in used], 2)
    steps = weights / np.bincount(origins, weights)[origins]
    shares, before = start, np.zeros_like(start)
    while np.abs(shares - before).sum() > _CLOSE:
        before = shares
        shares = _DAMPING * np.bincount(ends, before[origins] * steps) + (1 - _DAMPING) * start
    found = zip(numbers, shares.tolist(), strict=True)
    return {entity: share for entity, share in found if share > 0 and entity not in seeds}


def _ends(edge: Edge) -> tuple[str, str]:
    return edge.source, edge.target
