"""Decides which names of one paper have the same meaning: by rules, or by a model."""

import asyncio
import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

import numpy as np
from numpy import float32
from numpy.typing import NDArray
from pydantic import BaseModel
from scipy.sparse import csr_array

import prompts
from ingest.extraction.entity_types import TypeSystem
from ingest.extraction.mentions import is_coined
from ingest.extraction.terms import plainer_names
from paperscope_core.errors import ModelError
from paperscope_core.models.structured import ask_json
from paperscope_core.protocols import LanguageModel
from paperscope_core.text.words import entity_key, singular_key
from paperscope_core.types import Entity, Message, ModelRequest, UnjudgedNames, Verdict
from prompts import as_data

__all__ = ["NameJudge", "Pair", "certain_pairs", "doubtful_pairs", "narrows", "surely_differ", "words_of"]


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


def words_of(name: str) -> tuple[str, ...]:
    """Returns the words of a name in the singular, without articles; decimal numbers are one word."""
    folded = _VERSION.sub("", _plain(name))
    return tuple(singular_key(word) for word in _WORD.findall(folded) if word not in _ARTICLES)


def certain_pairs(terms: Sequence[Entity]) -> Iterator[tuple[str, str]]:
    """Yields the ids of pairs of terms that certainly have the same meaning.

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
    """Whether two names certainly have different meanings: their numbers, single letters or signs differ, one is an
    acronym, only the order of their words differs, or they differ in words that exclude each other."""
    first, second = words_of(one), words_of(other)
    left, right = _without(first, second), _without(second, first)
    if _marks(one) != _marks(other) or _marks_words(left) or _marks_words(right):
        return True
    if any(is_coined(word) for name in (one, other) for word in _original_words(name, {*left, *right})):
        return True
    if not left and not right:
        return True
    return any(_exclude(a, b) for a in left for b in right)


def narrows(one: str, other: str) -> bool:
    """Whether one name is the other with additional words, which usually makes it a kind or a part of the other."""
    shorter, longer = sorted((words_of(one), words_of(other)), key=len)
    if _without(shorter, longer):
        return False
    return longer[: len(shorter)] != shorter or not _EMPTY.issuperset(longer[len(shorter) :])


def _plain(name: str) -> str:
    """`entity_key` without accents."""
    parts = unicodedata.normalize("NFKD", entity_key(name))
    return unicodedata.normalize("NFKC", "".join(part for part in parts if not unicodedata.combining(part)))


def _folded_letters(name: str) -> str:
    """Returns the name without characters that never distinguish names; signs such as "+" and "#" are kept."""
    folded = _BRACKETED.sub(r" \1", _VERSION.sub("", _plain(name)))
    return "".join(singular_key(word) for word in folded.split() if word not in _ARTICLES)


def _without(words: Sequence[str], others: Sequence[str]) -> list[str]:
    left = list(words)
    for word in others:
        if word in left:
            left.remove(word)
    return left


def _marks(name: str) -> tuple[list[str], list[str]]:
    """Returns the numbers and signs of a name, without punctuation."""
    folded = _VERSION.sub("", _plain(name))
    return sorted(_NUMBER.findall(folded)), sorted(re.findall(r"[^\w\s'\u2019.,/&()]", folded))


def _marks_words(words: Sequence[str]) -> bool:
    """Whether one of the words is a single letter ("model A")."""
    return any(len(word) == 1 for word in words)


def _original_words(name: str, keys: set[str]) -> Iterator[str]:
    """Yields the words of a name, in its own spelling, that are among `keys`."""
    for word in re.findall(r"[^\W_]+", name):
        if singular_key(word) in keys:
            yield word


def _exclude(one: str, other: str) -> bool:
    if any(one in line and other in line for line in _SIBLINGS):
        return True
    return any(one == prefix + other or other == prefix + one for prefix in _NEGATIONS)


def doubtful_pairs(
    terms: Sequence[Entity], vectors: NDArray[float32] | None, *, types: TypeSystem, limit: int
) -> list[tuple[Entity, Entity]]:
    """Pairs of similar names that no rule decides, the likeliest first; pairs in which one name narrows the other
    ("Sørensen–Dice coefficient") last.

    Args:
        terms: The terms of one paper.
        vectors: A unit-length row for each term, or None. Names are similar by the Dice coefficient of their trigrams,
            or by their vectors.
        types: The types of entities. The two types must be equal, or one of them the type for the rest.
        limit: The largest number of pairs.
    """
    likeness = _likeness([_trigrams(term.name) for term in terms]) / _LETTERS
    if vectors is not None:
        likeness = np.maximum(likeness, vectors @ vectors.T / _MEANING)
    found = []
    for first, second in np.argwhere(np.triu(likeness, k=1) >= 1.0).tolist():
        one, other = sorted((terms[first], terms[second]), key=lambda term: term.id)
        fits = one.type == other.type or types.rest in (one.type, other.type)
        if fits and not surely_differ(one.name, other.name):
            rank = (narrows(one.name, other.name), -round(float(likeness[first, second]), 4), one.id, other.id)
            found.append((rank, one, other))
    return [(one, other) for _, one, other in sorted(found, key=lambda item: item[0])[:limit]]


def _likeness(grams: Sequence[set[str]]) -> NDArray[float32]:
    """Returns the Dice coefficients of all pairs of sets, of shape (n, n)."""
    places = {gram: place for place, gram in enumerate(sorted(set().union(*grams)))}
    ends = np.cumsum([0, *map(len, grams)])
    columns = [places[gram] for one in grams for gram in one]
    rows = csr_array((np.ones(len(columns), dtype=float32), columns, ends), shape=(len(grams), max(len(places), 1)))
    sizes = np.array([max(len(one), 1) for one in grams], dtype=float32)
    return np.asarray(2 * (rows @ rows.T).toarray() / (sizes[:, None] + sizes[None, :]), dtype=float32)


def _trigrams(name: str) -> set[str]:
    """Returns the trigrams of the name's words, which are padded with spaces."""
    return {gram for word in words_of(name) for gram in _runs(f" {word} ")}


def _runs(word: str) -> Iterator[str]:
    yield from ("".join(run) for run in zip(word, word[1:], word[2:], strict=False))


class JudgedPair(BaseModel):
    """A verdict in a model's reply."""

    pair: str
    reason: str
    same: bool


class JudgedPairs(BaseModel):
    """A model's reply to a batch of pairs."""

    pairs: Sequence[JudgedPair]


class NameJudge:
    """Asks a model whether names mean the same; wrappers of the model limit and cache the calls."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    async def judge(
        self, pairs: Sequence[Pair], *, near: Mapping[str, Sequence[str]] = MappingProxyType({})
    ) -> list[Verdict | UnjudgedNames]:
        """A verdict for each pair, or the reason why there is none: the call failed, or the reply leaves the pair out
        or contradicts itself.

        All calls run at once; errors other than ModelError are raised when all have ended.

        Args:
            pairs: Pairs of entities of one paper.
            near: The names of each entity's neighbours, by its id.
        """
        calls = [pairs[start : start + _PAIRS_A_CALL] for start in range(0, len(pairs), _PAIRS_A_CALL)]
        found = await asyncio.gather(*(self._judge(call, near) for call in calls), return_exceptions=True)
        judged: list[Verdict | UnjudgedNames] = []
        for batch, outcome in zip(calls, found, strict=True):
            if isinstance(outcome, ModelError):
                judged += [UnjudgedNames(names=_names_of(pair), reason=str(outcome)) for pair in batch]
            elif isinstance(outcome, BaseException):
                raise outcome
            else:
                judged += outcome
        return judged

    async def _judge(self, pairs: Sequence[Pair], near: Mapping[str, Sequence[str]]) -> list[Verdict | UnjudgedNames]:
        named = {f"P{number}": pair for number, pair in enumerate(pairs, start=1)}
        reply, _ = await ask_json(
            self._model, _request(named, near), JudgedPairs, accept=lambda reply: _by_pair(reply).keys() >= named.keys()
        )
        said = _by_pair(reply)
        return [_outcome(pair, said.get(name, ())) for name, pair in named.items()]


def _by_pair(reply: JudgedPairs) -> Mapping[str, Sequence[JudgedPair]]:
    said: dict[str, list[JudgedPair]] = defaultdict(list)
    for one in reply.pairs:
        said[one.pair].append(one)
    return said


def _outcome(pair: Pair, said: Sequence[JudgedPair]) -> Verdict | UnjudgedNames:
    if len({one.same for one in said}) != 1:
        reason = "the reply contradicts itself" if said else "the reply leaves the pair out"
        return UnjudgedNames(names=_names_of(pair), reason=reason)
    reason = " ".join(said[0].reason.split())[:_REASON]
    return Verdict(names=_names_of(pair), same=said[0].same, reason=reason)


def _names_of(pair: Pair) -> tuple[str, str]:
    return pair[0].name, pair[1].name


def _request(pairs: Mapping[str, Pair], near: Mapping[str, Sequence[str]]) -> ModelRequest:
    lines = [
        f"{name} {json.dumps([_described(one, near.get(one.id, ())) for one in pair], ensure_ascii=False)}"
        for name, pair in pairs.items()
    ]
    system, user = prompts.load("judge_names", placeholders=frozenset({"pairs"})).fill(pairs=as_data("\n".join(lines)))
    return ModelRequest(
        messages=(Message(role="system", text=system), Message(role="user", text=user)), schema_name="same_names"
    )


def _described(entity: Entity, near: Sequence[str]) -> dict[str, str | list[str]]:
    return {
        "name": entity.name,
        "type": entity.type,
        "also": list(entity.aliases[:_MOST_ALIASES]),
        "near": list(near[:_MOST_NEAR]),
        "said": entity.description[:_DESCRIPTION],
    }
