"""The library's graph as its papers' contributions make it: merged entities, merged relations, edges.

All ids that come out are those of the library; those that go in may also be a paper's own (see `graph_store.meanings`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    FromClause,
    Select,
    Subquery,
    and_,
    bindparam,
    func,
    or_,
    select,
)

from graph_store.meanings import are_own, joined, nodes_of, own_ids
from graph_store.merge import merge_entities, merge_relations
from graph_store.schema import entities, relations
from graph_store.values import Edge
from paperscope.codec import from_json
from paperscope.types import Entity, Relation

__all__ = ["read_degree", "read_edges", "read_entities", "read_relations"]


def read_entities(connection: Connection, ids: Sequence[str]) -> dict[str, Entity]:
    """The merged entities under these ids, in this order; unknown and ambiguous ids are left out."""
    wanted = {key: nodes[0] for key, nodes in nodes_of(connection, ids).items() if len(nodes) == 1}
    table, (node,) = joined(connection, entities, entities.c.id)
    rows = connection.execute(
        select(entities.c.value, node.label("node"))
        .select_from(table)
        .where(entities.c.id.in_(own_ids(connection, wanted.values())), node.in_(set(wanted.values())))
    )
    merged = merge_entities(replace(from_json(Entity, row.value), id=row.node) for row in rows)
    return {key: merged[wanted[key]] for key in ids if key in wanted and wanted[key] in merged}


def read_relations(connection: Connection, ids: Sequence[str], *, limit: int) -> list[Relation]:
    """The merged relations that touch any of these entities: those between two of them first, then by weight."""
    known = _all_nodes(connection, ids)
    ends, values = _ends(connection, known)
    weight = func.sum(ends.c.weight)
    inner = and_(ends.c.source.in_(known), ends.c.target.in_(known))
    key = (ends.c.source, ends.c.target, ends.c.kind)
    best = connection.execute(
        select(*key).group_by(*key).order_by(inner.desc(), weight.desc(), *key).limit(max(limit, 0)), values
    ).all()
    ordered = [(row.source, row.target, row.kind) for row in best]
    merged = merge_relations(_relations_between(connection, {one[0] for one in ordered}, {one[1] for one in ordered}))
    return [merged[one] for one in ordered]


def read_degree(connection: Connection, entity: str) -> int:
    """In how many merged relations an entity stands. Raises KeyError if it is unknown or ambiguous."""
    nodes = nodes_of(connection, [entity])[entity]
    if len(nodes) != 1:
        raise KeyError(entity)
    ends, values = _ends(connection, nodes)
    degree = connection.execute(_counted(ends), values).scalar_one()
    if degree == 0 and not read_entities(connection, [entity]):
        raise KeyError(entity)
    return degree


def read_edges(connection: Connection, ids: Sequence[str], *, papers: Sequence[str], limit: int) -> list[Edge]:
    """The heaviest edges that touch any of these entities, drawn from these papers (none given: from all)."""
    ends, values = _ends(connection, _all_nodes(connection, ids), papers=papers)
    rows = connection.execute(_summed(ends).limit(limit), values)
    return [Edge(source=row.source, target=row.target, weight=row.weight) for row in rows]


def _all_nodes(connection: Connection, ids: Sequence[str]) -> list[str]:
    return sorted({node for nodes in nodes_of(connection, ids).values() for node in nodes})


def _ends(
    connection: Connection, nodes: Sequence[str], *, papers: Sequence[str] = ()
) -> tuple[Subquery, Mapping[str, Sequence[str]]]:
    """Source, target, kind and weight of the papers' relations that touch any of `nodes`, ids of the library, and the
    values that this takes. What has become one entity stands in no relation with itself."""
    own = own_ids(connection, nodes)
    moved = not are_own(connection, own, set(nodes))
    values = {"own": sorted(own), "nodes": nodes, "papers": papers}
    needed = {"own": True, "nodes": moved, "papers": bool(papers)}
    source, target = relations.c.source, relations.c.target
    table = joined(connection, relations, source, target)
    return _touching(table, moved=moved, within=bool(papers)), {name: values[name] for name in values if needed[name]}


# Statements are made once: to put one together takes longer than to run it.
@cache
def _touching(joined_table: tuple[FromClause, Sequence[ColumnElement[str]]], *, moved: bool, within: bool) -> Subquery:
    table, (source, target) = joined_table
    own: BindParameter[str] = bindparam("own", expanding=True)
    nodes: BindParameter[str] = bindparam("nodes", expanding=True)
    papers: BindParameter[str] = bindparam("papers", expanding=True)
    # Found by the papers' own ids, as only these have an index.
    conditions = [or_(relations.c.source.in_(own), relations.c.target.in_(own)), source != target]
    if moved:
        conditions.append(or_(source.in_(nodes), target.in_(nodes)))
    if within:
        conditions.append(relations.c.paper.in_(papers))
    columns = (source.label("source"), target.label("target"), relations.c.kind, relations.c.weight)
    return select(*columns).select_from(table).where(*conditions).subquery()


@cache
def _counted(ends: Subquery) -> Select[int]:
    key = select(ends.c.source, ends.c.target, ends.c.kind).distinct()
    return select(func.count()).select_from(key.subquery())


@cache
def _summed(ends: Subquery) -> Select[str, str, float]:
    key = (ends.c.source, ends.c.target)
    weight = func.sum(ends.c.weight)
    return select(*key, weight.label("weight")).group_by(*key).order_by(weight.desc(), *key)


def _relations_between(connection: Connection, sources: Iterable[str], targets: Iterable[str]) -> Iterable[Relation]:
    """The papers' relations from any of these entities to any of those."""
    table, (source, target) = joined(connection, relations, relations.c.source, relations.c.target)
    # The ends find the rows by an index, as the whole key in one list would not.
    rows = connection.execute(
        select(relations.c.value, source.label("source"), target.label("target"))
        .select_from(table)
        .where(
            relations.c.source.in_(own_ids(connection, sources)), relations.c.target.in_(own_ids(connection, targets))
        )
    )
    return [replace(from_json(Relation, row.value), source=row.source, target=row.target) for row in rows]
