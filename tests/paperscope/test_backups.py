"""A backup that is made while papers are added is a whole library, which answers the same."""

import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from graph_store.copying import copy_library
from paperscope.doctor import diagnose
from paperscope.library import Library
from paperscope_core.locations import Location
from paperscope_core.settings import Settings
from paperscope_core.types import Answer, Filters
from tests.postgresql_server import PostgresServer
from tests.service.servers import wait_until

pytestmark = pytest.mark.slow

TEXT = "Taggers are compared by CRF.\n\n| Model | F1 |\n|---|---|\n| CRF | 0.9 |\n"


@contextmanager
def adding(library: Library, folder: Path) -> Iterator[Callable[[], None]]:
    """Adds a paper after the other throughout the block; yields what waits for one more."""
    ended = threading.Event()

    def add_papers() -> None:
        for number in count():
            # Not at once, so that few papers are enough.
            if ended.wait(0.1):
                return
            file = folder / f"{number}.md"
            file.write_text(f"# Report {number}\n\nThe F1 of tagger {number} is 0.{number}. {TEXT}")
            library.add(file, name=file.name)
            file.unlink()

    def wait() -> None:
        before = len(library.entries())
        wait_until(lambda: len(library.entries()) > before)

    thread = threading.Thread(target=add_papers)
    thread.start()
    try:
        wait()
        yield wait
    finally:
        ended.set()
        thread.join()


def check(restored: Location, before: Answer, *, fewer_than: int) -> None:
    with Library.open(restored, settings=Settings()) as library:
        after = ask(library)
        assert 0 < len(library.entries()) < fewer_than
    assert replace(after, seconds=0, stages=()) == replace(before, seconds=0, stages=())
    found = list(diagnose(Settings(library=restored)))
    assert {(one.part, one.level) for one in found} == {
        (part, "ok") for part in ("versions", "database", "files", "index", "models")
    }, found


def ask(library: Library) -> Answer:
    first = library.entries()[0]
    return library.ask("What is the F1 of tagger 0?", filters=Filters(papers=(first.id,)))


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_a_copy_by_migrate(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    location: Location = tmp_path / "library"
    if engine == "postgresql":
        location = request.getfixturevalue("postgresql").address(tmp_path)
    with Library.open(location, settings=Settings()) as library, adding(library, tmp_path) as wait:
        before = ask(library)

        def wait_at_times(name: str, done: int, total: int) -> None:
            if (name, done) in {("files", 1), ("papers", 0), ("chunks", 0)}:
                wait()

        copy_library(location, tmp_path / "backup", on_progress=wait_at_times)
        papers = len(library.entries())
    check(tmp_path / "backup", before, fewer_than=papers)


def test_a_dump_of_the_database_and_a_copy_of_its_files(postgresql: PostgresServer, tmp_path: Path) -> None:
    schema = postgresql.new_schema()
    address = postgresql.address(tmp_path, schema=schema)
    server = ["--host", str(postgresql.folder), "--username", "postgres"]
    with Library.open(address, settings=Settings()) as library, adding(library, tmp_path) as wait:
        before = ask(library)
        dump = [str(postgresql.programs / "pg_dump"), *server, "--schema", schema, "--format=custom"]
        subprocess.run([*dump, "--file", tmp_path / "papers.dump", "postgres"], check=True)  # noqa: S603 - our own arguments
        wait()
        shutil.copytree(address.files, tmp_path / "backup")
        papers = len(library.entries())
    with closing(postgresql.connect()) as connection:
        connection.execute(f"ALTER SCHEMA {schema} RENAME TO {schema}_lost")
    restore = [str(postgresql.programs / "pg_restore"), *server, "--dbname", "postgres", str(tmp_path / "papers.dump")]
    subprocess.run(restore, check=True)  # noqa: S603
    check(replace(address, files=tmp_path / "backup", cache=tmp_path / "new cache"), before, fewer_than=papers)
