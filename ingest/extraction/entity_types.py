"""Types of entities, and kinds of relations."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, Self, get_args

from paperscope_core.text.words import word_key

__all__ = [
    "CLASS_WORDS",
    "DEFAULT_TYPES",
    "ENTITY_TYPES",
    "FLOATS",
    "EntityType",
    "LocalRelationKind",
    "ModelRelationKind",
    "PatternKind",
    "TermType",
    "TypeSystem",
    "type_of_class",
]

TermType = Literal["dataset", "metric", "task", "method", "quantity", "concept"]
EntityType = Literal[
    "table", "figure", "equation", "paper", "dataset", "metric", "task", "method", "quantity", "concept"
]
LocalRelationKind = Literal[
    "result",  # a row's value in a column
    "results",  # a row's values in a group of columns
    "shows",  # a float and what its caption, cells or inner text name
    "depicts",  # a float and what a vision model saw in its picture
    "mentions",  # a float and what is named where the text mentions it
    "near",  # a float that the text does not mention and what is named in the nearest sentence
    "stands for",  # an ambiguous short form and one of its meanings
    "co-occurs",  # two terms of one sentence
    "cites",  # the paper itself and a work in its bibliography
    "cited with",  # a term of a sentence and a work that the sentence cites
]
# Kinds of relations that a sentence states between two terms, read from the first to the second.
PatternKind = Literal["uses", "evaluated on", "measured by", "compared with", "part of", "kind of"]
ModelRelationKind = Literal[
    "uses", "evaluated on", "measured by", "compared with", "part of", "kind of", "defined as", "causes", "related to"
]

# From the most to the least specific: the first of these wins if sources disagree about an entity.
ENTITY_TYPES: tuple[EntityType, ...] = get_args(EntityType)

# Words, in the singular, that name a type itself: "BM25 is a method", a column "Dataset".
_WORDS_OF: Mapping[TermType, str] = {
    "dataset": "benchmark corpus dataset treebank",
    "metric": "measure metric score",
    "task": "problem task",
    "method": "algorithm approach architecture classifier framework method model network procedure strategy technique",
    "quantity": "number parameter",
}
_CLASSES = {word: kind for kind, words in _WORDS_OF.items() for word in words.split()}
# Words without meaning as a header: a header "Model" names none, and "the BERT model" is BERT.
CLASS_WORDS = (
    frozenset("concept name property quantity result sample system table type value".split()) | _CLASSES.keys()
)
_WORD = re.compile(r"[^\W_]+")

FLOATS = ("table", "figure", "equation")
DEFAULT_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "dataset": "a corpus, benchmark or collection",
        "metric": "a measure of quality",
        "task": "a problem to be solved",
        "method": "a model, algorithm, loss, component or system",
        "quantity": "a parameter or property with a value",
        "concept": "all else worth a name",
    }
)


def type_of_class(words: str) -> TermType:
    """Return the type that the last of the words names ("Datasets", "a new method"), or concept."""
    found = _WORD.findall(words)
    return _CLASSES.get(word_key(found[-1]), "concept") if found else "concept"


@dataclass(frozen=True, kw_only=True, slots=True)
class TypeSystem:
    """The types of entities and their meanings, from the most to the least specific; the last is for all others.

    Tables, figures and equations are additional types.
    """

    meanings: Mapping[str, str] = field(default_factory=lambda: DEFAULT_TYPES)

    @classmethod
    def of(cls, meanings: Mapping[str, str]) -> Self:
        """Return the types of the settings, or the built-in ones if the settings name none."""
        return cls(meanings=meanings) if meanings else cls()

    @property
    def rest(self) -> str:
        """The type for everything that has no other type."""
        return tuple(self.meanings)[-1]

    def fit(self, kind: str) -> str:
        """Return `kind` if it is one of these types, else `rest`."""
        return kind if kind in self.meanings or kind in FLOATS else self.rest

    def first(self, types: Iterable[str]) -> str:
        """Return the most specific of `types`; unknown types come last."""
        order = {name: rank for rank, name in enumerate((*FLOATS, *self.meanings))}
        return min(types, key=lambda name: (order.get(name, len(order)), name))
