"""What lies near some entities in the graph: personalised PageRank over their neighbourhood."""

from collections.abc import Callable, Mapping, Sequence

import networkx as nx

from graph_store.values import Edge

__all__ = ["near", "neighbourhood"]

_FIRST_EDGES = 500
_SECOND_EDGES = 1500
_DAMPING = 0.6


def neighbourhood(seeds: Sequence[str], edges_of: Callable[[Sequence[str], int], Sequence[Edge]]) -> list[Edge]:
    """The heaviest edges within two steps of the seeds; bounded, however large the library is.

    `edges_of(entities, limit)` fetches the edges that touch any of the entities, heaviest first.
    """
    first = edges_of(seeds, _FIRST_EDGES)
    beyond = sorted({end for edge in first for end in (edge.source, edge.target)}.difference(seeds))
    second = edges_of(beyond, _SECOND_EDGES) if beyond else ()
    return list(dict.fromkeys((*first, *second)))


def near(seeds: Mapping[str, float], edges: Sequence[Edge]) -> dict[str, float]:
    """The other entities that a random walk from the seeds (entity to weight) visits, with its share of time there.

    Personalised PageRank (Page et al. 1999; Haveliwala 2002) over the undirected graph of `edges`, with a damping of
    0.6: an answer is rarely more than two steps from what the question names.
    """
    graph = nx.Graph()
    for edge in edges:
        if edge.weight > 0 and edge.source != edge.target:
            before = graph.get_edge_data(edge.source, edge.target, default={"weight": 0.0})["weight"]
            graph.add_edge(edge.source, edge.target, weight=before + edge.weight)
    known = {seed: weight for seed, weight in seeds.items() if seed in graph and weight > 0}
    if not known:
        return {}
    shares = nx.pagerank(graph, alpha=_DAMPING, personalization=known, tol=1e-8, max_iter=200)
    return {entity: share for entity, share in shares.items() if share > 0 and entity not in seeds}
