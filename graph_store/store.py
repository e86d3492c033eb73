"""The store of a library: a folder with `library.sqlite` and `crops/`."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Concatenate, ParamSpec, Self, TypeVar

from numpy import float32
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from graph_store import caches as remembered
from graph_store import graph as graph_reading
from graph_store import reading
from graph_store import reading as history
from graph_store import short_forms as meanings
from graph_store.caches import PaperCache
from graph_store.crops import CropFiles
from graph_store.database import Database, translate_errors
from graph_store.jobs import JobQueue
from graph_store.migrations import CROPS_FOLDER, open_read_only, open_writable
from graph_store.reading import Change, Checkpoint, Edge, Searchable, find_entry
from graph_store.schema import paper_crops, papers
from graph_store.writing import put_paper, remove_paper, validate
from paperscope_core.errors import UnknownPaperError
from paperscope_core.types import (
    Chunk,
    Element,
    Entity,
    IndexedPaper,
    ModelReply,
    Paper,
    PaperEntry,
    PaperImages,
    Relation,
    Shortfall,
)

__all__ = ["Store"]


_CACHED_PAPERS = 1000

Options = ParamSpec("Options")
Value = TypeVar("Value")


class Store:
    """Papers with everything extracted from them, and every paid model call; implements the protocols `Corpus`,
    `CallCache` and `VectorCache`.

    A change is one transaction: after a crash each paper is stored completely or not at all. Safe for several threads
    and processes. Failures are raised as StoreError; look-ups of unknown ids raise KeyError.
    """

    def __init__(self, folder: Path, database: Database) -> None:
        self.folder = folder
        self.jobs = JobQueue(database)
        self._database = database
        self._crops = CropFiles(folder / CROPS_FOLDER)
        self._paper_cache = PaperCache(size=_CACHED_PAPERS)

    @classmethod
    def open(cls, folder: Path, *, read_only: bool = False) -> Self:
        """Open the library in `folder`; for writing, create it if there is none.

        Raises StoreVersionError if a newer Paperscope wrote it, StoreReadOnlyError if it can't be written.
        """
        return cls(folder, open_read_only(folder) if read_only else open_writable(folder))

    def close(self) -> None:
        """Release the files."""
        self._database.close()

    @property
    def read_only(self) -> bool:
        """Whether the library is open for reading only; every change then raises StoreReadOnlyError."""
        return self._database.read_only

    @property
    def revision(self) -> int:
        """The number of changes, including those of other processes."""
        return self._read(history.read_revision)

    def changes_since(self, revision: int) -> Sequence[Change]:
        """The changes after a revision, oldest first."""
        return self._read(history.read_changes, revision)

    def mark(self, revision: int) -> Checkpoint | None:
        """The checkpoint of a revision; None if this library's history has no such revision."""
        return self._read(history.read_checkpoint, revision)

    def add(
        self,
        indexed: IndexedPaper,
        *,
        crops: Mapping[str, bytes],
        source: str,
        embedder: str,
        replaces: str | None = None,
    ) -> int:
        """Add a paper, in place of the paper `replaces` and of any with the same id; return the new revision.

        `source` is the absolute path of its file, `embedder` names the embedder of its vectors. Raises ValueError if an
        id is unknown or a crop is named that is neither given nor stored.
        """
        validate(indexed)
        self._database.require_writable()
        with translate_errors(self._database.file):
            self._crops.put_of(indexed.paper, crops)
        with self._database.write() as connection:
            # A sweep in another process may have deleted crops that no stored paper named yet.
            self._crops.put_of(indexed.paper, crops)
            return put_paper(connection, indexed, source=source, embedder=embedder, replaces=replaces)

    def remove(self, paper: str) -> int:
        """Remove the paper with this id; return the new revision. The next `sweep` deletes its crops."""
        with self._database.write() as connection:
            revision = remove_paper(connection, paper)
        if revision is None:
            raise UnknownPaperError(f"no paper {paper!r} in the library; list the papers to see their ids")
        return revision

    def sweep(self) -> int:
        """Delete orphaned crops (of removed papers and killed adds); return the number of deleted files."""
        with self._database.write() as connection:
            return self._crops.sweep(keep=set(connection.execute(select(paper_crops.c.crop)).scalars()))

    def entries(self) -> Sequence[PaperEntry]:
        """All papers without their elements, in the order of addition; fast for large libraries, too."""
        return self._read(self._paper_cache.entries)

    def papers(self) -> Sequence[Paper]:
        """All papers, in the order of addition."""
        return self._read(self._paper_cache.papers)

    def paper(self, paper: str) -> Paper:
        """The paper with this id."""
        return self._read(self._paper_cache.paper, paper)

    def find_paper(self, text: str) -> Paper:
        """The paper that an id, a prefix of one, a file name or a part of a title identifies.

        Raises UnknownPaperError, naming the candidates, if none or several match.
        """
        return self.paper(find_entry(self.entries(), text).id)

    def paper_by_sha256(self, sha256: str) -> Paper | None:
        """The paper of a file with this content."""
        return self._read(self._paper_cache.newest, papers.c.sha256 == sha256)

    def paper_by_source(self, source: str) -> Paper | None:
        """The paper added last from this absolute path."""
        return self._read(self._paper_cache.newest, papers.c.source == source)

    def embedder_of(self, paper: str) -> str:
        """The name of the embedder that made a paper's vectors."""
        return self._read(reading.read_entry, paper).embedder

    def newest_embedder(self) -> str:
        """The name of the embedder that made the newest paper's vectors; "" for an empty library."""
        return self._read(reading.read_newest_embedder)

    def indexed(self, paper: str) -> IndexedPaper:
        """A paper with everything that it added to the library."""
        return self._read(reading.read_indexed, paper)

    def images(self, paper: str) -> PaperImages:
        """The readings of a paper's images; empty if no model read them."""
        return self._read(reading.read_images, paper)

    def shortfall(self, paper: str) -> Shortfall:
        """What is missing from a model's extraction of a paper."""
        return self._read(reading.read_shortfall, paper)

    def searchable(self, paper: str) -> Searchable:
        """The part of a paper that an index needs."""
        return self._read(reading.read_searchable, paper)

    def counts(self, papers: Sequence[str]) -> Mapping[str, Mapping[str, int]]:
        """The number of elements of each kind, by the paper's id."""
        return self._read(reading.read_counts, papers)

    def element(self, element: str) -> Element:
        """The element with this id."""
        return self.elements([element])[element]

    def elements(self, ids: Sequence[str]) -> Mapping[str, Element]:
        """The elements with these ids, in this order."""
        return self._read(reading.read_elements, ids)

    def chunks(self, ids: Sequence[str]) -> Mapping[str, Chunk]:
        """The chunks with these ids, in this order."""
        return self._read(reading.read_chunks, ids)

    def chunks_of(self, elements: Sequence[str]) -> Sequence[Chunk]:
        """The chunks that contain any of these elements, without repeats, in the order of the elements."""
        return self._read(reading.read_chunks_of, elements)

    def crop(self, crop: str) -> bytes:
        """The PNG bytes of a crop that a paper names, by content hash; KeyError for any other hash."""
        self._read(reading.require_crop, crop)
        with translate_errors(self.folder):
            return self._crops.get(crop)

    def nodes_of(self, ids: Sequence[str], *, papers: Sequence[str] = ()) -> Mapping[str, Sequence[str]]:
        """See `graph_store.short_forms.library_ids`."""
        return self._read(meanings.library_ids, ids, papers=papers)

    def entities(self, ids: Sequence[str], *, papers: Sequence[str] = ()) -> Mapping[str, Entity]:
        """See `Corpus.entities`."""
        return self._read(graph_reading.read_entities, ids, papers=papers)

    def relations_of(self, entities: Sequence[str], *, papers: Sequence[str] = (), limit: int) -> Sequence[Relation]:
        """See `Corpus.relations_of`."""
        return self._read(graph_reading.read_relations, entities, papers=papers, limit=limit)

    def degrees(self, entities: Sequence[str], *, papers: Sequence[str] = ()) -> Mapping[str, int]:
        """See `Corpus.degrees`."""
        return self._read(graph_reading.read_degrees, entities, papers=papers)

    def edges_of(self, entities: Sequence[str], *, papers: Sequence[str], limit: int) -> Sequence[Edge]:
        """The heaviest edges of these entities, from these papers (if none are given, from all)."""
        return self._read(graph_reading.read_edges, entities, papers=papers, limit=limit)

    def get_call(self, key: str) -> ModelReply | None:
        """The stored reply of a call, by `ModelRequest.key`, or None."""
        return self._read(remembered.read_call, key)

    def check_room(self) -> None:
        """Raise StoreError if nothing can be stored: the disk is full, or the library is open for reading only."""
        self._database.check_room()

    def put_call(self, key: str, model: str, reply: ModelReply) -> None:
        """Store a paid reply; it is durable when this returns."""
        with self._database.write() as connection:
            remembered.write_call(connection, key, model=model, reply=reply)

    def get_vectors(self, embedder: str, texts: Sequence[str]) -> Mapping[str, NDArray[float32]]:
        """The stored vectors of these texts, each of shape (d,), by text."""
        return self._read(remembered.read_vectors, embedder, texts)

    def put_vectors(self, embedder: str, vectors: Mapping[str, NDArray[float32]]) -> None:
        """Store the vectors of these texts; they are durable when this returns."""
        with self._database.write() as connection:
            remembered.write_vectors(connection, embedder, vectors)

    def _read(
        self, read: Callable[Concatenate[Connection, Options], Value], *args: Options.args, **options: Options.kwargs
    ) -> Value:
        with self._database.read() as connection:
            return read(connection, *args, **options)
