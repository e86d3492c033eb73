"""Decides which names of one paper have the same meaning: by rules, or by a model."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy import float32
from numpy.typing import NDArray
from pydantic import BaseModel

from ingest.extraction.entity_types import TypeSystem
from ingest.extraction.mentions import is_coined
from ingest.extraction.model_batches import ask_in_batches
from ingest.extraction.terms import plainer_names
from paperscope_core.errors import ModelError
from paperscope_core.protocols import LanguageModel
from paperscope_core.text.words import entity_key, singular_key
from paperscope_core.types import Entity, UnjudgedNames, Verdict

__all__ = ["Pair", "certain_pairs", "doubtful_pairs", "judge_names", "surely_differ"]

_ARTICLES = frozenset({"a", "an", "the"})
_VERSION = re.compile(r"\bv(?:er(?:sion)?)?\.? ?(?=\d)")
_BRACKETED = re.compile(r" \(([^()]*)\)")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_WORD = re.compile(r"[^\W_]+(?:\.\d+)*")
# Words that may follow a name without changing its meaning.
_EMPTY = frozenset(
    "algorithm approach benchmark corpus dataset framework issue mechanism method metric measure model objective "
    "phenomenon problem procedure score strategy system task technique".split()
)
# Words that exclude each other: names that differ in two words of one line have different meanings.
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
_LETTERS = 0.65
_MEANING = 0.8
_PAIRS_A_CALL = 30
_DESCRIPTION = 240
_REASON = 300
_MOST_ALIASES = 5
_MOST_NEAR = 6
Pair = tuple[Entity, Entity]


def certain_pairs(terms: Sequence[Entity]) -> Iterator[tuple[str, str]]:
    """Yield the ids of pairs of terms that certainly have the same meaning.

    Their spellings differ only in spaces, plurals, accents, articles, brackets and the "v" of a version; or one is the
    other with its class or language ("BERT model", "English OntoNotes").
    """
    alike: dict[str, list[str]] = defaultdict(list)
    for term in terms:
        alike[_folded_letters(term.name)].append(term.id)
    for ids in alike.values():
        yield from pairwise(ids)
    plainer = plainer_names([(term.name, *term.aliases) for term in terms], [term.type for term in terms])
    for number, home in plainer.items():
        yield terms[number].id, terms[home].id


def surely_differ(one: str, other: str) -> bool:
    """Return whether two names certainly have different meanings: their numbers, single letters or signs differ, one is
    an acronym, only the order of their words differs, or they differ in words that exclude each other."""
    first, second = Counter(_words(one)), Counter(_words(other))
    left, right = first - second, second - first
    differing = left + right
    if _numbers_and_signs(one) != _numbers_and_signs(other) or any(len(word) == 1 for word in differing):
        return True
    spelled = [word for name in (one, other) for word in re.findall(r"[^\W_]+", name)]
    if any(is_coined(word) and singular_key(word) in differing for word in spelled):
        return True
    return not differing or any(_exclude(a, b) for a in left for b in right)


def _narrows(one: str, other: str) -> bool:
    """Return whether one name is the other with additional words, which usually makes it a kind or a part of the
    other."""
    shorter, longer = sorted((_words(one), _words(other)), key=len)
    if Counter(shorter) - Counter(longer):
        return False
    return longer[: len(shorter)] != shorter or not _EMPTY.issuperset(longer[len(shorter) :])


def _words(name: str) -> list[str]:
    """Return the words of a name in the singular, without articles; decimal numbers are one word."""
    folded = _VERSION.sub("", _plain(name))
    return [singular_key(word) for word in _WORD.findall(folded) if word not in _ARTICLES]


def _plain(name: str) -> str:
    """`entity_key` without accents."""
    parts = unicodedata.normalize("NFKD", entity_key(name))
    return unicodedata.normalize("NFKC", "".join(part for part in parts if not unicodedata.combining(part)))


def _folded_letters(name: str) -> str:
    """Return the name without characters that never distinguish names; signs such as "+" and "#" are kept."""
    folded = _BRACKETED.sub(r" \1", _VERSION.sub("", _plain(name)))
    return "".join(singular_key(word) for word in folded.split() if word not in _ARTICLES)


def _numbers_and_signs(name: str) -> tuple[list[str], list[str]]:
    folded = _VERSION.sub("", _plain(name))
    return sorted(_NUMBER.findall(folded)), sorted(re.findall(r"[^\w\s'\u2019.,/&()]", folded))


def _exclude(one: str, other: str) -> bool:
    siblings = any({one, other} <= line for line in _SIBLINGS)
    return siblings or any(one == prefix + other or other == prefix + one for prefix in _NEGATIONS)


def doubtful_pairs(
    terms: Sequence[Entity], vectors: NDArray[float32] | None, *, types: TypeSystem, limit: int
) -> list[tuple[Entity, Entity]]:
    """Return pairs of similar names that no rule decides, the likeliest first; pairs in which one name narrows the
    other ("Sørensen–Dice coefficient") last.

    Args:
        vectors: A unit-length row for each term, or None. Names are similar by the Dice coefficient of their trigrams,
            or by their vectors.
        types: The types of entities. The two types must be equal, or one of the two the type for the rest.
    """
    likeness = _likeness([_trigrams(term.name) for term in terms]) / _LETTERS
    if vectors is not None:
        likeness = np.maximum(likeness, vectors @ vectors.T / _MEANING)
    found = []
    for first, second in np.argwhere(np.triu(likeness, k=1) >= 1.0).tolist():
        one, other = sorted((terms[first], terms[second]), key=lambda term: term.id)
        fits = one.type == other.type or types.rest in (one.type, other.type)
        if fits and not surely_differ(one.name, other.name):
            rank = (_narrows(one.name, other.name), -round(float(likeness[first, second]), 4), one.id, other.id)
            found.append((rank, one, other))
    return [(one, other) for _, one, other in sorted(found, key=lambda item: item[0])[:limit]]


def _likeness(trigrams: Sequence[set[str]]) -> NDArray[float32]:
    """Return the Dice coefficients of all pairs of sets, of shape (n, n)."""
    having: dict[str, list[int]] = defaultdict(list)
    for number, one in enumerate(trigrams):
        for trigram in one:
            having[trigram].append(number)
    # Comparing the sets one by one takes 25 times as long. SciPy's sparse matrices multiply 2,000 names in half of this
    # time, but take 0.17 s to import, as long as this takes for them.
    shared = np.zeros((len(trigrams), len(trigrams)), dtype=float32)
    for numbers in having.values():
        shared[np.ix_(numbers, numbers)] += 1
    sizes = np.array([max(len(one), 1) for one in trigrams], dtype=float32)
    return np.asarray(2 * shared / (sizes[:, None] + sizes[None, :]), dtype=float32)


def _trigrams(name: str) -> set[str]:
    """Return the trigrams of the name's words, which are padded with spaces."""
    padded = [f" {word} " for word in _words(name)]
    return {word[start : start + 3] for word in padded for start in range(len(word) - 2)}


class JudgedPair(BaseModel):
    """A verdict in a model's reply."""

    pair: str
    reason: str
    same: bool


class JudgedPairs(BaseModel):
    """A model's reply to a batch of pairs."""

    pairs: Sequence[JudgedPair]


async def judge_names(
    model: LanguageModel, pairs: Sequence[Pair], *, near: Mapping[str, Sequence[str]]
) -> list[Verdict | UnjudgedNames]:
    """Ask a model whether names mean the same.

    Args:
        pairs: Pairs of entities of one paper.
        near: The names of each entity's neighbours, by its id.

    Returns:
        A verdict for each pair, or the reason for its absence: the call failed, or the reply leaves the pair out or
        contradicts itself.

    Raises:
        PaperscopeError: An error other than ModelError, when all calls have ended.
    """
    answers = await ask_in_batches(
        model,
        [[_described(entity, near.get(entity.id, ())) for entity in pair] for pair in pairs],
        size=_PAIRS_A_CALL,
        prefix="P",
        prompt="judge_names",
        placeholder="pairs",
        schema_name="same_names",
        reply=JudgedPairs,
        answers=_by_pair,
    )
    return [_outcome(pair, answer) for pair, answer in zip(pairs, answers, strict=True)]


def _described(entity: Entity, near: Sequence[str]) -> dict[str, str | list[str]]:
    return {
        "name": entity.name,
        "type": entity.type,
        "also": list(entity.aliases[:_MOST_ALIASES]),
        "near": list(near[:_MOST_NEAR]),
        "said": entity.description[:_DESCRIPTION],
    }


def _by_pair(reply: JudgedPairs) -> Mapping[str, Sequence[JudgedPair]]:
    judged: dict[str, list[JudgedPair]] = defaultdict(list)
    for one in reply.pairs:
        judged[one.pair].append(one)
    return judged


def _outcome(pair: Pair, answer: Sequence[JudgedPair] | ModelError | None) -> Verdict | UnjudgedNames:
    names = (pair[0].name, pair[1].name)
    if isinstance(answer, ModelError):
        return UnjudgedNames(names=names, reason=str(answer))
    if not answer:
        return UnjudgedNames(names=names, reason="the reply leaves the pair out")
    if len({one.same for one in answer}) > 1:
        return UnjudgedNames(names=names, reason="the reply contradicts itself")
    return Verdict(names=names, same=answer[0].same, reason=" ".join(answer[0].reason.split())[:_REASON])
