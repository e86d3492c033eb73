"""What two names' own words say for certain: that they are one, or that they are two."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ingest.extraction.mentions import is_coined
from ingest.extraction.variants import plainer_names
from paperscope.types import Entity, entity_key, singular_key

__all__ = ["are_surely_two", "narrows", "sure_pairs", "words_of"]

_ARTICLES = frozenset({"a", "an", "the"})
_VERSION = re.compile(r"\bv(?:er(?:sion)?)?\.? ?(?=\d)")
_BRACKETED = re.compile(r" \(([^()]*)\)")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_WORD = re.compile(r"[^\W_]+(?:\.\d+)*")
# Words that may stand behind a name and leave it what it is; any other word more makes it another thing.
_EMPTY = frozenset(
    "algorithm approach benchmark corpus dataset framework issue mechanism method metric measure model objective "
    "phenomenon problem procedure score strategy system task technique".split()
)
# Names that differ in two words of one line name two things.
_SIBLINGS = tuple(
    frozenset(line.split())
    for line in (
        "precision recall accuracy f1 f specificity sensitivity auc",
        "train training test testing dev development validation",
        "encoder decoder encoding decoding",
        "micro macro weighted",
        "positive negative neutral",
        "true false",
        "input output hidden",
        "forward backward bidirectional",
        "source target",
        "small base medium large tiny",
        "min minimum max maximum mean average median sum",
        "low high middle",
        "easy hard soft",
        "local global",
        "single multi multiple",
        "first second third last",
        "start end begin",
        "left right top bottom upper lower",
        "query key value",
        "word character sentence document paragraph token passage phrase span entity",
        "image text video audio speech table figure",
        "convex concave",
        "discrete continuous",
        "static dynamic",
        "explicit implicit",
        "linear quadratic cubic",
        "syntactic semantic",
        "dense sparse",
        "online offline",
        "question answer",
        "arabic chinese czech dutch english finnish french german hindi italian japanese korean polish portuguese "
        "russian spanish turkish",
    )
)
_NEGATIONS = ("un", "im", "in", "non", "dis", "anti", "mis", "a", "self", "semi", "multi", "sub", "pre", "post", "re")


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, each in the singular, without articles; numbers with their points."""
    folded = _VERSION.sub("", _plain(name))
    return tuple(singular_key(word) for word in _WORD.findall(folded) if word not in _ARTICLES)


def sure_pairs(terms: Sequence[Entity]) -> Iterator[tuple[str, str]]:
    """The ids of each two terms that are one: spelled alike but for spaces, plurals, accents, articles, brackets and
    the "v" of a version; or one no more than the other with its class or language ("BERT model", "English OntoNotes").
    """
    alike: dict[str, list[str]] = defaultdict(list)
    for term in terms:
        alike[_letters(term.name)].append(term.id)
    for ids in alike.values():
        yield from pairwise(ids)
    plainer = plainer_names([(term.name, *term.aliases) for term in terms], [term.type for term in terms])
    for number, home in plainer.items():
        yield terms[number].id, terms[home].id


def are_surely_two(one: str, other: str) -> bool:
    """Whether two names that are not spelled alike must name two things: their numbers, letters or signs differ, one is
    an acronym, their words stand in another order, or they differ in words that exclude each other."""
    first, second = words_of(one), words_of(other)
    left, right = _without(first, second), _without(second, first)
    if _marks(one) != _marks(other) or _marks_words(left) or _marks_words(right):
        return True
    if any(is_coined(word) for name in (one, other) for word in _own_words(name, {*left, *right})):
        return True
    if not left and not right:
        return True
    return any(_exclude(a, b) for a in left for b in right)


def narrows(one: str, other: str) -> bool:
    """Whether one name is the other with words that tell before or behind it: most often a kind or a part of it."""
    shorter, longer = sorted((words_of(one), words_of(other)), key=len)
    if _without(shorter, longer):
        return False
    return longer[: len(shorter)] != shorter or not _EMPTY.issuperset(longer[len(shorter) :])


def _plain(name: str) -> str:
    """`entity_key` without accents."""
    parts = unicodedata.normalize("NFKD", entity_key(name))
    return unicodedata.normalize("NFKC", "".join(part for part in parts if not unicodedata.combining(part)))


def _letters(name: str) -> str:
    """The name without what never tells two names apart; other signs ("+", "#") stay."""
    folded = _BRACKETED.sub(r" \1", _VERSION.sub("", _plain(name)))
    return "".join(singular_key(word) for word in folded.split() if word not in _ARTICLES)


def _without(words: Sequence[str], others: Sequence[str]) -> list[str]:
    left = list(words)
    for word in others:
        if word in left:
            left.remove(word)
    return left


def _marks(name: str) -> tuple[list[str], list[str]]:
    """The numbers of a name, and its signs but for those between words."""
    folded = _VERSION.sub("", _plain(name))
    return sorted(_NUMBER.findall(folded)), sorted(re.findall(r"[^\w\s'\u2019.,/&()]", folded))


def _marks_words(words: Sequence[str]) -> bool:
    """Whether a letter of its own ("model A") is among the words."""
    return any(len(word) == 1 for word in words)


def _own_words(name: str, keys: set[str]) -> Iterator[str]:
    """The words of a name, in its own spelling, that are among `keys`."""
    for word in re.findall(r"[^\W_]+", name):
        if singular_key(word) in keys:
            yield word


def _exclude(one: str, other: str) -> bool:
    if any(one in line and other in line for line in _SIBLINGS):
        return True
    return any(one == prefix + other or other == prefix + one for prefix in _NEGATIONS)
