"""Which entities of ours are which of the gold's, by their spellings."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from evaluation.gold.graphs import GoldGraph
from evaluation.graph.schemes import SCHEMES, Scheme
from paperscope_core.text.words import entity_key
from paperscope_core.types import Entity, Extraction

__all__ = ["Matches", "forms_of", "is_float"]


_FLOATS = frozenset({"table", "figure", "equation"})


def forms_of(entity: Entity) -> frozenset[str]:
    """An entity's name and aliases, folded by `entity_key`."""
    return frozenset(filter(None, map(entity_key, (entity.name, *entity.aliases))))


def is_float(entity: Entity) -> bool:
    """Whether it stands for a table, a figure or an equation."""
    return entity.type in _FLOATS


@dataclass(frozen=True, kw_only=True)
class Matches:
    """A document's gold and what was drawn from it. An entity of ours is one of the gold's where they share a form."""

    gold: GoldGraph
    extraction: Extraction

    @property
    def scheme(self) -> Scheme:
        """What the gold's set annotates."""
        return SCHEMES[self.gold.scheme]

    @cached_property
    def entities(self) -> Mapping[str, Entity]:
        """Our entities by id, without tables, figures and equations."""
        return {entity.id: entity for entity in self.extraction.entities if not is_float(entity)}

    @cached_property
    def forms(self) -> Mapping[str, frozenset[str]]:
        """The forms of our entities by id."""
        return {name: forms_of(entity) for name, entity in self.entities.items()}

    @cached_property
    def ours(self) -> Mapping[int, frozenset[str]]:
        """For each of the gold's entities, by position, the ids of ours that it is."""
        known: dict[str, set[str]] = defaultdict(set)
        for name, forms in self.forms.items():
            for form in forms:
                known[form].add(name)
        return {
            number: frozenset().union(*(known.get(form, ()) for form in entity.forms))
            for number, entity in enumerate(self.gold.entities)
        }

    @cached_property
    def theirs(self) -> Mapping[str, frozenset[int]]:
        """For each of our entities, by id, the positions of the gold's that it is."""
        found: dict[str, set[int]] = {name: set() for name in self.entities}
        for number, names in self.ours.items():
            for name in names:
                found[name].add(number)
        return {name: frozenset(numbers) for name, numbers in found.items()}

    @cached_property
    def sought(self) -> frozenset[int]:
        """The positions of the gold's entities that have a name."""
        return frozenset(number for number, entity in enumerate(self.gold.entities) if not entity.generic)

    @cached_property
    def counted(self) -> frozenset[str]:
        """The ids of ours that can be right or wrong: of a type that the set annotates, and not one of the generic
        words of the gold only."""
        return frozenset(
            name
            for name, entity in self.entities.items()
            if self.scheme.counts(entity.type) and (not self.theirs[name] or self.theirs[name] & self.sought)
        )
