"""`Retriever`: finds, ranks and cuts the context of a question."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from paperscope_core.models.tokens import count_tokens
from paperscope_core.protocols import Corpus, Embedder, GraphIndex, Reranker
from paperscope_core.types import Candidates, Context, ContextImage, Entity, Filters, Paper, RetrievalRequest
from query.context import render_context
from query.elements import Pictured, caption_of
from query.question.references import References, find_references
from query.question.scope import narrowed, scope_of
from query.retrieval.candidates import Pool
from query.retrieval.context_builder import SourceChooser, cut_rows, united
from query.retrieval.graph_rows import Asserted, GraphRows
from query.retrieval.images import ImageChooser, picture_candidates
from query.words import Rarity, content_words

__all__ = ["Retrieval", "RetrievalOptions", "Retriever"]


_NO_FILTERS = Filters()
# Entities and relations take this share of the tokens at the most: what the papers say stands in the sources.
_GRAPH_SHARE = 0.5
# So many relations lift what states them; further ones hold little of what is asked.
_LIFTING = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class RetrievalOptions:
    """How much a context holds: rows a section, tokens over all rows (the best source is there whatever it takes); how
    many candidates the index is asked for, and a reranker reads; and whether the graph lifts sources."""

    sources: int = 8
    tokens: int = 12_000
    entities: int = 15
    relations: int = 20
    images: int = 2
    candidates: int = 30
    graph: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Retrieval:
    """The context, the ids of the elements that the question names outright, and what its filters left out, a sentence
    each."""

    context: Context
    named: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Found:
    """All that bears on a question, before it is cut to a context; `corpus` is what its filters leave."""

    corpus: Corpus
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
        count: Callable[[str], int] = count_tokens,
    ) -> None:
        self._corpus = corpus
        self._index = index
        self._embedder = embedder
        self._reranker = reranker
        self._options = options or RetrievalOptions()
        self._count = count

    async def retrieve(self, question: str, *, filters: Filters = _NO_FILTERS) -> Retrieval:
        """The context for a question over the papers of `filters`, or over those it names, or over all.

        Sources are empty only where nothing at all was found. Raises ModelError if embedder or reranker fails.
        """
        scope = scope_of(question, filters, await asyncio.to_thread(self._corpus.entries))
        if scope.empty:
            return Retrieval(context=Context(), notes=scope.notes)
        vector = (await self._embedder.embed([question]))[0]
        request = RetrievalRequest(text=question, vector=vector, filters=scope.filters, limit=self._options.candidates)
        candidates = await asyncio.to_thread(self._index.retrieve, request)
        found = await asyncio.to_thread(self._find, question, candidates, scope.filters)
        if self._reranker is not None:
            await self._rerank(question, found, self._reranker)
        context = await asyncio.to_thread(self._context, question, found)
        return Retrieval(context=context, named=found.named.elements, notes=scope.notes)

    async def retrieve_parts(self, parts: Sequence[str], *, filters: Filters = _NO_FILTERS) -> Retrieval:
        """The contexts of several questions as one, within the same budget; see `retrieve`."""
        found = [await self.retrieve(part, filters=filters) for part in parts]
        if len(found) == 1:
            return found[0]
        contexts = [one.context for one in found]
        return Retrieval(
            context=united(contexts, tokens=self._options.tokens, count=self._count),
            named=tuple(dict.fromkeys(element for one in found for element in one.named)),
            notes=tuple(dict.fromkeys(note for one in found for note in one.notes)),
        )

    def _find(self, question: str, candidates: Candidates, filters: Filters) -> _Found:
        corpus = narrowed(self._corpus, filters)
        pool = Pool(corpus, candidates)
        about = filters.papers or pool.papers()
        papers = [corpus.paper(paper) for paper in about]
        pool.remember(papers)
        graph = GraphRows(corpus=corpus, elements=pool.elements, papers=tuple(about))
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
        return _Found(
            corpus=corpus,
            pool=pool,
            graph=graph,
            papers=papers,
            named=named,
            entities=entities,
            relations=relations,
        )

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
        entities, relations = graph.rows(found.entities, found.relations[: self._options.relations])
        rows = Context(entities=entities, relations=relations)
        rows = cut_rows(rows, tokens=int(_GRAPH_SHARE * self._options.tokens), count=self._count)
        chooser = SourceChooser(
            question=question,
            limit=self._options.sources,
            tokens=self._options.tokens - self._count(render_context(rows)),
            count=self._count,
        )
        return replace(
            rows,
            sources=chooser.choose(pool, images),
            images=tuple(_image_row(number, image) for number, image in enumerate(images)),
        )

    def _images(self, question: str, found: _Found) -> list[Pictured]:
        seen_in = [entity.sources for entity in found.entities]
        candidates = picture_candidates(found.corpus, found.pool, found.papers, seen_in)
        if not candidates:
            return []
        rarity = Rarity.of(chunk.searched for chunk in found.pool.chunks())
        chooser = ImageChooser(question=question, rarity=rarity, references=found.named)
        return chooser.choose(candidates, limit=self._options.images)


def _named_outright(candidates: Candidates) -> frozenset[str]:
    """The entities whose name stands in the question: see `GraphIndex.retrieve`."""
    return frozenset(hit.id for hit in candidates.named if hit.score > 1)


def _image_row(number: int, image: Pictured) -> ContextImage:
    return ContextImage(
        id=number,
        element=image.id,
        label=image.label,
        caption=caption_of(image),
        crop=image.crop or "",
        place=image.place,
    )
