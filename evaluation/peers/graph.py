"""The extracted entities and relations of several documents as LightRAG itself would have merged them."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from evaluation.peers.job import PeerDocument

__all__ = ["MergedEntity", "MergedRelation", "merged_entities", "merged_relations"]

# LightRAG's own separator between the descriptions that meet in one entity or relation.
_SEPARATOR = "<SEP>"
Named = Callable[[str], str]


@dataclass(kw_only=True, slots=True)
class MergedEntity:
    """An entity of all documents: the most frequent type, each description once, each unit once."""

    name: str
    types: Counter[str] = field(default_factory=Counter)
    descriptions: dict[str, None] = field(default_factory=dict)
    units: dict[str, None] = field(default_factory=dict)

    @property
    def type(self) -> str:
        """The most frequent one; the first of several."""
        return self.types.most_common(1)[0][0] or "UNKNOWN"

    @property
    def description(self) -> str:
        """All of them."""
        return _SEPARATOR.join(self.descriptions)


@dataclass(kw_only=True, slots=True)
class MergedRelation:
    """A pair of entities, in either direction: weights add up, each description and keyword once."""

    source: str
    target: str
    weight: float = 0.0
    descriptions: dict[str, None] = field(default_factory=dict)
    keywords: dict[str, None] = field(default_factory=dict)
    units: dict[str, None] = field(default_factory=dict)

    @property
    def description(self) -> str:
        """All of them."""
        return _SEPARATOR.join(self.descriptions)


def merged_entities(documents: Iterable[PeerDocument], *, named: Named) -> list[MergedEntity]:
    """One for each name, in the order of their first appearance; `named` folds a name, "" drops it."""
    merged: dict[str, MergedEntity] = {}
    for document in documents:
        for entity in document.entities:
            if name := named(entity.name):
                into = merged.setdefault(name, MergedEntity(name=name))
                into.types[entity.type] += 1
                into.descriptions[entity.description or entity.name] = None
                into.units.update(dict.fromkeys(entity.units))
    return list(merged.values())


def merged_relations(documents: Iterable[PeerDocument], *, named: Named) -> list[MergedRelation]:
    """One for each pair of two entities, in the order of their first appearance."""
    merged: dict[frozenset[str], MergedRelation] = {}
    for document in documents:
        for relation in document.relations:
            source, target = named(relation.source), named(relation.target)
            if not source or not target or source == target:
                continue
            into = merged.setdefault(frozenset((source, target)), MergedRelation(source=source, target=target))
            into.weight += relation.weight
            into.descriptions[relation.description or relation.keywords] = None
            into.keywords[relation.keywords] = None
            into.units.update(dict.fromkeys(relation.units))
    return list(merged.values())
