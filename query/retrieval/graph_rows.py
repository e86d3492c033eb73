"""Entities and relations of the graph that concern a question, as context rows."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from paperscope_core.protocols import Corpus
from paperscope_core.text.words import shared_words
from paperscope_core.types import WORK, ContextEntity, ContextRelation, Element, Entity, Place, Relation

__all__ = ["GraphRows", "ScoredRelation"]

_PLACES = 3
_RELATIONS_LOOKED_AT = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoredRelation:
    """A relation with the names of its entities and the share (0 to 1) of the question's words that it contains."""

    relation: Relation
    names: tuple[str, str]
    share: float


@dataclass(frozen=True, kw_only=True, slots=True)
class GraphRows:
    """The graph rows of a context, limited to `papers` (all if empty), so that the cost does not grow with the library.
    `elements` loads elements by id."""

    corpus: Corpus
    elements: Callable[[Iterable[str]], Mapping[str, Element]]
    papers: tuple[str, ...] = ()

    def entities(self, ids: Sequence[str], *, limit: int, works: Set[str] = frozenset()) -> list[Entity]:
        """Return the first `limit` entities with these ids that the papers name, in the given order; cited works only
        if they are in `works`."""
        found = self.corpus.entities(list(dict.fromkeys(ids)), papers=self.papers)
        return [entity for entity in found.values() if entity.type != WORK or entity.id in works][:limit]

    def relations(self, entities: Sequence[Entity], *, asked: frozenset[str], limit: int) -> list[ScoredRelation]:
        """Return the relations of these entities, by their share of the question's words, then by weight.

        Of the relations drawn from one sentence only the first is kept, and relations of works that are not among the
        entities are left out.
        """
        chosen = {entity.id for entity in entities}
        found = self.corpus.relations_of(sorted(chosen), papers=self.papers, limit=_RELATIONS_LOOKED_AT)
        shares = [(_share(one, asked), one) for one in found]
        shares.sort(key=lambda item: (-item[0], -item[1].weight))
        said: dict[str, ScoredRelation] = {}
        # Loads only as many neighbours as needed.
        while shares and len(said) < limit:
            some, shares = shares[:limit], shares[limit:]
            ends = self.corpus.entities(_ends(one for _, one in some), papers=self.papers)
            names = {key: one.name for key, one in ends.items() if one.type != WORK or key in chosen}
            for share, one in some:
                if one.source in names and one.target in names:
                    both = names[one.source], names[one.target]
                    said.setdefault(one.description, ScoredRelation(relation=one, names=both, share=share))
        return list(said.values())[:limit]

    def rows(
        self, entities: Sequence[Entity], asserted: Sequence[ScoredRelation]
    ) -> tuple[tuple[ContextEntity, ...], tuple[ContextRelation, ...]]:
        """Return the context rows of entities and relations, in the given order."""
        relations = [one.relation for one in asserted]
        ids = dict.fromkeys((*(entity.id for entity in entities), *_ends(relations)))
        degrees = self.corpus.degrees(list(ids), papers=self.papers)
        described: list[Entity | Relation] = [*entities, *relations]
        shown = self.elements(source for one in described for source in one.sources[:_PLACES])

        def places(one: Entity | Relation) -> tuple[Place, ...]:
            return tuple(dict.fromkeys(shown[source].place for source in one.sources[:_PLACES]))

        entity_rows = (
            ContextEntity(
                id=number,
                entity=one.name,
                type=one.type,
                description=one.description,
                rank=degrees.get(one.id, 0),
                places=places(one),
            )
            for number, one in enumerate(entities)
        )
        relation_rows = (
            ContextRelation(
                id=number,
                source=one.names[0],
                target=one.names[1],
                description=one.relation.description,
                weight=one.relation.weight,
                rank=degrees.get(one.relation.source, 0) + degrees.get(one.relation.target, 0),
                places=places(one.relation),
            )
            for number, one in enumerate(asserted)
        )
        return tuple(entity_rows), tuple(relation_rows)


def _ends(relations: Iterable[Relation]) -> list[str]:
    return list(dict.fromkeys(end for relation in relations for end in (relation.source, relation.target)))


def _share(relation: Relation, asked: frozenset[str]) -> float:
    """Return the share of the asked words in a relation; entity ids contain the words of the names."""
    found = shared_words(" ".join((relation.source, relation.target, relation.description)), asked)
    return len(found) / len(asked) if asked else 0.0
