"""The store of a library: `library.sqlite` and `crops/` in a folder, or a PostgreSQL database and a folder of files."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, Self, TypeVar

from numpy import float32
from numpy.typing import NDArray
from sqlalchemy import Connection, delete, select

from graph_store import caches, database_checks, merged_graph, reading, short_forms
from graph_store.conversations import Conversations
from graph_store.crop_files import CropFiles
from graph_store.database import Database, translate_errors
from graph_store.job_queue import JobQueue
from graph_store.literature_tables import LiteratureTables
from graph_store.notes import Notes
from graph_store.objects import open_objects
from graph_store.opening import lacking, open_read_only, open_writable
from graph_store.schema import other_files, paper_crops, papers, separations
from graph_store.snapshot import Snapshot, SnapshotReader
from graph_store.tags import Tags
from graph_store.writing import put_paper, put_record, remove_paper, validate
from paperscope_core.errors import StoreReadOnlyError
from paperscope_core.locations import Location, files_folder, local_folder
from paperscope_core.paper_lookup import find_entry
from paperscope_core.types import Chunk, Element, IndexedPaper, ModelReply, Paper, PaperEntry

__all__ = ["Store"]


_CACHED_PAPERS = 1000

Options = ParamSpec("Options")
Value = TypeVar("Value")


def _reads(
    read: Callable[Concatenate[Connection, Options], Value],
) -> Callable[Concatenate["Store", Options], Value]:
    """Return a method of `Store` that calls `read` in a read transaction."""

    @wraps(read)
    def method(self: "Store", /, *args: Options.args, **options: Options.kwargs) -> Value:
        with self.database.read() as connection:
            return read(connection, *args, **options)

    return method


class Store:
    """Papers with everything extracted from them, and every paid model call; implements the protocols `Corpus`,
    `SharedCallCache` and `VectorCache`.

    A change is one transaction: after a crash each paper is stored completely or not at all. Safe for several threads
    and processes. Failures are raised as StoreError, damaged values of a paper as StoreDamagedError; look-ups of
    unknown ids raise NotFoundError. If the library is open for reading only (`read_only`), every change raises
    StoreReadOnlyError.

    Attributes:
        folder: The folder of its files, such as those of jobs.
        objects: Its crops and uploaded papers, in that folder or in S3.
        local_folder: The folder of what this machine derives from it, such as indexes.
        database: Its transactions, for an index that is kept beside it.
    """

    def __init__(self, location: Location, database: Database) -> None:
        self.folder = files_folder(location)
        self.local_folder = local_folder(location)
        self.read_only = database.read_only
        self.jobs = JobQueue(database)
        self.conversations = Conversations(database)
        self.tables = LiteratureTables(database)
        self.tags = Tags(database)
        self.notes = Notes(database)
        self.database = database
        self.objects = open_objects(location)
        self._crops = CropFiles(self.objects)
        self._paper_cache = caches.PaperCache(size=_CACHED_PAPERS)
        self._snapshots = SnapshotReader()

    @property
    def index_folder(self) -> Path:
        """The folder of the indexes that this machine derives."""
        return self.local_folder / "index"

    @classmethod
    def open(cls, location: Location, *, read_only: bool = False, refusal: StoreReadOnlyError | None = None) -> Self:
        """Open a library; for writing, create it if there is none.

        A library that is opened for reading only refuses changes, with the message of `refusal` if that is why. Raises
        StoreVersionError if another Paperscope wrote it, StoreReadOnlyError if it can't be written.
        """
        return cls(location, open_read_only(location, refusal=refusal) if read_only else open_writable(location))

    def close(self) -> None:
        """Release the files."""
        self.database.close()

    @property
    def revision(self) -> int:
        """The number of changes, including those of other processes."""
        with self.database.read() as connection:
            return reading.read_revision(connection)

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
        self.database.require_writable()
        with translate_errors(self.database.where):
            self._crops.put(indexed.paper, crops)
        with self.database.write() as connection:
            # A sweep in another process may have deleted crops that no stored paper named yet.
            self._crops.put(indexed.paper, crops)
            return put_paper(connection, indexed, source=source, embedder=embedder, replaces=replaces)

    def remove(self, paper: str) -> int:
        """Remove the paper with this id; return the new revision. The next `sweep` deletes its crops."""
        with self.database.write() as connection:
            revision = remove_paper(connection, paper)
        if revision is None:
            raise reading.unknown_paper(paper)
        return revision

    def put_record(self, paper: Paper) -> int:
        """Store a paper's title, authors and publication in place of those that it has; return the new revision."""
        with self.database.write() as connection:
            revision = put_record(connection, paper)
        if revision is None:
            raise reading.unknown_paper(paper.id)
        return revision

    def separations(self) -> frozenset[tuple[str, str]]:
        """Return the pairs of `separate`."""
        with self.database.read() as connection:
            rows = () if lacking(connection, separations) else connection.execute(select(separations))
            return frozenset((row.paper, row.entity) for row in rows)

    def separate(self, paper: str, entity: str, *, apart: bool = True) -> None:
        """Keep an entity (id) of a paper apart from that of other papers, or join it again."""
        pair = {"paper": paper, "entity": entity}
        with self.database.write("tables") as connection:
            connection.execute(delete(separations).filter_by(**pair))
            if apart:
                connection.execute(separations.insert().values(pair))

    def sweep(self) -> int:
        """Delete orphaned crops (of removed papers and killed adds); return the number of deleted files."""
        # Listing the files of a large library takes seconds, in which others may write. A paper that is added meanwhile
        # writes its crops, if one of the files found is among them, within the transaction that names them.
        with translate_errors(self.folder):
            files = self._crops.files()
        with self.database.write() as connection:
            return self._crops.sweep(files, keep=set(connection.execute(select(paper_crops.c.crop)).scalars()))

    def pinned(self, revision: int) -> AbstractContextManager[None]:
        """Within the block, reads in this context may take papers from memory as they were at this revision.

        Otherwise each read asks the database whether anything has changed, which takes longer than the read itself.
        """
        return self._paper_cache.pinned(revision)

    def entries(self) -> Sequence[PaperEntry]:
        """Return all papers without their elements, in the order of addition; fast for large libraries, too."""
        known = self._paper_cache.known_entries()
        if known is not None:
            return known
        with self.database.read() as connection:
            return self._paper_cache.entries(connection)

    def papers(self) -> Sequence[Paper]:
        """Return all papers, in the order of addition."""
        with self.database.read() as connection:
            return self._paper_cache.papers(connection)

    def paper(self, paper: str) -> Paper:
        """Return the paper with this id."""
        known = self._paper_cache.known_paper(paper)
        if known is not None:
            return known
        with self.database.read() as connection:
            return self._paper_cache.paper(connection, paper)

    def elements(self, ids: Sequence[str]) -> dict[str, Element]:
        """Return the elements with these ids, in this order."""
        return self._with_known(ids, self._paper_cache.known_elements(ids), self._stored_elements)

    def chunks(self, ids: Sequence[str]) -> dict[str, Chunk]:
        """Return the chunks with these ids, in this order."""
        return self._with_known(ids, self._paper_cache.known_chunks(ids), self._stored_chunks)

    def chunks_of(self, elements: Sequence[str]) -> Sequence[Chunk]:
        """Return the chunks that contain any of these elements, without repeats."""
        known = self._paper_cache.known_chunks_of(elements, self._load_chunks)
        return self._stored_chunks_of(elements) if known is None else known

    def _with_known(
        self, ids: Sequence[str], known: dict[str, Value], read: Callable[[Sequence[str]], dict[str, Value]]
    ) -> dict[str, Value]:
        """Return the values with these ids, from memory and from the database."""
        missing = [key for key in ids if key not in known]
        if missing:
            known |= read(missing)
        return {key: known[key] for key in ids}

    def _load_chunks(self, paper: str) -> None:
        with self.database.read() as connection:
            self._paper_cache.load_chunks(connection, paper)

    def find_paper(self, text: str) -> Paper:
        """Return the paper that an id, a prefix of one, a file name or a part of a title identifies.

        Raises UnknownPaperError, naming the candidates, if none or several match.
        """
        return self.paper(find_entry(self.entries(), text).id)

    def entry_by_sha256(self, sha256: str) -> PaperEntry | None:
        """Return the paper that has a file with this content, added last."""
        return self._newest("sha256", sha256)

    def entry_by_source(self, source: str) -> PaperEntry | None:
        """Return the paper added last that has a file from this absolute path."""
        return self._newest("source", source)

    def file_hashes(self) -> set[str]:
        """Return the SHA-256 of the files of all papers."""
        with self.database.read() as connection:
            return {*connection.execute(select(papers.c.sha256).union(select(other_files.c.sha256))).scalars()}

    def _newest(self, column: str, value: str) -> PaperEntry | None:
        others = select(other_files.c.paper).where(other_files.c[column] == value)
        with self.database.read() as connection:
            entries = reading.read_entries(connection, (papers.c[column] == value) | papers.c.id.in_(others))
        return entries[-1] if entries else None

    def removed_since(self, revision: int) -> set[str]:
        """Return the papers that were removed after a revision, by id."""
        return {change.paper for change in self.changes_since(revision) if change.action == "removed"}

    def snapshot(self) -> Snapshot:
        """Return the whole library; what did not change since the last call is not read again, but kept in memory."""
        with self.database.read() as connection:
            return self._snapshots.read(connection)

    def element(self, element: str) -> Element:
        """Return the element with this id."""
        return self.elements([element])[element]

    def crop(self, crop: str) -> bytes:
        """Return the PNG bytes of a crop that a paper names, by content hash.

        Raises UnknownCropError for any other hash, and if the file is missing or damaged."""
        with self.database.read() as connection:
            reading.require_crop(connection, crop)
        with translate_errors(self.folder):
            return self._crops.get(crop)

    def check_room(self) -> None:
        """Raise StoreError if nothing can be stored: the disk is full, or the library is open for reading only."""
        self.database.check_room()

    def put_call(self, key: str, model: str, reply: ModelReply) -> None:
        """Store a paid reply; it is durable when this returns."""
        with self.database.write("calls") as connection:
            caches.write_call(connection, key, model=model, reply=reply)

    def lease_call(self, key: str, owner: str, *, seconds: float) -> bool:
        """Lease the call under a key for this owner; return False while another's lease lasts."""
        now = self.database.now()
        with self.database.write("calls") as connection:
            return caches.lease_call(connection, key, owner=owner, now=now, seconds=seconds)

    def release_call(self, key: str, owner: str) -> None:
        """End the owner's lease of a call that gave no reply."""
        with self.database.write("calls") as connection:
            caches.release_call(connection, key, owner=owner)

    def put_vectors(self, embedder: str, vectors: Mapping[str, NDArray[float32]]) -> None:
        """Store the vectors of these texts; they are durable when this returns."""
        with self.database.write("calls") as connection:
            caches.write_vectors(connection, embedder, vectors)

    # The functions say what they return. Unknown ids raise NotFoundError, unless they are left out.
    changes_since = _reads(reading.read_changes)
    checkpoint = _reads(reading.read_checkpoint)
    entry = _reads(reading.read_entry)
    heads = _reads(reading.read_heads)
    embedder_of = _reads(reading.read_embedder)
    newest_embedder = _reads(reading.read_newest_embedder)
    indexed = _reads(reading.read_indexed)
    searchable = _reads(reading.read_searchable)
    images = _reads(reading.read_images)
    shortfall = _reads(reading.read_shortfall)
    counts = _reads(reading.read_counts)
    page_counts = _reads(reading.read_page_counts)
    publications = _reads(reading.read_publications)
    _stored_elements = _reads(reading.read_elements)
    _stored_chunks = _reads(reading.read_chunks)
    _stored_chunks_of = _reads(reading.read_chunks_of)
    library_ids = _reads(short_forms.library_ids)
    homes = _reads(short_forms.read_homes)
    entities = _reads(merged_graph.read_entities)
    relations_of = _reads(merged_graph.read_relations)
    degrees = _reads(merged_graph.read_degrees)
    edges = _reads(reading.read_edges)
    matching = _reads(merged_graph.read_matching)
    damage = _reads(database_checks.find_damage)
    count_chunks = _reads(database_checks.count_chunks)
    crop_names = _reads(reading.read_crop_names)
    usage = _reads(caches.read_usage)
    get_call = _reads(caches.read_call)
    get_vectors = _reads(caches.read_vectors)
