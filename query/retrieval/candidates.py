"""Candidate chunks: fused scores, and what raises one chunk above another."""

from collections.abc import Iterable, Mapping, Sequence

from paperscope_core.protocols import Corpus
from paperscope_core.types import Candidates, Chunk, Element, Paper
from query.elements import is_pictured, is_reference
from query.question.references import References

__all__ = ["Pool", "best_first", "fuse"]


# The weight of words, vectors have the rest: chosen from 0.5, 0.6 … 0.8 on the fitting part of `paperscope eval
# retrieval`. There the mean reciprocal rank over its sets is .663, with words and vectors alone .630 and .578; any of
# those weights gives .652 or more.
_WORDS = 0.7


def fuse(candidates: Candidates) -> dict[str, float]:
    """Chunk ids with their fused scores, 0 to 1.

    A chunk that is in one list only may have up to the least score of the other: by vectors it is taken to have that,
    by words, which most chunks share none of, nothing.
    """
    words = {hit.id: hit.score for hit in candidates.by_words}
    vectors = {hit.id: max(hit.score, 0.0) for hit in candidates.by_vectors}
    least = min(vectors.values(), default=0.0)
    return {
        chunk: _WORDS * words.get(chunk, 0.0) + (1 - _WORDS) * vectors.get(chunk, least)
        for chunk in dict.fromkeys((*words, *vectors))
    }


def best_first(scores: Mapping[str, float]) -> list[str]:
    """The ids by falling score; equal scores keep the mapping's order."""
    return sorted(scores, key=lambda key: -scores[key])


# Shares of the best fused score that a chunk gains: for holding what the question names; for standing on a page or in
# a section that it names; for holding a picture that a found chunk refers to; for being where a relation is stated that
# holds all that is asked. The last two are chosen on the fitting part of `paperscope eval retrieval`: of 0.2 … 0.8 and
# of 0.1, 0.2, 0.4 those that help some of its sets without costing any of them evidence among the first five.
_NAMED = 1.5
_SURROUNDING = 0.5
_LINKED = 0.4
_STATED = 0.1
# Bibliographies repeat the words of titles; they seldom answer.
_BIBLIOGRAPHY = 0.5
# A paper is asked about if its chunks together score at least this share of the best paper's. They are added up by
# their cubes, so that one that answers is worth more than many that touch on the question: the first paper is then the
# right one for 69 % of the questions of OHR-Bench, and for 41 % as they are.
_ASKED_ABOUT = 0.5
_SHARPER = 3


class Pool:
    """Chunks with scores; each lift raises some, and may bring in chunks that words and vectors did not find."""

    def __init__(self, corpus: Corpus, candidates: Candidates) -> None:
        self._corpus = corpus
        self._elements: dict[str, Element] = {}
        fused = fuse(candidates)
        self._chunks = dict(corpus.chunks(list(fused)))
        self.scores = {chunk: score * self._worth(chunk) for chunk, score in fused.items()}
        self._best = max(self.scores.values(), default=0.0) or 1.0

    def chunks(self) -> list[Chunk]:
        """The chunks, best first."""
        return [self._chunks[chunk] for chunk in best_first(self.scores)]

    def remember(self, papers: Iterable[Paper]) -> None:
        """Take elements from these papers from now on."""
        self._elements |= {element.id: element for paper in papers for element in paper.elements}

    def elements(self, ids: Iterable[str]) -> Mapping[str, Element]:
        """The elements under these ids; each is fetched once, and not at all where its paper is remembered."""
        wanted = list(dict.fromkeys(ids))
        self._elements.update(self._corpus.elements([key for key in wanted if key not in self._elements]))
        return {key: self._elements[key] for key in wanted}

    def nearness(self, chunk: str) -> float:
        """A chunk's score as a share (0 to 1) of the best that words and vectors gave."""
        return min(1.0, self.scores[chunk] / self._best)

    def papers(self) -> list[str]:
        """The papers that the question seems to be about, best first."""
        totals: dict[str, float] = {}
        for chunk, score in self.scores.items():
            paper = self._chunks[chunk].paper
            totals[paper] = totals.get(paper, 0.0) + score**_SHARPER
        floor = _ASKED_ABOUT * max(totals.values(), default=0.0)
        return [paper for paper in best_first(totals) if totals[paper] >= floor]

    def lift_named(self, references: References) -> None:
        """Lift what the question names outright, and somewhat what stands on a page or in a section it names."""
        self._lift(self._corpus.chunks_of(references.elements), _NAMED)
        self._lift(self._corpus.chunks_of(references.surroundings), _SURROUNDING)

    def include(self, elements: Sequence[str]) -> None:
        """Bring in the chunks that hold these elements, behind what was found; what is there stays as it is."""
        self._lift(self._corpus.chunks_of(elements), 0.0)

    def linked(self, papers: Iterable[Paper]) -> dict[str, float]:
        """The tables, figures and equations that chunks found so far refer to ("see Table 6"), each with the nearness
        of the nearest of these chunks."""
        holders = {key: chunk.id for chunk in reversed(self.chunks()) for key in chunk.elements}
        found: dict[str, float] = {}
        for paper in papers:
            for link in paper.links:
                if link.source in holders and is_pictured(link.target):
                    near = self.nearness(holders[link.source])
                    found[link.target] = max(near, found.get(link.target, 0.0))
        return found

    def lift_linked(self, papers: Iterable[Paper]) -> None:
        """Lift what chunks found so far refer to."""
        self._lift_holders({target: _LINKED * near for target, near in self.linked(papers).items()})

    def lift_stated(self, relations: Iterable[tuple[Sequence[str], float]]) -> None:
        """Lift where relations are stated: for each its elements, and the share (0 to 1) of what is asked that it
        holds. Of several in one chunk the best counts."""
        gains: dict[str, float] = {}
        for elements, share in relations:
            for element in elements:
                gains[element] = max(_STATED * share, gains.get(element, 0.0))
        self._lift_holders(gains)

    def rerank(self, scores: Mapping[str, float]) -> None:
        """Keep these chunks only, by these scores, whatever their scale: from 1 for the best down to 0."""
        least = min(scores.values(), default=0.0)
        span = max(scores.values(), default=0.0) - least or 1.0
        self.scores = {chunk: self._worth(chunk) * (score - least) / span for chunk, score in scores.items()}
        self._best = 1.0

    def _worth(self, chunk: str) -> float:
        return _BIBLIOGRAPHY if all(map(is_reference, self._chunks[chunk].elements)) else 1.0

    def _lift_holders(self, gains: Mapping[str, float]) -> None:
        """Lift the chunks of these elements, each by the best of them."""
        for chunk in self._corpus.chunks_of(list(gains)):
            self._lift([chunk], max(gains[element] for element in chunk.elements if element in gains))

    def _lift(self, chunks: Iterable[Chunk], gain: float) -> None:
        for chunk in chunks:
            self._chunks[chunk.id] = chunk
            self.scores[chunk.id] = self.scores.get(chunk.id, 0.0) + gain * self._best
