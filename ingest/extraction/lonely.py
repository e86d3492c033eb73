"""Relations for entities that no relation touches: with what stands beside them in the paper."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from ingest.extraction.cooccurrence import neighbours
from ingest.extraction.floats import excerpt
from ingest.extraction.mentions import PaperText, TermFinder, read_paper
from ingest.extraction.merge import combine
from ingest.extraction.type_system import FLOATS, TypeSystem
from paperscope.types import WORK, Entity, Extraction, Paper, Relation

__all__ = ["link_lonely"]


def link_lonely(paper: Paper, extraction: Extraction, *, types: TypeSystem | None = None) -> Extraction:
    """The extraction with a relation for each entity that has none, as far as the paper's text yields one.

    It `co-occurs` with the best connected entity of its first sentence that names another; else with one of the
    nearest sentence of the same element, at half weight; else it is what a float of its sources `shows`; else it
    co-occurs with the best connected entity of its first source that names another, at half weight.
    """
    degrees = Counter(end for one in extraction.relations for end in (one.source, one.target))
    terms = [entity for entity in extraction.entities if entity.type not in (*FLOATS, WORK)]
    lonely = {entity.id: entity for entity in terms if not degrees[entity.id]}
    if not lonely:
        return extraction
    text = read_paper(paper)
    named = _Named(terms, degrees)
    found = [named.ids(sentence.text) for sentence in text.sentences]
    relations = list(_within_sentences(text, found, named, lonely))
    relations.extend(neighbours(text.sentences, found, _left(lonely, relations)))
    floats = {entity.id for entity in extraction.entities if entity.type in FLOATS}
    relations.extend(_within_elements(text, floats, named, [lonely[key] for key in _left(lonely, relations)]))
    return combine(replace(extraction, relations=(*extraction.relations, *relations)), types=types)


def _left(lonely: Collection[str], relations: Sequence[Relation]) -> list[str]:
    linked = {end for one in relations for end in (one.source, one.target)}
    return sorted(set(lonely) - linked)


class _Named:
    """Finds the entities that a text names."""

    def __init__(self, terms: Sequence[Entity], degrees: Mapping[str, int]) -> None:
        self._terms = terms
        self._degrees = degrees
        self._finder = TermFinder([(term.name, *term.aliases) for term in terms])

    def ids(self, text: str) -> tuple[str, ...]:
        return tuple(self._terms[number].id for number in self._finder.find(text))

    def best_beside(self, entity: str, ids: Sequence[str]) -> str | None:
        """The best connected of `ids` but the entity itself."""
        others = set(ids) - {entity}
        return min(others, key=lambda one: (-self._degrees.get(one, 0), one)) if others else None


def _within_sentences(
    text: PaperText, found: Sequence[Sequence[str]], named: _Named, lonely: Collection[str]
) -> Iterator[Relation]:
    left = set(lonely)
    for sentence, ids in zip(text.sentences, found, strict=True):
        for entity in sorted(left.intersection(ids)):
            if entity in left and (other := named.best_beside(entity, ids)) is not None:
                yield _together(entity, other, sentence.text, sentence.element, weight=1.0)
                left -= {entity, other}


def _within_elements(
    text: PaperText, floats: Collection[str], named: _Named, lonely: Sequence[Entity]
) -> Iterator[Relation]:
    linked = set[str]()
    for entity in lonely:
        if entity.id in linked:
            continue
        shown = next((source for source in entity.sources if source in floats), None)
        if shown is not None:
            yield Relation(
                source=shown, target=entity.id, kind="shows", description=excerpt(entity.description), sources=(shown,)
            )
            continue
        for source in entity.sources:
            words = text.texts.get(source, "")
            if (other := named.best_beside(entity.id, named.ids(words))) is not None:
                yield _together(entity.id, other, words, source, weight=0.5)
                linked.add(other)
                break


def _together(entity: str, other: str, words: str, element: str, *, weight: float) -> Relation:
    return Relation(
        source=entity,
        target=other,
        kind="co-occurs",
        description=excerpt(words),
        sources=(element,),
        weight=weight,
    )
