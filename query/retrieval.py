"""A question's context: what the index proposes and the question names, fused, cut to what a model can read."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paperscope.protocols import Corpus, Embedder, GraphIndex, Reranker
from paperscope.types import (
    Candidates,
    Chunk,
    Context,
    ContextImage,
    ContextSource,
    Element,
    Entity,
    Paper,
    RetrievalRequest,
)
from query.element_text import Pictured, caption_of
from query.graph_rows import Asserted, GraphRows
from query.image_candidates import picture_candidates
from query.images import ImageChooser
from query.pool import Pool
from query.references import References, find_references, named_papers
from query.words import Rarity, content_words

__all__ = ["Retrieval", "RetrievalOptions", "Retriever"]

# So many relations lift what states them; further ones hold little of what is asked.
_LIFTING = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class RetrievalOptions:
    """How much a context holds: rows a section, words over all sources (the first always stays whole); how many
    candidates the index is asked for, and a reranker reads; and whether the graph lifts sources."""

    sources: int = 8
    words: int = 3000
    entities: int = 15
    relations: int = 20
    images: int = 2
    candidates: int = 30
    graph: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Retrieval:
    """The context, and the ids of the elements that the question names outright."""

    context: Context
    named: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Found:
    """All that bears on a question, before it is cut to a context."""

    pool: Pool
    graph: GraphRows
    papers: Sequence[Paper]
    named: References
    entities: Sequence[Entity]
    relations: Sequence[Asserted]


class Retriever:
    """Finds a question's context in a library. Corpus and index are asked in a worker thread."""

    def __init__(
        self,
        corpus: Corpus,
        index: GraphIndex,
        embedder: Embedder,
        *,
        reranker: Reranker | None = None,
        options: RetrievalOptions | None = None,
    ) -> None:
        self._corpus = corpus
        self._index = index
        self._embedder = embedder
        self._reranker = reranker
        self._options = options or RetrievalOptions()

    async def retrieve(self, question: str, *, papers: Sequence[str] = ()) -> Retrieval:
        """The context for a question over these papers, or over those it names, or over all.

        Sources are empty only where nothing at all was found. Raises ModelError if embedder or reranker fails.
        """
        vector = (await self._embedder.embed([question]))[0]
        within = tuple(papers) or named_papers(question, await asyncio.to_thread(self._corpus.entries))
        request = RetrievalRequest(text=question, vector=vector, papers=within, limit=self._options.candidates)
        candidates = await asyncio.to_thread(self._index.retrieve, request)
        found = await asyncio.to_thread(self._find, question, candidates, within)
        if self._reranker is not None:
            await self._rerank(question, found, self._reranker)
        context = await asyncio.to_thread(self._context, question, found)
        return Retrieval(context=context, named=found.named.elements)

    def _find(self, question: str, candidates: Candidates, within: Sequence[str]) -> _Found:
        pool = Pool(self._corpus, candidates)
        about = within or pool.papers()
        papers = [self._corpus.paper(paper) for paper in about]
        pool.remember(papers)
        graph = GraphRows(corpus=self._corpus, papers=tuple(about))
        entities = graph.entities(
            self._entities(candidates), limit=self._options.entities, works=_named_outright(candidates)
        )
        relations = graph.relations(
            entities, asked=content_words(question), limit=max(self._options.relations, _LIFTING)
        )
        named = find_references(question, papers)
        pool.lift_named(named)
        if self._options.graph:
            pool.lift_linked(papers)
            pool.lift_stated((one.relation.sources, one.share) for one in relations[:_LIFTING])
        return _Found(pool=pool, graph=graph, papers=papers, named=named, entities=entities, relations=relations)

    def _entities(self, candidates: Candidates) -> list[str]:
        """Ids of entities, best first; a third of the rows is kept for those reached over the graph."""
        named, reached = ([hit.id for hit in hits] for hits in (candidates.named, candidates.reached))
        most = self._options.entities - min(len(reached), self._options.entities // 3)
        return [*named[:most], *reached, *named[most:]]

    async def _rerank(self, question: str, found: _Found, reranker: Reranker) -> None:
        """Put the reranker's order in the place of all but what the question names outright."""
        chunks = found.pool.chunks()[: max(self._options.candidates, self._options.sources)]
        scores = await reranker.score(question, [chunk.searched for chunk in chunks])
        found.pool.rerank(dict(zip((chunk.id for chunk in chunks), scores, strict=True)))
        await asyncio.to_thread(found.pool.lift_named, found.named)

    def _context(self, question: str, found: _Found) -> Context:
        pool, graph = found.pool, found.graph
        images = self._images(question, found)
        pool.include([image.id for image in images])
        sources = self._sources(pool, images)
        elements = pool.elements(element for chunk in sources for element in chunk.elements)
        entities, relations = graph.rows(found.entities, found.relations[: self._options.relations])
        return Context(
            entities=entities,
            relations=relations,
            sources=tuple(_source_row(number, chunk, elements) for number, chunk in enumerate(sources)),
            images=tuple(_image_row(number, image) for number, image in enumerate(images)),
        )

    def _images(self, question: str, found: _Found) -> list[Pictured]:
        seen_in = [entity.sources for entity in found.entities]
        candidates = picture_candidates(self._corpus, found.pool, found.papers, seen_in)
        if not candidates:
            return []
        rarity = Rarity.of(chunk.searched for chunk in found.pool.chunks())
        chooser = ImageChooser(question=question, rarity=rarity, references=found.named)
        return chooser.choose(candidates, limit=self._options.images)

    def _sources(self, pool: Pool, images: Sequence[Pictured]) -> list[Chunk]:
        """The best chunks within the budget of words; what holds a chosen image comes before any but the best."""
        shown = {image.id for image in images}
        ranked = pool.chunks()
        wanted = [*ranked[:1], *(chunk for chunk in ranked if shown.intersection(chunk.elements)), *ranked]
        chosen: set[str] = set()
        words = 0
        for chunk in {chunk.id: chunk for chunk in wanted}.values():
            length = len(chunk.shown.split())
            if len(chosen) < self._options.sources and (not chosen or words + length <= self._options.words):
                words += length
                chosen.add(chunk.id)
        return [chunk for chunk in ranked if chunk.id in chosen]


def _named_outright(candidates: Candidates) -> frozenset[str]:
    """The entities whose name stands in the question: see `GraphIndex.retrieve`."""
    return frozenset(hit.id for hit in candidates.named if hit.score > 1)


def _source_row(number: int, chunk: Chunk, elements: Mapping[str, Element]) -> ContextSource:
    """The chunk under the element that it is there for."""
    held = (element for element in chunk.elements if elements[element].place == chunk.place)
    return ContextSource(id=number, content=chunk.shown, element=next(held, chunk.elements[0]), place=chunk.place)


def _image_row(number: int, image: Pictured) -> ContextImage:
    return ContextImage(
        id=number,
        element=image.id,
        label=image.label,
        caption=caption_of(image),
        crop=image.crop or "",
        place=image.place,
    )
