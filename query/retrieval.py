"""A question's context: what the index proposes and the question names, fused, cut to what a model can read."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from paperscope.protocols import Corpus, Embedder, GraphIndex, Reranker
from paperscope.types import Candidates, Chunk, Context, ContextImage, ContextSource, Entity, Hit, RetrievalRequest
from query.element_text import Pictured, caption_of
from query.fusion import best_first, fuse
from query.graph_rows import GraphRows
from query.images import ImageChooser
from query.pool import Pool
from query.references import References, find_references, named_papers
from query.words import Rarity, content_words

__all__ = ["Retrieval", "RetrievalOptions", "Retriever"]


@dataclass(frozen=True, kw_only=True, slots=True)
class RetrievalOptions:
    """How much a context holds: rows a section, words over all sources (the first always stays whole), and how many
    candidates the index is asked for."""

    sources: int = 8
    words: int = 3000
    entities: int = 15
    relations: int = 20
    images: int = 2
    candidates: int = 30


@dataclass(frozen=True, kw_only=True, slots=True)
class Retrieval:
    """The context, and the ids of the elements that the question names outright."""

    context: Context
    named: tuple[str, ...] = ()


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
        if self._reranker is not None:
            candidates = await self._reranked(question, candidates, self._reranker)
        return await asyncio.to_thread(self._select, question, candidates, within)

    async def _reranked(self, question: str, candidates: Candidates, reranker: Reranker) -> Candidates:
        """The found chunks in the reranker's order, in place of those of words and vectors."""
        found = best_first(fuse(candidates))
        chunks = await asyncio.to_thread(lambda: [self._corpus.chunk(chunk) for chunk in found])
        scores = await reranker.score(question, [chunk.searched for chunk in chunks])
        hits = [Hit(id=chunk, score=score) for chunk, score in zip(found, scores, strict=True)]
        hits.sort(key=lambda hit: hit.score, reverse=True)
        return replace(candidates, by_words=tuple(hits), by_vectors=())

    def _select(self, question: str, candidates: Candidates, within: Sequence[str]) -> Retrieval:
        pool = Pool(self._corpus, candidates)
        about = within or pool.papers()
        graph = GraphRows(corpus=self._corpus, papers=tuple(about))
        entities = graph.entities(self._entities(candidates), works=_named_outright(candidates))
        entities = entities[: self._options.entities]
        papers = [self._corpus.paper(paper) for paper in about]
        named = find_references(question, papers)
        pool.lift_named(named)
        pool.lift_linked(papers)
        pool.lift_entities([entity.sources for entity in entities])
        return Retrieval(context=self._context(question, pool, graph, entities, named), named=named.elements)

    def _entities(self, candidates: Candidates) -> list[str]:
        """Ids of entities, best first; a third of the rows is kept for those reached over the graph."""
        named, reached = ([hit.id for hit in hits] for hits in (candidates.named, candidates.reached))
        most = self._options.entities - min(len(reached), self._options.entities // 3)
        return [*named[:most], *reached, *named[most:]]

    def _context(
        self, question: str, pool: Pool, graph: GraphRows, entities: Sequence[Entity], named: References
    ) -> Context:
        rarity = Rarity.of(chunk.searched for chunk in pool.chunks())
        images = self._images(pool, ImageChooser(question=question, rarity=rarity, references=named))
        relations = graph.relation_rows(
            entities, asked=content_words(question), rarity=rarity, limit=self._options.relations
        )
        return Context(
            entities=graph.entity_rows(entities),
            relations=relations,
            sources=tuple(_source_row(number, chunk, pool) for number, chunk in enumerate(self._sources(pool, images))),
            images=tuple(_image_row(number, image) for number, image in enumerate(images)),
        )

    def _images(self, pool: Pool, chooser: ImageChooser) -> list[Pictured]:
        """The pictures to read among the pool's; a picture is as near as the best chunk that holds it."""
        pictures: dict[str, Pictured] = {}
        nearness: dict[str, float] = {}
        for chunk in pool.chunks():
            for key in chunk.elements:
                element = pool.element(key)
                if isinstance(element, Pictured) and key not in pictures:
                    pictures[key] = element
                    nearness[key] = pool.nearness(chunk.id)
        return chooser.choose(list(pictures.values()), nearness, limit=self._options.images)

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


def _source_row(number: int, chunk: Chunk, pool: Pool) -> ContextSource:
    """The chunk under the element that it is there for."""
    held = (element for element in chunk.elements if pool.element(element).place == chunk.place)
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
