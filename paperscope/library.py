"""The library of papers: add, ask, look up, remove."""

import os
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from graph_store import JobQueue, NativeGraphIndex, Store
from graph_store.reading import find_entry
from ingest import page_renderer, run_in_thread
from paperscope.adding import AddResult, ProgressCallback, Stage
from paperscope.asking import Asking
from paperscope.estimating import Estimate, Estimator
from paperscope.event_loop import EventLoopThread
from paperscope.intake import Intake, build_engine
from paperscope.neighbourhood import Neighbourhood, find_entity, most_connected, neighbourhood
from paperscope.originals import Originals
from paperscope_core.errors import InputError, StoreReadOnlyError, UnknownPaperError
from paperscope_core.models import Budget, Models, OnRoleCall, build_models
from paperscope_core.models.cache import MemoryCallCache
from paperscope_core.settings import Settings, load_settings
from paperscope_core.types import (
    Answer,
    AnswerEvent,
    Box,
    Context,
    Displayable,
    Element,
    Equation,
    Figure,
    Filters,
    Paper,
    PaperEntry,
    PaperImages,
    Place,
    Shortfall,
    Table,
    Turn,
    content_hash,
)
from paperscope_core.types.display import ContentSource, several_html, to_html

__all__ = [
    "AddResult",
    "Catalog",
    "Estimate",
    "Estimator",
    "Library",
    "Neighbourhood",
    "ProgressCallback",
    "Stage",
    "View",
    "boxes_on",
    "render_view",
]


def boxes_on(paper: Paper, page: int, marked: Sequence[Box | Place | str]) -> tuple[Box, ...]:
    """The boxes on a page, each once: boxes as they are, the places of this paper that are on it, and those of the
    elements with these ids. Raises InputError for an id that is none of the paper's."""
    boxes: dict[Box, None] = {}
    for one in marked:
        if isinstance(one, Box):
            boxes[one] = None
            continue
        places = (one,) if isinstance(one, Place) else _places_of(_element_by_id(paper, one))
        boxes |= {place.box: None for place in places if (place.paper, place.page) == (paper.id, page)}
    return tuple(boxes)


def _element_by_id(paper: Paper, name: str) -> Element:
    for element in paper.elements:
        if element.id == name:
            return element
    raise InputError(f"no element {name!r} in {paper.file!r}; the paper's elements tell their ids")


def _places_of(element: Element) -> Iterator[Place]:
    """All that belongs to an element: its parts on other columns and pages, its caption."""
    yield element.place
    if not isinstance(element, Figure | Equation):
        yield from element.more_places
    if isinstance(element, Table | Figure) and element.caption_place is not None:
        yield element.caption_place


class Catalog:
    """Looks papers up, and what was drawn from them; no model is asked. Safe to use from many threads."""

    def __init__(self, *, store: Store, index: NativeGraphIndex, settings: Settings) -> None:
        self._store = store
        self._painter = page_renderer(settings.parser, settings.limits)
        self._index = index
        self._originals = Originals(store.folder / "originals")

    def papers(self) -> Sequence[Paper]:
        """All papers, in the order they were added."""
        return self._store.papers()

    def entries(self) -> Sequence[PaperEntry]:
        """All papers without their elements, in the order they were added; quick in a large library, too."""
        return self._store.entries()

    def paper(self, name: str) -> Paper:
        """A paper by id, the start of its id, file name or part of its title; raises UnknownPaperError."""
        return self._store.find_paper(name)

    def entry(self, paper: str) -> PaperEntry:
        """The paper with exactly this id, without its elements; raises UnknownPaperError."""
        for entry in self._store.entries():
            if entry.id == paper:
                return entry
        raise UnknownPaperError(f"no paper {paper!r} in the library; list the papers to see their ids")

    def counts(self, papers: Sequence[str]) -> Mapping[str, Mapping[str, int]]:
        """How many elements of each kind the papers with these ids have, by id."""
        return self._store.counts(papers)

    def images(self, paper: str) -> PaperImages:
        """What a vision model saw in the pictures of the paper with this id; empty where none looked at them."""
        return self._store.images(paper)

    def shortfall(self, paper: str) -> Shortfall:
        """What the extracting model did not read of the paper with this id, and what of its replies was dropped."""
        return self._store.shortfall(paper)

    def element(self, element: str) -> Element:
        """An element by id; raises KeyError."""
        return self._store.element(element)

    def elements(self, name: str, *, kind: str = "") -> Sequence[Element]:
        """A paper's elements in reading order, all or those of a kind ("passage", "table", "figure", "equation",
        "reference"). Raises UnknownPaperError."""
        return [element for element in self.paper(name).elements if kind in ("", element.kind)]

    def crop(self, crop: str) -> bytes:
        """The PNG bytes, by content hash, of a crop that a paper names; raises KeyError."""
        return self._store.crop(crop)

    def source(self, name: str) -> Path:
        """The file that a paper was read from: the library's own copy of one that was handed over.

        Raises UnknownPaperError, and PaperFileError where the file is gone or has changed since.
        """
        return self._originals.of(find_entry(self._store.entries(), name))

    def page_picture(
        self,
        name: str,
        page: int,
        *,
        dpi: int = 110,
        marked: Sequence[Box | Place | str] = (),
        password: str | None = None,
    ) -> bytes:
        """A page of a paper as PNG, drawn in a child process with limits of time and memory.

        `marked` are boxes in points, places (those on this page are drawn) and ids of the paper's elements. A page of
        more than 20 million pixels gets a lower resolution.

        Raises UnknownPaperError; PaperFileError where the file is gone, has changed, has no pages or can't be drawn;
        InputError for a page, an element or a resolution that there is not.
        """
        paper = self.paper(name)
        boxes = boxes_on(paper, page, marked)
        return self._painter.draw(self.source(paper.id), paper, page, dpi=dpi, boxes=boxes, password=password)

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

    def _ids(self, papers: Sequence[str]) -> tuple[str, ...]:
        entries = self._store.entries()
        return tuple(find_entry(entries, paper).id for paper in papers)


@dataclass(frozen=True, kw_only=True, slots=True)
class View(Displayable):
    """A value as HTML, one page fragment without scripts or addresses, pictures included, and as a text."""

    html: str
    text: str

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.html


def render_view(value: Displayable | Sequence[Displayable], holder: ContentSource) -> View:
    """Show a value, or several one after another (papers: as a table). What `holder` lacks is told in words."""
    if isinstance(value, Displayable):
        return View(html=to_html(value, holder), text=str(value))
    return View(html=several_html(value, holder), text="\n".join(map(str, value)))


T = TypeVar("T")

_NO_FILTERS = Filters()


def _no_progress(_stage: object) -> None:
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
        self._loop = EventLoopThread()

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
        cache = MemoryCallCache() if store.read_only else store
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
        on_stage: ProgressCallback = _no_progress,
    ) -> AddResult:
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
        on_stage: ProgressCallback = _no_progress,
    ) -> AddResult:
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
        on_stage: Callable[[str], None] = _no_progress,
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
        on_stage: Callable[[str], None] = _no_progress,
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

    def show(self, value: Displayable | Sequence[Displayable]) -> View:
        """An answer, context, paper or element (or several) as a notebook shows it, with pictures and marked cells."""
        return render_view(value, self)

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
        return await self._loop.run(run_in_thread(partial(self.remove, name)))

    async def neighbourhood_async(
        self, entity: str, *, papers: Sequence[str] = (), steps: int = 1, limit: int = 40
    ) -> Neighbourhood:
        """`neighbourhood`, awaitable on any loop."""
        found = partial(self.neighbourhood, entity, papers=papers, steps=steps, limit=limit)
        return await self._loop.run(run_in_thread(found))

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
        return await self._loop.run(run_in_thread(drawn))

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
