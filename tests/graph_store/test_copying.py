"""A library that is copied to another place is equal there, whatever happened on the way."""

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from graph_store import Store, copying
from graph_store.copying import OnProgress, copy_library
from paperscope_core.errors import StoreError
from paperscope_core.locations import Location
from paperscope_core.types import ModelReply, Usage, content_hash
from tests.graph_store.indexed_papers import METHODS, PAPER_IDS, add, crop_of, make_indexed, view
from tests.postgresql_server import PostgresServer

ONE, TWO, THREE, FOUR = PAPER_IDS
REPLY = ModelReply(text="yes", usage=Usage(calls=1, cost=0.5))


def ignore(name: str, done: int, total: int) -> None:
    return


@pytest.fixture
def source(tmp_path: Path) -> Location:
    fill(tmp_path / "library")
    return tmp_path / "library"


def fill(location: Location) -> None:
    with closing(Store.open(location)) as store:
        for paper in (ONE, TWO, THREE):
            add(store, make_indexed(paper, names=METHODS, note="noted", title=f"{paper}\0"))
        store.remove(TWO)
        store.put_call("key", "model", REPLY)
        store.jobs.create("add", "{}")
        store.conversations.create("A talk")


def check(one: Location, other: Location) -> None:
    with closing(Store.open(one)) as old, closing(Store.open(other)) as new:
        assert view(new) == view(old)
        assert new.changes_since(0) == old.changes_since(0)
        assert new.get_call("key") == REPLY
        assert new.jobs.all() == old.jobs.all()
        assert new.conversations.all() == old.conversations.all()
        assert new.crop(content_hash(crop_of(ONE))) == crop_of(ONE)
        # Numbers go on, and none is given twice.
        add(new, make_indexed(FOUR))
        assert new.searchable(FOUR).numbers.min() > old.searchable(THREE).numbers.max()
        assert new.jobs.create("add", "{}").id in {job.id for job in new.jobs.all()}
        assert new.jobs.claim("worker") is not None


def test_to_another_folder(source: Path, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    report = copy_library(source, tmp_path / "copy", on_progress=lambda *one: seen.append(one))
    assert (report.rows["papers"], report.rows["changes"], report.rows["jobs"]) == (2, 4, 1)
    assert report.files == sum(path.is_file() for path in (source / "crops").rglob("*"))
    assert ("papers", 2, 2) in seen
    check(source, tmp_path / "copy")


def test_files_that_are_deleted_while_others_are_copied(source: Path, tmp_path: Path) -> None:
    for name in ("crops/.abc.png.1.tmp", "jobs/upload"):
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).touch()

    def end_jobs(*_progress: object) -> None:
        (source / "jobs" / "upload").unlink(missing_ok=True)

    copy_library(source, tmp_path / "copy", on_progress=end_jobs)
    check(source, tmp_path / "copy")

    def remove_all(*_progress: object) -> None:
        with closing(Store.open(source)) as store:
            for entry in store.entries():
                store.remove(entry.id)
            store.sweep()

    with pytest.raises(StoreError, match="papers were removed while their files were copied; run the same command"):
        copy_library(source, tmp_path / "later", on_progress=remove_all)
    copy_library(source, tmp_path / "later", on_progress=ignore)
    with closing(Store.open(tmp_path / "later")) as store:
        assert not store.entries()


@pytest.mark.slow
def test_to_postgresql_and_back(source: Path, tmp_path: Path, postgresql: PostgresServer) -> None:
    there, back = postgresql.address(tmp_path), tmp_path / "back"
    copy_library(source, there, on_progress=ignore)
    copy_library(there, back, on_progress=ignore)
    check(source, there)
    with pytest.raises(StoreError, match="a library with 3 papers already; choose an empty place"):
        copy_library(source, there, on_progress=ignore)
    with closing(Store.open(source)) as old, closing(Store.open(back)) as new:
        assert view(new) == view(old)


@pytest.mark.slow
def test_a_copy_that_was_killed_goes_on_and_is_no_library_before(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "_BATCH", 2)

    def stop_at(*moment: str | int) -> OnProgress:
        def stop(name: str, done: int, total: int) -> None:
            if (name, done) == moment:
                raise KeyboardInterrupt

        return stop

    target = tmp_path / "copy"
    for moment in (("files", 1), ("papers", 2), ("chunks", 4), ("entities", 2), ("jobs", 1)):
        with pytest.raises(KeyboardInterrupt):
            copy_library(source, target, on_progress=stop_at(*moment))
        with pytest.raises(StoreError, match="has not ended; run `paperscope migrate` again"):
            Store.open(target)
    with closing(Store.open(source)) as store:
        store.remove(THREE)
        add(store, make_indexed(THREE, note="changed meanwhile"))
    copy_library(source, target, on_progress=ignore)
    check(source, target)


_KILLED = """
import os, signal, sys
from contextlib import closing
from pathlib import Path
from graph_store import Store
from graph_store.copying import copy_library
from paperscope_core.errors import StoreError

source, folder = Path(sys.argv[1]), Path(sys.argv[2])

def copy(target, last):
    events = 0
    def count(event, arguments):
        nonlocal events
        if target.name in str(arguments) and event.startswith(("open", "os.", "sqlite3", "shutil", "tempfile")):
            events += 1
            if events == last:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(count)
    copy_library(source, target, on_progress=lambda *_: None)
    os._exit(0)

# Later moments are alike.
for moment in (*range(1, 40), *range(40, 2000, 40)):
    target = folder / f"copy-{moment}"
    if moment % 2:
        # A place that is there already.
        target.mkdir()
    child = os.fork() or copy(target, moment)
    if os.waitpid(child, 0)[1] == 0:
        print(moment)
        break
    if target.exists() and any(target.iterdir()):
        for read_only in (True, False):
            try:
                with closing(Store.open(target, read_only=read_only)):
                    sys.exit(f"moment {moment}: it opens")
            except StoreError as error:
                assert "has not ended; run `paperscope migrate` again" in str(error), error
    elif moment % 2 == 0:
        assert not target.exists(), moment
    copy_library(source, target, on_progress=lambda *_: None)
    with closing(Store.open(target)) as store:
        assert len(store.entries()) == 2
"""


@pytest.mark.slow
def test_a_copy_that_is_killed_early_leaves_no_library(source: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", _KILLED, str(source), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20


@pytest.mark.slow
def test_places_that_cannot_be_copied_to(source: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no library there"):
        copy_library(tmp_path / "missing", tmp_path / "copy", on_progress=ignore)
    with pytest.raises(StoreError, match="another folder for its files"):
        copy_library(source, source, on_progress=ignore)
    fill(tmp_path / "other")
    with pytest.raises(StoreError, match="2 papers already"):
        copy_library(source, tmp_path / "other", on_progress=ignore)
    (tmp_path / "files" / "crops" / "ab").mkdir(parents=True)
    (tmp_path / "files" / "crops" / "ab" / "ab.png").touch()
    with pytest.raises(StoreError, match="'crops' has files of a library"):
        copy_library(source, tmp_path / "files", on_progress=ignore)
