"""Uploaded files: hostile names, replacement, and the copies that the library keeps."""

import asyncio
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_store import Store
from paperscope.library import Library
from paperscope.originals import Originals, file_name
from paperscope_core.errors import PaperFileError, UnknownPaperError
from paperscope_core.models import FakeEmbedder, Models
from paperscope_core.settings import LimitSettings, Settings
from tests.paperscope.test_adding import write_pdf

HOSTILE = {
    "../../etc/passwd": "passwd",
    "..\\..\\windows\\system.ini": "system.ini",
    "/etc/cron.d/job.pdf": "job.pdf",
    "..": "paper",
    "": "paper",
    ".hidden.pdf": "hidden.pdf",
    "-rf.pdf": "rf.pdf",
    "a\x00b\n\x1b[31m\u202efdp.exe": "ab[31mfdp.exe",
    "CON.pdf": "_CON.pdf",
    "nul": "_nul",
    "Lpt1 .txt": "_Lpt1.txt",
    "a:b|c?.pdf": "a_b_c_.pdf",
    "<script>.html": "_script_.html",
    "\ud800broken.pdf": "broken.pdf",
    "Überblick über 北京.pdf": "Überblick über 北京.pdf",
}


def open_library(folder: Path) -> Library:
    return Library(store=Store.open(folder), settings=Settings(), models=Models(embedder=FakeEmbedder()))


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with open_library(tmp_path / "library") as opened:
        yield opened


def kept(tmp_path: Path) -> list[str]:
    return sorted(file.name for file in (tmp_path / "library/originals").rglob("*") if file.is_file())


@pytest.mark.parametrize(("name", "expected"), HOSTILE.items())
def test_hostile_names_become_safe(name: str, expected: str) -> None:
    assert file_name(name) == expected


@given(st.text(max_size=400))
def test_any_name_becomes_a_short_file_name(name: str) -> None:
    plain = file_name(name)
    assert plain == Path(plain).name
    assert plain.isprintable()
    assert 0 < len(plain.encode()) <= 151
    assert file_name(plain) == plain


def test_a_long_name_keeps_its_suffix() -> None:
    assert file_name("x" * 300 + ".pdf") == "x" * 146 + ".pdf"
    assert file_name("北" * 300 + ".pdf") == "北" * 48 + ".pdf"


@pytest.mark.parametrize("name", ["../../../escaped.pdf", "x" * 300 + ".pdf", "NUL", "..", "a\x1b[2J.pdf"])
def test_a_hostile_name_does_not_leave_the_folder(library: Library, tmp_path: Path, name: str) -> None:
    upload = write_pdf(tmp_path / "upload-1", "Taggers are compared.")
    paper = library.add(upload, name=name).paper
    assert paper.file == file_name(name)
    assert library.source(paper.id).read_bytes() == upload.read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"library", "upload-1"}
    assert library.paper(paper.file).id == paper.id


def test_the_suffix_determines_the_format_of_plain_text(library: Library, tmp_path: Path) -> None:
    upload = tmp_path / "upload-1"
    upload.write_text("# Taggers\n\nTaggers are compared.\n")
    assert library.add(upload, name="notes.md").paper.format == "markdown"


def test_the_same_name_or_path_replaces_nothing(library: Library, tmp_path: Path) -> None:
    upload = tmp_path / "upload"
    first = library.add(write_pdf(upload, "Taggers are compared."), name="paper.pdf")
    second = library.add(write_pdf(upload, "Parsers are compared."), name="paper.pdf")
    again = library.add(upload, name="another name.pdf")
    assert [one.outcome for one in (first, second, again)] == ["added", "added", "unchanged"]
    assert [entry.file for entry in library.entries()] == ["paper.pdf", "paper.pdf"]
    assert kept(tmp_path) == ["paper.pdf", "paper.pdf"]


def test_a_replaced_papers_file_is_deleted(library: Library, tmp_path: Path) -> None:
    upload = tmp_path / "upload"
    old = library.add(write_pdf(upload, "Taggers are compared."), name="old.pdf").paper
    other = library.add(write_pdf(upload, "Parsers are compared."), name="other.pdf").paper
    added = library.add(write_pdf(upload, "Taggers are compared once more."), name="new.pdf", replaces=old.id)
    assert added.outcome == "replaced"
    assert [entry.id for entry in library.entries()] == [other.id, added.paper.id]
    assert kept(tmp_path) == ["new.pdf", "other.pdf"]
    # What takes its place may be there already.
    merged = library.add(upload, name="new.pdf", replaces=other.id)
    assert (merged.outcome, [entry.id for entry in library.entries()]) == ("replaced", [added.paper.id])
    assert library.add(upload, name="new.pdf", replaces=added.paper.id).outcome == "unchanged"
    assert kept(tmp_path) == ["new.pdf"]


def test_an_unknown_paper_can_not_be_replaced(library: Library, tmp_path: Path) -> None:
    upload = write_pdf(tmp_path / "upload", "Taggers are compared.")
    with pytest.raises(UnknownPaperError, match="no paper 'abc' in the library"):
        library.add(upload, name="a.pdf", replaces="abc")
    assert library.entries() == ()


@pytest.mark.slow
def test_a_file_that_fails_is_deleted_and_reported_by_its_name(tmp_path: Path) -> None:
    settings = Settings(limits=LimitSettings(max_file_mb=1))
    models = Models(embedder=FakeEmbedder())
    upload = tmp_path / "tmp83k2.upload"
    with Library(store=Store.open(tmp_path / "library"), settings=settings, models=models) as library:
        for data, message in (
            (b"", r"^'a\.pdf' is empty"),
            (b"no paper", r"^'a\.pdf' is no PDF"),
            (b"%PDF-1.4\n" + b"x" * 50_000, r"^'a\.pdf'"),
            (bytes(1_600_000), r"^a\.pdf: 2 MB is over the limit of 1 MB"),
        ):
            upload.write_bytes(data)
            with pytest.raises(PaperFileError, match=message) as raised:
                library.add(upload, name="dir/a.pdf")
            assert str(tmp_path) not in str(raised.value)
        assert (kept(tmp_path), library.entries()) == ([], ())


@pytest.mark.slow
def test_a_damaged_copy_is_replaced_by_the_next_upload(library: Library, tmp_path: Path) -> None:
    file = tmp_path / "upload.md"
    file.write_text("# A\n\nThe tagger.\n")
    paper = library.add(file, name="a.md").paper
    copy = library.source(paper.id)
    copy.write_text("# B\n\nAnother text.\n")
    with pytest.raises(PaperFileError, match=r"copy of .a\.md. is damaged; upload it again, or remove the paper"):
        library.source(paper.id)
    assert library.add(file, name="a.md").paper.id == paper.id
    assert library.source(paper.id).read_text() == file.read_text()


def test_a_removed_paper_leaves_no_file(library: Library, tmp_path: Path) -> None:
    upload = write_pdf(tmp_path / "upload", "Taggers are compared.")
    paper = library.add(upload, name="a.pdf").paper
    library.remove(paper.id)
    assert list((tmp_path / "library/originals").iterdir()) == []


def test_files_of_killed_adds_are_deleted_after_an_hour(tmp_path: Path) -> None:
    originals = Originals(tmp_path / "originals")
    copies = {name: originals.put(name.encode(), sha256=name, name="a.pdf") for name in ("old", "kept", "new")}
    for name in ("old", "kept"):
        os.utime(copies[name].parent, (0, 0))
    originals.sweep(keep={copies["kept"].parent.name})
    assert {name for name, copy in copies.items() if copy.exists()} == {"kept", "new"}


def test_a_library_that_moved_still_has_the_files(tmp_path: Path) -> None:
    upload = write_pdf(tmp_path / "upload", "Taggers are compared.")
    with open_library(tmp_path / "library") as library:
        paper = library.add(upload, name="a.pdf").paper
    shutil.move(tmp_path / "library", tmp_path / "moved")
    with open_library(tmp_path / "moved") as library:
        assert library.source(paper.id).read_bytes() == upload.read_bytes()
        assert library.add(upload, name="a.pdf").outcome == "unchanged"


def test_the_source_is_returned_unless_it_changed(library: Library, tmp_path: Path) -> None:
    file = write_pdf(tmp_path / "a.pdf", "Taggers are compared.")
    paper = library.add(file).paper
    assert library.source(paper.id) == file
    write_pdf(file, "Parsers are compared.")
    with pytest.raises(PaperFileError, match=r"'a\.pdf' has changed since it was added; add it again"):
        library.source(paper.id)
    file.unlink()
    with pytest.raises(PaperFileError, match=r"'a\.pdf' is no longer where it was added from; add it again"):
        library.source(paper.id)
    with pytest.raises(UnknownPaperError):
        library.source("nothing")


async def test_equal_files_uploaded_at_once_leave_one_paper_and_its_file(tmp_path: Path, library: Library) -> None:
    upload = write_pdf(tmp_path / "upload.pdf", "All of it stands here.")
    added = await asyncio.gather(*(library.add_async(upload, name=f"{number}.pdf") for number in range(4)))
    (entry,) = library.entries()
    assert {one.paper.id for one in added} == {entry.id}
    assert sorted(one.outcome for one in added) == ["added", "unchanged", "unchanged", "unchanged"]
    assert kept(tmp_path) == [entry.file]
    assert library.source(entry.id).read_bytes() == upload.read_bytes()
