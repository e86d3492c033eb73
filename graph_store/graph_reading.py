"""The library's graph as its papers' contributions make it: merged entities, merged relations, edges."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select

from graph_store.merge import merge_entities, merge_relations
from graph_store.schema import entities, relations
from graph_store.values import Edge
from paperscope.codec import from_json
from paperscope.types import Entity, Relation

__all__ = ["read_degree", "read_edges", "read_entities", "read_relations"]


def read_entities(connection: Connection, ids: Sequence[str]) -> dict[str, Entity]:
    """The merged entities under these ids, in this order; unknown ids are left out."""
    rows = connection.execute(select(entities.c.value).where(entities.c.id.in_(set(ids))))
    merged = merge_entities(from_json(Entity, row.value) for row in rows)
    return {key: merged[key] for key in ids if key in merged}


def read_relations(connection: Connection, ids: Sequence[str], *, limit: int) -> list[Relation]:
    """The merged relations that touch any of these entities: those between two of them first, then by weight."""
    known = sorted(set(ids))
    weight = func.sum(relations.c.weight)
    inner = and_(relations.c.source.in_(known), relations.c.target.in_(known))
    key = (relations.c.source, relations.c.target, relations.c.kind)
    best = connection.execute(
        select(*key)
        .where(_touches(known))
        .group_by(*key)
        .order_by(inner.desc(), weight.desc(), *key)
        .limit(max(limit, 0))
    ).all()
    ordered = [(row.source, row.target, row.kind) for row in best]
    # The ends find the rows by an index, as the whole key in one list would not.
    ends = (relations.c.source.in_({one[0] for one in ordered}), relations.c.target.in_({one[1] for one in ordered}))
    rows = connection.execute(select(relations.c.value).where(*ends))
    merged = merge_relations(from_json(Relation, row.value) for row in rows)
    return [merged[one] for one in ordered]


def read_degree(connection: Connection, entity: str) -> int:
    """In how many merged relations an entity stands. Raises KeyError if it is unknown."""
    key = select(relations.c.source, relations.c.target, relations.c.kind).where(_touches([entity])).distinct()
    degree = connection.execute(select(func.count()).select_from(key.subquery())).scalar_one()
    if degree == 0 and connection.execute(select(entities.c.id).where(entities.c.id == entity)).first() is None:
        raise KeyError(entity)
    return int(degree)


def read_edges(connection: Connection, ids: Sequence[str], *, papers: Sequence[str], limit: int) -> list[Edge]:
    """The heaviest edges that touch any of these entities, drawn from these papers (none given: from all)."""
    ends = (relations.c.source, relations.c.target)
    weight = func.sum(relations.c.weight)
    conditions: list[ColumnElement[bool]] = [_touches(sorted(set(ids)))]
    if papers:
        conditions.append(relations.c.paper.in_(papers))
    rows = connection.execute(
        select(*ends, weight.label("weight"))
        .where(*conditions)
        .group_by(*ends)
        .order_by(weight.desc(), *ends)
        .limit(limit)
    )
    return [Edge(source=row.source, target=row.target, weight=row.weight) for row in rows]


def _touches(ids: Sequence[str]) -> ColumnElement[bool]:
    return or_(relations.c.source.in_(ids), relations.c.target.in_(ids))
