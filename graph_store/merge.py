"""What several papers say of the same entity or relation, merged: pure, and whatever the order of addition."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from paperscope.types import Entity, Mention, Relation, singular_key

__all__ = ["DESCRIPTION_LIMIT", "merge_entities", "merge_relations"]

DESCRIPTION_LIMIT = 1200


def merge_entities(contributions: Iterable[Entity]) -> dict[str, Entity]:
    """The entities under their ids. A lone contribution stays as it is.

    Name (of those that have the id as their key) and type are elected (ties: the alphabetically first); other names
    become aliases; descriptions are joined without repeats up to DESCRIPTION_LIMIT characters; sources and mentions are
    united.
    """
    groups: dict[str, list[Entity]] = defaultdict(list)
    for entity in contributions:
        groups[entity.id].append(entity)
    return {key: _merged_entity(group) for key, group in groups.items()}


def merge_relations(contributions: Iterable[Relation]) -> dict[tuple[str, str, str], Relation]:
    """The relations under (source, target, kind): weights summed, descriptions joined, sources united."""
    groups: dict[tuple[str, str, str], list[Relation]] = defaultdict(list)
    for relation in contributions:
        groups[relation.source, relation.target, relation.kind].append(relation)
    return {key: _merged_relation(group) for key, group in groups.items()}


def _merged_entity(group: Sequence[Entity]) -> Entity:
    if len(group) == 1:
        return group[0]
    ordered = sorted(group, key=_entity_order)
    # A short form that has joined its long form is another name of it.
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
        mentions=tuple(dict.fromkeys(mention for entity in ordered for mention in entity.mentions)),
    )


def _merged_relation(group: Sequence[Relation]) -> Relation:
    if len(group) == 1:
        return group[0]
    ordered = sorted(group, key=_relation_order)
    return Relation(
        source=ordered[0].source,
        target=ordered[0].target,
        kind=ordered[0].kind,
        description=_joined(relation.description for relation in ordered),
        sources=_united(relation.sources for relation in ordered),
        weight=math.fsum(relation.weight for relation in ordered),
    )


def _entity_order(entity: Entity) -> tuple[tuple[str, ...], str, str, str, tuple[str, ...], tuple[Mention, ...]]:
    return entity.sources, entity.name, entity.type, entity.description, entity.aliases, entity.mentions


def _relation_order(relation: Relation) -> tuple[tuple[str, ...], str, float]:
    return relation.sources, relation.description, relation.weight


def _elected(texts: Iterable[str]) -> str:
    votes = Counter(texts)
    return min(votes, key=lambda text: (not text, -votes[text], text))


def _united(groups: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for group in groups for text in group))


def _joined(texts: Iterable[str]) -> str:
    """What most papers say comes first; whole descriptions only, and always one."""
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
