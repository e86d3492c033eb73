"""The library's graph as its papers' contributions make it: merged entities, merged relations, edges.

All ids that come out are those of the library; those that go in may also be a paper's own (see `graph_store.meanings`).
`papers` restricts what is read to what these papers contribute (none given: all); it then costs what they hold, however
large the library is.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

from sqlalchemy import ColumnElement, Connection, Select, Subquery, and_, bindparam, func, or_, select, union_all

from graph_store.meanings import has_meanings, joined, nodes_of, own_ids
from graph_store.merge import merge_entities, merge_relations
from graph_store.schema import entities, given, relations
from graph_store.values import Edge
from paperscope.codec import from_json
from paperscope.types import Entity, Relation

__all__ = ["read_degrees", "read_edges", "read_entities", "read_relations"]

Texts = Sequence[str]


def read_entities(connection: Connection, ids: Texts, *, papers: Texts = ()) -> dict[str, Entity]:
    """The merged entities under these ids, in this order; unknown and ambiguous ids are left out."""
    wanted = {key: nodes[0] for key, nodes in nodes_of(connection, ids).items() if len(nodes) == 1}
    nodes = sorted(set(wanted.values()))
    rows = connection.execute(
        _entities_query(meant=has_meanings(connection), within=bool(papers)),
        {"own": sorted(own_ids(connection, nodes)), "nodes": nodes, "papers": list(papers)},
    )
    merged = merge_entities(_renamed(from_json(Entity, row.value), row.node) for row in rows)
    return {key: merged[wanted[key]] for key in ids if key in wanted and wanted[key] in merged}


def read_relations(connection: Connection, ids: Texts, *, papers: Texts = (), limit: int) -> list[Relation]:
    """The merged relations that touch any of these entities: those between two of them first, then by weight."""
    kind, lists = _touching(connection, _all_nodes(connection, ids), papers)
    best = connection.execute(_best_query(**kind), {**lists, "limit": max(limit, 0)}).all()
    ordered = [(row.source, row.target, row.kind) for row in best]
    sources, targets = ({one[end] for one in ordered} for end in (0, 1))
    merged = merge_relations(_relations_between(connection, sources, targets, papers=papers))
    return [merged[one] for one in ordered]


def read_degrees(connection: Connection, ids: Texts, *, papers: Texts = ()) -> dict[str, int]:
    """In how many merged relations each of these entities stands; ambiguous ids, and those in none, are left out."""
    wanted = {key: nodes[0] for key, nodes in nodes_of(connection, ids).items() if len(nodes) == 1}
    kind, lists = _touching(connection, sorted(set(wanted.values())), papers)
    degrees = {row.end: int(row.degree) for row in connection.execute(_degrees_query(**kind), lists)}
    return {key: degrees[node] for key, node in wanted.items() if node in degrees}


def read_edges(connection: Connection, ids: Texts, *, papers: Texts, limit: int) -> list[Edge]:
    """The heaviest edges that touch any of these entities, drawn from these papers (none given: from all)."""
    kind, lists = _touching(connection, _all_nodes(connection, ids), papers)
    rows = connection.execute(_edges_query(**kind), {**lists, "limit": limit})
    return [Edge(source=row.source, target=row.target, weight=row.weight) for row in rows]


def _all_nodes(connection: Connection, ids: Texts) -> list[str]:
    return sorted({node for nodes in nodes_of(connection, ids).values() for node in nodes})


def _touching(connection: Connection, nodes: Texts, papers: Texts) -> tuple[dict[str, bool], dict[str, list[str]]]:
    """The kind of statement that finds what touches these ids of the library, and the lists that it is given."""
    own = [] if papers else sorted(own_ids(connection, nodes))
    kind = {"meant": has_meanings(connection), "within": bool(papers)}
    return kind, {"nodes": list(nodes), "own": own, "papers": list(papers)}


def _relations_between(
    connection: Connection, sources: Iterable[str], targets: Iterable[str], *, papers: Texts
) -> list[Relation]:
    """The papers' relations from any of these entities to any of those."""
    rows = connection.execute(
        _between_query(meant=has_meanings(connection), within=bool(papers)),
        {
            "sources": sorted(own_ids(connection, sources)),
            "targets": sorted(own_ids(connection, targets)),
            "papers": list(papers),
        },
    )
    return [replace(from_json(Relation, row.value), source=row.source, target=row.target) for row in rows]


def _renamed(entity: Entity, node: str) -> Entity:
    return entity if entity.id == node else replace(entity, id=node)


def _ends(*columns: ColumnElement[str], meant: bool, within: bool) -> Subquery:
    """Source, target, weight and these columns of the papers' relations that touch any of `nodes`, ids of the library.

    What has become one entity stands in no relation with itself.
    """
    table, (source, target) = joined(relations, relations.c.source, relations.c.target, meant=meant)
    found: ColumnElement[bool] = relations.c.paper.in_(given("papers"))
    if not within:
        # Found by the papers' own ids, as only these have an index.
        found = or_(relations.c.source.in_(given("own")), relations.c.target.in_(given("own")))
    return (
        select(source.label("source"), target.label("target"), relations.c.weight, *columns)
        .select_from(table)
        .where(found, or_(source.in_(given("nodes")), target.in_(given("nodes"))), source != target)
        .subquery()
    )


# Building a statement takes longer than running it: each is built once for the kinds of libraries and of questions.
@cache
def _entities_query(*, meant: bool, within: bool) -> Select[*tuple[str, ...]]:
    table, (node,) = joined(entities, entities.c.id, meant=meant)
    query = select(entities.c.value, node.label("node")).select_from(table)
    query = query.where(entities.c.id.in_(given("own")), node.in_(given("nodes")))
    return query.where(entities.c.paper.in_(given("papers"))) if within else query


@cache
def _best_query(*, meant: bool, within: bool) -> Select[*tuple[str, ...]]:
    ends = _ends(relations.c.kind, meant=meant, within=within)
    inner = and_(ends.c.source.in_(given("nodes")), ends.c.target.in_(given("nodes")))
    key = (ends.c.source, ends.c.target, ends.c.kind)
    order = (inner.desc(), func.sum(ends.c.weight).desc(), *key)
    return select(*key).group_by(*key).order_by(*order).limit(bindparam("limit"))


@cache
def _degrees_query(*, meant: bool, within: bool) -> Select[tuple[str, int]]:
    ends = _ends(relations.c.kind, meant=meant, within=within)
    key = select(ends.c.source, ends.c.target, ends.c.kind).distinct().subquery()
    both = union_all(select(key.c.source.label("end")), select(key.c.target)).subquery()
    # Of the far ends only some relations are here.
    query = select(both.c.end, func.count().label("degree")).where(both.c.end.in_(given("nodes")))
    return query.group_by(both.c.end)


@cache
def _edges_query(*, meant: bool, within: bool) -> Select[tuple[str, str, float]]:
    ends = _ends(meant=meant, within=within)
    weight = func.sum(ends.c.weight)
    key = (ends.c.source, ends.c.target)
    query = select(*key, weight.label("weight")).group_by(*key)
    return query.order_by(weight.desc(), *key).limit(bindparam("limit"))


@cache
def _between_query(*, meant: bool, within: bool) -> Select[*tuple[str, ...]]:
    table, (source, target) = joined(relations, relations.c.source, relations.c.target, meant=meant)
    # The ends find the rows by an index, as the whole key in one list would not.
    query = select(relations.c.value, source.label("source"), target.label("target")).select_from(table)
    query = query.where(relations.c.source.in_(given("sources")), relations.c.target.in_(given("targets")))
    return query.where(relations.c.paper.in_(given("papers"))) if within else query
