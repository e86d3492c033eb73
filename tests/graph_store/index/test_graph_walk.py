"""The walk over the graph, held against relations that are merged one by one and NetworkX's personalised PageRank."""

from math import fsum

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_store.index.graph_walk import EdgeArrays, WalkedGraph, personalized_pagerank
from graph_store.reading import Edge

_IDS = st.sampled_from(["a", "b", "é", "d e", "x\ny", ""])
_EDGES = st.lists(st.builds(Edge, _IDS, _IDS, st.sampled_from([0.0, 0.1, 0.25, 0.7, 1.0, 3.0])), max_size=12)


NAMES = [f"n{number}" for number in range(8)]
edges = st.lists(
    st.builds(
        Edge, source=st.sampled_from(NAMES), target=st.sampled_from(NAMES), weight=st.sampled_from((0.0, 0.5, 3))
    ),
    max_size=20,
    unique_by=lambda edge: frozenset((edge.source, edge.target)),
)
seeds = st.dictionaries(st.sampled_from(NAMES), st.sampled_from((0.0, 0.5, 2.0)), min_size=1, max_size=3)


@given(st.lists(_EDGES, max_size=4), st.sets(_IDS), st.integers(0, 9))
def test_edges_are_merged_and_ordered_as_they_would_be_one_by_one(
    papers: list[list[Edge]], wanted: set[str], limit: int
) -> None:
    stored = {
        f"p{number}": EdgeArrays.from_bytes(EdgeArrays.of(edges).to_bytes()) for number, edges in enumerate(papers)
    }
    homes = {"p1": {"b": "a"}}
    weights: dict[tuple[str, str], list[float]] = {}
    for number, edges in enumerate(papers):
        for source, target, weight in edges:
            ends = [homes.get(f"p{number}", {}).get(end, end) for end in (source, target)]
            if ends[0] != ends[1] and wanted.intersection(ends):
                weights.setdefault((ends[0], ends[1]), []).append(weight)
    found = WalkedGraph(stored, homes).edges_of(wanted, limit)
    merged = (Edge(*ends, fsum(each)) for ends, each in weights.items())
    assert list(found) == sorted(merged, key=lambda one: (-one.weight, *one[:2]))[:limit]


@settings(deadline=None)  # the first use loads a library
@given(edges, seeds)
def test_it_is_personalised_pagerank(drawn: list[Edge], asked: dict[str, float]) -> None:
    import networkx as nx

    graph = nx.Graph()
    for edge in drawn:
        if edge.weight > 0 and edge.source != edge.target:
            graph.add_edge(edge.source, edge.target, weight=edge.weight)
    known = {seed: weight for seed, weight in asked.items() if seed in graph and weight > 0}
    found = personalized_pagerank(asked, EdgeArrays.of(drawn))
    if not known:
        assert found == {}
        return
    shares = nx.pagerank(graph, alpha=0.6, personalization=known, tol=1e-12, max_iter=1000)
    expected = {name: share for name, share in shares.items() if name not in asked and share > 1e-9}
    assert {name: share for name, share in found.items() if share > 1e-9} == pytest.approx(expected, abs=1e-6)


def test_several_edges_between_two_count_together() -> None:
    twice = [Edge(source="a", target="b", weight=1.0), Edge(source="b", target="a", weight=1.0)]
    once = [Edge(source="a", target="b", weight=2.0)]
    rest = [Edge(source="a", target="c", weight=1.0)]
    assert personalized_pagerank({"a": 1.0}, EdgeArrays.of(twice + rest)) == pytest.approx(
        personalized_pagerank({"a": 1.0}, EdgeArrays.of(once + rest))
    )
