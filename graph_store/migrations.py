"""Opening a library: its tables are created, or upgraded by numbered steps."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import filelock
from sqlalchemy import Connection, inspect, select, text, update

from graph_store.database import Database, translate_errors
from graph_store.reading import read_paper, read_values
from graph_store.schema import (
    SCHEMA_VERSION,
    bylines,
    entities,
    images,
    jobs,
    library,
    meanings,
    metadata,
    papers,
    relations,
    short_forms,
    shortfalls,
    verdicts,
)
from graph_store.short_forms import insert_short_forms, refresh_meanings, short_forms_of
from graph_store.writing import insert_byline
from paperscope_core.errors import StoreError, StoreVersionError
from paperscope_core.types import Entity, Extraction, Relation

__all__ = ["CROPS_FOLDER", "STEPS", "check_version", "open_read_only", "open_writable", "upgrade"]


Step = Callable[[Connection], None]


def _keep_images(connection: Connection) -> None:
    """Version 2 keeps what a vision model saw in a paper's pictures; a paper without a row has not been looked at."""
    images.create(connection)


def _keep_shortfalls(connection: Connection) -> None:
    """Version 3 keeps what an extracting model did not read; a paper without a row lacks nothing that we know of."""
    shortfalls.create(connection)


def _keep_short_forms(connection: Connection) -> None:
    """Version 4 keeps what short forms mean; that of the papers already there follows from their entities."""
    short_forms.create(connection)
    meanings.create(connection)
    shorts = set[str]()
    for paper in connection.execute(select(papers.c.id)).scalars().all():
        found = short_forms_of(
            Extraction(
                entities=read_values(connection, entities, Entity, paper=paper),
                relations=read_values(connection, relations, Relation, paper=paper),
            )
        )
        insert_short_forms(connection, paper, found)
        shorts |= {one.short for one in found}
    refresh_meanings(connection, sorted(shorts))


def _keep_verdicts(connection: Connection) -> None:
    """Version 5 keeps a model's verdicts about names; none were passed before."""
    verdicts.create(connection)


def _index_papers(connection: Connection) -> None:
    """Version 6 finds what a paper contributes to an entity without reading what all others do."""
    connection.execute(text("DROP INDEX IF EXISTS ix_entities_id"))
    for index in (*entities.indexes, *relations.indexes):
        index.create(connection, checkfirst=True)


def _keep_bylines(connection: Connection) -> None:
    """Version 7 finds papers by their authors and years; those of the papers already there stand in them."""
    bylines.create(connection, checkfirst=True)
    known = select(bylines.c.paper)
    for paper in connection.execute(select(papers.c.id).where(papers.c.id.not_in(known))).scalars().all():
        insert_byline(connection, read_paper(connection, paper))


def _keep_jobs(connection: Connection) -> None:
    """Version 8 keeps the jobs of the service."""
    jobs.create(connection, checkfirst=True)


# The step under n brings a library of version n - 1 to version n. A released step is never changed.
STEPS: Mapping[int, Step] = MappingProxyType(
    {
        2: _keep_images,
        3: _keep_shortfalls,
        4: _keep_short_forms,
        5: _keep_verdicts,
        6: _index_papers,
        7: _keep_bylines,
        8: _keep_jobs,
    }
)


def check_version(connection: Connection, *, file: Path, version: int = SCHEMA_VERSION) -> int:
    """The library's version, 0 for an empty file. Raises StoreVersionError if it is newer than `version`."""
    tables = inspect(connection).get_table_names()
    if not tables:
        return 0
    if library.name not in tables:
        raise StoreError("a database, but no Paperscope library; choose another folder for the library", where=file)
    found = connection.execute(select(library.c.version)).scalar_one()
    if found > version:
        raise StoreVersionError(
            f"written by a newer Paperscope (library version {found}; this one reads up to {version}); "
            "update Paperscope, or choose another folder for the library",
            where=file,
        )
    return int(found)


def upgrade(
    connection: Connection, *, file: Path, version: int = SCHEMA_VERSION, steps: Mapping[int, Step] = STEPS
) -> None:
    """Bring an empty file or an older library to `version`."""
    found = check_version(connection, file=file, version=version)
    if found == 0:
        metadata.create_all(connection)
        connection.execute(library.insert().values(version=version))
        return
    for number in range(found + 1, version + 1):
        steps[number](connection)
        connection.execute(update(library).values(version=number))


CROPS_FOLDER = "crops"
_FILE = "library.sqlite"
_LOCK_SECONDS = 60


def open_writable(folder: Path) -> Database:
    """Open a library for writing; make it where there is none, bring it up to date where it is older."""
    file = folder / _FILE
    with translate_errors(folder):
        (folder / CROPS_FOLDER).mkdir(parents=True, exist_ok=True)
        # Switching a new file to WAL can't wait for another process that does the same.
        with filelock.FileLock(folder / "library.lock", timeout=_LOCK_SECONDS):
            database = Database(file, mode="rwc")
            try:
                with database.write() as connection:
                    upgrade(connection, file=file)
            except BaseException:
                database.close()
                raise
    return database


def open_read_only(folder: Path) -> Database:
    """Open a library for reading; nothing is made and nothing is changed."""
    file = folder / _FILE
    if not file.is_file():
        raise StoreError("no library there; add a paper first, or choose another folder", where=folder)
    with translate_errors(file):
        database = Database(file, mode="ro")
    try:
        with database.read() as connection:
            check_version(connection, file=file)
    except StoreError:
        database.close()
        raise
    return database
