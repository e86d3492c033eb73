"""The library's graph as its papers' contributions make it: merged entities, merged relations, edges.

All ids that come out are those of the library; those that go in may also be a paper's own (see `graph_store.meanings`).
`papers` restricts what is read to what these papers contribute (none given: all); it then costs what they hold, however
large the library is.
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
    true,
    union_all,
)

from graph_store.meanings import are_own, joined, nodes_of, own_ids
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
    ends, values = _ends(connection, known, papers=papers)
    weight = func.sum(ends.c.weight)
    inner = and_(ends.c.source.in_(known), ends.c.target.in_(known))
    key = (ends.c.source, ends.c.target, ends.c.kind)
    best = connection.execute(
        select(*key).group_by(*key).order_by(inner.desc(), weight.desc(), *key).limit(max(limit, 0)), values
    ).all()
    ordered = [(row.source, row.target, row.kind) for row in best]
    sources, targets = {one[0] for one in ordered}, {one[1] for one in ordered}
    merged = merge_relations(_relations_between(connection, sources, targets, papers=papers))
    return [merged[one] for one in ordered]


def read_degrees(connection: Connection, ids: Sequence[str], *, papers: Sequence[str] = ()) -> dict[str, int]:
    """In how many merged relations each of these entities stands; ambiguous ids, and those in none, are left out."""
    wanted = {key: nodes[0] for key, nodes in nodes_of(connection, ids).items() if len(nodes) == 1}
    ends, values = _ends(connection, sorted(set(wanted.values())), papers=papers)
    degrees = {row.end: int(row.degree) for row in connection.execute(_counted(ends), values)}
    return {key: degrees[node] for key, node in wanted.items() if node in degrees}


def read_edges(connection: Connection, ids: Sequence[str], *, papers: Sequence[str], limit: int) -> list[Edge]:
    """The heaviest edges that touch any of these entities, drawn from these papers (none given: from all)."""
    ends, values = _ends(connection, _all_nodes(connection, ids), papers=papers)
    rows = connection.execute(_summed(ends).limit(limit), values)
    return [Edge(source=row.source, target=row.target, weight=row.weight) for row in rows]


def _all_nodes(connection: Connection, ids: Sequence[str]) -> list[str]:
    return sorted({node for nodes in nodes_of(connection, ids).values() for node in nodes})


def _of(paper: ColumnElement[str], papers: Sequence[str]) -> ColumnElement[bool]:
    return paper.in_(papers) if papers else true()


def _ends(
    connection: Connection, nodes: Sequence[str], *, papers: Sequence[str] = ()
) -> tuple[Subquery, Mapping[str, Sequence[str]]]:
    """Source, target, kind and weight of the papers' relations that touch any of `nodes`, ids of the library, and the
    values that this takes. What has become one entity stands in no relation with itself."""
    own = own_ids(connection, nodes)
    moved = bool(papers) or not are_own(connection, own, set(nodes))
    values = {"own": sorted(own), "nodes": nodes, "papers": papers}
    needed = {"own": not papers, "nodes": moved, "papers": bool(papers)}
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
    conditions = [source != target]
    # Either index finds the rows: that of the papers, or that of the papers' own ids.
    if within:
        conditions.append(relations.c.paper.in_(papers))
    else:
        conditions.append(or_(relations.c.source.in_(own), relations.c.target.in_(own)))
    if moved:
        # Not the columns themselves, by whose index a common entity's rows in all other papers would be read.
        conditions.append(or_((source + "").in_(nodes), (target + "").in_(nodes)))
    columns = (source.label("source"), target.label("target"), relations.c.kind, relations.c.weight)
    return select(*columns).select_from(table).where(*conditions).subquery()


@cache
def _counted(ends: Subquery) -> Select[str, int]:
    key = select(ends.c.source, ends.c.target, ends.c.kind).distinct().subquery()
    both = union_all(select(key.c.source.label("end")), select(key.c.target)).subquery()
    return select(both.c.end, func.count().label("degree")).group_by(both.c.end)


@cache
def _summed(ends: Subquery) -> Select[str, str, float]:
    key = (ends.c.source, ends.c.target)
    weight = func.sum(ends.c.weight)
    return select(*key, weight.label("weight")).group_by(*key).order_by(weight.desc(), *key)


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
