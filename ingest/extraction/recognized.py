"""The names that a trained recognizer finds in a paper's text."""

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import Self, get_args

from ingest.document.element_text import element_text
from ingest.extraction.entity_types import TermType
from ingest.extraction.recognizer.examples import Example, Span
from ingest.extraction.terms import Term
from paperscope_core.text.acronyms import find_definitions
from paperscope_core.text.sentences import split_sentences
from paperscope_core.text.words import STOP_WORDS, singular_key
from paperscope_core.types import Paper, Passage

__all__ = ["RecognizedNames", "texts_to_recognize"]

_READ = frozenset({"abstract", "paragraph", "list", "footnote"})
_TYPES: Mapping[str, TermType] = {name: name for name in get_args(TermType)}
_WORD = re.compile(r"[^\W_]+(?:['\u2019.&/+-][^\W_]+)*")
# How much of a paper's words a recognizer reads: a half, but whole abstracts, and no more than of a long paper. On
# SciER and SciREX, a half chosen by words gives two thirds of the gain in F1 from reading all, and 60 % three quarters.
_SHARE, _LEAST_WORDS, _MOST_WORDS = 0.5, 400, 10_000
# How much a word counts after each time that it was read, and how many words a sentence costs besides its own.
_REPEATED, _AS_LONG = 0.3, 4
# The bytes of a word in writing without spaces: sentences of English have about 6 a word, hardly one more than this.
_MOST_BYTES = 12
# The least weight of a name: one place with this confidence, or several with less. On the development sets of SciER and
# SciREX, F1 hardly differs between 0.5 and 0.8.
_LEAST_WEIGHT = 0.7
# A recognized name ranks with phrases that occur once.
_SCORE = 0.5
# How much a place counts where the recognizer says that a name is of none of its types. On SciER's development set a
# choice between 0 and 1 changes F1 by .002; in papers of other fields this one leaves out persons and places.
_UNTYPED = 0.5
# The least probability of a type in a paper most of whose names have none.
_LEAST_RIGHT = 0.75


@dataclass(frozen=True, kw_only=True, slots=True)
class RecognizedNames:
    """Names by `singular_key`: their spellings, and the sum of the confidences of each type over all places.

    `typed` is the share of this sum that types other than concept have: 0.3 to 1 in papers of computer science (the
    median of SciER's is 0.97, of SciREX's 0.81), less in those of other fields, and 1 if nothing was found.
    """

    spellings: Mapping[str, Counter[str]] = field(default_factory=dict)
    weights: Mapping[str, Mapping[TermType, float]] = field(default_factory=dict)
    typed: float = 1.0

    @classmethod
    def of(cls, found: Iterable[Example]) -> Self:
        """Gather what a recognizer found; labels that are no types are left out."""
        spellings: dict[str, Counter[str]] = defaultdict(Counter)
        weights: dict[str, dict[TermType, float]] = defaultdict(lambda: defaultdict(float))
        for example in found:
            for span in example.spans:
                type_ = _TYPES.get(span.label.casefold())
                confidence = 1.0 if span.confidence is None else span.confidence
                for name in _names_in(example.text, span):
                    key = singular_key(name)
                    if type_ is not None and key:
                        spellings[key][name] += 1
                        weights[key][type_] += confidence
        untyped = sum(votes.get("concept", 0.0) for votes in weights.values())
        total = sum(sum(votes.values()) for votes in weights.values())
        # Of few names, one without a type says little.
        return cls(spellings=spellings, weights=weights, typed=(total - untyped + 1) / (total + 1))

    def terms(self) -> Iterator[Term]:
        """Yield the names as candidates, without those that are probably not names."""
        for key, spellings in self.spellings.items():
            if sum(self.weights[key].values()) < _LEAST_WEIGHT:
                continue
            forms = tuple(form for form, _ in sorted(spellings.items(), key=lambda item: (-item[1], item[0])))
            type_ = self._likeliest(self.weights[key])
            yield Term(forms=forms, type=type_, score=_SCORE, single=spellings.total() == 1)

    def type_of(self, forms: Sequence[str]) -> TermType | None:
        """Return the type with the highest sum of confidences over all places of a term's forms; None for no place, for
        concept, and if it is not trusted."""
        votes = self._votes(forms)
        best = self._likeliest(votes) if votes else "concept"
        places = sum(self.spellings[key].total() for key in self._keys(forms))
        return best if best != "concept" and self.trusts(votes[best] / places) else None

    def trusts(self, probability: float) -> bool:
        """Return whether a type with this probability is right in this paper.

        A probability holds for papers of computer science, most of whose names have a type. In a paper with fewer, its
        odds are multiplied by those of having a type there (Saerens et al. 2002, "Adjusting the Outputs of a Classifier
        to New a Priori Probabilities"), and three of four have to be right.
        """
        right, wrong = probability * self.typed, (1 - probability) * (1 - self.typed)
        return self.typed >= 1 / 2 or right >= _LEAST_RIGHT * (right + wrong)

    def weight(self, forms: Iterable[str]) -> float:
        """Return the sum of confidences over all places of a term's forms: about how often it is a name."""
        return sum(weight * (_UNTYPED if label == "concept" else 1.0) for label, weight in self._votes(forms).items())

    def _keys(self, forms: Iterable[str]) -> set[str]:
        return {singular_key(form) for form in forms} & self.weights.keys()

    def _votes(self, forms: Iterable[str]) -> Mapping[TermType, float]:
        votes: dict[TermType, float] = defaultdict(float)
        for key in self._keys(forms):
            for label, weight in self.weights[key].items():
                votes[label] += weight
        return votes

    @staticmethod
    def _likeliest(votes: Mapping[TermType, float]) -> TermType:
        # Of equal sums the first label of the alphabet, so that the order of names does not matter.
        return min(votes, key=lambda label: (-votes[label], label))


def texts_to_recognize(paper: Paper) -> Sequence[Example]:
    """Return the sentences of a paper's running text that a recognizer is to read, in their order.

    Reading all takes twice as long. Most names of a paper are in a half of its sentences
    that is chosen by their words: always the sentence that has, for its length, the most words that were not read yet.
    """
    sentences = [
        Example(id=element.id, text=" ".join(sentence.split()), tokens=(), spans=(), document=paper.id)
        for element in paper.elements
        if isinstance(element, Passage) and element.role in _READ
        for sentence in split_sentences(element_text(element))
    ]
    lengths = [_words(sentence.text) for sentence in sentences]
    left = min(max(_SHARE * sum(lengths), _LEAST_WORDS), _MOST_WORDS)
    chosen = []
    for number in _by_news([sentence.text for sentence in sentences]):
        if lengths[number] <= left:
            left -= lengths[number]
            chosen.append(number)
    return [sentences[number] for number in sorted(chosen)]


def _names_in(text: str, place: Span) -> Sequence[str]:
    """Return the names of a place: the two of its definition ("image segmentation (IS)"), or itself.

    A place that opens a bracket and ends before the one that closes it includes that one.
    """
    found = text[place.start : place.end]
    if found.count("(") > found.count(")") and text[place.end :].startswith(")"):
        found += ")"
    found = " ".join(found.split())
    return [name for one in find_definitions(found) for name in (one.long, one.short)] or [found]


def _words(text: str) -> int:
    """Return the number of words, as many as its bytes would make if it is written without spaces."""
    return max(text.count(" ") + 1, len(text.encode()) // _MOST_BYTES)


def _by_news(texts: Sequence[str]) -> Iterator[int]:
    """Yield the number of the text with the most new words for its length, then of the next best, and so on."""
    # Texts with the same words are compared as one: to compare each of many takes quadratic time.
    same: dict[tuple[tuple[str, ...], int], deque[int]] = defaultdict(deque)
    for number, text in enumerate(texts):
        new = {word for word in _WORD.findall(text) if word.casefold() not in STOP_WORDS and not word.isdigit()}
        same[tuple(sorted(new)), _words(text) + _AS_LONG - 1].append(number)
    read: Counter[str] = Counter()

    def news(words: tuple[str, ...], length: int) -> float:
        return sum(_REPEATED ** read[word] for word in words) / length

    heap = [(-news(*key), numbers[0], key) for key, numbers in same.items()]
    heapify(heap)
    while heap:
        _, number, key = heappop(heap)
        now = (-news(*key), number, key)
        # A text's number of new words only falls while others are read.
        if heap and heap[0] < now:
            heappush(heap, now)
            continue
        read.update(key[0])
        yield same[key].popleft()
        if same[key]:
            heappush(heap, (-news(*key), same[key][0], key))
