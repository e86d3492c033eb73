"""Which entities of a paper short forms mean there, defined or only used, and what all definitions together say."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher

from paperscope.acronyms import is_spelt, short_form
from paperscope.types import STANDS_FOR, Entity, Extraction, entity_key, singular_key

__all__ = ["ShortForm", "agreed_entity", "least_papers", "short_forms"]

_ARTICLES = frozenset({"a", "an", "the"})
# Long forms are copied with slips ("convolution neural network", "maximum spaning tree", "out of vocab"): words with
# the same beginning, or nearly the same letters, are one word. "Recurrent" and "recursive" are not.
_BEGINNING = 6
_CLIPPED = 4
_ALIKE = 0.85


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class ShortForm:
    """A short form, spelled as the paper spells it, and the entity it means there.

    `sense` is the long form that the paper defines it with, its words in the singular and without articles; "" where it
    only uses it.
    """

    entity: str
    short: str
    sense: str = ""


def short_forms(extraction: Extraction) -> list[ShortForm]:
    """The short forms of a paper, sorted.

    Defined is one that shares an entity with a long form, or that stands for several, as far as the words' initials
    spell it; it means the entity under the long form's key, whatever the paper's own entity is called. An entity that
    is called by its short form uses it.
    """
    names = {entity.id: entity.name for entity in extraction.entities}
    found = {form for entity in extraction.entities for form in _own(entity)}
    for relation in extraction.relations:
        if relation.kind == STANDS_FOR:
            short, long = short_form(names[relation.source]), names[relation.target]
            if short and is_spelt(short, long.split()):
                found.add(ShortForm(entity=relation.target, short=short, sense=_sense(long)))
    return sorted(found)


def _own(entity: Entity) -> Iterator[ShortForm]:
    names = (entity.name, *entity.aliases)
    for short in {short_form(name) for name in names} - {""}:
        spelt = [name for name in names if is_spelt(short, name.split())]
        if spelt:
            long = min(spelt, key=lambda name: (len(name), name))
            home = singular_key(long) if short_form(entity.name) else entity.id
            yield ShortForm(entity=home, short=short, sense=_sense(long))
    # A float or a work is no term: its id is not its name's key.
    if (used := short_form(entity.name)) and entity.id == singular_key(entity.name):
        yield ShortForm(entity=entity.id, short=used)


def least_papers(short: str) -> int:
    """How many papers must define a short form before it is taken to mean the same in others: two letters are soon the
    same by chance."""
    return 1 if len(short) > 2 else 2


def agreed_entity(definitions: Mapping[tuple[str, str], int]) -> str | None:
    """The entity that most papers give for a short form, None where they don't all mean the same.

    `definitions` counts the papers by sense and entity; there is one at least. They agree if each sense is alike to the
    commonest, word by word, as far as the shorter of them goes.
    """
    senses, entities = Counter[str](), Counter[str]()
    for (sense, entity), papers in definitions.items():
        senses[sense] += papers
        entities[entity] += papers
    commonest = min(senses, key=lambda sense: (-senses[sense], sense)).split()
    if not all(_alike(one, other) for sense in senses for one, other in zip(sense.split(), commonest, strict=False)):
        return None
    return min(entities, key=lambda entity: (-entities[entity], entity))


def _alike(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=lambda word: (len(word), word))
    same = short[:_BEGINNING] == long[:_BEGINNING] or (len(short) >= _CLIPPED and long.startswith(short))
    return same or SequenceMatcher(None, short, long, autojunk=False).ratio() >= _ALIKE


def _sense(long: str) -> str:
    return " ".join(singular_key(word) for word in entity_key(long).split() if word not in _ARTICLES)
