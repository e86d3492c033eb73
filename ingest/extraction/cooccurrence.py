"""Relations between entities that co-occur in a sentence or element."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from ingest.extraction.entity_types import FLOATS, TypeSystem
from ingest.extraction.mentions import PaperText, Sentence, TermFinder, read_paper
from ingest.extraction.merge import combine
from ingest.extraction.sentences import SentenceEntities, excerpt, sentence_relation
from paperscope_core.types import WORK, Entity, Extraction, Paper, Relation

__all__ = ["cooccurrences", "link_isolated_entities", "neighbour_relations"]

_MAX_PER_SENTENCE = 8
_LINKS = 4
Pair = tuple[str, str]


def cooccurrences(named: SentenceEntities) -> Iterator[Relation]:
    """Relations `co-occurs` between entities of one sentence.

    The weight is the number of common sentences, the description the shortest of them. A pair is kept if it is among
    the four closest of one of its entities, by count times pointwise mutual information (K. Church, P. Hanks, "Word
    association norms, mutual information, and lexicography", Computational Linguistics 16(1), 1990).
    """
    common: dict[Pair, list[Sentence]] = defaultdict(list)
    single: Counter[str] = Counter()
    for sentence, entities in zip(named.sentences, named.ids, strict=True):
        best = named.best(entities, _MAX_PER_SENTENCE)
        single.update(best)
        for pair in combinations(sorted(best), 2):
            common[pair].append(sentence)
    closeness = {
        (a, b): len(sentences) * math.log1p(len(sentences) * len(named.sentences) / (single[a] * single[b]))
        for (a, b), sentences in common.items()
    }
    for source, target in sorted(_closest(closeness)):
        yield sentence_relation(source, target, "co-occurs", common[source, target])


def _closest(closeness: Mapping[Pair, float]) -> set[Pair]:
    of_entity: dict[str, list[Pair]] = defaultdict(list)
    for pair in closeness:
        for entity in pair:
            of_entity[entity].append(pair)
    return {
        pair
        for pairs in of_entity.values()
        for pair in sorted(pairs, key=lambda pair: (-closeness[pair], pair))[:_LINKS]
    }


def neighbour_relations(named: SentenceEntities, isolated: Collection[str]) -> Iterator[Relation]:
    """Links each isolated entity to one of the nearest sentence of its element that has another, at half weight."""
    left = set(isolated)
    for number, (sentence, entities) in enumerate(zip(named.sentences, named.ids, strict=True)):
        for entity in sorted(left.intersection(entities)):
            near = [
                other
                for other, beside in enumerate(named.sentences)
                if beside.element == sentence.element and set(named.ids[other]) - {entity}
            ]
            if not near:
                continue
            nearest = min(near, key=lambda other: (abs(other - number), other))
            text = " ".join(named.sentences[one].text for one in sorted((number, nearest)))
            target = min(set(named.ids[nearest]) - {entity})
            evidence = Sentence(element=sentence.element, text=text)
            yield sentence_relation(entity, target, "co-occurs", [evidence], weight=0.5)
            left.discard(entity)


def link_isolated_entities(paper: Paper, extraction: Extraction, *, types: TypeSystem = TypeSystem()) -> Extraction:
    """Adds a relation for each isolated entity, if the paper's text suggests one.

    The first of these that exists is linked to it: the best connected entity of a sentence that names both
    (`co-occurs`); an entity of the nearest sentence of the same element, at half weight; a float among its sources
    (`shows`); the best connected entity of an element that names both, at half weight.
    """
    degrees = Counter(end for one in extraction.relations for end in (one.source, one.target))
    terms = {entity.id: entity for entity in extraction.entities if entity.type not in (*FLOATS, WORK)}
    isolated = {key for key in terms if not degrees[key]}
    if not isolated:
        return extraction
    text = read_paper(paper)
    finder = TermFinder({key: (term.name, *term.aliases) for key, term in terms.items()})
    named = SentenceEntities.find(text, finder, degrees)
    relations = list(_within_sentences(named, isolated))
    relations.extend(neighbour_relations(named, _still_isolated(isolated, relations)))
    floats = {entity.id for entity in extraction.entities if entity.type in FLOATS}
    left = [terms[key] for key in sorted(_still_isolated(isolated, relations))]
    relations.extend(_within_elements(text, floats, named, finder, left))
    return combine(replace(extraction, relations=(*extraction.relations, *relations)), types=types)


def _still_isolated(isolated: Collection[str], relations: Sequence[Relation]) -> set[str]:
    return set(isolated) - {end for one in relations for end in (one.source, one.target)}


def _within_sentences(named: SentenceEntities, isolated: Collection[str]) -> Iterator[Relation]:
    left = set(isolated)
    for sentence, entities in zip(named.sentences, named.ids, strict=True):
        for entity in sorted(left.intersection(entities)):
            others = named.best(set(entities) - {entity}, 1)
            if entity in left and others:
                yield sentence_relation(entity, others[0], "co-occurs", [sentence])
                left -= {entity, others[0]}


def _within_elements(
    text: PaperText,
    floats: Collection[str],
    named: SentenceEntities,
    finder: TermFinder,
    isolated: Sequence[Entity],
) -> Iterator[Relation]:
    linked = set[str]()
    for entity in isolated:
        if entity.id in linked:
            continue
        shown = next((source for source in entity.sources if source in floats), None)
        if shown is not None:
            description = excerpt(entity.description)
            yield Relation(source=shown, target=entity.id, kind="shows", description=description, sources=(shown,))
            continue
        for source in entity.sources:
            words = text.texts.get(source, "")
            if others := named.best(set(finder.find(words)) - {entity.id}, 1):
                evidence = Sentence(element=source, text=words)
                yield sentence_relation(entity.id, others[0], "co-occurs", [evidence], weight=0.5)
                linked.add(others[0])
                break
