"""Adds files with a library's models, and keeps copies of uploaded files."""

import asyncio
from dataclasses import replace
from pathlib import Path
from weakref import WeakValueDictionary

from graph_store import NativeGraphIndex, Store
from ingest import EmbedTexts, ImageCaptioner, TypeSystem, check_size, extractor_for, parser_for
from paperscope.adding import Adder, AddResult, ProgressCallback
from paperscope.estimating import Estimator
from paperscope.originals import Originals, file_name
from paperscope_core.errors import BudgetError, UnknownPaperError
from paperscope_core.models import CachedEmbedder, DryRunModel, MeteredModel, Models
from paperscope_core.models.cache import MemoryVectorCache
from paperscope_core.models.tokens import token_counter
from paperscope_core.protocols import Embedder, LanguageModel, VisionModel
from paperscope_core.settings import RoleSettings, Settings
from paperscope_core.types import Paper, Usage
from query import QueryEngine, RetrievalOptions
from query.extractive import weighed_texts

__all__ = ["Intake", "build_adder", "build_engine", "build_estimator"]


# Sentences and questions whose vectors an open library remembers: some 20 MB.
_REMEMBERED = 8192


def build_adder(
    store: Store,
    embedder: Embedder,
    settings: Settings,
    *,
    extract: LanguageModel | None,
    vision: VisionModel | None,
    embed: EmbedTexts | None,
) -> Adder:
    """What adds papers to a store with these models; `embed` compares names, None: by their letters only."""
    types = TypeSystem.of(settings.extract.types)
    # A language model reads sentences itself, and a server's embedder is paid: they are embedded when it comes to it.
    beforehand = not settings.answer.configured and settings.embed.provider == "local"
    return Adder(
        store=store,
        parser=parser_for(settings.parser, limits=settings.limits),
        extractor=extractor_for(extract, settings.extract, embed=embed),
        asks_model=extract is not None,
        embedder=embedder,
        describer=ImageCaptioner(vision, types=types) if vision else None,
        max_words=settings.chunking.max_words,
        max_mb=settings.limits.max_file_mb,
        weighed=weighed_texts if beforehand else None,
    )


def build_estimator(store: Store, models: Models, settings: Settings) -> Estimator:
    """What tells what adding would cost: with rehearsed models, so that nothing is sent."""

    def rehearsed(model: LanguageModel, role: RoleSettings) -> DryRunModel:
        return DryRunModel(model, store, price_prompt=role.price_prompt, price_completion=role.price_completion)

    roles = (("extract", models.extract), ("vision", models.vision))
    made = {role: rehearsed(model, getattr(settings, role)) for role, model in roles if model}
    # A server's embedder would be paid: without one, names are compared by their letters only.
    embed = models.embedder.embed if settings.embed.provider == "local" else None
    adder = build_adder(
        store, models.embedder, settings, extract=made.get("extract"), vision=made.get("vision"), embed=embed
    )
    return Estimator(adder, made, settings.embed)


def build_engine(store: Store, index: NativeGraphIndex, *, models: Models, settings: Settings) -> QueryEngine:
    """The engine that answers over a store; it remembers the vectors of sentences that it weighed.

    Raises SettingsError where the tokenizer can't be read.
    """
    retrieval = settings.retrieval
    return QueryEngine(
        store,
        index,
        CachedEmbedder(models.embedder, MemoryVectorCache(store, most=_REMEMBERED)),
        answer_model=models.answer,
        vision_model=models.vision,
        reranker=models.reranker,
        options=RetrievalOptions(
            sources=retrieval.chunks,
            tokens=retrieval.tokens,
            entities=retrieval.entities,
            relations=retrieval.relations,
            images=retrieval.images,
            graph=retrieval.graph,
        ),
        count=token_counter(settings.answer.tokenizer),
        decompose=settings.answer.decompose,
    )


class Intake:
    """Adds files with the models of a library, and removes papers; of a file that was handed over it keeps a copy."""

    def __init__(self, *, store: Store, originals: Originals, models: Models, settings: Settings) -> None:
        self._store = store
        self._originals = originals
        self._models = models
        self._settings = settings
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def add(
        self,
        file: Path,
        *,
        name: str | None,
        replaces: str | None,
        password: str | None,
        sha256: str | None,
        on_stage: ProgressCallback,
    ) -> AddResult:
        """See `Library.add`; `usage` is what the models took for this file."""
        older = self._paper(replaces) if replaces is not None else None
        if name is None:
            added = await self._add(file, older, password=password, sha256=sha256, on_stage=on_stage)
        else:
            added = await self._take(file, older, name=name, password=password, sha256=sha256, on_stage=on_stage)
        if older is not None and older.id != added.paper.id:
            self._originals.drop(older.sha256)
        return added

    async def _take(
        self,
        file: Path,
        older: Paper | None,
        *,
        name: str,
        password: str | None,
        sha256: str | None,
        on_stage: ProgressCallback,
    ) -> AddResult:
        """Add a copy of the file, which stays if it is the one that a paper was read from.

        Equal files are taken in turn: what one leaves behind is no other's yet.
        """
        check_size(file, max_mb=self._settings.limits.max_file_mb, name=file_name(name))
        digest = (await asyncio.to_thread(self._originals.put, file, name=name)).parent.name
        turn = self._turns.setdefault(digest, asyncio.Lock())
        async with turn:
            # Another turn may have dropped it.
            copy = await asyncio.to_thread(self._originals.put, file, name=name)
            try:
                return await self._add(copy, older, password=password, sha256=sha256, on_stage=on_stage)
            finally:
                known = self._store.paper_by_sha256(digest)
                self._originals.drop(digest, keep=known.file if known else "")

    async def _add(
        self,
        file: Path,
        older: Paper | None,
        *,
        password: str | None,
        sha256: str | None,
        on_stage: ProgressCallback,
    ) -> AddResult:
        extract = MeteredModel(self._models.extract) if self._models.extract else None
        vision = MeteredModel(self._models.vision) if self._models.vision else None
        embedder = self._models.embedder
        embed = CachedEmbedder(embedder, self._store).embed
        adder = build_adder(self._store, embedder, self._settings, extract=extract, vision=vision, embed=embed)
        try:
            added = await adder.add(file, older=older, on_stage=on_stage, password=password, sha256=sha256)
        except BudgetError:
            # Calls under way are paid and will be kept: what is left to do is known when they have ended.
            await self._models.aclose()
            raise
        return replace(added, usage=sum((used.usage for used in (extract, vision) if used), Usage()))

    def estimator(self) -> Estimator:
        """See `Library.estimator`."""
        return build_estimator(self._store, self._models, self._settings)

    def remove(self, name: str) -> Paper:
        """See `Library.remove`."""
        paper = self._store.find_paper(name)
        self._store.remove(paper.id)
        self._store.sweep()
        self._originals.drop(paper.sha256)
        self._originals.sweep(keep={entry.sha256 for entry in self._store.entries()})
        return paper

    def _paper(self, paper: str) -> Paper:
        try:
            return self._store.paper(paper)
        except KeyError as error:
            raise UnknownPaperError(
                f"no paper {paper!r} in the library to replace; list the papers to see their ids"
            ) from error
