"""Relations between entities that stand in one sentence, few and telling."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations

from ingest.extraction.floats import excerpt
from ingest.extraction.mentions import Sentence
from paperscope.types import Relation

__all__ = ["cooccurrences", "neighbours"]

_MAX_PER_SENTENCE = 8

Pair = tuple[str, str]


def cooccurrences(
    sentences: Sequence[Sentence], found: Sequence[Sequence[str]], known: Mapping[str, float], *, links: int
) -> Iterator[Relation]:
    """`co-occurs` relations with the number of common sentences as weight and the shortest of them as description.

    `found` lists the entities of each sentence, `known` ranks them. A pair stays when it is among the `links` closest
    of one of its ends: closest by count times pointwise mutual information (K. Church, P. Hanks, "Word association
    norms, mutual information, and lexicography", Computational Linguistics 16(1), 1990).
    """
    together: dict[Pair, list[int]] = defaultdict(list)
    single: Counter[str] = Counter()
    for number, entities in enumerate(found):
        best = sorted(entities, key=lambda entity: (-known[entity], entity))[:_MAX_PER_SENTENCE]
        single.update(best)
        for pair in combinations(sorted(best), 2):
            together[pair].append(number)
    closeness = {
        (a, b): len(numbers) * math.log1p(len(numbers) * len(sentences) / (single[a] * single[b]))
        for (a, b), numbers in together.items()
    }
    for pair in sorted(_closest(closeness, links=links)):
        held = [sentences[number] for number in together[pair]]
        evidence = min(held, key=lambda sentence: (sentence.caption, len(sentence.text)))
        yield Relation(
            source=pair[0],
            target=pair[1],
            kind="co-occurs",
            description=excerpt(evidence.text),
            sources=tuple(dict.fromkeys(sentence.element for sentence in held)),
            weight=float(len(held)),
        )


def neighbours(
    sentences: Sequence[Sentence], found: Sequence[Sequence[str]], lonely: Collection[str]
) -> Iterator[Relation]:
    """Link each entity that shares no sentence to one in the nearest sentence of the same element, at half weight."""
    left = set(lonely)
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
