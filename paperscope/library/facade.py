"""`Library`: adds papers, answers questions, and wires every adapter that this takes."""

import asyncio
import os
from collections.abc import AsyncGenerator, Coroutine, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from graph_store import NativeGraphIndex, Store
from ingest import EmbedTexts
from paperscope.errors import BudgetError, StoreReadOnlyError
from paperscope.library.adding import Added, Adder, OnStage
from paperscope.library.estimating import Estimator
from paperscope.library.loop import LoopThread
from paperscope.library.memory import MemoryCalls
from paperscope.library.neighbourhood import Neighbourhood, find_entity, most_connected, neighbourhood
from paperscope.library.view import AnswerView, view_answer
from paperscope.library.wiring import build_adder, build_engine, build_estimator
from paperscope.models import Budget, CachedEmbedder, MeteredModel, Models, build_models
from paperscope.protocols import LanguageModel, VisionModel
from paperscope.settings import Settings, load_settings
from paperscope.types import (
    Answer,
    AnswerEvent,
    Context,
    Element,
    Filters,
    Paper,
    PaperImages,
    Shortfall,
    Turn,
    Usage,
    content_hash,
)

__all__ = ["Library"]

T = TypeVar("T")

_NO_FILTERS = Filters()


def _ignore(_stage: str) -> None:
    return


class Library:
    """A folder of papers that can be asked.

    Synchronous methods work everywhere, also inside a running event loop; `add_async` and `ask_async` are their
    awaitable twins. Use it as a context manager, or call `close`.
    """

    def __init__(self, *, store: Store, settings: Settings, models: Models) -> None:
        self._store = store
        self._settings = settings
        self._models = models
        self._index = NativeGraphIndex.open(store, embedder=models.embedder.name)
        self._engine = build_engine(store, self._index, models=models, settings=settings)
        self._loop = LoopThread()

    @classmethod
    def open(
        cls, folder: Path | str | None = None, *, settings: Settings | None = None, budget: Budget | None = None
    ) -> Self:
        """Open the library in `folder` (default: the settings'), creating it where there is none.

        Without `settings` they are read as the command line reads them: `PAPERSCOPE_*`, paperscope.toml, `OPENAI_*`.
        All that models are paid for while it is open comes out of `budget`, where there is one.
        A library that may not be written opens for reading. Raises StoreError and SettingsError.
        """
        settings = settings or load_settings(environ=os.environ)
        store = _open_store(Path(folder) if folder is not None else settings.library)
        cache = MemoryCalls() if store.read_only else store
        return cls(store=store, settings=settings, models=build_models(settings, cache=cache, budget=budget))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release files, connections and the loop."""
        self._loop.wait(self._models.aclose())
        self._loop.close()
        self._index.close()
        self._store.close()

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine that uses this library to its end."""
        return self._loop.wait(work)

    def add(self, file: Path | str, *, password: str | None = None, on_stage: OnStage = _ignore) -> Added:
        """Add one paper; `password` opens an encrypted file, `on_stage` hears what is being done.

        Raises PaperFileError, ModelError, BudgetError or StoreError; the library is then as it was, and what was paid
        for is kept.
        """
        return self._loop.wait(self._add(Path(file), password, on_stage))

    async def add_async(self, file: Path | str, *, password: str | None = None, on_stage: OnStage = _ignore) -> Added:
        """`add`, awaitable on any loop."""
        return await asyncio.wrap_future(self._loop.submit(self._add(Path(file), password, on_stage)))

    async def _add(self, file: Path, password: str | None, on_stage: OnStage) -> Added:
        model = MeteredModel(self._models.extract) if self._models.extract else None
        vision = MeteredModel(self._models.vision) if self._models.vision else None
        embedder = CachedEmbedder(self._models.embedder, self._store)
        try:
            added = await self._adder(model, vision, embedder.embed).add(file, on_stage=on_stage, password=password)
        except BudgetError:
            # Calls under way are paid and will be kept: what is left to do is known when they have ended.
            await self._models.aclose()
            raise
        return replace(added, usage=sum((used.usage for used in (model, vision) if used), Usage()))

    def _adder(self, extract: LanguageModel | None, vision: VisionModel | None, embed: EmbedTexts | None) -> Adder:
        embedder = self._models.embedder
        return build_adder(self._store, embedder, self._settings, extract=extract, vision=vision, embed=embed)

    def estimator(self) -> Estimator:
        """What tells, file by file, what adding would cost; it stores and sends nothing."""
        return build_estimator(self._store, self._models, self._settings)

    def ask(
        self,
        question: str,
        *,
        papers: Sequence[str] = (),
        filters: Filters = _NO_FILTERS,
        history: Sequence[Turn] = (),
        on_stage: OnStage = _ignore,
    ) -> Answer:
        """Answer a question from all papers, or from what `filters` allow; `papers` is short for theirs (ids, file
        names, titles). `history` is what was asked before, oldest first: a follow-up ("and on CoNLL?") is filled up.

        Raises InputError for an empty question or an unknown paper, and ModelError when the answering model fails.
        """
        return self._loop.wait(self._ask(question, self._filters(filters, papers), history, on_stage))

    async def ask_async(
        self,
        question: str,
        *,
        papers: Sequence[str] = (),
        filters: Filters = _NO_FILTERS,
        history: Sequence[Turn] = (),
        on_stage: OnStage = _ignore,
    ) -> Answer:
        """`ask`, awaitable on any loop."""
        asked = self._ask(question, self._filters(filters, papers), history, on_stage)
        return await asyncio.wrap_future(self._loop.submit(asked))

    async def _ask(self, question: str, filters: Filters, history: Sequence[Turn], on_stage: OnStage) -> Answer:
        return await self._engine.ask(question, filters=filters, history=history, on_stage=on_stage)

    def stream(
        self,
        question: str,
        *,
        papers: Sequence[str] = (),
        filters: Filters = _NO_FILTERS,
        history: Sequence[Turn] = (),
    ) -> AsyncGenerator[AnswerEvent, None]:
        """`ask_async`, telling each stage as it begins and the final text as it is written; the answer comes last.

        What `ask` raises is raised here or while iterating.
        """
        filters = self._filters(filters, papers)
        return self._loop.iterate(self._engine.stream(question, filters=filters, history=history))

    def show(self, answer: Answer) -> AnswerView:
        """The answer as a notebook shows it: with crops of what it cites, the cited cells marked in their tables."""
        return view_answer(answer, find_crop=self._store.crop, find_element=self._store.element)

    def retrieve(self, question: str, *, papers: Sequence[str] = (), filters: Filters = _NO_FILTERS) -> Context:
        """The context that an answer would rest on, without answering."""
        return self._loop.wait(self._engine.retrieve(question, filters=self._filters(filters, papers))).context

    def _filters(self, filters: Filters, papers: Sequence[str]) -> Filters:
        return replace(filters, papers=self._ids((*filters.papers, *papers)))

    def _ids(self, papers: Sequence[str]) -> tuple[str, ...]:
        return tuple(self._store.find_paper(paper).id for paper in papers)

    def papers(self) -> Sequence[Paper]:
        """All papers, in the order they were added."""
        return self._store.papers()

    def paper(self, name: str) -> Paper:
        """A paper by id, the start of its id, file name or part of its title; raises UnknownPaperError."""
        return self._store.find_paper(name)

    def images(self, paper: str) -> PaperImages:
        """What a vision model saw in the pictures of the paper with this id; empty where none looked at them."""
        return self._store.images(paper)

    def shortfall(self, paper: str) -> Shortfall:
        """What the extracting model did not read of the paper with this id, and what of its replies was dropped."""
        return self._store.shortfall(paper)

    def element(self, element: str) -> Element:
        """An element by id; raises KeyError."""
        return self._store.element(element)

    def crop(self, crop: str) -> bytes:
        """A crop's PNG bytes by content hash; raises KeyError."""
        return self._store.crop(crop)

    def remove(self, name: str) -> Paper:
        """Remove a paper and exactly what it brought; returns it."""
        paper = self._store.find_paper(name)
        self._store.remove(paper.id)
        self._store.sweep()
        return paper

    def most_connected(self, paper: str, *, limit: int) -> dict[str, int]:
        """The names of a paper's entities with the highest degrees in the graph, highest first; works aside."""
        return most_connected(self._store, paper, limit=limit)

    def neighbourhood(
        self, entity: str, *, papers: Sequence[str] = (), steps: int = 1, limit: int = 40
    ) -> Neighbourhood:
        """What stands round an entity (its name or an alias) in the graph, at most `limit` relations.

        `papers` says where the entity must be named. Raises UnknownEntityError, and UnknownPaperError.
        """
        center = find_entity(self._store, self._index, entity, papers=self._ids(papers))
        return neighbourhood(self._store, center, steps=steps, limit=limit)

    @property
    def fingerprint(self) -> str:
        """Changes whenever the same question could get another answer: with the papers, the models or the settings."""
        parts = (str(self._store.revision), self._settings.model_dump_json(exclude={"service"}))
        return content_hash("\0".join(parts).encode())


def _open_store(folder: Path) -> Store:
    try:
        return Store.open(folder)
    except StoreReadOnlyError:
        return Store.open(folder, read_only=True)
