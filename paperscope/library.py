"""The library of papers: add, ask, look up, remove."""

import os
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial, wraps
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from graph_store import Conversations, JobQueue, LiteratureTables, Notes, Store
from graph_store.index import INDEXES
from graph_store.lightrag.index import LightRAGGraphIndex
from paperscope.adding import Adder, AddRequest, AddResult, ProgressCallback, Stage
from paperscope.display import View, view
from paperscope.entity_lookup import EntityMatch, find_entity, most_connected, search_entities
from paperscope.estimating import Estimate, Estimator
from paperscope.event_loop import EventLoopThread
from paperscope.lightrag import (
    ImportPlan,
    build_lightrag,
    build_lightrag_app,
    import_lightrag_folder,
    open_lightrag_index,
)
from paperscope.neighbourhood import Neighbourhood, neighbourhood
from paperscope.originals import open_originals
from paperscope.paper_reader import PaperReader
from paperscope.sources import PaperSource, find_sources
from paperscope_core.cancellation import run_in_thread
from paperscope_core.errors import (
    PaperFileError,
    PaperscopeError,
    SettingsError,
    StoreReadOnlyError,
    UnknownElementError,
)
from paperscope_core.locations import Location, parse_location
from paperscope_core.models import Budget, Models, RoleCallListener, build_models
from paperscope_core.models.cache import MemoryCallCache
from paperscope_core.models.token_counting import token_counter
from paperscope_core.paper_lookup import find_entries, find_entry
from paperscope_core.publication import doi_in, is_same_work
from paperscope_core.settings import Settings, load_settings
from paperscope_core.text.escaping import one_line
from paperscope_core.text.words import fold_spelling, singular_key
from paperscope_core.types import (
    CORRECTED,
    Answer,
    AnswerEvent,
    AskRequest,
    BibRecord,
    Box,
    Context,
    Displayable,
    DoneEvent,
    Element,
    ElementHead,
    Filters,
    Note,
    Paper,
    PaperEntry,
    PaperFile,
    PaperImages,
    Place,
    Publication,
    Reading,
    Shortfall,
    StageEvent,
    TextEvent,
    ToolCall,
    ToolResult,
    Turn,
    Usage,
    captioned_places_of,
    content_hash,
)
from paperscope_core.types.literature import ColumnSet, LiteratureColumn, LiteratureTable

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from paperscope.asking import Asker
    from paperscope.question_estimates import QuestionEstimator
    from paperscope.records.catalogues import Catalogues
    from paperscope.table_filling import OnPaper
    from query.claim_check import CheckedStatement
    from query.papercheck import Discrepancy
    from query.results import Leaderboard

__all__ = [
    "AddResult",
    "EntityMatch",
    "Estimate",
    "Estimator",
    "Library",
    "Neighbourhood",
    "PaperReader",
    "PaperSource",
    "ProgressCallback",
    "Stage",
    "View",
    "find_sources",
    "open_store",
]

# The resolution of pages that a vision model reads, and the longest side in pixels: models reduce larger images, and
# the page of a poster would exceed the size that they take.
_READ_DPI = 150
_READ_SIDE = 2000
_LEAST_DPI = 18

P = ParamSpec("P")
T = TypeVar("T")


def _ignore(_stage: object) -> None:
    return


def _ignore_both(_first: object, _second: object) -> None:
    return


def _awaitable(
    method: "Callable[Concatenate[Library, P], T]",
) -> "Callable[Concatenate[Library, P], Coroutine[Any, Any, T]]":
    """Return the awaitable form of a method, which runs in a thread."""

    @wraps(method)
    async def awaitable(self: "Library", /, *args: P.args, **options: P.kwargs) -> T:
        return await self._loop.run(run_in_thread(partial(method, self, *args, **options)))

    return awaitable


class Library:
    """A library of papers.

    Synchronous methods work everywhere, also inside a running event loop and from many threads at once; methods named
    `..._async` are their awaitable counterparts for any event loop. Use the library as a context manager, or call
    `close`.
    """

    def __init__(self, *, store: Store, settings: Settings, models: Models) -> None:
        self._store = store
        self._settings = settings
        self._models = models
        try:
            self._index = INDEXES[settings.retrieval.index].open(store, embedder=models.embedder.name)
        except PaperscopeError:
            store.close()
            raise
        self._originals = open_originals(store)
        self._adder = Adder(store, models, settings, originals=self._originals)
        self._loop = EventLoopThread()
        self._lightrag_index: LightRAGGraphIndex | None = None
        self._lightrag_index = self._open_lightrag_index()
        # A tokenizer that can't be read is an error now, not when the first question is asked.
        self._count_tokens = token_counter(settings.answer.tokenizer)

    @cached_property
    def _asker(self) -> "Asker":
        """Built for the first question: what answers questions takes 0.15 s to import."""
        return self._build_asker(self._models)

    def _build_asker(self, models: Models) -> "Asker":
        from paperscope.asking import build_asker

        searched = self._lightrag_index or self._index
        return build_asker(
            self._store,
            searched,
            models=models,
            settings=self._settings,
            count=self._count_tokens,
            page_image=self._page_image,
        )

    def _open_lightrag_index(self) -> LightRAGGraphIndex | None:
        settings = self._settings.retrieval
        if settings.index != "lightrag":
            return None
        try:
            return open_lightrag_index(self._store, self._models, self._loop.wait, settings=settings)
        except PaperscopeError:
            self.close()
            raise

    @classmethod
    def open(
        cls,
        folder: Location | str | None = None,
        *,
        settings: Settings | None = None,
        budget: Budget | None = None,
        on_call: RoleCallListener | None = None,
    ) -> Self:
        """Open a library, or create it. A library that is not writable is opened for reading.

        Args:
            folder: The library's folder, or the address of its database, postgresql://HOST/DATABASE?files=FOLDER; None
                for that of the settings.
            settings: The settings; None to read them as the command line does: `PAPERSCOPE_*`, paperscope.toml,
                `OPENAI_*`.
            budget: The budget of all model calls while the library is open.
            on_call: Called with the role and the outcome of each call to a model's endpoint as it ends, from another
                thread, in the `contextvars` context of the code that caused it.

        Raises:
            StoreError: The library can't be opened.
            SettingsError: A setting or the address is wrong.
            ModelError: The weights of a local model are missing.
        """
        settings = settings or load_settings(environ=os.environ)
        store = open_store(settings.library if folder is None else _location(folder))
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
        """Release files, connections and the event loop.

        Adds and questions that other threads are running end with a StoreError. Paid model calls in progress finish and
        are cached first.
        """
        self._loop.close(self._models.aclose)
        if self._lightrag_index is not None:
            self._lightrag_index.close()
        self._index.close()
        self._store.close()

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine that uses this library, such as `Estimator.estimate`, and return its result."""
        return self._loop.wait(work)

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Awaitable `wait`."""
        return await self._loop.run(work)

    # Adding and removing.

    def add(
        self,
        file: PaperFile | Path | str,
        *,
        name: str | None = None,
        source: str | None = None,
        replaces: str | None = None,
        password: str | None = None,
        sha256: str | None = None,
        on_stage: ProgressCallback = _ignore,
    ) -> AddResult:
        """Add one paper.

        A paper that was added from the same path before is replaced. After an error the library is unchanged, except
        that paid model calls are cached.

        Args:
            file: The paper's file, or a folder of MinerU's output; a `PaperFile` may have its content.
            name: The file name under which an uploaded file is shown. The library then keeps a copy of the file, and
                its path has no meaning.
            source: The address that the file was fetched from. A paper that was added from it before is replaced.
            replaces: The id of the paper that it replaces.
            password: Opens an encrypted file.
            sha256: The expected digest of the content; another content is refused.
            on_stage: Called with each stage, possibly from another thread.

        Raises:
            PaperFileError: The file can't be read as a paper.
            UnknownPaperError: There is no paper to replace.
            ModelError: A model fails.
            BudgetError: The budget is spent.
            StoreError: The library can't be written.
        """
        request = AddRequest(
            file=PaperFile.of(file, password=password),
            name=name,
            source=source,
            replaces=replaces,
            sha256=sha256,
            on_stage=on_stage,
        )
        return self._loop.wait(self._adder.add(request))

    async def add_async(
        self,
        file: PaperFile | Path | str,
        *,
        name: str | None = None,
        source: str | None = None,
        replaces: str | None = None,
        password: str | None = None,
        sha256: str | None = None,
        on_stage: ProgressCallback = _ignore,
    ) -> AddResult:
        """Awaitable `add`. A cancelled add stores nothing, unless its transaction had begun."""
        request = AddRequest(
            file=PaperFile.of(file, password=password),
            name=name,
            source=source,
            replaces=replaces,
            sha256=sha256,
            on_stage=on_stage,
        )
        return await self._loop.run(self._adder.add(request))

    def add_source(
        self, source: PaperSource, *, password: str | None = None, on_stage: ProgressCallback = _ignore
    ) -> AddResult:
        """Add the paper of a source; the library keeps a copy of what is fetched from elsewhere. See `add`."""
        max_mb = self._settings.limits.max_file_mb
        if source.known:
            paper = self._adder.put_records(self._store.paper(source.known), [source.record] if source.record else [])
            return AddResult(
                paper=paper, outcome="unchanged", images=self.images(paper.id), shortfall=self.shortfall(paper.id)
            )
        request = AddRequest.of(source, max_mb=max_mb, password=password, on_stage=on_stage)
        return self._loop.wait(self._adder.add(request))

    @cached_property
    def _catalogues(self) -> "Catalogues":
        from paperscope.records.catalogues import Catalogues

        limit = self._settings.limits.max_file_mb
        return Catalogues(self._settings.records, self._store.local_folder / "records", max_mb=limit)

    def find(self, place: str) -> Sequence[PaperSource]:
        """Return the papers that a place names, for `add_source`.

        Args:
            place: A file, a folder, an S3 address; a DOI, an arXiv id or an https address, which `records.contact`
                has to allow; a reference file (BibTeX, RIS, CSL-JSON); `zotero:COLLECTION` of Zotero on this machine.

        Raises:
            InputError: There is no such paper, or the place can't be read.
        """
        from paperscope.records.named_papers import PaperFinder

        return PaperFinder(self._catalogues, self._store.entries).find(place)

    def complete(self, name: str) -> Paper:
        """Complete a paper's record by that of Crossref or arXiv, as far as `records.contact` allows.

        Args:
            name: See `paper`.

        Raises:
            PaperFileError: The paper states no DOI and no arXiv id, there is no record of it, or the record is that of
                another work.
        """
        paper = self.paper(name)
        entry = self._store.entry(paper.id)
        if not (entry.doi or entry.arxiv):
            raise PaperFileError(f"{paper.title!r} states neither a DOI nor an arXiv id")
        record = self._catalogues.record(doi=entry.doi, arxiv=entry.arxiv)
        if not is_same_work(paper, record):
            raise PaperFileError(f"{paper.title!r}: the id that it prints is that of {record}, which was not used")
        return self._adder.put_records(paper, [record])

    def correct(self, name: str, *, title: str = "", authors: Sequence[str] = (), published: Publication) -> Paper:
        """Correct a paper's record. What is corrected stays so when the file is read again, and when it is completed.

        Args:
            name: See `paper`.
            title: The title, "" to leave it.
            authors: The names of all authors, () to leave them.
            published: When and where it was published; what is empty is left.
        """
        names = tuple(filter(None, map(one_line, authors)))
        published = replace(published, venue=one_line(published.venue), doi=doi_in(one_line(published.doi)))
        record = BibRecord(origin=CORRECTED, title=one_line(title), authors=names, publication=published)
        return self._adder.put_records(self.paper(name), [record])

    def estimate_source(self, source: PaperSource, estimator: Estimator, *, password: str | None = None) -> Estimate:
        """Estimate the model usage of adding the paper of a source. See `Estimator.estimate`."""
        file = source.file(max_mb=self._settings.limits.max_file_mb, password=password)
        return self._loop.wait(estimator.estimate(file, on_stage=_ignore))

    def estimator(self) -> Estimator:
        """Return an object that estimates the cost of adding files, one by one. It stores and sends nothing."""
        return Estimator(self._store, self._models, self._settings)

    async def estimate_async(self, file: Path | str, *, password: str | None = None) -> Estimate:
        """Estimate the model usage of adding one file. It stores and sends nothing.

        Raises:
            PaperFileError: The file can't be read as a paper.
        """
        return await self._loop.run(self.estimator().estimate(Path(file), on_stage=_ignore, password=password))

    def remove(self, name: str) -> PaperEntry:
        """Remove a paper and everything that it added.

        A question in progress that uses the paper is asked again of the remaining papers.

        Args:
            name: See `paper`.

        Returns:
            The removed paper, without its elements.

        Raises:
            UnknownPaperError: There is no such paper.
            StoreError: The library can't be written.
        """
        entry = find_entry(self._store.entries(), name)
        self._store.remove(entry.id)
        self._store.sweep()
        self._originals.drop(entry.sha256)
        self._originals.sweep(keep=self._store.file_hashes())
        return entry

    remove_async = _awaitable(remove)
    """Awaitable `remove`."""

    # Asking.

    def ask(
        self,
        question: str,
        *,
        papers: Sequence[str] = (),
        filters: Filters = Filters(),
        history: Sequence[Turn] = (),
        each_paper: bool = False,
        on_stage: Callable[[str], None] = _ignore,
    ) -> Answer:
        """Answer a question.

        Args:
            question: The question.
            papers: The papers to answer from (ids, file names, titles), in addition to those of `filters`; none for
                all papers.
            filters: What the question may be answered from.
            history: Earlier questions, oldest first, from which a model completes a follow-up ("and on CoNLL?").
            each_paper: Ask each paper, and conclude from what they say: for a question about many papers. It takes a
                call of a model for each of at most 50 papers; see `question_estimator`.
            on_stage: Called with the name of each stage, from another thread.

        Raises:
            InputError: The question is empty, or names an unknown paper.
            ModelError: The answering model fails.
            BudgetError: The budget is spent.
        """
        request = AskRequest.of(question, papers=papers, filters=filters, history=history, each_paper=each_paper)
        return self._loop.wait(self._asker.ask(request, on_stage=on_stage))

    async def ask_async(
        self,
        question: str,
        *,
        papers: Sequence[str] = (),
        filters: Filters = Filters(),
        history: Sequence[Turn] = (),
        each_paper: bool = False,
        on_stage: Callable[[str], None] = _ignore,
    ) -> Answer:
        """Awaitable `ask`."""
        request = AskRequest.of(question, papers=papers, filters=filters, history=history, each_paper=each_paper)
        return await self.answer(request, on_stage=on_stage)

    async def answer(
        self,
        request: AskRequest,
        *,
        on_stage: Callable[[str], None] = _ignore,
        on_text: Callable[[TextEvent], None] | None = None,
    ) -> Answer:
        """Answer a request, as `ask_async` does.

        Args:
            request: The question, with the filters and the turns before it.
            on_stage: Called with the name of each stage, from another thread.
            on_text: Called with the pieces of the text as it is written, from another thread; None to have the model
                reply at once.
        """
        return await self._loop.run(self._asker.ask(request, on_stage=on_stage, on_text=on_text))

    def stream(
        self,
        question: str,
        *,
        papers: Sequence[str] = (),
        filters: Filters = Filters(),
        history: Sequence[Turn] = (),
        each_paper: bool = False,
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Answer a question like `ask_async`, with events: each stage as it begins, the text as it is written, and
        finally the answer. Errors are raised during iteration."""

        async def work(tell: Callable[[AnswerEvent], None]) -> None:
            request = AskRequest.of(question, papers=papers, filters=filters, history=history, each_paper=each_paper)
            answer = await self._asker.ask(request, on_stage=lambda stage: tell(StageEvent(stage=stage)), on_text=tell)
            tell(DoneEvent(answer=answer))

        return self._loop.iterate(work)

    def retrieve(
        self, question: str, *, papers: Sequence[str] = (), filters: Filters = Filters(), each_paper: bool = False
    ) -> Context:
        """Retrieve the context on which `ask` would base an answer; with `each_paper`, the best sources of each paper:
        the first of each, then the second of each, and so on. Takes the arguments of `ask`."""
        request = AskRequest.of(question, papers=papers, filters=filters, each_paper=each_paper)
        return self._loop.wait(self._asker.retrieve(request))

    async def retrieve_async(
        self, question: str, *, papers: Sequence[str] = (), filters: Filters = Filters(), each_paper: bool = False
    ) -> Context:
        """Awaitable `retrieve`."""
        request = AskRequest.of(question, papers=papers, filters=filters, each_paper=each_paper)
        return await self._loop.run(self._asker.retrieve(request))

    def question_estimator(self) -> "QuestionEstimator":
        """Return an object that estimates the cost of answering questions, one by one. It asks no language model."""
        from paperscope.question_estimates import QuestionEstimator

        return QuestionEstimator(self._store, self._models, self._settings, self._build_asker)

    # Literature tables.

    def table(
        self,
        columns: ColumnSet | Path | Sequence[str | LiteratureColumn],
        *,
        papers: Sequence[str] = (),
        title: str = "Literature table",
        on_paper: "OnPaper | None" = None,
    ) -> LiteratureTable:
        """Fill a literature table: a row for each paper, and in each cell what the paper says, with its place.

        The library keeps the table under its title. Called again, it asks only for what is new: papers and columns that
        were added, and cells whose paper, column or model has changed. Corrected cells stay.

        Args:
            columns: A set of columns, a TOML file of one, or columns and names of ready-made ones ("objective").
            papers: What identifies each paper (id, file name, title); none for all papers.
            title: The title of a table whose columns are listed here.
            on_paper: Called with each paper that is done, and why it could not be ("" if it could).

        Raises:
            InputError: The columns have another form, or a paper is not in the library.
            ModelError: The model fails for every paper.
            BudgetError: The budget is spent. What is filled is kept.
            StoreError: The library can't be written.
        """
        from paperscope_core.column_sets import column_set, read_columns

        if isinstance(columns, Path):
            columns = read_columns(columns)
        asked = columns if isinstance(columns, ColumnSet) else column_set(title, columns)
        return self.wait(self.fill_table_async(self.define_table(asked, papers), on_paper=on_paper))

    def define_table(self, columns: ColumnSet, papers: Sequence[str] = ()) -> str:
        """Create a literature table, or change that of this title, without filling it; return its id. See `table`."""
        return self._asker.tables.define(columns, papers)

    async def fill_table_async(
        self, table: str, *, at_once: int = 4, on_paper: "OnPaper | None" = None
    ) -> LiteratureTable:
        """Fill what the table with this id lacks, several papers `at_once`. See `table`; raises UnknownTableError if
        there is none."""
        filling = self._asker.tables.fill(table, at_once=at_once, on_paper=on_paper or _ignore_both)
        return await self._loop.run(filling)

    @property
    def tables(self) -> LiteratureTables:
        """The literature tables of the library, to list, read, correct and delete."""
        return self._store.tables

    # Tags and notes.

    def tags(self) -> Mapping[str, Sequence[str]]:
        """Return the ids of the papers with each tag. Wherever papers are named, `#TAG` names all of a tag."""
        return self._store.tags.all()

    def tag(self, papers: Sequence[str], *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> None:
        """Give papers tags, and take tags from them. A paper keeps its tags when a newer version replaces it.

        Args:
            papers: What identifies each paper (id, file name, title, `#TAG`).
            add: Tags of letters, digits, "-", "_" and "/"; words are joined by hyphens.
            remove: Tags that the papers no longer have.

        Raises:
            UnknownPaperError: There is no such paper.
            InputError: A tag has another form.
        """
        self._store.tags.change([entry.id for entry in self.select(papers)], add=add, remove=remove)

    def select(self, papers: Sequence[str]) -> Sequence[PaperEntry]:
        """Return the papers of these names (id, file name, title, `#TAG`) without their elements; all if there are
        none. Raises UnknownPaperError."""
        entries = self._store.entries()
        return find_entries(entries, papers, self._store.tags.all) if papers else entries

    def note(
        self, paper: str, text: str = "", *, element: str = "", places: Sequence[Place] = (), quote: str = ""
    ) -> Note:
        """Store a note on a paper, or a highlight, which is a note without a text.

        Args:
            paper: See `paper`.
            text: The note, in Markdown.
            element: The id of an element that it is about, with or without the paper's ("table-3").
            places: The places that it is about; those of the element if there are none.
            quote: What is quoted; the text or the caption of the element if it is empty.

        Raises:
            NotFoundError: There is no such paper or element.
            InputError: There is neither a text nor a place, or it is too long.
        """
        entry = find_entry(self._store.entries(), paper)
        if element:
            found = self.element(f"{entry.id}/{element.rpartition('/')[2]}")
            element, places = found.id, places or captioned_places_of(found)
            quote = quote or getattr(found, "caption", "") or getattr(found, "text", "")
        title = entry.title or entry.file
        note = Note(paper=entry.id, title=title, text=text, quote=quote, element=element, places=tuple(places))
        return self._store.notes.add(note)

    @property
    def notes(self) -> Notes:
        """The notes of the library, to list, search, change and delete; `note` adds one."""
        return self._store.notes

    # Look-ups. They call no model, and may run in many threads.

    def papers(self) -> Sequence[Paper]:
        """Return all papers, in the order they were added."""
        return self._store.papers()

    def entries(self) -> Sequence[PaperEntry]:
        """Return all papers without their elements, in the order they were added; fast also in a large library."""
        return self._store.entries()

    def paper(self, name: str) -> Paper:
        """Find a paper.

        Args:
            name: Its id, the start of its id, its file name, or a part of its title.

        Raises:
            UnknownPaperError: There is no such paper, or there are several.
        """
        return self._store.find_paper(name)

    def entry(self, paper: str) -> PaperEntry:
        """Return the paper with exactly this id, without its elements. Raises UnknownPaperError."""
        return self._store.entry(paper)

    def counts(self, papers: Sequence[str]) -> Mapping[str, Mapping[str, int]]:
        """Return how many elements of each kind papers have: by paper id, then by kind."""
        return self._store.counts(papers)

    def page_counts(self, papers: Sequence[str]) -> Mapping[str, tuple[int, int]]:
        """Return how many pages papers have, and how many problems their parser reported, by paper id."""
        return self._store.page_counts(papers)

    def publications(self, papers: Sequence[str]) -> Mapping[str, Publication]:
        """Return where papers were published, with what records say, by paper id."""
        return self._store.publications(papers)

    def images(self, paper: str) -> PaperImages:
        """Return the readings of the paper's images; empty if no vision model read them."""
        return self._store.images(paper)

    def shortfall(self, paper: str) -> Shortfall:
        """Return what is missing from the extraction of the paper with this id."""
        return self._store.shortfall(paper)

    def element(self, element: str) -> Element:
        """Return the element with this id. Raises UnknownElementError."""
        return self._store.element(element)

    def elements(self, name: str, *, kind: str = "") -> Sequence[Element]:
        """Return a paper's elements in reading order.

        Args:
            name: See `paper`.
            kind: "passage", "table", "figure", "equation" or "reference"; "" for all.

        Raises:
            UnknownPaperError: There is no such paper.
        """
        return [element for element in self.paper(name).elements if kind in ("", element.kind)]

    def gallery(
        self, words: str = "", *, kinds: Sequence[str] = ("table", "figure"), papers: Sequence[str] = ()
    ) -> Sequence[ElementHead]:
        """Return the tables and figures of the library, without their content, in the order of addition.

        Args:
            words: Only those with these words in label and caption, without regard to case and accents.
            kinds: Only elements of these kinds.
            papers: Only of these papers (see `select`).
        """
        wanted = fold_spelling(words).casefold().split()
        ids = [entry.id for entry in self.select(papers)] if papers else None
        heads = self._store.heads(kinds=kinds, papers=ids)
        found = ((one, fold_spelling(f"{one.label} {one.caption}").casefold()) for one in heads)
        return [one for one, caption in found if all(word in caption for word in wanted)]

    def crop(self, crop: str) -> bytes:
        """Return the PNG bytes of an element's picture, by content hash. Raises UnknownCropError."""
        return self._store.crop(crop)

    def source(self, name: str) -> Path:
        """Return the file that a paper was parsed from; the library's copy if it was uploaded.

        Args:
            name: See `paper`.

        Raises:
            UnknownPaperError: There is no such paper.
            PaperFileError: The file no longer exists, or has changed.
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
        """Render a page of a paper, in a child process with time and memory limits.

        Args:
            name: See `paper`.
            page: The page's number, from 1.
            dpi: The resolution; reduced for a page that would have more than 20 million pixels.
            marked: What to mark: boxes in points, places (those on other pages are ignored), and ids of the paper's
                elements.
            password: Opens an encrypted file.

        Returns:
            The page as PNG.

        Raises:
            NotFoundError: There is no such paper or element.
            PaperFileError: The file no longer exists, has changed, has no pages, or can't be rendered.
            InputError: There is no such page, or the resolution is out of range.
        """
        from ingest.page_images import page_renderer

        paper = self.paper(name)
        boxes = _boxes_on(paper, page, marked)
        file = PaperFile(self.source(paper.id), password=password)
        return page_renderer(self._settings.limits).draw(file, paper, page, dpi=dpi, boxes=boxes)

    def reading_picture(self, reading: Reading) -> bytes:
        """Return the PNG bytes of what a vision model read: an element's picture, or a whole page.

        Raises:
            NotFoundError: The library no longer has the paper.
            PaperFileError: The page can't be rendered; see `page_picture`.
        """
        return self.crop(reading.crop) if reading.crop else self._page_image(reading.place.paper, reading.place.page)

    def _page_image(self, paper: str, page: int) -> bytes:
        """Render a page as a vision model reads it."""
        sides = [max(one.width, one.height) for one in self.paper(paper).pages if one.number == page]
        fitting = (int(72 * _READ_SIDE / side) for side in sides if side > 0)
        return self.page_picture(paper, page, dpi=max(_LEAST_DPI, min((_READ_DPI, *fitting))))

    page_picture_async = _awaitable(page_picture)
    """Awaitable `page_picture`. Cancelling it kills the child process."""

    @property
    def read(self) -> PaperReader:
        """The reading tools, such as `library.read.section("4.2")`; see `PaperReader`."""
        return PaperReader(self.look_up)

    def look_up(self, call: ToolCall) -> ToolResult:
        """Run a reading tool; `read` has a method for each.

        Raises:
            NotFoundError: There is no such paper, section, element, page or reference; the message names similar ones.
            InputError: The argument has another form, or a paper has to be named.
            ModelError: The embedder or the reranker of a search failed.
        """
        return self._loop.wait(self._asker.look_up(call))

    async def look_up_async(self, call: ToolCall) -> ToolResult:
        """Awaitable `look_up`."""
        return await self._loop.run(self._asker.look_up(call))

    async def embed_async(self, texts: Sequence[str]) -> "NDArray[float32]":
        """Return a unit-length vector of each text, a row each, by the embedder of the library. Raises ModelError."""
        return await self._loop.run(self._models.embedder.embed(texts))

    def check_statement(self, text: str, elements: Sequence[str]) -> "CheckedStatement":
        """Check which numbers, names and quotations of a statement the elements with these ids bear, without a model.

        Raises:
            UnknownElementError: There is no such element.
        """
        from query.claim_check import check_statement

        return check_statement(self._store, text, elements)

    check_statement_async = _awaitable(check_statement)
    """Awaitable `check_statement`."""

    def check(self, name: str) -> "Sequence[Discrepancy]":
        """Return the numbers of a paper that do not fit together, each with its places, without a model.

        Checked are totals, means, percentages, F1, bold values, values that the text cites from a table, means of whole
        numbers (GRIM), and p-values of test statistics.

        Args:
            name: See `paper`.

        Raises:
            UnknownPaperError: There is no such paper.
        """
        from query.evidence import EvidenceNamer
        from query.papercheck import check_paper

        namer = EvidenceNamer(self._store)
        return [replace(one, evidence=namer.named(one.evidence)) for one in check_paper(self.paper(name))]

    def results(self, *, dataset: str = "", metric: str = "", task: str = "") -> "Sequence[Leaderboard]":
        """Return leaderboards of the results in the tables of all papers, by dataset and metric, without a model.

        Args:
            dataset: Only datasets with these words in a name; "" for all.
            metric: Only such metrics.
            task: Only such tasks.
        """
        from query.results import leaderboards

        apart = self._store.separations()
        return leaderboards(self._store, dataset=dataset, metric=metric, task=task, separations=apart)

    def separate(self, paper: str, entity: str, *, apart: bool = True) -> None:
        """Undo a join of results: keep what a paper calls by a name apart from what other papers call so.

        Args:
            paper: See `paper`.
            entity: The name of the method, dataset or metric in `results`, or its id.
            apart: Whether to keep it apart; False to join it again.

        Raises:
            UnknownPaperError: There is no such paper.
            StoreError: The library can't be written.
        """
        self._store.separate(find_entry(self._store.entries(), paper).id, singular_key(entity), apart=apart)

    def most_connected(self, paper: str, *, limit: int) -> dict[str, int]:
        """Return the names of a paper's entities with the highest degrees in the graph, highest first; papers are left
        out."""
        return most_connected(self._store, paper, limit=limit)

    def search_entities(self, text: str, *, kind: str = "", limit: int = 20) -> Sequence[EntityMatch]:
        """Find entities by the beginnings of the words of their names, in any order.

        Args:
            text: The words.
            kind: Only entities of this type ("method"); "" for all.
            limit: The maximum number of entities.

        Returns:
            An exact match first, then the entities with the most relations.
        """
        return search_entities(self._store, text, type_=kind, limit=limit)

    def neighbourhood(
        self, entity: str, *, papers: Sequence[str] = (), steps: int = 1, limit: int = 40
    ) -> Neighbourhood:
        """Return an entity's neighbourhood in the graph.

        Args:
            entity: The entity's name, alias or id.
            papers: The papers that name it; none for all papers.
            steps: The maximum distance from the entity, in relations.
            limit: The maximum number of relations.

        Raises:
            UnknownEntityError: There is no such entity, or there are several.
            UnknownPaperError: There is no such paper.
        """
        while True:
            revision, entries = self._store.revision, self._store.entries()
            ids = tuple(entry.id for entry in find_entries(entries, papers, self._store.tags.all))
            try:
                center = find_entity(self._store, self._index, entity, papers=ids)
                return neighbourhood(self._store, center, steps=steps, limit=limit)
            except UnknownElementError:
                # Read again what is left after a removal.
                if not self._store.removed_since(revision):
                    raise

    neighbourhood_async = _awaitable(neighbourhood)
    """Awaitable `neighbourhood`."""

    def show(self, value: Displayable | Sequence[Displayable]) -> View:
        """Render one or several answers, contexts, papers or elements, with images and marked cells, for a notebook."""
        return view(value, self)

    def lightrag(self, **options: Any) -> Any:  # noqa: ANN401
        """Return a `LightRAG` of the package lightrag-hku on this library, for code that uses it (extra: lightrag).

        It retrieves, shows the graph and answers with the library's embedder and answering model. Each query reads one
        revision. What it would change raises StoreReadOnlyError. Call `await rag.initialize_storages()` first, and use
        it in one event loop, as long as the library is open.

        Args:
            options: Fields of `LightRAG`, such as `cosine_better_than_threshold`.

        Raises:
            InputError: LightRAG is not installed, or of another release.
        """
        return build_lightrag(self._store, self._models, self._loop.wait, **options)

    def lightrag_app(self, *, host: str, port: int, inputs: Path) -> Any:  # noqa: ANN401
        """Return LightRAG's API server and WebUI on this library, as an ASGI application (extra: lightrag).

        Args:
            host: The address that it listens on, and the only origin of its pages.
            port: The port that it listens on.
            inputs: An empty folder for uploads, which are then refused.

        Raises:
            InputError: LightRAG is not installed, or of another release.
        """
        return build_lightrag_app(self._store, self._models, self._loop.wait, host=host, port=port, inputs=inputs)

    def import_lightrag(self, folder: Path | str, *, on_paper: Callable[[Paper], None] = _ignore) -> ImportPlan:
        """Add the documents of a LightRAG working directory as papers without pages. LightRAG need not be installed.

        Its files are not changed. Documents that were imported before are replaced.

        Args:
            folder: The working directory, or that of a workspace in it.
            on_paper: Called with each paper that was added.

        Returns:
            The papers, and the number of things that have no place in them.

        Raises:
            InputError: The folder is no working directory, of another version, half-written or in use. Nothing is
                added.
            ModelError: The embedder fails.
            StoreError: The library can't be written.
        """
        return import_lightrag_folder(Path(folder), self._store, self._models, self._loop.wait, on_paper=on_paper)

    def usage(self) -> Mapping[str, Usage]:
        """Return the usage of all calls of language and vision models whose replies the library keeps, by model."""
        return self._store.usage()

    @property
    def jobs(self) -> JobQueue:
        """The library's background jobs."""
        return self._store.jobs

    @property
    def conversations(self) -> Conversations:
        """The library's conversations. They stay when a paper that they cite is removed."""
        return self._store.conversations

    @property
    def fingerprint(self) -> str:
        """A hash of everything that determines answers: the papers, the models and the settings."""
        tags = [str(self.tags())] if self.tags() else []
        parts = (str(self._store.revision), self._settings.model_dump_json(exclude={"service"}), *tags)
        return content_hash("\0".join(parts).encode())


def _location(text: Location | str) -> Location:
    try:
        return parse_location(text)
    except ValueError as error:
        raise SettingsError(str(error)) from error


def open_store(location: Location) -> Store:
    """Open a library's store, for reading only if it can't be written. Raises StoreError."""
    try:
        return Store.open(location)
    except StoreReadOnlyError as error:
        return Store.open(location, read_only=True, refusal=error)


def _boxes_on(paper: Paper, page: int, marked: Sequence[Box | Place | str]) -> tuple[Box, ...]:
    """Return the boxes to mark on a page, without repeats. See `Library.page_picture`."""
    boxes: dict[Box, None] = {}
    for one in marked:
        if isinstance(one, Box):
            boxes[one] = None
            continue
        places = (one,) if isinstance(one, Place) else captioned_places_of(_element_by_id(paper, one))
        boxes |= {place.box: None for place in places if (place.paper, place.page) == (paper.id, page)}
    return tuple(boxes)


def _element_by_id(paper: Paper, name: str) -> Element:
    for element in paper.elements:
        if element.id == name:
            return element
    raise UnknownElementError(name)
