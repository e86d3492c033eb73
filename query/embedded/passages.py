"""Reads sentences: ranks those of the context by the question's telling words and by meaning."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest

from paperscope.protocols import Corpus, Embedder
from paperscope.sentences import sentences
from paperscope.types import Context, Element, Equation, Evidence
from query.embedded.question import Question
from query.embedded.weights import Weights
from query.embedded.words import FUNCTION_WORDS, likeness, tokens

__all__ = ["PassageReader", "Quote", "complementing", "elements_of"]

_ROLES = ("abstract", "paragraph", "list", "footnote")
# A sentence counts by the words that it holds and by its meaning; its neighbours' and section's words count half.
_WORDS = 0.6
_AROUND = 0.5
# Embedding every sentence of a long context takes seconds; those that share no telling word never win.
_MOST_EMBEDDED = 48
_MOST_QUOTES = 3
_ADDS = 0.15
_NEAR = 0.1
_FITS = 0.15
_SHORTEST = 4
_NEW = 0.34
_FORMULA = re.compile(r"[=∑∏√∫]|\b(?:lg|log|exp|softmax|max|min)\s*\(|\\\w+")
_NUMBER = re.compile(r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Quote:
    """A sentence with the element it stands in. `held` are the question's word indices that it accounts for,
    `coverage` their weighted share, `likeness` its cosine with the question, `score` both together."""

    text: str
    element: Element
    equation: Equation | None
    held: frozenset[int]
    around: frozenset[int]
    coverage: float
    likeness: float = 0.0
    score: float = 0.0

    @property
    def said(self) -> str:
        """The sentence, and the display equation that it leads to."""
        return f"{self.text} {self.equation.text}" if self.equation is not None else self.text

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Where it stands, and the equation's place after it."""
        own = Evidence(element=self.element.id, place=self.element.place, quote=self.text)
        if self.equation is None:
            return (own,)
        return own, Evidence(element=self.equation.id, place=self.equation.place, quote=self.equation.text)


def elements_of(corpus: Corpus, context: Context) -> dict[str, Element]:
    """The elements behind a context's sources, those of the same chunks included, by id, the most relevant first."""
    found: dict[str, Element] = {}
    for source in context.sources:
        ids = [source.element]
        ids += [element for chunk in corpus.chunks_of([source.element]) for element in chunk.elements]
        for element in ids:
            if element not in found:
                found[element] = corpus.element(element)
    return found


class PassageReader:
    """Quotes sentences of a context."""

    def __init__(self, corpus: Corpus, embedder: Embedder) -> None:
        self._corpus = corpus
        self._embedder = embedder

    async def read(self, question: Question, context: Context, weights: Weights) -> tuple[Quote, ...]:
        """All candidate sentences, best first. Raises ModelError."""
        elements = elements_of(self._corpus, context)
        equations = self._equations(context) if question.kind == "formula" else {}
        quotes = [
            quote
            for element in elements.values()
            for quote in _quotes(question, element, weights, equations.get(element.id))
        ]
        quotes.sort(key=lambda quote: -quote.coverage)
        quotes = quotes[:_MOST_EMBEDDED]
        if not quotes:
            return ()
        vectors = await self._embedder.embed([question.text, *(quote.text for quote in quotes)])
        alike = vectors[1:] @ vectors[0]
        scored = [_scored(question, quote, float(like)) for quote, like in zip(quotes, alike, strict=True)]
        return tuple(sorted(scored, key=lambda quote: -quote.score))

    def _equations(self, context: Context) -> dict[str, Equation]:
        """The display equation behind each passage that is directly followed by one."""
        papers = dict.fromkeys(source.place.paper for source in context.sources)
        pairs = (pair for paper in papers for pair in pairwise(self._corpus.paper(paper).elements))
        return {first.id: second for first, second in pairs if second.kind == "equation"}


def complementing(quotes: Sequence[Quote], question: Question, weights: Weights) -> tuple[Quote, ...]:
    """The best sentence, and up to two more that each account for telling words not yet accounted for."""
    total = sum(weights.of(question.words[index].text) for index in question.telling)
    chosen: list[Quote] = []
    held: frozenset[int] = frozenset()
    for quote in quotes:
        new = sum(weights.of(question.words[index].text) for index in quote.held - held)
        near = not chosen or quote.score >= chosen[0].score - _NEAR
        if near and (not chosen or new >= _ADDS * total) and len(chosen) < _MOST_QUOTES:
            chosen.append(quote)
            held |= quote.held
    return tuple(chosen)


def _quotes(question: Question, element: Element, weights: Weights, equation: Equation | None) -> Iterable[Quote]:
    # Words printed within a figure say what its caption is about; by themselves they are no sentence.
    printed = element.text if element.kind == "figure" else ""
    section = _held(question, f"{element.section}\n{printed}")
    before: frozenset[int] = frozenset()
    asked = (*question.telling, *(question.focus & question.telling))  # what a formula is asked for counts twice
    total = sum(weights.of(question.words[index].text) for index in asked) or 1.0
    texts = _texts(question, element)
    for text, following in zip_longest(texts, texts[1:], fillvalue=""):
        held = _held(question, text)
        around = (before | section) - held
        weight = sum(weights.of(question.words[index].text) for index in held)
        weight += sum(weights.of(question.words[index].text) for index in held & question.focus)
        weight += _AROUND * sum(weights.of(question.words[index].text) for index in around)
        if held:
            whole = f"{text} {following}".rstrip() if _repeats(question, text) else text
            leads = equation if not following else None
            yield Quote(text=whole, element=element, equation=leads, held=held, around=around, coverage=weight / total)
        before = held


def _repeats(question: Question, text: str) -> bool:
    """Whether a sentence says little more than the question does, so that the answer follows it."""
    telling = [token.text for token in tokens(text) if not token.sign and token.text not in FUNCTION_WORDS]
    asked = [word.text for word in question.words]
    new = [word for word in telling if not any(likeness(word, other) > 0.7 for other in asked)]
    return len(new) < _NEW * len(telling)


def _texts(question: Question, element: Element) -> list[str]:
    if element.kind == "reference":
        return [element.text] if question.bibliographic else []
    if element.kind == "passage":
        found = sentences(element.text) if element.role in _ROLES else []
        return [sentence for sentence in found if len(sentence.split()) >= _SHORTEST]
    return sentences(element.caption) if element.kind == "figure" else []


def _held(question: Question, text: str) -> frozenset[int]:
    held = {token.text for token in tokens(text)}
    return frozenset(
        index
        for index in question.telling
        if question.words[index].text in held or any(likeness(question.words[index].text, word) > 0.7 for word in held)
    )


def _scored(question: Question, quote: Quote, like: float) -> Quote:
    fits = (question.kind == "formula" and (quote.equation is not None or _FORMULA.search(quote.text))) or (
        question.kind == "count" and _NUMBER.search(quote.text)
    )
    score = _WORDS * quote.coverage + (1 - _WORDS) * like + (_FITS if fits else 0.0)
    return replace(quote, likeness=like, score=score)
