"""Decides which names are worth an entity, by a logistic regression on their form, their use and their words.

The weights for computer science were fitted on 2,421 names that the rules of this package propose in 43 papers of ten
fields, each judged by hand (is it a name or a term of the field, with the right boundaries?), and, with a tenth of the
weight, on names in 45 papers of SciER's training set. Those for other fields start from them and were fitted on 1,310
names of 24 papers of ten fields, judged in the same way. A paper gets the mean of both scores, weighted by how many of
its names have a type. Fitted on six sevenths of the 24 papers, what is kept in the other papers, of which 80 % were
right in fields other than computer science by the first weights alone, is right for 87 %.
"""

import json
import math
import re
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
# The least score of a name, beside a recognizer and by rules alone, in an abstract, and of a name that a table's header
# or a definition states: what a recognizer does not find in running text is no evidence against it. Those beside a
# recognizer were chosen on a half of the development sets of SciER, SciREX and SciERC.
_LEAST, _LEAST_BY_RULES, _LEAST_OF_ABSTRACT, _LEAST_OF_STATED = 2.0, 1.2, -1.5, 0.7
# An address of mail, and the operators of a formula or of logic.
_NO_NAME = re.compile(r"\S@[^\s@]{1,80}\.[A-Za-z]{2}|[∧∨¬∀∃∈∉⊂⊆∩∪∑∏∫√≤≥≠≈]")
# Before a phrase: articles, determiners and possessives ("this", "our"), and "of".
_BEFORE = ("AT0", "DT0", "DPS", "PRF")
_INITIAL_LETTERS = 3
_MAX_WORDS = 5
_MAX_PIECES = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class _Weights:
    """The weights of the features by name, and of the vectors of the first and the last word."""

    intercept: float
    weights: Mapping[str, float]
    first: NDArray[float32]
    last: NDArray[float32]

    def odds(self, values: Mapping[str, float], first: NDArray[float32], last: NDArray[float32]) -> float:
        """Return the logarithm of the odds of what has these features."""
        odds = self.intercept + sum(weight * values.get(name, 0.0) for name, weight in self.weights.items())
        return odds + float(first @ self.first) + float(last @ self.last)


@cache
def _fitted() -> Mapping[str, _Weights]:
    """Return the weights for papers of computer science, and those for papers of other fields."""
    stored = json.loads((files("ingest.extraction") / "termhood.json").read_text(encoding="utf-8"))
    return {
        field: _Weights(
            intercept=part["intercept"],
            weights=part["weights"],
            first=np.array(part["first"], dtype=float32),
            last=np.array(part["last"], dtype=float32),
        )
        for field, part in stored.items()
    }


def load_termhood() -> None:
    """Load the model. Raise ModelError if the weights that Paperscope is installed with are missing."""
    _fitted()
    bundled_vectors()


@dataclass(frozen=True, kw_only=True)
class Termhood:
    """What a paper says about its names: how they are used in its text, its headings and its bibliography, and what a
    recognizer found."""

    text: PaperText
    counts: Mapping[str, PhraseCount]
    names: RecognizedNames
    in_headings: Mapping[str, int]
    in_references: Mapping[str, int]

    @classmethod
    def of(cls, text: PaperText, counts: Mapping[str, PhraseCount], names: RecognizedNames) -> Self:
        """Read the headings and the bibliography of a paper."""
        return cls(
            text=text,
            counts=counts,
            names=names,
            in_headings=_texts_holding(text.headings),
            in_references=_texts_holding(text.references),
        )

    def score(self, term: Term) -> float:
        """Return how likely a reader calls the term a name or a term of the field: the logarithm of the odds."""
        features, fitted, near = features_of(term, self), _fitted(), self.names.typed
        return near * fitted["computer science"].odds(*features) + (1 - near) * fitted["other fields"].odds(*features)


def worth_an_entity(terms: Sequence[Term], paper: Termhood) -> tuple[Term, ...]:
    """Return the terms that are probably worth an entity. Addresses and formulas are none, whatever their words.

    A text that is no longer than an abstract uses most of its terms once; without a recognizer it keeps all.
    """
    recognized = bool(paper.names.weights)
    if paper.text.short:
        least = _LEAST_OF_ABSTRACT if recognized else -math.inf
    else:
        least = _LEAST if recognized else _LEAST_BY_RULES
    least_of_stated = min(least, _LEAST_OF_STATED)
    named = (term for term in terms if not _NO_NAME.search(term.name))
    return tuple(term for term in named if paper.score(term) >= (least_of_stated if term.kept else least))


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
        **_features_of_type(term, words[-1], paper.names),
        "table": float(bool(term.tables)),
        "defined": float(bool(term.definition)),
        "searched": float(term.searched),
        "person": float(all(word in paper.text.persons for word in words)),
        "initials": float(_ends_with_initials(term.name.split())),
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
        **_features_of_sentences([text.sentences[number].text for number in sentences]),
    }


def _ends_with_initials(words: Sequence[str]) -> bool:
    """Return whether a name is written as in a bibliography ("Keesing F", "Bockarie MJ")."""
    return len(words) > 1 and words[0][:1].isupper() and words[-1].isupper() and len(words[-1]) <= _INITIAL_LETTERS


def _features_of_sentences(sentences: Sequence[str]) -> dict[str, float]:
    """Return what sets addresses, references and lines of tables apart from sentences: a mean over the sentences."""
    found = [_features_of_sentence(sentence) for sentence in sentences]
    return {name: sum(one[name] for one in found) / len(found) for name in found[0]} if found else {}


def _features_of_sentence(sentence: str) -> dict[str, float]:
    words = [word.strip(".,;:()[]") for word in sentence.split()]
    size = max(len(words), 1)
    signs = sum(not (character.isalnum() or character == " ") for character in sentence)
    return {
        "sentence capitals": sum(word[:1].isupper() for word in words) / size,
        "sentence digits": sum(any(map(str.isdigit, word)) for word in words) / size,
        "sentence initials": sum(len(word) <= _INITIAL_LETTERS and word.isupper() for word in words) / size,
        "sentence length": math.log1p(size),
        "sentence signs": signs / max(len(sentence), 1),
    }


def _features_of_type(term: Term, last: str, names: RecognizedNames) -> dict[str, float]:
    """Return how probable a type is by the words of the name and by the last one alone ("macro F1" is an F1), and how
    often and how surely a recognizer found it."""
    probability, of_last = probability_of_type(term.name), probability_of_type(last)
    return {
        "type": probability,
        "type of last": of_last,
        "type of last stated": of_last * term.kept,
        "recognized": math.log1p(names.weight(term.forms)),
    }


def _features_of_tags(words: Sequence[str], used: Sequence[PhraseCount]) -> dict[str, float]:
    """Return the parts of speech of the first and the last word."""
    if used:
        first, last = max(used, key=lambda count: count.frequency).tags
    else:
        tags = tag_words(words)
        first, last = tags[0], tags[-1]
    return {f"first {tag}": float(first == tag) for tag in _TAGS} | {f"last {tag}": float(last == tag) for tag in _TAGS}
