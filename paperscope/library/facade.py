"""`Library`: adds papers, answers questions, and wires every adapter that this takes."""

import os
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from graph_store import JobQueue, NativeGraphIndex, Store
from ingest import in_thread
from paperscope.errors import StoreReadOnlyError
from paperscope.library.adding import Added
from paperscope.library.asking import Asking
from paperscope.library.catalog import Catalog
from paperscope.library.estimating import Estimator
from paperscope.library.intake import Intake
from paperscope.library.loop import LoopThread
from paperscope.library.memory import MemoryCalls
from paperscope.library.neighbourhood import Neighbourhood
from paperscope.library.progress import OnStage
from paperscope.library.view import View, view
from paperscope.library.wiring import build_engine
from paperscope.models import Budget, Models, OnRoleCall, build_models
from paperscope.settings import Settings, load_settings
from paperscope.types import Answer, AnswerEvent, Box, Context, Filters, Paper, Place, Shown, Turn, content_hash

__all__ = ["Library"]

T = TypeVar("T")

_NO_FILTERS = Filters()


def _ignore(_stage: object) -> None:
    return


class Library(Catalog):
    """A folder of papers that can be asked.

    Synchronous methods work everywhere, also inside a running event loop and from many threads; those with `_async` are
    their awaitable twins. Use it as a context manager, or call `close`.
    """

    def __init__(self, *, store: Store, settings: Settings, models: Models) -> None:
        index = NativeGraphIndex.open(store, embedder=models.embedder.name)
        super().__init__(store=store, index=index, settings=settings)
        self._settings = settings
        self._models = models
        self._intake = Intake(store=store, originals=self._originals, models=models, settings=settings)
        self._asking = Asking(store, build_engine(store, index, models=models, settings=settings))
        self._loop = LoopThread()

    @classmethod
    def open(
        cls,
        folder: Path | str | None = None,
        *,
        settings: Settings | None = None,
        budget: Budget | None = None,
        on_call: OnRoleCall | None = None,
    ) -> Self:
        """Open the library in `folder` (default: the settings'), creating it where there is none.

        Without `settings` they are read as the command line reads them: `PAPERSCOPE_*`, paperscope.toml, `OPENAI_*`.
        All that models are paid for while it is open comes out of `budget`, where there is one. `on_call` hears the
        role and the end of each call to a model's endpoint, from another thread, in the context of who caused it.
        A library that may not be written opens for reading. Raises StoreError and SettingsError.
        """
        settings = settings or load_settings(environ=os.environ)
        store = _open_store(Path(folder) if folder is not None else settings.library)
        cache = MemoryCalls() if store.read_only else store
        models = build_models(settings, cache=cache, budget=budget, on_call=on_call)
        return cls(store=store, settings=settings, models=models)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release files, connections and the loop. What is still being added or asked ends with a StoreError; paid
        calls under way are waited for, and kept."""
        self._loop.close(self._models.aclose)
        self._index.close()
        self._store.close()

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine that uses this library to its end."""
        return self._loop.wait(work)

    def add(
        self,
        file: Path | str,
        *,
        name: str | None = None,
        replaces: str | None = None,
        password: str | None = None,
        sha256: str | None = None,
        on_stage: OnStage = _ignore,
    ) -> Added:
        """Add one paper; `password` opens an encrypted file, `on_stage` hears how far it is, maybe from another thread.

        What was added from the same path before is its older version, and goes; `replaces` names another one by id. A
        `name` says that the file is handed over: the library keeps a copy, the name is the one it is shown by, and the
        path tells nothing. A file whose content has another hash than `sha256` is refused.

        Raises PaperFileError, UnknownPaperError, ModelError, BudgetError or StoreError; the library is then as it was,
        and what was paid for is kept.
        """
        added = self._intake.add(
            Path(file), name=name, replaces=replaces, password=password, sha256=sha256, on_stage=on_stage
        )
        return self._loop.wait(added)

    async def add_async(
        self,
        file: Path | str,
        *,
        name: str | None = None,
        replaces: str | None = None,
        password: str | None = None,
        sha256: str | None = None,
        on_stage: OnStage = _ignore,
    ) -> Added:
        """`add`, awaitable on any loop. Cancelled, it ends soon and stores nothing, unless the very transaction had
        begun."""
        added = self._intake.add(
            Path(file), name=name, replaces=replaces, password=password, sha256=sha256, on_stage=on_stage
        )
        return await self._loop.run(added)

    def estimator(self) -> Estimator:
        """What tells, file by file, what adding would cost; it stores and sends nothing."""
        return self._intake.estimator()

    def ask(
        self,
        question: str,
        *,
        papers: Sequence[str] = (),
        filters: Filters = _NO_FILTERS,
        history: Sequence[Turn] = (),
        on_stage: Callable[[str], None] = _ignore,
    ) -> Answer:
        """Answer a question from all papers, or from what `filters` allow; `papers` is short for theirs (ids, file
        names, titles). `history` is what was asked before, oldest first: a follow-up ("and on CoNLL?") is filled up.

        Raises InputError for an empty question or an unknown paper, and ModelError when the answering model fails.
        """
        return self._loop.wait(self._asking.ask(question, filters, papers, history, on_stage))

    async def ask_async(
        self,
        question: str,
        *,
        papers: Sequence[str] = (),
        filters: Filters = _NO_FILTERS,
        history: Sequence[Turn] = (),
        on_stage: Callable[[str], None] = _ignore,
    ) -> Answer:
        """`ask`, awaitable on any loop."""
        return await self._loop.run(self._asking.ask(question, filters, papers, history, on_stage))

    def stream(
        self,
        question: str,
        *,
        papers: Sequence[str] = (),
        filters: Filters = _NO_FILTERS,
        history: Sequence[Turn] = (),
    ) -> AsyncGenerator[AnswerEvent, None]:
        """`ask_async`, telling each stage as it begins and the final text as it is written; the answer comes last.

        What `ask` raises is raised while iterating.
        """
        return self._loop.iterate(self._asking.stream(question, filters, papers, history))

    def show(self, value: Shown | Sequence[Shown]) -> View:
        """An answer, context, paper or element (or several) as a notebook shows it, with pictures and marked cells."""
        return view(value, self)

    def retrieve(self, question: str, *, papers: Sequence[str] = (), filters: Filters = _NO_FILTERS) -> Context:
        """The context that an answer would rest on, without answering."""
        return self._loop.wait(self._asking.retrieve(question, filters, papers))

    async def retrieve_async(
        self, question: str, *, papers: Sequence[str] = (), filters: Filters = _NO_FILTERS
    ) -> Context:
        """`retrieve`, awaitable on any loop."""
        return await self._loop.run(self._asking.retrieve(question, filters, papers))

    def remove(self, name: str) -> Paper:
        """Remove a paper and exactly what it brought; returns it. A question about it that is being answered is asked
        of what is left."""
        return self._intake.remove(name)

    async def remove_async(self, name: str) -> Paper:
        """`remove`, awaitable on any loop."""
        return await self._loop.run(in_thread(partial(self.remove, name)))

    async def neighbourhood_async(
        self, entity: str, *, papers: Sequence[str] = (), steps: int = 1, limit: int = 40
    ) -> Neighbourhood:
        """`neighbourhood`, awaitable on any loop."""
        found = partial(self.neighbourhood, entity, papers=papers, steps=steps, limit=limit)
        return await self._loop.run(in_thread(found))

    async def page_picture_async(
        self,
        name: str,
        page: int,
        *,
        dpi: int = 110,
        marked: Sequence[Box | Place | str] = (),
        password: str | None = None,
    ) -> bytes:
        """`page_picture`, awaitable on any loop; cancelled, its child process is killed."""
        drawn = partial(self.page_picture, name, page, dpi=dpi, marked=marked, password=password)
        return await self._loop.run(in_thread(drawn))

    @property
    def jobs(self) -> JobQueue:
        """The jobs of the library, which outlive whoever asked for them."""
        return self._store.jobs

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
