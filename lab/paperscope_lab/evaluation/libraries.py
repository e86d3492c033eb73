"""Libraries of the papers in the gold data, built on first use and reused by later runs."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from graph_store import Store
from ingest.chunking import chunk_paper
from ingest.extraction import extractor_for
from paperscope.library import Library
from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import PaperscopeError
from paperscope_core.files import output_errors, write_atomically
from paperscope_core.models import Models, build_embedder, build_models
from paperscope_core.protocols import Embedder
from paperscope_core.settings import Settings
from paperscope_core.types import IndexedPaper, Paper, Usage, content_hash
from paperscope_lab.evaluation.provenance import code_fingerprint

__all__ = ["BuiltLibrary", "Libraries"]


Source = TypeVar("Source")

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
    ids: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    usage: dict[str, Usage] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)


class Libraries(ExitStack):
    """The libraries of one run, in a folder, open until exit. They share one embedder: its weights are loaded once.

    A library is built once for the same files, settings and code; an interrupted build is resumed. `settings` are the
    run's, with low-resolution crops if there is no vision model.
    """

    def __init__(self, folder: Path, settings: Settings) -> None:
        super().__init__()
        parser = settings.parser if settings.vision.configured else settings.parser.model_copy(update={"dpi": _DPI})
        self.settings = settings.model_copy(update={"parser": parser})
        self._folder = folder
        self._libraries: dict[Path, Library] = {}
        self._built: dict[str, BuiltLibrary] = {}
        self._stores: dict[Path, Store] = {}

    def of_files(self, files: Sequence[Path]) -> BuiltLibrary:
        """Return the library of these files, added as a user would add them. Unreadable files are omitted."""
        contents = [content_hash(file.read_bytes() if file.is_file() else b"") for file in files]
        return self._build("files", (*contents, *map(str, files)), {str(file): file for file in files}, self._add_file)

    def of_papers(self, papers: Sequence[Paper]) -> BuiltLibrary:
        """Return the library of papers that are made from texts, not read from files."""
        return self._build("papers", [*map(to_json, papers)], {paper.id: paper for paper in papers}, self._add_paper)

    def library(self, built: BuiltLibrary) -> Library:
        """Return the library, open until the end of the run."""
        if built.folder not in self._libraries:
            store = Store.open(built.folder)
            library = Library(store=store, settings=self.settings, models=self._models_of(store))
            self._libraries[built.folder] = self.enter_context(library)
        return self._libraries[built.folder]

    def store(self, built: BuiltLibrary) -> Store:
        """Return the library's store, open until the end of the run."""
        if built.folder not in self._stores:
            self._stores[built.folder] = self.enter_context(closing(Store.open(built.folder)))
        return self._stores[built.folder]

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder of all libraries. Raises ModelError if its weights are missing."""
        return build_embedder(self.settings.embed)

    def _models_of(self, store: Store) -> Models:
        return replace(build_models(self.settings, cache=store), embedder=self.embedder)

    def _build(
        self,
        kind: str,
        contents: Sequence[str],
        sources: Mapping[str, Source],
        add: Callable[[BuiltLibrary, Source], tuple[str, float, Usage]],
    ) -> BuiltLibrary:
        """Return the library of the sources, by name; `add` returns the id of a paper and the time and usage of adding
        it."""
        settings = self.settings.model_dump_json(exclude={"library", "answer", "calls", "retrieval"})
        parts = (code_fingerprint(*_CODE_PACKAGES), settings, kind, *contents)
        key = content_hash("\0".join(parts).encode())[:16]
        if key in self._built:
            return self._built[key]
        folder = self._folder / key
        with output_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
        built = _read_manifest(folder)
        if built is None:
            built = BuiltLibrary(folder=folder)
            for name, source in sources.items():
                try:
                    built.ids[name], built.seconds[name], built.usage[name] = add(built, source)
                except PaperscopeError as error:
                    built.problems[name] = str(error)
            write_atomically(folder / _MANIFEST, to_json(built).encode())
        self._built[key] = built
        return built

    def _add_file(self, built: BuiltLibrary, file: Path) -> tuple[str, float, Usage]:
        added = self.library(built).add(file)
        return added.paper.id, added.seconds, added.usage

    def _add_paper(self, built: BuiltLibrary, paper: Paper) -> tuple[str, float, Usage]:
        started = time.perf_counter()
        store = self.store(built)
        models = self._models_of(store)
        chunks = chunk_paper(paper)

        async def indexed() -> IndexedPaper:
            extraction = await extractor_for(models.extract, self.settings.extract).extract(paper, chunks)
            vectors = await models.embedder.embed([chunk.searched for chunk in chunks])
            return IndexedPaper(paper=paper, chunks=chunks, extraction=extraction, vectors=vectors)

        store.add(asyncio.run(indexed()), crops={}, source=paper.id, embedder=models.embedder.name)
        return paper.id, time.perf_counter() - started, Usage()


def _read_manifest(folder: Path) -> BuiltLibrary | None:
    try:
        return replace(from_json(BuiltLibrary, (folder / _MANIFEST).read_bytes()), folder=folder)
    except (OSError, ValueError):
        return None
