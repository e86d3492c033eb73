"""`Retriever`: finds, ranks and cuts the context of a question."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from paperscope_core.models.token_counting import count_tokens
from paperscope_core.protocols import Corpus, Embedder, GraphIndex, Reranker
from paperscope_core.settings import RetrievalSettings
from paperscope_core.types import (
    Candidates,
    Chunk,
    Context,
    ContextSource,
    Entity,
    Filters,
    Finding,
    Paper,
    PaperEntry,
    RetrievalRequest,
)
from query.content_words import Rarity, content_words
from query.context import render_for_model
from query.definitions import asked_term, defining_passages
from query.element_views import ImageElement
from query.outline import GISTS, LIMITS, asked_parts, gist_elements, limitation_elements, outline_row, summary_elements
from query.question.named_elements import References, find_references
from query.question.paper_names import PaperNames
from query.question.scope import find_scope, restrict
from query.retrieval.candidates import CandidatePool
from query.retrieval.context_builder import SourceSelector, fit_rows
from query.retrieval.graph_rows import GraphRows, ScoredRelation
from query.retrieval.image_selection import ImageSelector, image_candidates
from query.retrieval.page_selection import context_images

__all__ = ["CANDIDATES", "Retrieval", "Retriever"]

CANDIDATES = 30
"""How many candidates are requested from the index and scored by the reranker."""

# How many candidates are requested if the sources are to be of many papers.
_SPREAD = 300
# Maximum share of the tokens for entities and relations; the sources contain what the papers say.
_GRAPH_SHARE = 0.5
# Maximum share of the tokens for the pages and sections that a question names, which are given as a whole.
_PARTS_SHARE = 0.75
# Maximum share of the tokens for outlines, in addition to the sources, and maximum number of outlines.
_OUTLINE_SHARE = 0.25
_OUTLINES = 3
# The boost of what says what a paper is about, by how much nearer the question is to that than to any chunk (cosines),
# so that it ranks first for the questions that ask for it and only joins the sources for others; see `GISTS`.
_GIST = 2.0
# The least nearness at which such texts are shown before any others if no model reads the context. Of 26 questions
# about one paper, 13 of the 16 about the paper as a whole have it, and none of the ten about details.
_SUMMARY = 0.05
# Maximum numbers of rows of a context; the tokens are the bound that matters.
_ENTITIES, _RELATIONS = 15, 20
# Number of relations whose statements are boosted; further ones share few words with the question.
_LIFTING = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Retrieval:
    """A context, and the ids of the elements that the question names and of the papers asked.

    `summary` are the ids of the texts that sum up the papers, or state their limitations, if the question asks for
    these.
    """

    context: Context
    named: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    summary: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Found:
    """What was found for a question before it is reduced to a context."""

    pool: CandidatePool
    graph: GraphRows
    papers: Sequence[Paper]
    named: References
    entities: Sequence[Entity]
    relations: Sequence[ScoredRelation]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Whole:
    """How much nearer a question is to descriptions of a summary, and of limitations, than to any chunk (cosines)."""

    gist: float
    limits: float

    @property
    def nearness(self) -> float:
        return max(self.gist, self.limits)

    @property
    def asks_for_limits(self) -> bool:
        return self.limits > self.gist


def _summary(papers: Sequence[Paper], whole: _Whole) -> tuple[str, ...]:
    """Return the texts about each paper as a whole, if these are asked for: the first of each, then the second of each,
    and so on."""
    if whole.nearness < _SUMMARY:
        return ()
    about_it = limitation_elements if whole.asks_for_limits else summary_elements
    turns = zip_longest(*([one.id for one in about_it(paper)] for paper in papers))
    return tuple(element for turn in turns for element in turn if element is not None)


class Retriever:
    """Retrieves the context of a question. Corpus and index are called in a worker thread.

    Args:
        graph: Rank chunks higher that the graph connects with the question or with other chunks. A measurement of the
            graph leaves it out.
        whole_papers: Give the papers asked about as a whole where they fit the budget of tokens.
    """

    def __init__(
        self,
        corpus: Corpus,
        index: GraphIndex,
        embedder: Embedder,
        *,
        reranker: Reranker | None = None,
        settings: RetrievalSettings = RetrievalSettings(),
        count: Callable[[str], int] = count_tokens,
        graph: bool = True,
        whole_papers: bool = False,
    ) -> None:
        self._corpus = corpus
        self._index = index
        self._embedder = embedder
        self._reranker = reranker
        self._settings = settings
        self._count = count
        self._graph = graph
        self._whole_papers = whole_papers
        self._names = PaperNames()

    async def retrieve(self, question: str, *, filters: Filters = Filters(), spread: bool = False) -> Retrieval:
        """Retrieve from the papers of `filters`, else from those that the question names, else from all.

        Sources are empty only if nothing was found. Raises ModelError if the embedder or the reranker fails.

        Args:
            spread: Return the best source of each paper, then the second one of each, and so on, without reranking.
        """
        entries = await asyncio.to_thread(self._corpus.entries)
        scope = find_scope(question, filters, entries, self._names)
        if scope.empty:
            return Retrieval(context=Context(findings=scope.findings))
        vector, *descriptions = await self._embedder.embed([question, *GISTS, *LIMITS])
        request = RetrievalRequest(
            text=question, vector=vector, filters=scope.filters, limit=_SPREAD if spread else CANDIDATES
        )
        candidates = await asyncio.to_thread(self._index.retrieve, request)
        nearest = max((hit.score for hit in candidates.by_vectors), default=1.0)
        near = [float(one @ vector) - nearest for one in descriptions]
        whole = _Whole(gist=max(near[: len(GISTS)]), limits=max(near[len(GISTS) :]))
        found = await asyncio.to_thread(self._find, question, candidates, scope.filters, whole)
        if self._reranker is not None and not spread:
            await self._rerank(question, found, self._reranker)
        context = await asyncio.to_thread(self._context, question, found, entries, spread=spread)
        outlines = await asyncio.to_thread(self._outlines, question, found, entries)
        sources = (*context.sources, *outlines)
        numbered = tuple(replace(one, id=number) for number, one in enumerate(sources))
        context = replace(context, sources=numbered, findings=(*scope.findings, *context.findings))
        asked = scope.filters.papers or self._names.ids(entries)
        summary = _summary(found.papers[:_OUTLINES], whole)
        return Retrieval(context=context, named=found.named.elements, asked=asked, summary=summary)

    def _find(self, question: str, candidates: Candidates, filters: Filters, whole: _Whole) -> _Found:
        corpus = restrict(self._corpus, filters)
        pool = CandidatePool(corpus, candidates)
        about = filters.papers or pool.papers() or self._wordless()
        papers = [corpus.paper(paper) for paper in about]
        pool.remember(papers)
        graph = GraphRows(corpus=corpus, elements=pool.elements, papers=tuple(about))
        # Entities whose name occurs in the question; see `GraphIndex.retrieve`.
        works = frozenset(hit.id for hit in candidates.named if hit.score > 1)
        entities = graph.entities(self._entities(candidates), limit=_ENTITIES, works=works)
        relations = graph.relations(entities, asked=content_words(question), limit=max(_RELATIONS, _LIFTING))
        named = find_references(question, papers)
        pool.boost_named(named)
        if self._graph:
            pool.boost_linked(papers)
            pool.boost_stated((one.relation.sources, one.share) for one in relations[:_LIFTING])
        if term := asked_term(question):
            pool.boost(defining_passages(term, papers[:_OUTLINES]))
        if whole.nearness > 0:
            about_it = limitation_elements if whole.asks_for_limits else gist_elements
            texts = [one.id for paper in papers[:_OUTLINES] for one in about_it(paper)]
            pool.boost_gist(texts, _GIST * whole.nearness)
        return _Found(pool=pool, graph=graph, papers=papers, named=named, entities=entities, relations=relations)

    def _wordless(self) -> Sequence[str]:
        """Return the papers of a small library that have no text to be found by."""
        entries = self._corpus.entries()
        ids = [entry.id for entry in entries] if len(entries) <= _OUTLINES else []
        return [paper for paper in ids if not self._corpus.paper(paper).elements]

    def _entities(self, candidates: Candidates) -> list[str]:
        """Return ids of entities, best first; a third of the rows is reserved for those reached over the graph."""
        named, reached = ([hit.id for hit in hits] for hits in (candidates.named, candidates.reached))
        most = _ENTITIES - min(len(reached), _ENTITIES // 3)
        return [*named[:most], *reached, *named[most:]]

    async def _rerank(self, question: str, found: _Found, reranker: Reranker) -> None:
        """Replace the ranking by the reranker's, except for the elements that the question names."""
        chunks = found.pool.chunks()[: max(CANDIDATES, self._settings.chunks)]
        scores = await reranker.score(question, [chunk.searched for chunk in chunks])
        found.pool.rerank(dict(zip((chunk.id for chunk in chunks), scores, strict=True)))
        await asyncio.to_thread(found.pool.boost_named, found.named)

    def _outlines(self, question: str, found: _Found, entries: Sequence[PaperEntry]) -> list[ContextSource]:
        """Return the outlines of the papers asked about, if the question asks for parts of papers; without the lists of
        their parts if these are too long."""
        parts = asked_parts(question)
        if not parts:
            return []
        room = int(_OUTLINE_SHARE * self._settings.tokens)
        rows: list[ContextSource] = []
        described = found.papers[:_OUTLINES]
        ids = {paper.id for paper in described}
        known = {entry.id: entry for entry in entries if entry.id in ids}
        names = self._names.cited(entries)
        for paper in described:
            wholes = (outline_row(paper, known.get(paper.id), wanted) for wanted in (parts, ()))
            row = next((whole for whole in wholes if whole and self._count(whole.content) <= room), None)
            if row is not None:
                rows.append(replace(row, paper=names.get(paper.id, paper.id)))
                room -= self._count(row.content)
        return rows

    def _images(self, question: str, found: _Found) -> list[ImageElement]:
        """Return the images that are read for the question."""
        sources = [entity.sources for entity in found.entities]
        candidates = image_candidates(found.graph.corpus, found.pool, found.papers, sources)
        if not candidates:
            return []
        rarity = Rarity.of(chunk.searched for chunk in found.pool.chunks())
        selector = ImageSelector(question=question, rarity=rarity, references=found.named)
        return selector.choose(candidates, limit=self._settings.images)

    def _parts(self, found: _Found, chooser: SourceSelector) -> tuple[list[Chunk], tuple[Finding, ...]]:
        """Return the chunks that are given as a whole, in reading order, and what is left out of them."""
        if self._whole_papers:
            whole: list[Chunk] = []
            for paper in found.papers:
                chunks = self._chunks_in(found, [element.id for element in paper.elements])
                if chooser.first_that_fit([*whole, *chunks], share=1) == len(whole) + len(chunks):
                    whole += chunks
            if whole:
                found.pool.include([element for chunk in whole for element in chunk.elements])
                return whole, ()
        parts = self._chunks_in(found, found.named.parts)
        fitting = chooser.first_that_fit(parts, share=_PARTS_SHARE)
        if fitting == len(parts):
            return parts, ()
        message = (
            f"of the sections or pages that the question names, the first {fitting} of {len(parts)} parts are in the "
            "context; retrieval.tokens allows no more"
        )
        return parts[:fitting], (Finding(kind="note", message=message),)

    def _chunks_in(self, found: _Found, elements: Sequence[str]) -> list[Chunk]:
        """Return the chunks of elements, in the order of these."""
        order = {element: number for number, element in enumerate(elements)}
        chunks = found.graph.corpus.chunks_of(elements)
        return sorted(chunks, key=lambda chunk: min(order.get(element, len(order)) for element in chunk.elements))

    def _context(self, question: str, found: _Found, entries: Sequence[PaperEntry], *, spread: bool) -> Context:
        pool, graph = found.pool, found.graph
        images = self._images(question, found)
        pool.include([image.id for image in images])
        entities, relations = graph.rows(found.entities, found.relations[:_RELATIONS])
        rows = Context(entities=entities, relations=relations)
        rows = fit_rows(rows, tokens=int(_GRAPH_SHARE * self._settings.tokens), count=self._count)
        room = self._settings.tokens - self._count(render_for_model(rows))
        chooser = SourceSelector(
            question=question,
            names=self._names.cited(entries),
            limit=_SPREAD if spread else self._settings.chunks,
            tokens=_SPREAD * self._settings.tokens if spread else room,
            count=self._count,
        )
        parts, findings = ([], ()) if spread else self._parts(found, chooser)
        sources = chooser.choose(pool.rounds() if spread else pool.chunks(), pool, images, parts=parts)
        # Whole pages show what filters on sections and kinds leave out.
        papers = found.papers if graph.corpus is self._corpus else ()
        shown = context_images(images, sources, papers, found.named, limit=self._settings.images)
        return replace(rows, findings=findings, sources=sources, images=shown)
