"""What the graph knows on a question: its entities, the relations that bear on it, and the rows of both."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from paperscope.protocols import Corpus
from paperscope.types import WORK, ContextEntity, ContextRelation, Element, Entity, Place, Relation
from query.words import content_words

__all__ = ["Asserted", "GraphRows"]

_PLACES = 3
_RELATIONS_LOOKED_AT = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Asserted:
    """A relation, and the share (0 to 1) of the asked words that it holds."""

    relation: Relation
    share: float

    @property
    def ends(self) -> tuple[str, str]:
        """The ids of its entities."""
        return self.relation.source, self.relation.target


@dataclass(frozen=True, kw_only=True, slots=True)
class GraphRows:
    """What the graph of these papers (none given: of all) adds to a context. It costs what they hold: what a library
    of thousands says of "accuracy" is not read. `element` finds an element by id."""

    corpus: Corpus
    element: Callable[[str], Element]
    papers: tuple[str, ...] = ()

    def entities(self, ids: Sequence[str], *, limit: int, works: Set[str] = frozenset()) -> list[Entity]:
        """The first `limit` entities under these ids that the papers name, in the ids' order.

        Of the works, which every paper cites by the dozen, only those of `works`.
        """
        found = self.corpus.entities(list(dict.fromkeys(ids)), papers=self.papers)
        return [entity for entity in found.values() if entity.type != WORK or entity.id in works][:limit]

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

    def relations(self, entities: Sequence[Entity], *, asked: Set[str], limit: int) -> list[Asserted]:
        """Relations of these entities, those that hold most of the asked words first, then by weight.

        Relations drawn from one sentence say the same; the first of them stands for all. A work that is not among the
        entities stands in none.
        """
        chosen = {entity.id for entity in entities}
        found = self.corpus.relations_of(sorted(chosen), papers=self.papers, limit=_RELATIONS_LOOKED_AT)
        asserted = [Asserted(relation=one, share=_share(one, asked)) for one in found]
        asserted.sort(key=lambda one: (-one.share, -one.relation.weight))
        said: dict[str, Asserted] = {}
        # No more of the far ends are fetched than are needed.
        while asserted and len(said) < limit:
            some, asserted = asserted[:limit], asserted[limit:]
            ends = self.corpus.entities(
                list(dict.fromkeys(end for one in some for end in one.ends)), papers=self.papers
            )
            shown = {key for key, entity in ends.items() if entity.type != WORK or key in chosen}
            for one in some:
                if shown.issuperset(one.ends):
                    said.setdefault(one.relation.description, one)
        return list(said.values())[:limit]

    def relation_rows(self, relations: Sequence[Relation]) -> tuple[ContextRelation, ...]:
        """A row a relation, in the given order."""
        ends = list(dict.fromkeys(end for relation in relations for end in (relation.source, relation.target)))
        names = self.corpus.entities(ends, papers=self.papers)
        degrees = self._degrees(ends)
        return tuple(self._relation_row(number, relation, names, degrees) for number, relation in enumerate(relations))

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
        return tuple(dict.fromkeys(self.element(source).place for source in one.sources[:_PLACES]))


def _share(relation: Relation, asked: Set[str]) -> float:
    """An entity's id holds its name's words."""
    held = content_words(" ".join((relation.source, relation.target, relation.description)))
    return len(asked & held) / len(asked) if asked else 0.0
