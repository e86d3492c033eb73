"""Where papers to add are: files, folders, S3, and lists of them."""

import io
from pathlib import Path

import pytest

from paperscope.library import Library
from paperscope.sources import PaperSource, find_sources, read_list
from paperscope_core.errors import InputError, PaperFileError
from paperscope_core.settings import load_settings
from paperscope_core.types import PaperFile
from tests.s3_server import serve_bucket


def test_a_list_has_a_place_on_each_line(tmp_path: Path) -> None:
    listed = tmp_path / "list.txt"
    listed.write_text("\ufeff# ours\n/papers/a b.pdf\n\n  s3://bucket/papers/  \r\n")
    assert read_list(listed) == ["/papers/a b.pdf", "s3://bucket/papers/"]
    listed.write_text("# nothing\n")
    with pytest.raises(InputError, match="lists nothing"):
        read_list(listed)
    listed.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="text file in UTF-8"):
        read_list(listed)
    with pytest.raises(InputError, match="can't be read"):
        read_list(tmp_path)


def test_files_are_found_where_they_are(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text("# B")
    (tmp_path / "a.txt").write_text("A")
    (tmp_path / "picture.png").write_bytes(b"")
    found = find_sources(str(tmp_path))
    assert [one.name for one in found] == ["a.txt", "b.md"]
    assert not found[0].is_remote
    assert found[0].file(max_mb=1) == PaperFile(tmp_path / "a.txt")
    with pytest.raises(PaperFileError, match="no such file"):
        find_sources(str(tmp_path / "c.md"))


@pytest.mark.parametrize("place", ["s3://", "s3:///papers"])
def test_an_address_without_a_bucket(place: str) -> None:
    with pytest.raises(InputError, match="has no bucket"):
        find_sources(place)


def test_an_address_from_which_nothing_is_fetched() -> None:
    with pytest.raises(
        PaperFileError, match=r"https://example.org/a.pdf: Paperscope fetches from s3:// only; download it"
    ):
        find_sources("https://example.org/a.pdf")


@pytest.mark.slow
def test_papers_in_s3_are_fetched_kept_and_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from graph_store.objects import open_s3

    with serve_bucket("archive") as bucket:
        system = open_s3()
        for name in ("papers/a.md", "papers/deep/b.md", "papers/.hidden/c.md", "papers/d.png", "paper.md", "other.md"):
            system.pipe_file(f"archive/{name}", f"# {name}\n\nThe Tagger has an F1 of 5.".encode())
        system.pipe_file("archive/papers/jats.xml", b"<article/>")
        system.pipe_file("archive/papers/drawing.xml", b"<svg/>")
        names = [one.address.removeprefix(f"{bucket}/") for one in find_sources(f"{bucket}/paper")]
        assert names == ["paper.md", "papers/a.md", "papers/deep/b.md", "papers/jats.xml"]
        assert [one.name for one in find_sources(f"{bucket}/papers/d.png")] == ["d.png"]
        for place, message in ((f"{bucket}/none/", "begins like this"), ("s3://missing/x", "check bucket")):
            with pytest.raises(PaperFileError, match=message):
                find_sources(place)

        source = PaperSource(address=f"{bucket}/papers/a.md")
        with Library.open(tmp_path / "library", settings=load_settings(environ={})) as library:
            assert library.add_source(source).outcome == "added"
            assert library.add_source(source).outcome == "unchanged"
            assert library.source("a.md").read_bytes().startswith(b"# papers/a.md")
            system.pipe_file("archive/papers/a.md", b"# New\n\nThe Parser has an F1 of 6.")
            assert library.add_source(source).outcome == "replaced"
            (entry,) = library.entries()
            assert (entry.title, entry.file, entry.source) == ("New", "a.md", source.address)
            assert len(list((tmp_path / "library" / "originals").iterdir())) == 1

        system.pipe_file("archive/large.md", io.BytesIO(b"x" * 2_000_000).getvalue())
        for name, message in (("large.md", "over the limit of 1 MB"), ("gone.md", "no such object")):
            with pytest.raises(PaperFileError, match=message):
                PaperSource(address=f"{bucket}/{name}").file(max_mb=1)
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
        type(system).clear_instance_cache()
        with pytest.raises(PaperFileError, match="AWS configuration"):
            find_sources(f"{bucket}/paper")
