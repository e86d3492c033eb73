"""The walk's edges, read from arrays, are those that the library merges."""

from hypothesis import given
from hypothesis import strategies as st

from graph_store.index.paper_edges import PaperEdges, WalkedGraph
from graph_store.reading import Edge

_IDS = st.sampled_from(["a", "b", "é", "d e", "x\ny", ""])
_EDGES = st.lists(st.builds(Edge, _IDS, _IDS, st.sampled_from([0.0, 0.25, 0.5, 1.0, 3.0])), max_size=12)


@given(st.lists(_EDGES, max_size=4), st.sets(_IDS), st.integers(0, 9))
def test_edges_are_merged_and_ordered_as_they_would_be_one_by_one(
    papers: list[list[Edge]], wanted: set[str], limit: int
) -> None:
    stored = {
        f"p{number}": PaperEdges.from_bytes(PaperEdges.of(edges).to_bytes()) for number, edges in enumerate(papers)
    }
    homes = {"p1": {"b": "a"}}
    sums: dict[tuple[str, str], float] = {}
    for number, edges in enumerate(papers):
        for source, target, weight in edges:
            ends = [homes.get(f"p{number}", {}).get(end, end) for end in (source, target)]
            if ends[0] != ends[1] and wanted.intersection(ends):
                sums[ends[0], ends[1]] = sums.get((ends[0], ends[1]), 0.0) + weight
    found = WalkedGraph(stored, homes).edges_of(wanted, limit)
    expected = sorted((Edge(*ends, weight) for ends, weight in sums.items()), key=lambda one: (-one.weight, *one[:2]))
    assert found == expected[:limit]
