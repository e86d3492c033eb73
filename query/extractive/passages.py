"""Reads passages: ranks sentences of the context, and of the rest of its papers, by words and by meaning."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from paperscope_core.protocols import Corpus, Embedder
from paperscope_core.types import Context, Element, Paper
from query.extractive.confidence import probabilities, rank
from query.extractive.formulas import formulas
from query.extractive.gates import may_answer
from query.extractive.question import Question
from query.extractive.quotes import Quote, Scorer
from query.extractive.signals import Signals, signals

__all__ = ["PassageReader", "elements_of"]


# Embedding every sentence takes seconds; those that share no telling word never win.
_MOST_EMBEDDED = 48
_MOST_FURTHER = 12


def elements_of(corpus: Corpus, context: Context) -> dict[str, Element]:
    """The elements behind a context's sources, those of the same chunks included, by id, the most relevant first."""
    sources = [source.element for source in context.sources]
    chunks = corpus.chunks_of(sources)
    ids: dict[str, None] = {}
    for source in sources:
        ids[source] = None
        ids.update(dict.fromkeys(element for chunk in chunks if source in chunk.elements for element in chunk.elements))
    return dict(corpus.elements(tuple(ids)))


class PassageReader:
    """Quotes sentences of papers."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def read(
        self, question: Question, near: Mapping[str, Element], scorer: Scorer, *, papers: Sequence[Paper]
    ) -> tuple[Quote, ...]:
        """All candidate quotations, best first: from the elements that retrieval found (`elements_of`), and from the
        passages of their papers that share most with the question. Raises ModelError."""
        titles = {section.id: section.path for paper in papers for section in paper.sections}
        quotes = [quote for element in near.values() for quote in scorer.quotes(element, _title(element, titles))]
        quotes += _further(scorer, papers, titles, near)
        if question.kind == "formula":
            quotes += formulas(scorer, papers, titles)
        quotes.sort(key=lambda quote: -quote.coverage)
        quotes = quotes[:_MOST_EMBEDDED]
        if not quotes:
            return ()
        alike = await self._alike(question, quotes)
        found = [
            signals(question, quote, scorer, likeness=like, within=quote.element.id in near)
            for quote, like in zip(quotes, alike, strict=True)
        ]
        return _scored(question, quotes, found, scorer)

    async def _alike(self, question: Question, quotes: Sequence[Quote]) -> list[float]:
        """The cosine of each quotation with the question; a pair's vector is the sum of its sentences'."""
        texts = list(dict.fromkeys(sentence for quote in quotes for sentence in quote.sentences))
        vectors = await self._embedder.embed([question.text, *texts])
        rows = dict(zip(texts, vectors[1:], strict=True))
        sums = (np.sum([rows[sentence] for sentence in quote.sentences], axis=0) for quote in quotes)
        return [_cosine(vector, vectors[0]) for vector in sums]


def _scored(question: Question, quotes: Sequence[Quote], found: Sequence[Signals], scorer: Scorer) -> tuple[Quote, ...]:
    ranked = [
        replace(quote, likeness=one.meaning, rank=rank(question, one)) for quote, one in zip(quotes, found, strict=True)
    ]
    allowed = [index for index, quote in enumerate(ranked) if may_answer(question, quote, scorer)]
    for index, score in zip(allowed, probabilities(question, [found[index] for index in allowed]), strict=True):
        ranked[index] = replace(ranked[index], score=score)
    return tuple(sorted(ranked, key=lambda quote: -quote.rank))


def _cosine(one: NDArray[float32], other: NDArray[float32]) -> float:
    length = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / length if length else 0.0


def _further(
    scorer: Scorer, papers: Sequence[Paper], titles: Mapping[str, str], near: Mapping[str, Element]
) -> list[Quote]:
    """The quotations of the best passages that retrieval did not choose."""
    others = [element for paper in papers for element in paper.elements if element.id not in near]
    passages = [element for element in others if element.kind == "passage"]
    weights = {element.id: scorer.weight(scorer.held(element.text)) for element in passages}
    best = sorted(passages, key=lambda element: -weights[element.id])[:_MOST_FURTHER]
    return [quote for element in best for quote in scorer.quotes(element, _title(element, titles))]


def _title(element: Element, titles: Mapping[str, str]) -> str:
    return titles.get(element.section, element.section)
