"""The files of a library in a folder and in S3."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import pytest

from graph_store import Store
from graph_store.copying import copy_library
from graph_store.objects import FolderObjects, Objects, S3Objects
from paperscope.originals import Originals
from paperscope_core.errors import PaperFileError, StoreError, StoreUnavailableError
from paperscope_core.types import PaperEntry, content_hash
from tests.graph_store.indexed_papers import PAPER_IDS, add, crop_of, make_indexed, view
from tests.postgresql_server import PostgresServer
from tests.s3_server import serve_bucket

ONE, TWO, *_ = PAPER_IDS


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """A bucket on an S3 server of this process."""
    with serve_bucket("papers") as address:
        yield address


@pytest.fixture
def s3(bucket: str, tmp_path: Path) -> str:
    """A place in S3 where nothing is."""
    return f"{bucket}/{tmp_path.name}"


@pytest.fixture(params=["folder", pytest.param("s3", marks=pytest.mark.slow)])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> Objects:
    return FolderObjects(tmp_path) if request.param == "folder" else S3Objects(request.getfixturevalue("s3"))


def test_files_by_name(objects: Objects) -> None:
    assert objects.names("crops") == {}
    objects.write({"crops/ab/1.png": b"one", "crops/cd/2.png": b"two", "originals/x/a paper+.pdf": b"pdf"})
    assert set(objects.names("crops")) == {"crops/ab/1.png", "crops/cd/2.png"}
    assert objects.read("originals/x/a paper+.pdf") == b"pdf"
    assert objects.holds("crops/ab/1.png", sha256=content_hash(b"one"))
    objects.write({"crops/ab/1.png": b"one again"})
    assert objects.read("crops/ab/1.png") == b"one again"
    objects.delete("crops/ab/1.png")
    objects.delete("crops/ab/1.png")
    assert not objects.holds("crops/ab/1.png", sha256=content_hash(b"one again"))
    with pytest.raises(FileNotFoundError):
        objects.read("crops/ab/1.png")


@pytest.mark.slow
def test_a_bucket_that_does_not_answer(bucket: str) -> None:
    with pytest.raises(StoreError, match=r"s3://none.*check the bucket"):
        S3Objects("s3://none/x").write({"a": b""})


@pytest.mark.slow
def test_a_server_of_objects_that_is_down_may_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    from s3fs import S3FileSystem

    with socket.socket() as reserved, ExitStack() as stack:
        reserved.bind(("127.0.0.1", 0))
        # One with the same arguments is used again.
        S3FileSystem.clear_instance_cache()
        stack.callback(S3FileSystem.clear_instance_cache)
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{reserved.getsockname()[1]}")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        with pytest.raises(StoreUnavailableError, match="can't be reached"):
            S3Objects("s3://bucket/x").write({"a": b""})


@pytest.mark.slow
def test_a_library_with_its_files_in_s3(postgresql: PostgresServer, s3: str, tmp_path: Path) -> None:
    address = replace(postgresql.address(tmp_path / "s3"), objects=s3)
    with closing(Store.open(address)) as store:
        add(store, make_indexed(ONE))
        add(store, make_indexed(TWO))
        store.remove(TWO)
        assert store.sweep() == 1
        assert store.crop(content_hash(crop_of(ONE))) == crop_of(ONE)
        before = view(store)
    assert not [path for path in (address.files / "crops").rglob("*") if path.is_file()]
    folder = tmp_path / "folder"
    assert copy_library(address, folder, on_progress=lambda *_: None).files == 1
    back = replace(postgresql.address(tmp_path / "back"), objects=f"{s3}-again")
    copy_library(folder, back, on_progress=lambda *_: None)
    for place in (folder, back):
        with closing(Store.open(place)) as store:
            assert view(store) == before
            assert store.crop(content_hash(crop_of(ONE))) == crop_of(ONE)
    # The files of a lost database are not taken for a new library's.
    with pytest.raises(StoreError, match="'crops' has files of a library"):
        Store.open(replace(postgresql.address(tmp_path / "other"), objects=s3))


@pytest.mark.slow
def test_uploaded_papers_are_in_s3_and_copied_to_each_machine(s3: str, tmp_path: Path) -> None:
    remote = S3Objects(s3)
    here, there = (Originals(tmp_path / name, remote=remote) for name in ("here", "there"))
    sha256 = content_hash(b"%PDF")
    entry = PaperEntry(
        id=ONE, title="A", file="a.pdf", source="/gone/a.pdf", sha256=sha256, embedder="fake", revision=1
    )
    assert here.put(b"%PDF", sha256=sha256, name="a.pdf").read_bytes() == b"%PDF"
    assert there.of(entry).read_bytes() == b"%PDF"
    here.put(b"%PDF", sha256=sha256, name="b.pdf")
    here.drop(sha256, keep="a.pdf")
    assert set(remote.names("originals")) == {f"originals/{sha256}/a.pdf"}
    there.sweep(keep=())
    assert remote.names("originals")
    here.drop(sha256)
    assert not remote.names("originals")
    with pytest.raises(PaperFileError, match="no longer where it was added from"):
        here.of(entry)
