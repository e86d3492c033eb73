"""Opens a library: creates its tables, or upgrades them by numbered steps."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Protocol, TypeVar

import filelock
from sqlalchemy import Connection, Table, delete, inspect, select, text, update

from graph_store.crops import CROPS_FOLDER
from graph_store.database import Database, SqliteDatabase, translate_errors
from graph_store.graph import merge_entities
from graph_store.objects import open_objects
from graph_store.postgresql import PostgresDatabase, older_version
from graph_store.reading import read_paper, read_values
from graph_store.schema import (
    SCHEMA_VERSION,
    additions,
    bylines,
    conversations,
    entities,
    images,
    jobs,
    library,
    meanings,
    metadata,
    papers,
    publications,
    relations,
    short_forms,
    shortfalls,
    turns,
    verdicts,
)
from graph_store.short_forms import insert_short_forms, refresh_meanings, short_forms_of
from graph_store.writing import insert_addition, insert_byline, insert_publication, insert_values, publication_of
from paperscope_core.errors import StoreError, StoreReadOnlyError, StoreVersionError
from paperscope_core.files import PRIVATE_FILE, create_private_file, create_private_folder
from paperscope_core.locations import Location, PostgresAddress, files_folder
from paperscope_core.text.words import singular_key
from paperscope_core.types import WORK, Entity, Extraction, Relation

__all__ = [
    "STEPS",
    "UNFINISHED",
    "check_unused",
    "check_version",
    "closed_on_error",
    "is_library",
    "open_read_only",
    "open_writable",
    "upgrade",
]


Step = Callable[[Connection], None]
UNFINISHED = -1
"""The version of a library to which another one is being copied."""


class Prepare(Protocol):
    """Creates or upgrades the tables; returns whether it did."""

    def __call__(self, connection: Connection, /, *, where: Path | str, files: Location) -> bool: ...


Opened = TypeVar("Opened", bound=Database)

_FILE = "library.sqlite"
# What a library with papers has beside its database; opening a new one creates no file in them.
_OTHER_FOLDERS = (CROPS_FOLDER, "index", "originals", "jobs")
# Opening a library takes milliseconds, but upgrading a large one may take a minute.
_LOCK_SECONDS = 60
# The ids of these types' entities are not derived from their names.
_OWN_IDS = ("table", "figure", "equation", WORK)


def _create(table: Table) -> Step:
    return partial(table.create, checkfirst=True)


def _add_short_forms(connection: Connection) -> None:
    """Version 4 stores the meanings of short forms, which follow from the papers' entities."""
    short_forms.create(connection)
    meanings.create(connection)
    shorts = set[str]()
    for paper in _paper_ids(connection):
        found = short_forms_of(_read_extraction(connection, paper))
        insert_short_forms(connection, paper, found)
        shorts |= {one.short for one in found}
    refresh_meanings(connection, sorted(shorts))


def _paper_ids(connection: Connection) -> list[str]:
    return list(connection.execute(select(papers.c.id)).scalars())


def _read_extraction(connection: Connection, paper: str) -> Extraction:
    return Extraction(
        entities=read_values(connection, entities, Entity, paper=paper),
        relations=read_values(connection, relations, Relation, paper=paper),
    )


def _index_papers(connection: Connection) -> None:
    """Version 6 indexes entities and relations by paper."""
    connection.execute(text("DROP INDEX IF EXISTS ix_entities_id"))
    for index in (*entities.indexes, *relations.indexes):
        index.create(connection, checkfirst=True)


def _add_bylines(connection: Connection) -> None:
    """Version 7 stores authors and years in a separate table, so that papers are found by them."""
    bylines.create(connection, checkfirst=True)
    known = select(bylines.c.paper)
    for paper in connection.execute(select(papers.c.id).where(papers.c.id.not_in(known))).scalars().all():
        stored = read_paper(connection, paper)
        insert_byline(connection, stored, publication_of(stored))


def _add_publications(connection: Connection) -> None:
    """Version 11 stores venues, DOIs and arXiv ids, as far as the papers print them."""
    publications.create(connection, checkfirst=True)
    known = select(publications.c.paper)
    for paper in connection.execute(select(papers.c.id).where(papers.c.id.not_in(known))).scalars().all():
        insert_publication(connection, paper, publication_of(read_paper(connection, paper)))


def _rename_entities(connection: Connection) -> None:
    """Version 9 derives entity ids with a lexicon's singulars: `specy` becomes `species`."""
    changed = False
    for paper in _paper_ids(connection):
        old = _read_extraction(connection, paper)
        ids = {one.id: one.id if one.type in _OWN_IDS else singular_key(one.name) for one in old.entities}
        if all(key == id_ for id_, key in ids.items()):
            continue
        changed = True
        renamed = merge_entities(replace(one, id=ids[one.id]) for one in old.entities)
        ends = (replace(one, source=ids[one.source], target=ids[one.target]) for one in old.relations)
        for table in (entities, relations, short_forms):
            connection.execute(delete(table).where(table.c.paper == paper))
        insert_values(connection, entities, paper, renamed.values())
        insert_values(connection, relations, paper, [one for one in ends if one.source != one.target])
        insert_short_forms(connection, paper, short_forms_of(_read_extraction(connection, paper)))
    if changed:
        shorts = connection.execute(select(short_forms.c.short).union(select(meanings.c.short))).scalars()
        refresh_meanings(connection, sorted(shorts))


def _drop_passwords(connection: Connection) -> None:
    """Version 10 stores no passwords of jobs."""
    if any(column["name"] == "secret" for column in inspect(connection).get_columns(jobs.name)):
        connection.execute(text("ALTER TABLE jobs DROP COLUMN secret"))


def _add_conversations(connection: Connection) -> None:
    """Version 12 stores conversations."""
    conversations.create(connection, checkfirst=True)
    turns.create(connection, checkfirst=True)


def _add_additions(connection: Connection) -> None:
    """Version 13 stores when papers were added, for which the papers of older versions get the time of the upgrade."""
    additions.create(connection, checkfirst=True)
    known = select(additions.c.paper)
    for paper in connection.execute(select(papers.c.id).where(papers.c.id.not_in(known))).scalars().all():
        insert_addition(connection, paper)


def _add_reservations(connection: Connection) -> None:
    """Version 14 reserves jobs that need a secret for the service that has it."""
    if all(column["name"] != jobs.c.reserved.name for column in inspect(connection).get_columns(jobs.name)):
        kind = jobs.c.reserved.type.compile(connection.dialect)
        connection.execute(text(f"ALTER TABLE jobs ADD COLUMN reserved {kind} DEFAULT '' NOT NULL"))


# Step n upgrades a library of version n - 1 to version n. A released step is never changed. A paper without a row in
# one of the tables that a step creates has no readings of images, no known shortfall, or no verdicts.
STEPS: Mapping[int, Step] = MappingProxyType(
    {
        2: _create(images),
        3: _create(shortfalls),
        4: _add_short_forms,
        5: _create(verdicts),
        6: _index_papers,
        7: _add_bylines,
        8: _create(jobs),
        9: _rename_entities,
        10: _drop_passwords,
        11: _add_publications,
        12: _add_conversations,
        13: _add_additions,
        14: _add_reservations,
    }
)


def check_version(
    connection: Connection, *, where: Path | str, version: int = SCHEMA_VERSION, unfinished: bool = False
) -> int:
    """The library's version, 0 for an empty file. Raises StoreVersionError if it is newer than `version`."""
    tables = inspect(connection).get_table_names()
    if not tables:
        return 0
    if library.name not in tables:
        raise StoreError("this database is no Paperscope library; choose another place for the library", where=where)
    found = connection.execute(select(library.c.version)).scalar_one()
    if found == UNFINISHED and not unfinished:
        raise StoreError("a copy of a library to this place has not ended; run `paperscope migrate` again", where=where)
    if found > version:
        raise StoreVersionError(
            f"written by a newer Paperscope (library version {found}; this one reads up to {version}); "
            "update Paperscope, or choose another place for the library",
            where=where,
        )
    return int(found)


def upgrade(
    connection: Connection,
    *,
    where: Path | str,
    files: Location,
    version: int = SCHEMA_VERSION,
    steps: Mapping[int, Step] = STEPS,
) -> bool:
    """Create the tables if the database is empty, or upgrade an older library; return whether either was done.

    Raises StoreError if the database is empty, but `files` has files of a library.
    """
    found = check_version(connection, where=where, version=version)
    if found == 0:
        check_unused(files)
        metadata.create_all(connection)
        connection.execute(library.insert().values(version=version))
        return True
    for number in range(found + 1, version + 1):
        steps[number](connection)
        connection.execute(update(library).values(version=number))
    return found < version


def check_unused(location: Location) -> None:
    """Raise StoreError if there are files of a library, whose database must have been lost."""
    objects = open_objects(location)
    folder = files_folder(location)
    for other in _OTHER_FOLDERS:
        if any(path.is_file() for path in (folder / other).rglob("*")) or objects.names(other):
            raise StoreError(
                f"the database ({_FILE}, or that of the server) is missing or empty, but {other!r} has files of a "
                "library: restore it from a backup, or delete the folder and add the papers again",
                where=location,
            )


def open_writable(location: Location, *, prepare: Prepare = upgrade) -> Database:
    """Open a library for writing: create it if there is none, upgrade it if it is older, or `prepare` it otherwise."""
    if isinstance(location, PostgresAddress):
        return _open_server(location, prepare)
    return _open_file(location, prepare)


def _open_server(address: PostgresAddress, prepare: Prepare) -> Database:
    with closed_on_error(PostgresDatabase(address)) as database:
        with database.read() as connection:
            found = check_version(connection, where=database.where, unfinished=True)
            if found > 0:
                _require_files(connection, address)
        is_current = found == SCHEMA_VERSION
        if is_current:
            database.require_rights()
        with translate_errors(address.files):
            create_private_folder(address.files)
            create_private_folder(address.files / CROPS_FOLDER)
        if is_current and prepare is upgrade:
            return database
        # Of several processes, the first one upgrades while the others wait for its lock.
        with database.creating(version=found) as connection:
            prepare(connection, where=database.where, files=address)
    return database


def _require_files(connection: Connection, address: PostgresAddress) -> None:
    """Raise StoreError if a library has papers and the folder of its files is not there, such as an unmounted one:
    other machines would miss what is written into another folder."""
    with translate_errors(address.files):
        is_there = (address.files / CROPS_FOLDER).is_dir()
    if not is_there and connection.execute(select(papers.c.id).limit(1)).first():
        raise StoreError(
            "the library has papers, but this folder has none of its files; mount it, or correct `files` in the "
            f"address. If the files are lost, create the folder {CROPS_FOLDER} in it, and add the papers again",
            where=address.files,
        )


def _open_file(folder: Path, prepare: Prepare) -> Database:
    file = folder / _FILE
    with translate_errors(folder):
        create_private_folder(folder)
        create_private_folder(folder / CROPS_FOLDER)
        # Two processes can't switch a new file to WAL at the same time.
        with filelock.FileLock(folder / "library.lock", timeout=_LOCK_SECONDS, mode=PRIVATE_FILE):
            # SQLite gives its log and shared memory the mode of the file.
            create_private_file(file)
            with closed_on_error(SqliteDatabase(file, mode="rwc")) as database:
                with database.write() as connection:
                    upgraded = prepare(connection, where=file, files=folder)
                if upgraded:
                    # What a step deleted must not remain in the write-ahead log.
                    database.truncate_log()
    return database


@contextmanager
def closed_on_error(database: Opened) -> Iterator[Opened]:
    """The database, closed if the block fails."""
    with ExitStack() as stack:
        stack.callback(database.close)
        yield database
        stack.pop_all()


def _no_library(location: Location) -> StoreError:
    check_unused(location)
    return StoreError("no library there; add a paper first, or choose another place", where=location)


def open_read_only(location: Location, *, refusal: StoreReadOnlyError | None = None) -> Database:
    """Open a library for reading only; nothing is created or upgraded. `refusal` says why changes are refused."""
    if isinstance(location, PostgresAddress):
        database: Database = PostgresDatabase(location, read_only=True, refusal=refusal)
    elif (file := location / _FILE).is_file():
        with translate_errors(file):
            database = SqliteDatabase(file, mode="ro", refusal=refusal)
    else:
        raise _no_library(location)
    with closed_on_error(database), database.read() as connection:
        found = check_version(connection, where=database.where)
        if found == 0:
            raise _no_library(location)
        if found < SCHEMA_VERSION and isinstance(location, PostgresAddress):
            # A connection that only reads can't create what is missing, not even temporarily.
            raise older_version(found, where=location)
    return database


def is_library(location: Location) -> bool:
    """Whether a library was created there; its folder may be missing, its server must answer. Raises StoreError."""
    if not isinstance(location, PostgresAddress):
        return (location / _FILE).is_file()
    with closing(PostgresDatabase(location, read_only=True)) as database, database.read() as connection:
        return check_version(connection, where=database.where) > 0
