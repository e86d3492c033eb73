"""Synthetic papers from a seeded generator."""

import random
from functools import lru_cache
from itertools import accumulate

from paperscope_core.text.words import entity_key
from paperscope_core.types import Entity, Relation
from paperscope_lab.evaluation.peers.protocol import PeerDocument, Unit

__all__ = ["CHUNKS", "ENTITIES", "RELATIONS", "SHARED", "synthetic_names", "synthetic_paper", "synthetic_words"]


CHUNKS = 60
ENTITIES = 60
RELATIONS = 240
SHARED = ENTITIES // 3
_SHARED_NAMES = 5_000
_COMMON_WORDS = 20_000
_WORDS = 12  # of filler around each statement
_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
_TYPES = ("method", "dataset", "metric", "task", "concept")
_KINDS = ("uses", "evaluated on", "measured by", "compared with", "part of")


_NAME_WEIGHTS = list(accumulate(1 / (rank + 1) for rank in range(_SHARED_NAMES)))
_WORD_WEIGHTS = list(accumulate(1 / (rank + 1) for rank in range(_COMMON_WORDS)))


def synthetic_paper(number: int, *, seed: int) -> PeerDocument:
    """Returns the paper with this number, which depends on the number and the seed alone."""
    draw = _random(number, seed=seed)
    names = _names(draw, number)
    ids = [entity_key(name) for name in names]
    pairs = _pairs(draw, len(names))
    texts: list[list[str]] = [[] for _ in range(CHUNKS)]
    relations, units_of = [], [dict[str, None]() for _ in names]
    for index, (source, target) in enumerate(pairs):
        chunk, kind = index % CHUNKS, draw.choice(_KINDS)
        sentence = " ".join((_sentence(draw), names[source], kind, names[target], _sentence(draw))) + "."
        texts[chunk].append(sentence)
        unit = _unit(number, chunk)
        units_of[source][unit] = units_of[target][unit] = None
        relations.append(
            Relation(source=ids[source], target=ids[target], kind=kind, description=sentence, sources=(unit,))
        )
    described = {end: relation.description for relation in relations for end in (relation.source, relation.target)}
    return PeerDocument(
        id=f"paper-{number}",
        title=f"{_sentence(draw)} {number}",
        file="",
        units=tuple(Unit(id=_unit(number, chunk), text=" ".join(text)) for chunk, text in enumerate(texts)),
        entities=tuple(
            Entity(
                id=key, name=name, type=_TYPES[len(name) % len(_TYPES)], description=described[key], sources=(*units,)
            )
            for key, name, units in zip(ids, names, units_of, strict=True)
        ),
        relations=tuple(relations),
    )


def synthetic_names(number: int, *, seed: int) -> list[str]:
    """Returns the names of the entities of `synthetic_paper`, without its texts, which take most of the time."""
    return _names(_random(number, seed=seed), number)


def _random(number: int, *, seed: int) -> random.Random:
    # Seeded with a string, because hash() differs between processes.
    return random.Random(f"{seed} {number}")  # noqa: S311


def _names(draw: random.Random, number: int) -> list[str]:
    own = (f"{_word(1 + 7 * number + own)} {_word(own)} {number}" for own in range(ENTITIES - SHARED))
    return [*_shared_names(draw), *own]


def _pairs(draw: random.Random, entities: int) -> list[tuple[int, int]]:
    """Distinct pairs; each entity is in at least one, and the first entities are in most."""
    weights = list(accumulate(1 / (rank + 5) for rank in range(entities)))
    pairs: dict[tuple[int, int], None] = {}
    sources = [*range(entities)]
    while len(pairs) < RELATIONS:
        source = sources.pop() if sources else draw.choices(range(entities), cum_weights=weights)[0]
        target = draw.choices(range(entities), cum_weights=weights)[0]
        while target == source:
            target = draw.randrange(entities)
        pairs.setdefault((min(source, target), max(source, target)))
    return list(pairs)


def _shared_names(draw: random.Random) -> list[str]:
    ranks: dict[int, None] = {}
    while len(ranks) < SHARED:
        ranks.setdefault(draw.choices(range(_SHARED_NAMES), cum_weights=_NAME_WEIGHTS)[0])
    return [f"{_word(3 * rank)} {_word(rank + 11)}" for rank in ranks]


def synthetic_words(draw: random.Random, *, count: int) -> str:
    """Returns `count` of the words that all papers share, by Zipf's law."""
    return " ".join(map(_word, draw.choices(range(_COMMON_WORDS), cum_weights=_WORD_WEIGHTS, k=count)))


def _sentence(draw: random.Random) -> str:
    return synthetic_words(draw, count=_WORDS)


@lru_cache(maxsize=1 << 16)
def _word(rank: int) -> str:
    """A pronounceable word for a number, unique and always the same."""
    syllables = []
    rest = rank + len(_SYLLABLES)
    while rest:
        rest, digit = divmod(rest, len(_SYLLABLES))
        syllables.append(_SYLLABLES[digit])
    return "".join(syllables)


def _unit(number: int, chunk: int) -> str:
    return f"paper-{number}/chunk-{chunk}"
