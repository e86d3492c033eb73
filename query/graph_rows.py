"""The rows of the Entities and Relationships sections."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from paperscope.protocols import Corpus
from paperscope.types import WORK, ContextEntity, ContextRelation, Entity, Place, Relation
from query.words import Rarity

__all__ = ["GraphRows"]

_PLACES = 3
_RELATIONS_LOOKED_AT = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class GraphRows:
    """What the graph adds to a context. `papers` restricts it to what stands in them; empty means all."""

    corpus: Corpus
    papers: frozenset[str] = frozenset()

    def entities(self, ids: Sequence[str], *, works: Set[str] = frozenset()) -> list[Entity]:
        """The entities under these ids that the papers name, in the ids' order.

        Of the works, which every paper cites by the dozen, only those of `works`.
        """
        found = self.corpus.entities(ids)
        kept = [found[key] for key in dict.fromkeys(ids) if key in found and self.sources(found[key])]
        return [entity for entity in kept if entity.type != WORK or entity.id in works]

    def entity_rows(self, entities: Sequence[Entity]) -> tuple[ContextEntity, ...]:
        """A row an entity, in the given order."""
        return tuple(
            ContextEntity(
                id=number,
                entity=entity.name,
                type=entity.type,
                description=entity.description,
                rank=self.corpus.degree(entity.id),
                places=self._places(entity),
            )
            for number, entity in enumerate(entities)
        )

    def relation_rows(
        self, entities: Sequence[Entity], *, asked: Set[str], rarity: Rarity, limit: int
    ) -> tuple[ContextRelation, ...]:
        """Relations of these entities, those that bear most on the asked words first, then by weight.

        Relations drawn from one sentence say the same; the first of them stands for all. A work that is not among the
        entities stands in none.
        """
        found = self.corpus.relations_of([entity.id for entity in entities], limit=_RELATIONS_LOOKED_AT)
        names = self.corpus.entities(list(dict.fromkeys(end for one in found for end in (one.source, one.target))))
        chosen = {entity.id for entity in entities}
        ends = {key for key, entity in names.items() if entity.type != WORK or key in chosen}
        relations = [one for one in found if one.source in ends and one.target in ends and self.sources(one)]

        def bearing(relation: Relation) -> tuple[float, float]:
            text = " ".join((names[relation.source].name, names[relation.target].name, relation.description))
            return rarity.coverage(asked, text), relation.weight

        said: dict[str, Relation] = {}
        for relation in sorted(relations, key=bearing, reverse=True):
            said.setdefault(relation.description, relation)
        best = list(said.values())[:limit]
        shown = dict.fromkeys(end for relation in best for end in (relation.source, relation.target))
        degrees = {end: self.corpus.degree(end) for end in shown}
        return tuple(self._relation_row(number, relation, names, degrees) for number, relation in enumerate(best))

    def _relation_row(
        self, number: int, relation: Relation, names: Mapping[str, Entity], degrees: Mapping[str, int]
    ) -> ContextRelation:
        return ContextRelation(
            id=number,
            source=names[relation.source].name,
            target=names[relation.target].name,
            description=relation.description,
            weight=relation.weight,
            rank=degrees[relation.source] + degrees[relation.target],
            places=self._places(relation),
        )

    def sources(self, one: Entity | Relation) -> list[str]:
        """The elements that it stands on and that lie in the papers: an id begins with its paper's."""
        return [source for source in one.sources if not self.papers or source.partition("/")[0] in self.papers]

    def _places(self, one: Entity | Relation) -> tuple[Place, ...]:
        return tuple(dict.fromkeys(self.corpus.element(source).place for source in self.sources(one)[:_PLACES]))
