"""A library keeps in step with a folder, whatever happens to its files."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from graph_store import Store
from paperscope.library import AddResult, Library
from paperscope.watching import FolderWatch, WatchEvent
from paperscope_core.errors import PaperFileError, StoreFullError
from paperscope_core.models import FakeEmbedder, Models
from paperscope_core.settings import Settings
from paperscope_core.types import PaperEntry

Watch = Callable[[], FolderWatch]


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    store = Store.open(tmp_path / "papers" / "library")
    with Library(store=store, settings=Settings(), models=Models(embedder=FakeEmbedder())) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "papers"


@pytest.fixture
def start(library: Library, folder: Path) -> Watch:
    return lambda: FolderWatch(library, folder, without=folder / "library")


def write(file: Path, title: str) -> Path:
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"# {title}\n\nTaggers are compared with {title}.\n")
    return file


def told(events: Iterator[WatchEvent]) -> list[tuple[str, str]]:
    outcomes = [(event.file.name, event.outcome) for event in events]
    return [
        (name, one.outcome if isinstance(one, AddResult) else "removed" if isinstance(one, PaperEntry) else "failed")
        for name, one in outcomes
    ]


def titles(library: Library) -> list[str]:
    return sorted(entry.title for entry in library.entries())


def test_papers_are_added_replaced_and_removed(library: Library, folder: Path, start: Watch) -> None:
    watch = start()
    write(folder / "a.md", "One")
    write(folder / "below" / "b.md", "Two")
    (folder / "notes.csv").write_text("no paper")
    assert told(watch.look()) == [("a.md", "added"), ("b.md", "added")]
    assert told(watch.look()) == []
    write(folder / "a.md", "Three")
    (folder / "below" / "b.md").unlink()
    assert told(watch.look()) == [("b.md", "removed"), ("a.md", "replaced")]
    assert titles(library) == ["Three"]


def test_what_changed_while_nobody_watched_is_seen(library: Library, folder: Path, start: Watch) -> None:
    write(folder / "a.md", "One")
    write(folder / "b.md", "Two")
    write(folder / "c.md", "Three")
    list(start().look())
    write(folder / "a.md", "Four")
    (folder / "b.md").unlink()
    (folder / "c.md").rename(folder / "d.md")
    assert told(start().look()) == [
        ("b.md", "removed"),
        ("c.md", "removed"),
        ("a.md", "replaced"),
        ("d.md", "added"),
    ]
    assert titles(library) == ["Four", "Three"]


def test_papers_from_elsewhere_stay(library: Library, folder: Path, start: Watch, tmp_path: Path) -> None:
    elsewhere = write(tmp_path / "x.md", "Elsewhere")
    library.add(elsewhere)
    library.add(write(tmp_path / "y.md", "Uploaded"), name="y.md")
    elsewhere.unlink()
    write(folder / "a.md", "One")
    assert told(start().look()) == [("a.md", "added")]
    assert titles(library) == ["Elsewhere", "One", "Uploaded"]


def test_a_folder_without_any_file_removes_nothing(
    library: Library, start: Watch, folder: Path, tmp_path: Path
) -> None:
    """Its drive may not be mounted."""
    drive = tmp_path / "drive"
    write(drive / "a.md", "One")
    watch = FolderWatch(library, drive, without=folder / "library")
    list(watch.look())
    drive.rename(tmp_path / "unmounted")
    assert told(watch.look()) == []
    drive.mkdir()
    assert told(watch.look()) == []
    assert titles(library) == ["One"]


def test_the_copy_of_a_file_takes_its_place(library: Library, folder: Path, start: Watch) -> None:
    write(folder / "a.md", "One")
    write(folder / "b.md", "One")
    watch = start()
    assert told(watch.look()) == [("a.md", "added")]
    (folder / "a.md").unlink()
    assert told(watch.look()) == [("a.md", "removed"), ("b.md", "added")]
    assert titles(library) == ["One"]


def test_a_bad_file_stops_nothing_and_is_named_once(library: Library, folder: Path, start: Watch) -> None:
    (folder / "a.pdf").write_bytes(b"no PDF")
    write(folder / "b.md", "Two")
    (folder / "gone.md").symlink_to(folder / "nowhere")
    watch = start()
    assert told(watch.look()) == [("a.pdf", "failed"), ("b.md", "added")]
    assert told(watch.look()) == []
    (folder / "a.pdf").write_bytes(b"still no PDF file")
    assert told(watch.look()) == []
    write(folder / "b.md", "Three")
    assert told(watch.look()) == [("b.md", "replaced")]


def test_what_a_full_disk_prevented_is_tried_again(
    library: Library, folder: Path, start: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder / "a.md", "One")
    watch = start()

    def full(*_arguments: object, **_options: object) -> None:
        raise StoreFullError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(library, "add_source", full)
        assert told(watch.look()) == [("a.md", "failed")]
        assert told(watch.look()) == []
    assert told(watch.look()) == [("a.md", "added")]
    (folder / "a.md").unlink()
    write(folder / "b.md", "Two")
    with monkeypatch.context() as patch:
        patch.setattr(library, "remove", full)
        assert told(watch.look()) == [("a.md", "failed"), ("b.md", "added")]
    assert told(watch.look()) == [("a.md", "removed")]


def test_there_has_to_be_a_folder(library: Library, folder: Path) -> None:
    with pytest.raises(PaperFileError, match="no such folder"):
        FolderWatch(library, folder / "nowhere", without=folder)


@pytest.mark.slow
def test_a_file_that_is_written_is_added_at_once(folder: Path, start: Watch) -> None:
    write(folder / "a.md", "One")
    events = start().run()
    assert next(events).file.name == "a.md"
    writer = threading.Timer(1.0, write, (folder / "b.md", "Two"))
    writer.start()
    assert next(events).file.name == "b.md"
    writer.join()
