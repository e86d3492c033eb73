"""The library's graph as its papers' contributions make it: merged entities, merged relations, edges.

All ids that come out are those of the library; those that go in may also be a paper's own (see `graph_store.meanings`).
`papers` restricts what is read to what these papers contribute (none given: all); it then costs what they hold, however
large the library is.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlalchemy import ColumnElement, Connection, Select, and_, func, or_, select, true, union_all

from graph_store.meanings import joined, nodes_of, own_ids
from graph_store.merge import merge_entities, merge_relations
from graph_store.schema import entities, relations
from graph_store.values import Edge
from paperscope.codec import from_json
from paperscope.types import Entity, Relation

__all__ = ["read_degrees", "read_edges", "read_entities", "read_relations"]


def read_entities(connection: Connection, ids: Sequence[str], *, papers: Sequence[str] = ()) -> dict[str, Entity]:
    """The merged entities under these ids, in this order; unknown and ambiguous ids are left out."""
    wanted = {key: nodes[0] for key, nodes in nodes_of(connection, ids).items() if len(nodes) == 1}
    table, (node,) = joined(connection, entities, entities.c.id)
    rows = connection.execute(
        select(entities.c.value, node.label("node"))
        .select_from(table)
        .where(
            entities.c.id.in_(own_ids(connection, wanted.values())),
            node.in_(set(wanted.values())),
            _of(entities.c.paper, papers),
        )
    )
    merged = merge_entities(replace(from_json(Entity, row.value), id=row.node) for row in rows)
    return {key: merged[wanted[key]] for key in ids if key in wanted and wanted[key] in merged}


def read_relations(
    connection: Connection, ids: Sequence[str], *, papers: Sequence[str] = (), limit: int
) -> list[Relation]:
    """The merged relations that touch any of these entities: those between two of them first, then by weight."""
    known = _all_nodes(connection, ids)
    ends = _ends(connection, known, relations.c.kind, papers=papers).subquery()
    weight = func.sum(ends.c.weight)
    inner = and_(ends.c.source.in_(known), ends.c.target.in_(known))
    key = (ends.c.source, ends.c.target, ends.c.kind)
    best = connection.execute(
        select(*key).group_by(*key).order_by(inner.desc(), weight.desc(), *key).limit(max(limit, 0))
    ).all()
    ordered = [(row.source, row.target, row.kind) for row in best]
    sources, targets = {one[0] for one in ordered}, {one[1] for one in ordered}
    merged = merge_relations(_relations_between(connection, sources, targets, papers=papers))
    return [merged[one] for one in ordered]


def read_degrees(connection: Connection, ids: Sequence[str], *, papers: Sequence[str] = ()) -> dict[str, int]:
    """In how many merged relations each of these entities stands; ambiguous ids, and those in none, are left out."""
    wanted = {key: nodes[0] for key, nodes in nodes_of(connection, ids).items() if len(nodes) == 1}
    ends = _ends(connection, sorted(set(wanted.values())), relations.c.kind, papers=papers).subquery()
    key = select(ends.c.source, ends.c.target, ends.c.kind).distinct().subquery()
    both = union_all(select(key.c.source.label("end")), select(key.c.target)).subquery()
    rows = connection.execute(select(both.c.end, func.count().label("degree")).group_by(both.c.end))
    degrees = {row.end: int(row.degree) for row in rows}
    return {key: degrees[node] for key, node in wanted.items() if node in degrees}


def read_edges(connection: Connection, ids: Sequence[str], *, papers: Sequence[str], limit: int) -> list[Edge]:
    """The heaviest edges that touch any of these entities, drawn from these papers (none given: from all)."""
    ends = _ends(connection, _all_nodes(connection, ids), papers=papers).subquery()
    weight = func.sum(ends.c.weight)
    key = (ends.c.source, ends.c.target)
    rows = connection.execute(
        select(*key, weight.label("weight")).group_by(*key).order_by(weight.desc(), *key).limit(limit)
    )
    return [Edge(source=row.source, target=row.target, weight=row.weight) for row in rows]


def _all_nodes(connection: Connection, ids: Sequence[str]) -> list[str]:
    return sorted({node for nodes in nodes_of(connection, ids).values() for node in nodes})


def _of(paper: ColumnElement[str], papers: Sequence[str]) -> ColumnElement[bool]:
    return paper.in_(papers) if papers else true()


def _ends(
    connection: Connection, nodes: Sequence[str], *columns: ColumnElement[str], papers: Sequence[str]
) -> Select[*tuple[str, ...]]:
    """Source, target, weight and these columns of the papers' relations that touch any of `nodes`, ids of the library.

    What has become one entity stands in no relation with itself.
    """
    table, (source, target) = joined(connection, relations, relations.c.source, relations.c.target)
    found: ColumnElement[bool] = relations.c.paper.in_(papers)
    if not papers:
        # Found by the papers' own ids, as only these have an index.
        own = sorted(own_ids(connection, nodes))
        found = or_(relations.c.source.in_(own), relations.c.target.in_(own))
    return (
        select(source.label("source"), target.label("target"), relations.c.weight, *columns)
        .select_from(table)
        .where(found, or_(source.in_(nodes), target.in_(nodes)), source != target)
    )


def _relations_between(
    connection: Connection, sources: Iterable[str], targets: Iterable[str], *, papers: Sequence[str]
) -> Iterable[Relation]:
    """The papers' relations from any of these entities to any of those."""
    table, (source, target) = joined(connection, relations, relations.c.source, relations.c.target)
    # The ends find the rows by an index, as the whole key in one list would not.
    rows = connection.execute(
        select(relations.c.value, source.label("source"), target.label("target"))
        .select_from(table)
        .where(
            relations.c.source.in_(own_ids(connection, sources)),
            relations.c.target.in_(own_ids(connection, targets)),
            _of(relations.c.paper, papers),
        )
    )
    return [replace(from_json(Relation, row.value), source=row.source, target=row.target) for row in rows]
