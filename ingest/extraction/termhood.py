"""Decides which names are worth an entity, by a logistic regression on their form, their use and their words.

It was fitted on 2,421 names that the rules of this package propose in 43 papers of ten fields, each judged by hand (is
it a name or a term of the field, with the right boundaries?). With a tenth of the weight, names that they propose in 45
papers of SciER's training set were added: those that are annotated as right, and as wrong those that share no word with
an annotation and that a model fitted without them takes for wrong. Fitted on five sixths of the papers, it separates
right and wrong names of the others with an area under the ROC curve of 0.82.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Self

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from ingest.extraction.mentions import PaperText
from ingest.extraction.name_types import bundled_vectors, features_of_form, probability_of_type, split_name
from ingest.extraction.part_of_speech import tag_words
from ingest.extraction.phrases import PhraseCount
from ingest.extraction.recognized import RecognizedNames
from ingest.extraction.terms import Term
from paperscope_core.text.words import plain_words, singular_key

__all__ = ["Termhood", "load_termhood", "worth_an_entity"]

# Parts of speech of the first and the last word that a weight is fitted for; C5 tags of nouns, adjectives, unknown
# words, numbers and verbs.
_TAGS = ("AJ0", "NN1", "NN2", "NN0", "NP0", "UNC", "VVG", "VVN", "VVD", "VVZ", "VVB", "CRD")
# How much the probability of a type counts, and the least score. Higher limits keep fewer wrong names (91 % of 263
# names above 1.8 are right in 12 papers of eight fields that nothing was fitted to, 88 % above 1.6) and lose names that
# SciER and SciREX annotate: F1 on the development sets of SciER, SciERC and SciREX is .518 at 1.8, .535 at this one.
# The weight of the type, 2.0 then, was raised on SciER's set when the types were fitted anew: F1 .658 to .663.
_TYPED = 2.6
_LEAST = 1.2
# How much the logarithm of a name's recognized places counts, and the least score then. Chosen on a half of the
# development sets of SciER and SciREX; on the other half F1 of the entities is higher for a limit from 1.8 to 2.2 than
# by rules alone, and precision, too. The limit of an abstract was chosen on a half of SciERC's.
_RECOGNIZED = 3.0
_LEAST_BESIDE_RECOGNIZED = 2.0
_LEAST_OF_ABSTRACT = -1.5
# Before a phrase: articles, determiners and possessives ("this", "our"), and "of".
_BEFORE = ("AT0", "DT0", "DPS", "PRF")
_MAX_WORDS = 5
_MAX_PIECES = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class _Model:
    """The weights of the features by name, and of the vectors of the first and the last word."""

    intercept: float
    weights: Mapping[str, float]
    first: NDArray[float32]
    last: NDArray[float32]


@cache
def _fitted() -> _Model:
    stored = json.loads((files("ingest.extraction") / "termhood.json").read_text(encoding="utf-8"))
    vectors = {name: np.array(stored[name], dtype=float32) for name in ("first", "last")}
    return _Model(intercept=stored["intercept"], weights=stored["weights"], **vectors)


def load_termhood() -> None:
    """Load the model. Raise ModelError if the weights that Paperscope is installed with are missing."""
    _fitted()
    bundled_vectors()


@dataclass(frozen=True, kw_only=True)
class Termhood:
    """What a paper says about its names: how they are used in its text, its headings and its bibliography."""

    text: PaperText
    counts: Mapping[str, PhraseCount]
    in_headings: Mapping[str, int]
    in_references: Mapping[str, int]

    @classmethod
    def of(cls, text: PaperText, counts: Mapping[str, PhraseCount]) -> Self:
        """Read the headings and the bibliography of a paper."""
        return cls(
            text=text,
            counts=counts,
            in_headings=_texts_holding(text.headings),
            in_references=_texts_holding(text.references),
        )

    def score(self, term: Term) -> float:
        """Return how likely a reader calls the term a name or a term of the field: the logarithm of the odds, raised by
        the probability that its name has a type, which a model of other texts tells (see `name_types`)."""
        model = _fitted()
        values, first, last = features_of(term, self)
        odds = model.intercept + sum(model.weights.get(name, 0.0) * value for name, value in values.items())
        odds += float(first @ model.first) + float(last @ model.last)
        return odds + _TYPED * probability_of_type(term.name)


def worth_an_entity(terms: Sequence[Term], paper: Termhood, names: RecognizedNames) -> tuple[Term, ...]:
    """Return the terms that are probably worth an entity, by their score and what a recognizer found.

    A text that is no longer than an abstract uses most of its terms once; without a recognizer it keeps all. What a
    recognizer did not find in running text is no evidence against names from a table's header or a definition.
    """
    if not names.weights:
        return tuple(term for term in terms if paper.text.short or paper.score(term) >= _LEAST)
    least = _LEAST_OF_ABSTRACT if paper.text.short else _LEAST_BESIDE_RECOGNIZED
    return tuple(
        term
        for term in terms
        if paper.score(term) + _RECOGNIZED * math.log1p(names.weight(term.forms))
        >= (min(least, _LEAST) if term.kept else least)
    )


def _texts_holding(texts: Iterable[str]) -> Counter[str]:
    """Return the number of texts that contain each run of words."""
    holding: Counter[str] = Counter()
    for text in texts:
        words = plain_words(text)
        sizes = range(1, _MAX_WORDS + 1)
        holding.update({" ".join(words[at : at + size]) for size in sizes for at in range(len(words) - size + 1)})
    return holding


def features_of(term: Term, paper: Termhood) -> tuple[dict[str, float], NDArray[float32], NDArray[float32]]:
    """Return the features of a term by name, and the vectors of its first and last word."""
    vectors = bundled_vectors()
    words = split_name(term.name) or [term.name]
    keys = {singular_key(form) for form in term.forms}
    used = [paper.counts[key] for key in sorted(keys & paper.counts.keys())]
    pieces = [vectors.pieces(word) or [0] for word in words]
    spelled = {" ".join(plain_words(form)) for form in term.forms} | {" ".join(plain_words(key)) for key in keys}
    values = {
        **features_of_form(term.name, words),
        **_features_of_use(used, paper.text),
        **_features_of_tags(words, used),
        "table": float(bool(term.tables)),
        "defined": float(bool(term.definition)),
        "searched": float(term.searched),
        "person": float(all(word in paper.text.persons for word in words)),
        "score": math.log1p(max(term.score, 0.0)),
        "headings": math.log1p(max(paper.in_headings.get(key, 0) for key in spelled)),
        "references": math.log1p(max(paper.in_references.get(key, 0) for key in spelled)),
        "first pieces": min(len(pieces[0]), _MAX_PIECES),
        "last pieces": min(len(pieces[-1]), _MAX_PIECES),
        "pieces": sum(map(len, pieces)) / len(pieces),
        "first rarity": vectors.rarity(pieces[0]),
        "last rarity": vectors.rarity(pieces[-1]),
        "rarest": max(vectors.rarity([piece]) for word in pieces for piece in word),
    }
    return values, vectors.vector(pieces[0]), vectors.vector(pieces[-1])


def _features_of_use(used: Sequence[PhraseCount], text: PaperText) -> dict[str, float]:
    """Return how often, where and after which words a name occurs."""
    times = sum(count.frequency for count in used)
    sentences = {number for count in used for number in count.sentences}
    elements = {text.sentences[number].element for number in sentences}
    share = 1 / max(times, 1)
    capital = sum(n for count in used for form, n in count.forms.items() if form[:1].isupper())
    before = sum((count.before for count in used), Counter[str]())
    return {
        "times": math.log1p(times),
        "sentences": math.log1p(len(sentences)),
        "elements": math.log1p(len(elements)),
        "not in sentences": float(not times),
        "once": float(times == 1),
        "in capitals": capital * share,
        "closing": sum(count.closing for count in used) * share,
        "opening": sum(count.opening for count in used) * share,
        "tied": sum(count.tied for count in used) * share,
        "continued": sum(count.continued for count in used) * share,
        "first": float(any(count.first for count in used)),
        "headed": float(any(count.headed for count in used)),
        "whole": float(any(count.whole for count in used)),
        "prominent": float(not text.prominent.isdisjoint(elements)),
        "captions": sum(text.sentences[number].caption for number in sentences) / max(len(sentences), 1),
        **{f"after {tag}": before[tag] * share for tag in _BEFORE},
        "at the beginning": before[""] * share,
    }


def _features_of_tags(words: Sequence[str], used: Sequence[PhraseCount]) -> dict[str, float]:
    """Return the parts of speech of the first and the last word."""
    if used:
        first, last = max(used, key=lambda count: count.frequency).tags
    else:
        tags = tag_words(words)
        first, last = tags[0], tags[-1]
    return {f"first {tag}": float(first == tag) for tag in _TAGS} | {f"last {tag}": float(last == tag) for tag in _TAGS}
