"""The rows of the Entities and Relationships sections."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from paperscope.protocols import Corpus
from paperscope.types import WORK, ContextEntity, ContextRelation, Entity, Place, Relation
from query.words import Rarity

__all__ = ["GraphRows"]

_PLACES = 3
_RELATIONS_LOOKED_AT = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class GraphRows:
    """What the graph of these papers (none given: of all) adds to a context. It costs what they hold: what a library
    of thousands says of "accuracy" is not read."""

    corpus: Corpus
    papers: tuple[str, ...] = ()

    def entities(self, ids: Sequence[str], *, works: Set[str] = frozenset()) -> list[Entity]:
        """The entities under these ids that the papers name, in the ids' order.

        Of the works, which every paper cites by the dozen, only those of `works`.
        """
        found = self.corpus.entities(list(dict.fromkeys(ids)), papers=self.papers)
        return [entity for entity in found.values() if entity.type != WORK or entity.id in works]

    def entity_rows(self, entities: Sequence[Entity]) -> tuple[ContextEntity, ...]:
        """A row an entity, in the given order."""
        degrees = self._degrees(entity.id for entity in entities)
        return tuple(
            ContextEntity(
                id=number,
                entity=entity.name,
                type=entity.type,
                description=entity.description,
                rank=degrees.get(entity.id, 0),
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
        chosen = {entity.id for entity in entities}
        found = self.corpus.relations_of(sorted(chosen), papers=self.papers, limit=_RELATIONS_LOOKED_AT)
        ends = list(dict.fromkeys(end for one in found for end in (one.source, one.target)))
        known = self.corpus.entities(ends, papers=self.papers)
        names = {key: entity for key, entity in known.items() if entity.type != WORK or key in chosen}
        relations = [one for one in found if one.source in names and one.target in names]

        def bearing(relation: Relation) -> tuple[float, float]:
            text = " ".join((names[relation.source].name, names[relation.target].name, relation.description))
            return rarity.coverage(asked, text), relation.weight

        said: dict[str, Relation] = {}
        for relation in sorted(relations, key=bearing, reverse=True):
            said.setdefault(relation.description, relation)
        best = list(said.values())[:limit]
        degrees = self._degrees(end for relation in best for end in (relation.source, relation.target))
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
            rank=degrees.get(relation.source, 0) + degrees.get(relation.target, 0),
            places=self._places(relation),
        )

    def _degrees(self, entities: Iterable[str]) -> Mapping[str, int]:
        return self.corpus.degrees(list(dict.fromkeys(entities)), papers=self.papers)

    def _places(self, one: Entity | Relation) -> tuple[Place, ...]:
        return tuple(dict.fromkeys(self.corpus.element(source).place for source in one.sources[:_PLACES]))
