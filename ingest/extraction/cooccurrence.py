"""Relations between entities that co-occur in a sentence or element."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from ingest.extraction.entity_types import FLOATS, TypeSystem
from ingest.extraction.float_entities import excerpt
from ingest.extraction.mentions import PaperText, Sentence, TermFinder, read_paper
from ingest.extraction.merge import combine
from paperscope_core.types import WORK, Entity, Extraction, Paper, Relation

__all__ = ["cooccurrences", "link_isolated_entities", "neighbour_relations"]


_MAX_PER_SENTENCE = 8

Pair = tuple[str, str]


def cooccurrences(
    sentences: Sequence[Sentence], found: Sequence[Sequence[str]], known: Mapping[str, float], *, links: int
) -> Iterator[Relation]:
    """Relations `co-occurs` between entities of one sentence.

    The weight is the number of common sentences, the description the shortest of them. A pair is kept if it is among
    the `links` closest of one of its entities, by count times pointwise mutual information (K. Church, P. Hanks, "Word
    association norms, mutual information, and lexicography", Computational Linguistics 16(1), 1990).

    Args:
        sentences: The paper's sentences.
        found: The entities of each sentence.
        known: The score of each entity.
        links: The number of pairs that each entity keeps.
    """
    sentences_of: dict[Pair, list[int]] = defaultdict(list)
    single: Counter[str] = Counter()
    for number, entities in enumerate(found):
        best = sorted(entities, key=lambda entity: (-known[entity], entity))[:_MAX_PER_SENTENCE]
        single.update(best)
        for pair in combinations(sorted(best), 2):
            sentences_of[pair].append(number)
    closeness = {
        (a, b): len(numbers) * math.log1p(len(numbers) * len(sentences) / (single[a] * single[b]))
        for (a, b), numbers in sentences_of.items()
    }
    for pair in sorted(_closest(closeness, links=links)):
        common = [sentences[number] for number in sentences_of[pair]]
        evidence = min(common, key=lambda sentence: (sentence.caption, len(sentence.text)))
        yield Relation(
            source=pair[0],
            target=pair[1],
            kind="co-occurs",
            description=excerpt(evidence.text),
            sources=tuple(dict.fromkeys(sentence.element for sentence in common)),
            weight=float(len(common)),
        )


def neighbour_relations(
    sentences: Sequence[Sentence], found: Sequence[Sequence[str]], isolated: Collection[str]
) -> Iterator[Relation]:
    """Links each isolated entity to one of the nearest sentence of its element that has another, at half weight."""
    left = set(isolated)
    for number, entities in enumerate(found):
        for entity in sorted(left.intersection(entities)):
            element = sentences[number].element
            near = [
                n for n, sentence in enumerate(sentences) if sentence.element == element and set(found[n]) - {entity}
            ]
            if not near:
                continue
            other = min(near, key=lambda n: (abs(n - number), n))
            first, second = sorted((number, other))
            yield Relation(
                source=entity,
                target=min(set(found[other]) - {entity}),
                kind="co-occurs",
                description=excerpt(f"{sentences[first].text} {sentences[second].text}"),
                sources=(element,),
                weight=0.5,
            )
            left.discard(entity)


def _closest(closeness: Mapping[Pair, float], *, links: int) -> set[Pair]:
    of_entity: dict[str, list[Pair]] = defaultdict(list)
    for pair in closeness:
        for entity in pair:
            of_entity[entity].append(pair)
    return {
        pair
        for pairs in of_entity.values()
        for pair in sorted(pairs, key=lambda pair: (-closeness[pair], pair))[:links]
    }


def link_isolated_entities(paper: Paper, extraction: Extraction, *, types: TypeSystem | None = None) -> Extraction:
    """Adds a relation for each isolated entity, if the paper's text suggests one.

    The first of these that exists is linked to it: the best connected entity of a sentence that names both
    (`co-occurs`); an entity of the nearest sentence of the same element, at half weight; a float among its sources
    (`shows`); the best connected entity of an element that names both, at half weight.
    """
    degrees = Counter(end for one in extraction.relations for end in (one.source, one.target))
    terms = [entity for entity in extraction.entities if entity.type not in (*FLOATS, WORK)]
    isolated = {entity.id: entity for entity in terms if not degrees[entity.id]}
    if not isolated:
        return extraction
    text = read_paper(paper)
    named = _EntityFinder(terms, degrees)
    found = [named.ids(sentence.text) for sentence in text.sentences]
    relations = list(_within_sentences(text, found, named, isolated))
    relations.extend(neighbour_relations(text.sentences, found, _still_isolated(isolated, relations)))
    floats = {entity.id for entity in extraction.entities if entity.type in FLOATS}
    relations.extend(
        _within_elements(text, floats, named, [isolated[key] for key in _still_isolated(isolated, relations)])
    )
    return combine(replace(extraction, relations=(*extraction.relations, *relations)), types=types)


def _still_isolated(isolated: Collection[str], relations: Sequence[Relation]) -> list[str]:
    linked = {end for one in relations for end in (one.source, one.target)}
    return sorted(set(isolated) - linked)


class _EntityFinder:
    """Finds the entities in a text."""

    def __init__(self, terms: Sequence[Entity], degrees: Mapping[str, int]) -> None:
        self._terms = terms
        self._degrees = degrees
        self._finder = TermFinder([(term.name, *term.aliases) for term in terms])

    def ids(self, text: str) -> tuple[str, ...]:
        return tuple(self._terms[number].id for number in self._finder.find(text))

    def best_beside(self, entity: str, ids: Sequence[str]) -> str | None:
        """Returns the best connected of `ids` other than the entity itself."""
        others = set(ids) - {entity}
        return min(others, key=lambda one: (-self._degrees.get(one, 0), one)) if others else None


def _within_sentences(
    text: PaperText, found: Sequence[Sequence[str]], named: _EntityFinder, isolated: Collection[str]
) -> Iterator[Relation]:
    left = set(isolated)
    for sentence, ids in zip(text.sentences, found, strict=True):
        for entity in sorted(left.intersection(ids)):
            if entity in left and (other := named.best_beside(entity, ids)) is not None:
                yield _cooccurrence(entity, other, sentence.text, sentence.element, weight=1.0)
                left -= {entity, other}


def _within_elements(
    text: PaperText, floats: Collection[str], named: _EntityFinder, isolated: Sequence[Entity]
) -> Iterator[Relation]:
    linked = set[str]()
    for entity in isolated:
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
                yield _cooccurrence(entity.id, other, words, source, weight=0.5)
                linked.add(other)
                break


def _cooccurrence(entity: str, other: str, words: str, element: str, *, weight: float) -> Relation:
    return Relation(
        source=entity,
        target=other,
        kind="co-occurs",
        description=excerpt(words),
        sources=(element,),
        weight=weight,
    )
