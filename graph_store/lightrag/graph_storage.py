"""LightRAG's graph storage: entities as nodes, the relations of two entities as one undirected edge."""

from collections.abc import Iterable, Sequence
from typing import Any

from graph_store.lightrag.reader import ReadingStorage, refuse_to_write
from graph_store.lightrag.view import Edge, Row, View, pair

__all__ = ["GraphStorage"]

_EVERYTHING = "*"
_MAX_NODES = 1000


class GraphStorage(ReadingStorage):
    """Implements LightRAG's `BaseGraphStorage`, whose constructor sets the fields; a subclass sets the others.

    Attributes:
        types: LightRAG's module of the values that `get_knowledge_graph` returns.
    """

    global_config: dict[str, Any]
    types: Any

    async def has_node(self, node_id: str) -> bool:
        """Whether there is such a node."""
        return node_id in (await self.reader.view()).nodes

    async def has_nodes_batch(self, node_ids: Iterable[str]) -> set[str]:
        """Those of the nodes that there are."""
        nodes = (await self.reader.view()).nodes
        return {node for node in node_ids if node in nodes}

    async def has_edge(self, source_node_id: str, target_node_id: str) -> bool:
        """Whether an edge connects two nodes."""
        return pair(source_node_id, target_node_id) in (await self.reader.view()).edges

    async def node_degree(self, node_id: str) -> int:
        """The number of a node's edges."""
        return (await self.reader.view()).degree(node_id)

    async def node_degrees_batch(self, node_ids: Iterable[str]) -> dict[str, int]:
        """The number of edges of each node."""
        view = await self.reader.view()
        return {node: view.degree(node) for node in node_ids}

    async def edge_degree(self, src_id: str, tgt_id: str) -> int:
        """The sum of the degrees of two nodes."""
        return (await self.edge_degrees_batch([(src_id, tgt_id)]))[src_id, tgt_id]

    async def edge_degrees_batch(self, edge_pairs: Iterable[Edge]) -> dict[Edge, int]:
        """The sum of the degrees of the nodes of each pair."""
        view = await self.reader.view()
        return {edge: view.degree(edge[0]) + view.degree(edge[1]) for edge in edge_pairs}

    async def get_node(self, node_id: str) -> Row | None:
        """A node's properties, or None."""
        return (await self.get_nodes_batch([node_id])).get(node_id)

    async def get_nodes_batch(self, node_ids: Iterable[str]) -> dict[str, Row]:
        """The properties of the nodes, without unknown ones."""
        view = await self.reader.view()
        return {node: view.node(node) for node in node_ids if node in view.nodes}

    async def get_edge(self, source_node_id: str, target_node_id: str) -> Row | None:
        """An edge's properties, or None."""
        edges = await self.get_edges_batch([{"src": source_node_id, "tgt": target_node_id}])
        return edges.get((source_node_id, target_node_id))

    async def get_edges_batch(self, pairs: Iterable[dict[str, str]]) -> dict[Edge, Row]:
        """The properties of the edges between pairs of nodes, by the pairs as given; without unknown ones."""
        view = await self.reader.view()
        asked = [(one["src"], one["tgt"]) for one in pairs]
        return {ends: view.edge(pair(*ends)) for ends in asked if pair(*ends) in view.edges}

    async def get_node_edges(self, source_node_id: str) -> list[Edge] | None:
        """A node's edges, each from the node; None if there is no such node."""
        if not await self.has_node(source_node_id):
            return None
        return (await self.get_nodes_edges_batch([source_node_id]))[source_node_id]

    async def get_nodes_edges_batch(self, node_ids: Iterable[str]) -> dict[str, list[Edge]]:
        """The edges of each node."""
        view = await self.reader.view()
        return {node: [(node, other) for other in view.neighbours.get(node, ())] for node in node_ids}

    async def get_all_labels(self) -> list[str]:
        """All nodes, sorted."""
        return sorted((await self.reader.view()).nodes)

    async def get_popular_labels(self, limit: int = 300) -> list[str]:
        """The nodes with the most edges first, then by name."""
        return list((await self.reader.view()).popular[: max(limit, 0)])

    async def search_labels(self, query: str, limit: int = 50) -> list[str]:
        """The nodes whose name contains a text in any case: equal to it, then beginning with it, then the shortest."""
        wanted = query.casefold().strip()
        nodes = (await self.reader.view()).nodes if wanted else {}
        found = [(folded, name) for name in nodes if wanted in (folded := name.casefold())]
        found.sort(key=lambda one: (one[0] != wanted, not one[0].startswith(wanted), len(one[0]), one[1]))
        return [name for _, name in found[: max(limit, 0)]]

    async def get_all_nodes(self) -> list[Row]:
        """All nodes with their properties."""
        view = await self.reader.view()
        return [{**view.node(node), "id": node} for node in view.nodes]

    async def get_all_edges(self) -> list[Row]:
        """All edges with their properties, each once."""
        view = await self.reader.view()
        return [{**view.edge(edge), "source": edge[0], "target": edge[1]} for edge in view.edges]

    async def get_knowledge_graph(self, node_label: str, max_depth: int = 3, max_nodes: int | None = None) -> Any:  # noqa: ANN401
        """The nodes around a node, nearest first, then those with the most edges, with the edges between them.

        Args:
            node_label: The node; `*` for all nodes, those with the most edges first.
            max_depth: The maximum number of steps from the node.
            max_nodes: The maximum number of nodes, at most the `max_graph_nodes` of the configuration.
        """
        view = await self.reader.view()
        most = int(self.global_config.get("max_graph_nodes", _MAX_NODES))
        most = most if max_nodes is None else max(min(max_nodes, most), 0)
        found = view.popular if node_label == _EVERYTHING else _around(view, node_label, depth=max_depth, most=most)
        chosen = dict.fromkeys(found[:most])
        edges = [edge for edge in view.edges if edge[0] in chosen and edge[1] in chosen]
        return self.types.KnowledgeGraph(
            nodes=[self.types.KnowledgeGraphNode(id=one, labels=[one], properties=view.node(one)) for one in chosen],
            edges=[
                self.types.KnowledgeGraphEdge(
                    id=f"{edge[0]}-{edge[1]}",
                    type="DIRECTED",
                    source=edge[0],
                    target=edge[1],
                    properties=view.edge(edge),
                )
                for edge in edges
            ],
            is_truncated=len(found) > most,
        )

    async def upsert_node(self, node_id: str, node_data: Row) -> None:  # noqa: ARG002 # the protocol's
        """Raises StoreReadOnlyError."""
        refuse_to_write(f"the entities (such as {node_id!r})")

    async def upsert_edge(self, source_node_id: str, target_node_id: str, edge_data: Row) -> None:  # noqa: ARG002
        """Raises StoreReadOnlyError."""
        refuse_to_write(f"the relations (such as that of {source_node_id!r} and {target_node_id!r})")

    async def delete_node(self, node_id: str) -> None:
        """Raises StoreReadOnlyError."""
        refuse_to_write(f"the entities (such as {node_id!r})")

    async def remove_nodes(self, nodes: Sequence[str]) -> None:
        """Raises StoreReadOnlyError."""
        if nodes:
            refuse_to_write("the entities")

    async def remove_edges(self, edges: Sequence[Edge]) -> None:
        """Raises StoreReadOnlyError."""
        if edges:
            refuse_to_write("the relations")


def _around(view: View, start: str, *, depth: int, most: int) -> list[str]:
    """The nodes within `depth` steps, nearest first; at least one more than `most`, if there are so many."""
    if start not in view.nodes:
        return []
    found, level = dict.fromkeys([start]), [start]
    for _ in range(depth):
        reached = {other for node in level for other in view.neighbours.get(node, ())} - found.keys()
        level = sorted(reached, key=lambda name: (-view.degree(name), name))
        found.update(dict.fromkeys(level))
        if not level or len(found) > most:
            break
    return list(found)
