"""The walk's edges, read from arrays, are those that the library merges."""

from math import fsum

from hypothesis import given
from hypothesis import strategies as st

from graph_store.index.edges import EdgeArrays, WalkedGraph
from graph_store.reading import Edge

_IDS = st.sampled_from(["a", "b", "é", "d e", "x\ny", ""])
_EDGES = st.lists(st.builds(Edge, _IDS, _IDS, st.sampled_from([0.0, 0.1, 0.25, 0.7, 1.0, 3.0])), max_size=12)


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
