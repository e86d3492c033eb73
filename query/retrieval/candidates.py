"""Candidate chunks: fused scores, and what raises one chunk above another."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from paperscope_core.protocols import Corpus
from paperscope_core.types import Candidates, Chunk, Element, Paper
from query.element_views import has_image, is_reference
from query.question.named_elements import References

__all__ = ["CandidatePool", "best_first", "fuse"]

# Weight of the full-text score; vectors have the rest. Chosen from 0.5, 0.6 … 0.8 on the fitting part of `paperscope
# eval retrieval`: the mean reciprocal rank over its sets is .663, with words and vectors alone .630 and .578; each of
# those weights gives .652 or more.
_WORDS = 0.7
# The weight for candidates of at most `_SHORT` words on average, which share few words with a question that they
# answer; between `_SHORT` and `_LONG` it is interpolated. Chosen from 0.4, 0.5, 0.6 and three ranges on the fitting
# part of QASPER (63 words) and ArgSciChat (23), where hit@1 is .46, with one weight .32. On the held-out part (72
# questions) hit@1 is .07 with both, hit@5 .50 and .44, recall@10 .58 and .62. A model of the length, the best scores
# and the number of the question's words was fitted, too, and is no better on the held-out part.
_WORDS_IN_SHORT = 0.5
_SHORT, _LONG = 30, 100
# Boosts, as shares of the best fused score: for an element that the question names; for an element on a page or in a
# section that it names; for an image that a candidate refers to; for the statement of a relation that contains all
# words of the question. The last two were chosen on the fitting part of `paperscope eval retrieval` from 0.2 … 0.8 and
# 0.1, 0.2, 0.4: they help some sets and lower recall@5 of none.
_NAMED = 1.5
_SURROUNDING = 0.5
_LINKED = 0.4
_STATED = 0.1
# Factor for bibliography entries, which repeat the words of titles but seldom answer.
_BIBLIOGRAPHY = 0.5
# A question is about the papers whose total score is at least this share of the best paper's. Scores are cubed before
# they are added, so that one chunk that answers outweighs many that are loosely related: the first paper is then the
# right one for 69 % of the questions of OHR-Bench, 41 % without.
_ASKED_ABOUT = 0.5
_SHARPER = 3
# Where many papers are searched, no more sources of one are returned.
_OF_ONE_PAPER = 3


def fuse(candidates: Candidates, texts: Mapping[str, str]) -> dict[str, float]:
    """Fuse the full-text and the vector scores of chunks; the shorter the chunks, the more the vectors count.

    A chunk that only one list contains gets the lowest score of the other list for vectors, and 0 for words, since most
    chunks share no word with the question.

    Args:
        texts: Their texts by id.

    Returns:
        Scores from 0 to 1 by chunk id.
    """
    words = {hit.id: hit.score for hit in candidates.by_words}
    vectors = {hit.id: max(hit.score, 0.0) for hit in candidates.by_vectors}
    least = min(vectors.values(), default=0.0)
    found = dict.fromkeys((*words, *vectors))
    length = sum(len(texts[chunk].split()) for chunk in found) / max(len(found), 1)
    weight = float(np.interp(length, (_SHORT, _LONG), (_WORDS_IN_SHORT, _WORDS)))
    return {chunk: weight * words.get(chunk, 0.0) + (1 - weight) * vectors.get(chunk, least) for chunk in found}


def best_first(scores: Mapping[str, float]) -> list[str]:
    """Return the ids by descending score; ties keep the mapping's order."""
    return sorted(scores, key=lambda key: -scores[key])


class CandidatePool:
    """Candidate chunks with scores; boosts raise scores and may add chunks that the search did not find."""

    def __init__(self, corpus: Corpus, candidates: Candidates) -> None:
        self._corpus = corpus
        self._elements: dict[str, Element] = {}
        found = [hit.id for hit in (*candidates.by_words, *candidates.by_vectors)]
        self._chunks = dict(corpus.chunks(list(dict.fromkeys(found))))
        fused = fuse(candidates, {chunk.id: chunk.text for chunk in self._chunks.values()})
        self.scores = {chunk: score * self._worth(chunk) for chunk, score in fused.items()}
        self._best = max(self.scores.values(), default=0.0) or 1.0

    def chunks(self) -> list[Chunk]:
        """Return the chunks, best first."""
        return [self._chunks[chunk] for chunk in best_first(self.scores)]

    def rounds(self) -> list[Chunk]:
        """Return the best chunk of each paper, best first, then the second one of each, and so on."""
        rounds: dict[int, list[Chunk]] = {}
        counts = Counter[str]()
        for chunk in self.chunks():
            counts[chunk.paper] += 1
            rounds.setdefault(counts[chunk.paper], []).append(chunk)
        return [chunk for number in range(1, _OF_ONE_PAPER + 1) for chunk in rounds.get(number, ())]

    def remember(self, papers: Iterable[Paper]) -> None:
        """Cache the elements of these papers."""
        self._elements |= {element.id: element for paper in papers for element in paper.elements}

    def elements(self, ids: Iterable[str]) -> Mapping[str, Element]:
        """Return the elements with these ids, from the cache or the corpus."""
        wanted = list(dict.fromkeys(ids))
        self._elements.update(self._corpus.elements([key for key in wanted if key not in self._elements]))
        return {key: self._elements[key] for key in wanted}

    def nearness(self, chunk: str) -> float:
        """Return the score of a chunk relative to the best search score, 0 to 1."""
        return min(1.0, self.scores[chunk] / self._best)

    def papers(self) -> list[str]:
        """Return the papers that the question seems to be about, best first."""
        totals: dict[str, float] = {}
        for chunk, score in self.scores.items():
            paper = self._chunks[chunk].paper
            totals[paper] = totals.get(paper, 0.0) + score**_SHARPER
        floor = _ASKED_ABOUT * max(totals.values(), default=0.0)
        return [paper for paper in best_first(totals) if totals[paper] >= floor]

    def boost_named(self, references: References) -> None:
        """Boost the elements that the question names and, less, those on pages and in sections it names."""
        self._lift(self._corpus.chunks_of(references.elements), _NAMED)
        self._lift(self._corpus.chunks_of(references.surroundings), _SURROUNDING)

    def include(self, elements: Sequence[str]) -> None:
        """Add the chunks of these elements with a score of 0; existing scores stay."""
        self._lift(self._corpus.chunks_of(elements), 0.0)

    def linked(self, papers: Iterable[Paper]) -> dict[str, float]:
        """Return the tables, figures and equations that candidates refer to ("see Table 6"), with the nearness of the
        nearest referring chunk."""
        holders = {key: chunk.id for chunk in reversed(self.chunks()) for key in chunk.elements}
        found: dict[str, float] = {}
        for paper in papers:
            for link in paper.links:
                if link.source in holders and has_image(link.target):
                    near = self.nearness(holders[link.source])
                    found[link.target] = max(near, found.get(link.target, 0.0))
        return found

    def boost_linked(self, papers: Iterable[Paper]) -> None:
        """Boost the elements that candidates refer to."""
        self.boost({target: _LINKED * near for target, near in self.linked(papers).items()})

    def boost_stated(self, relations: Iterable[tuple[Sequence[str], float]]) -> None:
        """Boost the statements of relations.

        Args:
            relations: For each relation, the elements that state it and the share (0 to 1) of the question's words in
                it; the best relation of a chunk counts.
        """
        gains: dict[str, float] = {}
        for elements, share in relations:
            for element in elements:
                gains[element] = max(_STATED * share, gains.get(element, 0.0))
        self.boost(gains)

    def boost_gist(self, elements: Sequence[str], gain: float) -> None:
        """Boost what says what a paper is about, by a multiple of the best score."""
        self._lift(self._corpus.chunks_of(elements), gain)

    def boost(self, gains: Mapping[str, float]) -> None:
        """Boost the chunks of these elements, each by its best element, by shares of the best score."""
        for chunk in self._corpus.chunks_of(list(gains)):
            self._lift([chunk], max(gains[element] for element in chunk.elements if element in gains))

    def rerank(self, scores: Mapping[str, float]) -> None:
        """Replace the candidates by these chunks; scores of any scale are normalized to 0 to 1."""
        least = min(scores.values(), default=0.0)
        span = max(scores.values(), default=0.0) - least or 1.0
        self.scores = {chunk: self._worth(chunk) * (score - least) / span for chunk, score in scores.items()}
        self._best = 1.0

    def _worth(self, chunk: str) -> float:
        return _BIBLIOGRAPHY if all(map(is_reference, self._chunks[chunk].elements)) else 1.0

    def _lift(self, chunks: Iterable[Chunk], gain: float) -> None:
        for chunk in chunks:
            self._chunks[chunk.id] = chunk
            self.scores[chunk.id] = self.scores.get(chunk.id, 0.0) + gain * self._best
