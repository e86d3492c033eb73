"""Sentences as evidence: what of a question each accounts for, and how well it reads alone."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from paperscope_core.text.sentences import split_sentences
from paperscope_core.types import Element, Equation, Evidence
from query.extractive.entries import entries
from query.extractive.question import Question
from query.extractive.weights import Weights
from query.extractive.words import FUNCTION_WORDS, beginning, distinct, likeness, tokens

__all__ = ["SHORTEST", "Quote", "Scorer", "complementing", "texts_of"]


_ROLES = ("abstract", "paragraph", "list", "footnote")
# What a sentence holds counts whole; what stands beside it and over its section half, the rest of its passage less.
_NEAR = 0.5
_FAR = 0.15
SHORTEST = 4
"""How many words a sentence needs to be quoted."""
_NEW = 0.34
_ADDS = 0.15
_DIFFERS = 0.05
# Two sentences hold more words than one by chance alone.
_PAIR = 0.9
_CLOSE = 0.1
_MOST_QUOTES = 3
_LONGEST = 90
_PRONOUN = re.compile(r"(?:It|Its|They|Their|This|These|That|Those|Such|Both|He|She)\b")
_CAUSE = re.compile(
    r"\b(?:because|since|due to|owing to|in order to|so that|therefore|thus|caused? by)\b", re.IGNORECASE
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Quote:
    """One sentence, or two that stand together, and the element they stand in. `held` are the question's word indices
    that they account for, `around` those that their surroundings do, `coverage` the weighted share of both,
    `likeness` the cosine with the question, `rank` how it stands to the other candidates, `score` how probable it is
    that it answers, 0 where it may not. `said` is what to quote: with the sentence that a pronoun points back to, and
    the one that a bare repetition of the question leads to. `symbols` explains the `equation`'s."""

    sentences: tuple[str, ...]
    said: str
    element: Element
    held: frozenset[int]
    around: frozenset[int]
    coverage: float
    equation: Equation | None = None
    symbols: Evidence | None = None
    likeness: float = 0.0
    rank: float = 0.0
    score: float = 0.0

    @property
    def text(self) -> str:
        """The sentences that were scored."""
        return " ".join(self.sentences)

    @property
    def shown(self) -> str:
        """The quotation with its place, and the display equation that it leads to."""
        page = self.element.place.where
        if self.equation is None:
            return f"“{self.said}” ({page})"
        behind = self.symbols.quote if self.symbols is not None else ""
        said = " ".join(filter(None, (self.said, self.equation.text, behind)))
        return f"“{said}” ({self.equation.label}, {page})" if self.equation.label else f"“{said}” ({page})"

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Where it stands, and the places of the equation and its explanation after it."""
        own = Evidence(element=self.element.id, place=self.element.place, quote=self.said)
        if self.equation is None:
            return (own,)
        formula = Evidence(element=self.equation.id, place=self.equation.place, quote=self.equation.text)
        leading = (own,) if self.said else ()
        return (*leading, formula, self.symbols) if self.symbols is not None else (*leading, formula)


class Scorer:
    """Tells which of one question's telling words a text holds, and what share of the question that is."""

    def __init__(self, question: Question, weights: Weights) -> None:
        self._question = question
        self._weights = {index: weights.of(question.words[index].text) for index in question.telling}
        self._forms = {
            index: weights.alike(question.words[index].text) | {question.words[index].text}
            for index in question.telling
        }
        self._asked: dict[str, bool] = {}
        self._begun: defaultdict[str, list[str]] = defaultdict(list)
        for word in question.words:
            self._begun[beginning(word.text)].append(word.text)
        self._compares = question.kind in ("difference", "comparison")
        # What a formula is asked for, or what is compared counts twice.
        self._total = self.weight(question.telling) + self.weight(question.focus & question.telling)

    def weight(self, at: Iterable[int]) -> float:
        """The summed weight of the question's words at these indices."""
        return sum(self._weights.get(index, 0.0) for index in at)

    def held(self, text: str) -> frozenset[int]:
        """The question's words that stand in a text, inflected or not."""
        words = distinct(text)
        return frozenset(index for index, forms in self._forms.items() if not forms.isdisjoint(words))

    def coverage(self, held: frozenset[int], near: frozenset[int], far: frozenset[int]) -> float:
        """The share of the question that a text accounts for with its neighbours and the rest of its passage."""
        near, far = near - held, far - held - near
        own = self.weight(held) + self.weight(held & self._question.focus)
        return (own + _NEAR * self.weight(near) + _FAR * self.weight(far)) / self._total if self._total else 0.0

    def quotes(self, element: Element, section: str) -> list[Quote]:
        """The sentences of an element that hold a telling word, and pairs of neighbours that each add to the other."""
        texts = texts_of(element, bibliographic=self._question.bibliographic)
        # Words printed within a figure say what its caption is about; by themselves they are no sentence.
        title = self.held(f"{section}\n{element.text}" if element.kind == "figure" else section)
        held = [self.held(text) for text in texts]
        spans = [(index, index + 1) for index in range(len(texts))]
        adds = (_DIFFERS if self._compares else _ADDS) * self._total
        spans += [
            (index, index + 2)
            for index, (one, other) in enumerate(pairwise(held))
            if self._question.kind != "reason" and self.weight(one - other) >= adds and self.weight(other - one) >= adds
        ]
        found = (self._quote(element, texts, held, span, title) for span in spans)
        return [quote for quote in found if quote.held and len(quote.text.split()) >= SHORTEST]

    def _quote(
        self,
        element: Element,
        texts: Sequence[str],
        held: Sequence[frozenset[int]],
        span: tuple[int, int],
        title: frozenset[int],
    ) -> Quote:
        start, end = span
        own = frozenset[int]().union(*held[start:end])
        near = title.union(*held[max(start - 1, 0) : end + 1])
        far = frozenset[int]().union(*held)
        return Quote(
            sentences=tuple(texts[start:end]),
            said=self._said(texts, start, end),
            element=element,
            held=own,
            around=(near | far) - own,
            coverage=self.coverage(own, near, far) * (1.0 if end == start + 1 or self._compares else _PAIR),
        )

    def _said(self, texts: Sequence[str], start: int, end: int) -> str:
        while start > 0 and _PRONOUN.match(texts[start]) and _words(texts[start - 1 : end]) <= _LONGEST:
            start -= 1
        if self._question.kind == "reason":
            while end < len(texts) and _unexplained(texts[start : end + 1]):
                end += 1
        elif self._repeats(" ".join(texts[start:end])):
            end += 1
        return " ".join(texts[start:end])

    def _repeats(self, text: str) -> bool:
        """Whether a sentence says little more than the question does, so that the answer follows it."""
        telling = [token.text for token in tokens(text) if not token.sign and token.text not in FUNCTION_WORDS]
        new = [word for word in telling if not self._is_asked(word)]
        return len(new) < _NEW * len(telling)

    def _is_asked(self, word: str) -> bool:
        """Whether a word stands in the question, inflected or not."""
        # The same words stand in very many sentences.
        if word not in self._asked:
            self._asked[word] = any(likeness(word, other) > 0.7 for other in self._begun.get(beginning(word), ()))
        return self._asked[word]


def complementing(quotes: Sequence[Quote], scorer: Scorer) -> tuple[Quote, ...]:
    """The best quotation, and up to two more that each account for telling words not yet accounted for."""
    chosen: list[Quote] = []
    held: frozenset[int] = frozenset()
    for quote in quotes:
        near = not chosen or quote.score >= chosen[0].score - _CLOSE
        new = scorer.coverage(quote.held - held, frozenset(), frozenset())
        told = any(set(quote.sentences) & set(split_sentences(other.said)) for other in chosen)
        if near and not told and (not chosen or new >= _ADDS) and len(chosen) < _MOST_QUOTES:
            chosen.append(quote)
            held |= quote.held
    return tuple(chosen)


def _unexplained(texts: Sequence[str]) -> bool:
    """Whether the sentences before the last give no reason, so that it may follow, and all are short enough."""
    return not _CAUSE.search(" ".join(texts[:-1])) and _words(texts) <= _LONGEST


def _words(texts: Sequence[str]) -> int:
    return sum(len(text.split()) for text in texts)


def texts_of(element: Element, *, bibliographic: bool = False) -> list[str]:
    """The sentences of an element that may be quoted; where a question is `bibliographic`, the works listed in it."""
    if element.kind == "reference":
        return [element.text] if bibliographic else []
    if element.kind == "passage":
        works = entries(element.text) if bibliographic else []
        return (works or split_sentences(element.text)) if element.role in _ROLES else []
    return split_sentences(element.caption) if element.kind == "figure" else []
