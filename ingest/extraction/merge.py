"""Merges extractions of one paper, and equal entities."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from ingest.extraction.entity_types import FLOATS, TypeSystem
from paperscope_core.text.words import entity_key, singular_key
from paperscope_core.types import WORK, Entity, Extraction, Relation, Shortfall

__all__ = ["combine", "connected_groups", "merge_groups"]

# Entities whose id is not derived from their name: each paper has a "Table 1", and methods share names with papers.
_OWN_IDS = (*FLOATS, WORK)


def combine(*extractions: Extraction, types: TypeSystem = TypeSystem()) -> Extraction:
    """Merge extractions; the result does not depend on their order.

    Entities of one id are merged, and an entity whose name is an alias of exactly one other is merged into it. They
    keep the most frequent name, the most specific type (a type that a model read in a mention first), and the longest
    description. Equal relations are merged and keep the greater weight; relations with a missing end, or between an
    entity and itself, are left out. Shortfalls are added up.

    Args:
        types: The types of entities, by default the built-in ones.
    """
    keys = _keys(entity for extraction in extractions for entity in extraction.entities)
    by_id: dict[str, list[Entity]] = defaultdict(list)
    for extraction in extractions:
        for entity in extraction.entities:
            by_id[keys[entity.id]].append(replace(entity, id=keys[entity.id]))
    joined = _homes(by_id)
    homes = {entity_id: joined[key] for entity_id, key in keys.items()}
    members: dict[str, list[Entity]] = defaultdict(list)
    for entity_id in sorted(by_id):
        members[joined[entity_id]].extend(by_id[entity_id])
    entities = tuple(_merged(entity_id, members[entity_id], types) for entity_id in sorted(members))
    relations = _relations((relation for part in extractions for relation in part.relations), homes)
    shortfall = sum((part.shortfall for part in extractions), Shortfall())
    ordered = tuple(sorted(shortfall.unread, key=lambda unread: (_natural(unread.chunk), unread.reason)))
    return Extraction(
        entities=entities,
        relations=relations,
        shortfall=replace(shortfall, unread=ordered),
        verdicts=tuple(verdict for part in extractions for verdict in part.verdicts),
    )


def _keys(entities: Iterable[Entity]) -> dict[str, str]:
    """Return the id that papers share for each entity: floats and works keep theirs, others get `singular_key` of their
    most frequent name."""
    names: dict[str, list[str]] = defaultdict(list)
    fixed = set[str]()
    for entity in entities:
        names[entity.id].append(entity.name)
        if entity.type in _OWN_IDS:
            fixed.add(entity.id)
    return {
        entity_id: entity_id if entity_id in fixed else singular_key(_commonest(given))
        for entity_id, given in names.items()
    }


def _homes(by_id: Mapping[str, Sequence[Entity]]) -> dict[str, str]:
    """Return, for each id, the id of the entity it is merged into: the only entity with it as an alias, or itself."""
    owners: dict[str, set[str]] = defaultdict(set)
    for entity_id, entities in by_id.items():
        for entity in entities:
            if entity.type not in _OWN_IDS:
                for alias in map(singular_key, entity.aliases):
                    owners[alias].add(entity_id)
    joins = {}
    for entity_id, entities in by_id.items():
        others = owners[entity_id] - {entity_id}
        if len(others) == 1 and all(entity.type not in _OWN_IDS for entity in entities):
            joins[entity_id] = others.pop()
    return {entity_id: _last(entity_id, joins) for entity_id in by_id}


def _last(entity_id: str, joins: Mapping[str, str]) -> str:
    """Return the end of a chain of aliases; the alphabetically first id of a cycle."""
    seen = [entity_id]
    while (following := joins.get(seen[-1])) is not None:
        if following in seen:
            return min(seen[seen.index(following) :])
        seen.append(following)
    return seen[-1]


def _merged(entity_id: str, entities: Sequence[Entity], types: TypeSystem) -> Entity:
    own = [entity for entity in entities if entity.id == entity_id]
    name = _commonest(entity.name for entity in own)
    spellings: dict[str, list[str]] = defaultdict(list)
    for entity in entities:
        for form in (entity.name, *entity.aliases):
            spellings[entity_key(form)].append(form)
    spellings.pop(entity_key(name), None)
    mentions = {mention for entity in entities for mention in entity.mentions}
    # A model that read the sentence knows the type better than a rule.
    read = [entity for entity in entities if entity.mentions and entity.type != types.rest]
    return Entity(
        id=entity_id,
        name=name,
        type=types.first(entity.type for entity in read or entities),
        description=max((entity.description for entity in entities), key=lambda text: (len(text), text)),
        sources=_in_order(source for entity in entities for source in entity.sources),
        aliases=tuple(_commonest(spellings[key]) for key in sorted(spellings)),
        mentions=tuple(sorted(mentions, key=lambda one: (_natural(one.element), one.start, one.end))),
    )


def _commonest(names: Iterable[str]) -> str:
    counts = Counter(names)
    return min(counts, key=lambda name: (-counts[name], name))


def _relations(relations: Iterable[Relation], homes: Mapping[str, str]) -> tuple[Relation, ...]:
    merged: dict[tuple[str, str, str, str], Relation] = {}
    for relation in relations:
        source, target = homes.get(relation.source), homes.get(relation.target)
        if source is None or target is None or source == target:
            continue
        key = (source, target, relation.kind, relation.description)
        known = merged.get(key, relation)
        merged[key] = replace(
            relation,
            source=source,
            target=target,
            sources=_in_order((*relation.sources, *known.sources)),
            weight=max(relation.weight, known.weight),
        )
    return tuple(merged[key] for key in sorted(merged))


def _in_order(elements: Iterable[str]) -> tuple[str, ...]:
    """Return the elements without repeats, in the order of their numbers."""
    return tuple(sorted(set(elements), key=_natural))


def _natural(text: str) -> list[tuple[bool, int, str]]:
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in re.split(r"(\d+)", text)]


def connected_groups(same: Iterable[tuple[str, str]], apart: Collection[frozenset[str]] = ()) -> list[frozenset[str]]:
    """Return the connected components of the pairs `same`, sorted, without those that contain two ids of a pair
    `apart`."""
    home: dict[str, frozenset[str]] = {}
    for pair in same:
        group = frozenset(pair).union(*(home.get(one, frozenset()) for one in pair))
        home.update(dict.fromkeys(group, group))
    groups = sorted(set(home.values()), key=sorted)
    return [group for group in groups if not any(pair <= group for pair in apart)]


def merge_groups(extraction: Extraction, groups: Iterable[Collection[str]], *, types: TypeSystem) -> Extraction:
    """Merge each group of entities into one, which keeps the name of the entity with the most sources (then the
    longest, then the first) and gets the others as aliases. The order of groups does not matter."""
    entities = {entity.id: entity for entity in extraction.entities}
    homes: dict[str, Entity] = {}
    for group in groups:
        home = min((entities[one] for one in group), key=lambda one: (-len(one.sources), -len(one.name), one.name))
        homes.update(dict.fromkeys(group, home))
    if not homes:
        return extraction
    moved = {one: home.id for one, home in homes.items()}
    relations = (
        replace(one, source=moved.get(one.source, one.source), target=moved.get(one.target, one.target))
        for one in extraction.relations
    )
    renamed = (
        replace(entity, id=home.id, name=home.name, aliases=(entity.name, *entity.aliases))
        if (home := homes.get(entity.id, entity)) is not entity
        else entity
        for entity in extraction.entities
    )
    return combine(replace(extraction, entities=tuple(renamed), relations=tuple(relations)), types=types)
