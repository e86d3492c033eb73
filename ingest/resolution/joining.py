"""Making one entity of those that mean the same."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from ingest.extraction.merge import combine
from ingest.extraction.type_system import TypeSystem
from paperscope.types import Entity, Extraction

__all__ = ["groups_of", "join"]


def groups_of(same: Iterable[tuple[str, str]], apart: Collection[frozenset[str]] = ()) -> list[frozenset[str]]:
    """The ids that hang together by the pairs `same`, sorted; a group that holds two ids that are `apart` is none."""
    home: dict[str, frozenset[str]] = {}
    for pair in same:
        group = frozenset(pair).union(*(home.get(one, frozenset()) for one in pair))
        home.update(dict.fromkeys(group, group))
    groups = sorted(set(home.values()), key=sorted)
    return [group for group in groups if not any(pair <= group for pair in apart)]


def join(extraction: Extraction, groups: Iterable[Collection[str]], *, types: TypeSystem) -> Extraction:
    """The extraction with one entity for each group of ids: under the name that most elements hold (then the longest,
    then the first), with the others as aliases. Does not depend on the groups' order."""
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
    renamed = tuple(_renamed(entity, homes) for entity in extraction.entities)
    return combine(replace(extraction, entities=renamed, relations=tuple(relations)), types=types)


def _renamed(entity: Entity, homes: Mapping[str, Entity]) -> Entity:
    home = homes.get(entity.id, entity)
    if home is entity:
        return entity
    return replace(entity, id=home.id, name=home.name, aliases=(entity.name, *entity.aliases))
