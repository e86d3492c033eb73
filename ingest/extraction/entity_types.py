"""Types of entities, kinds of relations, and the inference of a type from the contexts of a name."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, Self, get_args

from ingest.extraction.mentions import Sentence, TermFinder
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
    "types_in_context",
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
    "mentions",  # a float and what is named where the text speaks of it
    "near",  # a float that nothing speaks of and what is named in the nearest sentence
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
# Words that say nothing as a header: a header "Model" names none, and "the BERT model" is BERT.
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
_REACH = 60
_COPULA = re.compile(r"^(?: \([^()]*\))?,? (?:is|are|was|were) (?:an?|the|one of the) ((?:[^\W\d]\w* ?){1,4})")
_HEAD = re.compile(r"^ ([^\W\d_]+)\b")
_CALLED = re.compile(
    r"(?<![^\W\d_])([^\W\d_]+)(?:,| of)? (?:called|named|dubbed|termed|known as|namely) (?:the )?$", re.IGNORECASE
)
_BEFORE: tuple[tuple[TermType, re.Pattern[str]], ...] = (
    ("task", re.compile(r"\b(?:tasks?|problems?) of (?:the )?$", re.IGNORECASE)),
    (
        "dataset",
        re.compile(
            r"\b(?:trained?|fine ?tuned?|evaluated?|tested|validated|experiments?|experimented|results?|performance)"
            r"(?: \w+)? on (?:the |both )?$",
            re.IGNORECASE,
        ),
    ),
    ("metric", re.compile(r"\b(?:in terms of|measured by|measured in) (?:the )?$", re.IGNORECASE)),
    (
        "method",
        re.compile(
            r"\b(?:outperform(?:s|ed|ing)?|surpass(?:es)?|(?:we|to) (?:propose|introduce|present|develop|apply|employ)"
            r"(?: an?| the| our)?(?: new| novel)?|based on|baselines?(?: of| like)?|(?:better|worse|faster) than)"
            r" (?:the )?$",
            re.IGNORECASE,
        ),
    ),
)
_AFTER: tuple[tuple[TermType, re.Pattern[str]], ...] = (
    (
        "method",
        re.compile(
            r" (?:(?:significantly|consistently|also|still) )?(?:outperforms?|surpass(?:es)?|achieves?|obtains?"
            r"|performs?|learns?|consists? of|converges?|is trained|was trained|are trained|takes)\b"
        ),
    ),
    ("metric", re.compile(r" of \d+(?:\.\d+)? ?%")),
)
_LIST = re.compile(
    r"""\b(datasets|corpora|benchmarks|treebanks|methods|models|algorithms|approaches|baselines|metrics|measures|tasks),?
        \ (?:such\ as|including|like|namely|e\.g\.,?)[ ]
        ((?: (?!\ (?:is|are|was|were|has|have|with|for|in|on|to|that|which|where|by)\b) [^;:])*)""",
    re.VERBOSE,
)


def type_of_class(words: str) -> TermType:
    """Returns the type that the last of the words names ("Datasets", "a new method"), or concept."""
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
        """The types of the settings, or the built-in ones if the settings name none."""
        return cls(meanings=meanings) if meanings else cls()

    @property
    def rest(self) -> str:
        """The type for everything that has no other type."""
        return tuple(self.meanings)[-1]

    def fit(self, kind: str) -> str:
        """Returns `kind` if it is one of these types, else `rest`."""
        return kind if kind in self.meanings or kind in FLOATS else self.rest

    def first(self, types: Iterable[str]) -> str:
        """Returns the most specific of `types`; unknown types come last."""
        order = {name: rank for rank, name in enumerate((*FLOATS, *self.meanings))}
        return min(types, key=lambda name: (order.get(name, len(order)), name))


def types_in_context(sentences: Sequence[Sentence], finder: TermFinder) -> Mapping[str, TermType]:
    """Returns, by the ids of the terms, the type indicated by most contexts of a term (one in ten at least)."""
    votes: dict[str, Counter[TermType]] = defaultdict(Counter)
    occurrences: Counter[str] = Counter()
    for sentence in sentences:
        text, places = finder.places(sentence.text)
        for term, start, end in places:
            occurrences[term] += 1
            votes[term].update(_types_indicated(text[max(start - _REACH, 0) : start], text[end:]))
        for match in _LIST.finditer(sentence.text):
            indicated = type_of_class(match[1])
            for term in finder.find(match[2]):
                votes[term][indicated] += 1
    best = {term: min(counts, key=lambda kind: (-counts[kind], kind)) for term, counts in votes.items() if counts}
    return {term: kind for term, kind in best.items() if votes[term][kind] * 10 >= occurrences[term]}


def _types_indicated(before: str, rest: str) -> Sequence[TermType]:
    """Returns the types indicated by the words next to a name.

    These are its class after "is a" or before "called", the noun that follows, or the verb whose object it is.
    """
    copula = _COPULA.match(rest)
    words = copula[1].split() if copula else []
    words += [found[1] for found in (_CALLED.search(before), _HEAD.match(rest)) if found]
    indicated = [type_of_class(word) for word in words]
    indicated += [kind for kind, pattern in _BEFORE if pattern.search(before)]
    indicated += [kind for kind, pattern in _AFTER if pattern.match(rest)]
    return [kind for kind in indicated if kind != "concept"][:1]
