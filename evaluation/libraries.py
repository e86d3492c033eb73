"""Libraries of the papers in the gold data, built on first use and reused by later runs."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from evaluation.provenance import code_fingerprint
from graph_store import Store
from ingest import chunk_paper, extractor_for
from paperscope.library import Library
from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import PaperscopeError
from paperscope_core.files import output_errors, write_atomically
from paperscope_core.models import Models, build_embedder, build_models
from paperscope_core.protocols import Embedder
from paperscope_core.settings import Settings
from paperscope_core.types import IndexedPaper, Paper, Usage, content_hash

__all__ = ["BuiltLibrary", "Libraries"]


# The packages whose code affects a library's content.
_CODE_PACKAGES = ("paperscope_core", "paperscope", "ingest", "graph_store", "prompts")
_MANIFEST = "made.json"
# Without a vision model nothing reads the crops, so a low resolution saves time.
_DPI = 36


@dataclass(frozen=True, kw_only=True, slots=True)
class BuiltLibrary:
    """A library's folder and papers.

    `ids` are the papers' ids in the library, by file (its path as given) or paper (its id); `seconds` and `usage` are
    the cost of adding them when the library was built; `problems` are the reasons why papers are missing.
    """

    folder: Path
    ids: Mapping[str, str]
    seconds: Mapping[str, float] = field(default_factory=dict)
    usage: Mapping[str, Usage] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)


class Libraries:
    """The libraries of one run, in a folder. They share one embedder, so that its weights are loaded once.

    A library is built once for the same files, settings and code; an interrupted build is resumed. `settings` are the
    run's, with low-resolution crops if there is no vision model.
    """

    def __init__(self, folder: Path, settings: Settings) -> None:
        parser = settings.parser if settings.vision.configured else settings.parser.model_copy(update={"dpi": _DPI})
        self.settings = settings.model_copy(update={"parser": parser})
        self._folder = folder
        self._open = ExitStack()
        self._libraries: dict[Path, Library] = {}
        self._built: dict[str, BuiltLibrary] = {}
        self._stores: dict[Path, Store] = {}
        self._embedder: Embedder | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def of_files(self, files: Sequence[Path]) -> BuiltLibrary:
        """Returns the library of these files, added as a user would add them. Unreadable files are omitted."""
        contents = [content_hash(file.read_bytes() if file.is_file() else b"") for file in files]

        def fill(folder: Path) -> BuiltLibrary:
            library = self._library(folder)
            return _add_all(folder, {str(file): partial(_add_file, library, file) for file in files})

        return self._build(("files", *contents, *map(str, files)), fill)

    def of_papers(self, papers: Sequence[Paper]) -> BuiltLibrary:
        """Returns the library of papers that are made from texts, not read from files."""

        def fill(folder: Path) -> BuiltLibrary:
            store = self._store(folder)
            models = self._models_of(store)
            return _add_all(folder, {paper.id: partial(self._stored, store, models, paper) for paper in papers})

        return self._build(("papers", *map(to_json, papers)), fill)

    def library(self, built: BuiltLibrary) -> Library:
        """Returns the library, open until the end of the run."""
        return self._library(built.folder)

    def store(self, built: BuiltLibrary) -> Store:
        """Returns the library's store, open until the end of the run."""
        return self._store(built.folder)

    @property
    def embedder(self) -> Embedder:
        """Returns the embedder of all libraries. Raises ModelError if its weights are missing."""
        if self._embedder is None:
            self._embedder = build_embedder(self.settings.embed)
        return self._embedder

    def _build(self, parts: Sequence[str], fill: Callable[[Path], BuiltLibrary]) -> BuiltLibrary:
        key = self._key(parts)
        if key not in self._built:
            folder = self._folder / key
            with output_errors(folder):
                folder.mkdir(parents=True, exist_ok=True)
            self._built[key] = _read_manifest(folder) or fill(folder)
        return self._built[key]

    def _key(self, parts: Sequence[str]) -> str:
        settings = self.settings.model_dump_json(exclude={"library", "answer", "judge", "retrieval"})
        return content_hash("\0".join((code_fingerprint(*_CODE_PACKAGES), settings, *parts)).encode())[:16]

    def _library(self, folder: Path) -> Library:
        if folder not in self._libraries:
            store = Store.open(folder)
            library = Library(store=store, settings=self.settings, models=self._models_of(store))
            self._libraries[folder] = self._open.enter_context(library)
        return self._libraries[folder]

    def _store(self, folder: Path) -> Store:
        if folder not in self._stores:
            self._stores[folder] = self._open.enter_context(closing(Store.open(folder)))
        return self._stores[folder]

    def _models_of(self, store: Store) -> Models:
        return replace(build_models(self.settings, cache=store), embedder=self.embedder)

    def _stored(self, store: Store, models: Models, paper: Paper) -> "_AddedPaper":
        started = time.perf_counter()
        chunks = chunk_paper(paper, max_words=self.settings.chunking.max_words)

        async def indexed() -> IndexedPaper:
            extraction = await extractor_for(models.extract, self.settings.extract).extract(paper, chunks)
            vectors = await models.embedder.embed([chunk.text for chunk in chunks])
            return IndexedPaper(paper=paper, chunks=chunks, extraction=extraction, vectors=vectors)

        store.add(asyncio.run(indexed()), crops={}, source=paper.id, embedder=models.embedder.name)
        return _AddedPaper(id=paper.id, seconds=time.perf_counter() - started)


@dataclass(frozen=True, kw_only=True, slots=True)
class _AddedPaper:
    """A paper that was added, and the time and usage of adding it."""

    id: str
    seconds: float
    usage: Usage = Usage()


def _add_file(library: Library, file: Path) -> _AddedPaper:
    added = library.add(file)
    return _AddedPaper(id=added.paper.id, seconds=added.seconds, usage=added.usage)


def _add_all(folder: Path, adds: Mapping[str, Callable[[], _AddedPaper]]) -> BuiltLibrary:
    made: dict[str, _AddedPaper] = {}
    problems: dict[str, str] = {}
    for name, add in adds.items():
        try:
            made[name] = add()
        except PaperscopeError as error:
            problems[name] = str(error)
    built = BuiltLibrary(
        folder=folder,
        ids={name: paper.id for name, paper in made.items()},
        seconds={name: paper.seconds for name, paper in made.items()},
        usage={name: paper.usage for name, paper in made.items()},
        problems=problems,
    )
    write_atomically(folder / _MANIFEST, to_json(built).encode())
    return built


def _read_manifest(folder: Path) -> BuiltLibrary | None:
    try:
        return replace(from_json(BuiltLibrary, (folder / _MANIFEST).read_bytes()), folder=folder)
    except (OSError, ValueError):
        return None
