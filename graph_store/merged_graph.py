"""The library's graph: entities and relations of its papers, merged."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from operator import attrgetter
from typing import TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Subquery,
    and_,
    bindparam,
    case,
    func,
    literal,
    or_,
    select,
    union_all,
)

from graph_store.functions import json_text, position_in
from graph_store.reading import read_value
from graph_store.schema import entities, given, relations
from graph_store.short_forms import join_meanings, library_ids, paper_ids
from paperscope_core.text.words import singular_key
from paperscope_core.types import WORK, Entity, Relation

__all__ = [
    "DESCRIPTION_LIMIT",
    "merge_entities",
    "merge_relations",
    "read_degrees",
    "read_entities",
    "read_matching",
    "read_relations",
]

DESCRIPTION_LIMIT = 1200

T = TypeVar("T")
Texts = Sequence[str]


def merge_entities(contributions: Iterable[Entity]) -> dict[str, Entity]:
    """Merge the papers' contributions to entities; a single contribution is returned unchanged.

    The merged entity has the most frequent name (of those whose key is the id) and type, and the alphabetically first
    on a tie; other names become aliases; descriptions are joined without repeats up to DESCRIPTION_LIMIT characters;
    sources and mentions are combined. The order of contributions does not matter.
    """
    groups: dict[str, list[Entity]] = defaultdict(list)
    for entity in contributions:
        groups[entity.id].append(entity)
    return {key: _merged_entity(group) for key, group in groups.items()}


def merge_relations(contributions: Iterable[Relation]) -> dict[tuple[str, str, str], Relation]:
    """Merge relations by source, target and kind: weights are added, descriptions joined, sources combined."""
    groups: dict[tuple[str, str, str], list[Relation]] = defaultdict(list)
    for relation in contributions:
        groups[relation.source, relation.target, relation.kind].append(relation)
    return {key: _merged_relation(group) for key, group in groups.items()}


def _merged_entity(group: Sequence[Entity]) -> Entity:
    if len(group) == 1:
        return group[0]
    ordered = sorted(group, key=attrgetter("sources", "name", "type", "description", "aliases", "mentions"))
    # A short form that was merged into its long form is an alias.
    own = [entity for entity in ordered if singular_key(entity.name) == entity.id] or ordered
    name = _elected(entity.name for entity in own)
    names = _united((entity.name, *entity.aliases) for entity in ordered)
    return Entity(
        id=ordered[0].id,
        name=name,
        type=_elected(entity.type for entity in ordered),
        description=_joined(entity.description for entity in ordered),
        sources=_united(entity.sources for entity in ordered),
        aliases=tuple(alias for alias in names if alias != name),
        mentions=_united(entity.mentions for entity in ordered),
    )


def _merged_relation(group: Sequence[Relation]) -> Relation:
    if len(group) == 1:
        return group[0]
    ordered = sorted(group, key=attrgetter("sources", "description", "weight"))
    return Relation(
        source=ordered[0].source,
        target=ordered[0].target,
        kind=ordered[0].kind,
        description=_joined(relation.description for relation in ordered),
        sources=_united(relation.sources for relation in ordered),
        weight=math.fsum(relation.weight for relation in ordered),
    )


def _elected(texts: Iterable[str]) -> str:
    votes = Counter(texts)
    return min(votes, key=lambda text: (not text, -votes[text], text))


def _united(groups: Iterable[tuple[T, ...]]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(groups)))


def _joined(texts: Iterable[str]) -> str:
    """Return the descriptions, the most frequent first, as many as fit, but at least one."""
    spellings: dict[str, list[str]] = defaultdict(list)
    for text in texts:
        if text.strip():
            spellings[" ".join(text.casefold().split())].append(text.strip())
    kept: list[str] = []
    room = DESCRIPTION_LIMIT
    for key in sorted(spellings, key=lambda key: (-len(spellings[key]), key)):
        text = min(spellings[key])
        if not kept or len(text) < room:
            kept.append(text)
            room -= len(text) + 1
    return " ".join(kept)


def read_entities(connection: Connection, ids: Texts, *, papers: Texts = ()) -> dict[str, Entity]:
    """Return the merged entities of these ids, in this order; unknown and ambiguous ids are left out."""
    wanted = {key: nodes[0] for key, nodes in library_ids(connection, ids).items() if len(nodes) == 1}
    nodes = sorted(set(wanted.values()))
    rows = connection.execute(
        _entities_query(within=bool(papers)),
        {"own": sorted(paper_ids(connection, nodes)), "nodes": nodes, "papers": list(papers)},
    )
    merged = merge_entities(_contributed_entity(row.value, paper=row.paper, key=row.node) for row in rows)
    return {key: merged[wanted[key]] for key in ids if key in wanted and wanted[key] in merged}


def read_matching(connection: Connection, words: Texts, *, type_: str = "", limit: int) -> list[str]:
    """Return the ids of entities in whose name each of `words` (casefolded) begins a word, those of most papers first.

    Args:
        type_: Only entities of this type; "" for all.
    """
    table, (node,) = join_meanings(entities, entities.c.id)
    key = entities.c.id
    # Ids are casefolded names, but for those of tables, figures and equations ("b1810c2e3f4a/table-1") and of papers.
    # Of the others, no name is decoded.
    has_own_id = or_(position_in(key, "/") > 0, position_in(key, f"{WORK} ") == 1)
    name = func.replace(func.lower(json_text(entities.c.value, "$.name")), "-", " ")
    text = literal(" ").concat(case((has_own_id, name), else_=key))
    begins = (position_in(text, f" {word}") > 0 for word in words)
    query = select(node.label("node")).select_from(table).where(*begins)
    if type_:
        query = query.where(json_text(entities.c.value, "$.type") == type_)
    order = (func.count().desc(), func.length(node), node)
    return list(connection.execute(query.group_by(node).order_by(*order).limit(limit)).scalars())


def read_relations(
    connection: Connection, ids: Texts, *, papers: Texts = (), without: Texts = (), limit: int
) -> list[Relation]:
    """Return the merged relations of these entities, but for kinds in `without`: those between two of them first, then
    by weight."""
    lists = _relation_parameters(connection, _all_nodes(connection, ids), papers) | {"without": list(without)}
    best = connection.execute(_best_query(within=bool(papers)), {**lists, "limit": max(limit, 0)}).all()
    ordered = [(row.source, row.target, row.kind) for row in best]
    merged = merge_relations(_contributions(connection, ordered, papers=papers))
    return [merged[one] for one in ordered]


def read_degrees(connection: Connection, ids: Texts, *, papers: Texts = (), without: Texts = ()) -> dict[str, int]:
    """Return the number of merged relations of each entity, but for kinds in `without`; ambiguous ids and entities
    without such relations are left out."""
    wanted = {key: nodes[0] for key, nodes in library_ids(connection, ids).items() if len(nodes) == 1}
    lists = _relation_parameters(connection, sorted(set(wanted.values())), papers) | {"without": list(without)}
    rows = connection.execute(_degrees_query(within=bool(papers)), lists)
    degrees = {row.end: int(row.degree) for row in rows}
    return {key: degrees[node] for key, node in wanted.items() if node in degrees}


def _all_nodes(connection: Connection, ids: Texts) -> list[str]:
    return sorted({node for nodes in library_ids(connection, ids).values() for node in nodes})


def _relation_parameters(connection: Connection, nodes: Texts, papers: Texts) -> dict[str, list[str]]:
    """Return the lists for a statement that finds the relations of these entities."""
    return {"nodes": list(nodes), "own": sorted(paper_ids(connection, nodes)), "papers": list(papers)}


def _contributions(
    connection: Connection, wanted: Sequence[tuple[str, str, str]], *, papers: Texts
) -> Iterator[Relation]:
    """Yield the papers' relations of these sources, targets and kinds."""
    sources, targets = ({one[end] for one in wanted} for end in (0, 1))
    rows = connection.execute(
        _between_query(within=bool(papers)),
        {
            "sources": sorted(paper_ids(connection, sources)),
            "targets": sorted(paper_ids(connection, targets)),
            "papers": list(papers),
        },
    )
    keys = set(wanted)
    for row in rows:
        # The statement finds all pairs of a source and a target, most of which are not wanted.
        if (row.source, row.target, row.kind) in keys:
            yield _contributed_relation(row.value, paper=row.paper, source=row.source, target=row.target)


def _contributed_entity(value: str, *, paper: str, key: str) -> Entity:
    """Return a paper's stored entity, under its id in the library. Raises StoreDamagedError."""
    entity = read_value(Entity, value, paper=paper)
    return entity if entity.id == key else replace(entity, id=key)


def _contributed_relation(value: str, *, paper: str, source: str, target: str) -> Relation:
    """Return a paper's stored relation, between ids of the library. Raises StoreDamagedError."""
    relation = read_value(Relation, value, paper=paper)
    if (relation.source, relation.target) == (source, target):
        return relation
    return replace(relation, source=source, target=target)


def _ends(*, within: bool) -> Subquery:
    """Source, target, kind and weight of the papers' relations of `nodes`, which are ids of the library.

    Relations from an entity of the library to itself are left out.
    """
    table, (source, target) = join_meanings(relations, relations.c.source, relations.c.target)
    # Only the ids that papers use are indexed, not those of the library.
    ends: list[ColumnElement[str]] = [relations.c.source, relations.c.target]
    if within:
        # Their relations are read by paper: an entity like "accuracy" has more in a large library. The functions keep
        # the indexes on the ends from being used, and most relations from being joined.
        ends = [func.coalesce(end, "") for end in ends]
    found = or_(*(end.in_(given("own")) for end in ends))
    if within:
        found = and_(relations.c.paper.in_(given("papers")), found)
    return (
        select(source.label("source"), target.label("target"), relations.c.kind, relations.c.weight)
        .select_from(table)
        .where(found, or_(source.in_(given("nodes")), target.in_(given("nodes"))), source != target)
        .subquery()
    )


# Building a statement takes longer than running it, so each is built once per combination of options.
@cache
def _entities_query(*, within: bool) -> Select[*tuple[str, ...]]:
    table, (node,) = join_meanings(entities, entities.c.id)
    query = select(entities.c.paper, entities.c.value, node.label("node")).select_from(table)
    query = query.where(entities.c.id.in_(given("own")), node.in_(given("nodes")))
    return query.where(entities.c.paper.in_(given("papers"))) if within else query


@cache
def _best_query(*, within: bool) -> Select[*tuple[str, ...]]:
    ends = _ends(within=within)
    inner = and_(ends.c.source.in_(given("nodes")), ends.c.target.in_(given("nodes")))
    key = (ends.c.source, ends.c.target, ends.c.kind)
    order = (inner.desc(), func.sum(ends.c.weight).desc(), *key)
    stated = ends.c.kind.not_in(given("without"))
    return select(*key).where(stated).group_by(*key).order_by(*order).limit(bindparam("limit"))


@cache
def _degrees_query(*, within: bool) -> Select[str, int]:
    ends = _ends(within=within)
    stated = ends.c.kind.not_in(given("without"))
    key = select(ends.c.source, ends.c.target, ends.c.kind).where(stated).distinct().subquery()
    both = union_all(select(key.c.source.label("end")), select(key.c.target)).subquery()
    # The subquery lacks some relations of the entities at the other ends.
    query = select(both.c.end, func.count().label("degree")).where(both.c.end.in_(given("nodes")))
    return query.group_by(both.c.end)


@cache
def _between_query(*, within: bool) -> Select[*tuple[str, ...]]:
    table, (source, target) = join_meanings(relations, relations.c.source, relations.c.target)
    # Separate conditions on the ends use an index; a condition on the whole key does not.
    columns = (relations.c.paper, relations.c.kind, relations.c.value)
    query = select(*columns, source.label("source"), target.label("target")).select_from(table)
    query = query.where(relations.c.source.in_(given("sources")), relations.c.target.in_(given("targets")))
    return query.where(relations.c.paper.in_(given("papers"))) if within else query
