"""Paths and names from callers: none leads out of an allowed folder, reveals what exists, or blocks the service."""

import io
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import httpx2
import pytest

from ingest.document.source import read_unchanged
from paperscope.library import Library
from paperscope_core.errors import PaperFileError
from paperscope_core.settings import load_settings
from paperscope_core.types import PaperFile, content_hash
from service.jobs.requests import open_without_links
from tests.model_server import ModelServer, serve
from tests.service.conftest import settings_of
from tests.service.servers import embedder_settings, job_of, markdown_paper, serve_app, upload


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with serve() as server:
        yield server


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An allowed folder `papers` with a paper, a folder and special files, and a secret beside it."""
    folder = tmp_path_factory.mktemp("paths")
    papers = folder / "papers"
    (papers / "sub").mkdir(parents=True)
    (papers / "good.md").write_bytes(markdown_paper(1, "Indexer"))
    (folder / "secret.md").write_bytes(markdown_paper(1, "Secret"))
    (papers / "link.md").symlink_to(folder / "secret.md")
    (papers / "dead.md").symlink_to(folder / "absent.md")
    (papers / "out").symlink_to(folder)
    os.mkfifo(papers / "pipe.md")
    return folder


@pytest.fixture(scope="module")
def address(folder: Path, model: ModelServer) -> Iterator[str]:
    given = {**embedder_settings(model.url), "service.folders": [str(folder / "papers")]}
    with ExitStack() as stack:
        heard = stack.enter_context(socket.socket(socket.AF_UNIX))
        # The path of a socket must be short.
        handle = os.open(folder / "papers", os.O_RDONLY)
        heard.bind(f"/proc/self/fd/{handle}/socket.md")
        os.close(handle)
        yield stack.enter_context(serve_app(settings_of(folder / "library", **given)))


def asked(address: str, path: str) -> httpx2.Response:
    return httpx2.post(f"{address}/v1/papers", json={"path": path}, timeout=5)


def told(response: httpx2.Response) -> str:
    """The detail of a problem document, checked to be short and printable."""
    assert response.headers["content-type"] == "application/problem+json"
    detail: str = response.json()["detail"]
    assert detail.isprintable()
    assert len(detail) < 600
    return detail


@pytest.mark.parametrize(
    "path",
    [
        "{papers}/../secret.md",
        "{papers}/sub/../good.md",
        "{papers}/../papers/good.md",
        "/etc/passwd",
        "/etc/../etc/passwd",
        "/dev/stdin",
        "/dev/zero",
        "/proc/self/fd/0",
        "/proc/self/environ",
        "/proc/self/root/etc/passwd",
        "{papers}/link.md",
        "{papers}/dead.md",
        "{papers}/out/secret.md",
        "papers/good.md",
        "",
        ".",
        "{papers}2/good.md",
        "{papers}/good.md\0.pdf",
        "~/good.md",
        "file://{papers}/good.md",
        "C:\\papers\\good.md",
        "/" + "a" * 90_000,
    ],
)
def test_paths_outside_the_folder_are_refused_and_quoted(address: str, folder: Path, path: str) -> None:
    named = path.format(papers=folder / "papers")
    response = asked(address, named)
    assert response.status_code == 403
    assert repr(named[:100])[1:-1] in told(response)


@pytest.mark.parametrize("pair", [("/etc/passwd", "/etc/absent"), ("{papers}/link.md", "{papers}/dead.md")])
def test_errors_do_not_reveal_what_exists_outside(address: str, folder: Path, pair: tuple[str, str]) -> None:
    there, absent = (path.format(papers=folder / "papers") for path in pair)
    answers = [asked(address, path).json() for path in (there, absent)]
    assert answers[0].pop("detail").replace(there, "X") == answers[1].pop("detail").replace(absent, "X")
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    "name",
    ["absent.md", "sub", "", "pipe.md", "socket.md", "good.md/x", "a\nb.md", "n" * 300, "n" * 90_000, "sub/" * 9000],
)
def test_special_files_inside_the_folder_are_refused_at_once(address: str, folder: Path, name: str) -> None:
    response = asked(address, f"{folder}/papers/{name}")
    assert response.status_code in (403, 422)
    assert "upload it" in told(response) or "no such file" in told(response)


def test_a_path_that_is_no_text_is_refused(address: str, folder: Path) -> None:
    kind = {"content-type": "application/json"}
    for bad in (rf'{{"path": "{folder}/papers/\ud800.md"}}', '{"path": 1}', '{"path": ["a"]}', '{"path": null}', "{}"):
        response = httpx2.post(f"{address}/v1/papers", content=bad, headers=kind)
        assert response.status_code in (403, 422), bad
        assert "path" in told(response) or "Invalid JSON" in told(response)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../x.md", "x.md"),
        ("C:\\papers\\x.md", "x.md"),
        ("/etc/passwd.md", "passwd.md"),
        ("x" * 2_000 + ".md", "x" * 147 + ".md"),
        ("..", "paper"),
        ("a\u202eb.md", "ab.md"),
        ("<b>.md", "_b_.md"),
        ("nul.md", "_nul.md"),
    ],
)
def test_a_name_is_a_name_and_no_path(address: str, folder: Path, name: str, kept: str) -> None:
    job = job_of(upload(address, f"A paper of the name {kept}.".encode(), name), address)
    assert job["state"] == "succeeded", job
    entry = httpx2.get(f"{address}/v1/papers/{job['result']['paper']}").json()["head"]
    assert entry["file"] == kept
    assert len(job["name"]) <= 200
    assert [path.name for path in (folder / "library" / "originals").glob(f"{job['result']['paper']}*/*")] == [kept]
    assert not (folder / "x.md").exists()


def test_a_file_without_a_name_and_an_empty_one_are_refused_with_what_is_wrong(address: str) -> None:
    nameless = (
        "multipart/form-data; boundary=x",
        b'--x\r\ncontent-disposition: form-data; name="file"\r\n\r\nA\r\n--x--\r\n',
    )
    response = httpx2.post(f"{address}/v1/papers", content=nameless[1], headers={"content-type": nameless[0]})
    assert (response.status_code, "with a file name" in told(response)) == (422, True)
    for name in ("..", "/", "x" * 2_000 + ".pdf"):
        assert "is empty" in told(upload(address, b"", name))
    # The parser limits the headers of a part.
    longest = upload(address, b"A paper.", "x" * 10_000 + ".md")
    assert (longest.status_code, "multipart body can't be read" in told(longest)) == (400, True)


@pytest.mark.slow
def test_a_paper_inside_is_added_and_a_link_within_the_folder_is_followed(address: str, folder: Path) -> None:
    papers = folder / "papers"
    (papers / "alias.md").symlink_to(papers / "good.md")
    for name in ("good.md", "alias.md"):
        job = job_of(asked(address, f"{papers}/{name}"), address)
        assert (job["state"], job["name"]) == ("succeeded", "good.md"), job


def test_a_file_that_became_a_link_pipe_or_another_one_after_it_was_allowed_is_not_read(tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "a.md").write_bytes(markdown_paper(1, "Secret"))
    (papers / "a.md").write_bytes(markdown_paper(1, "Indexer"))
    with open_without_links(papers / "a.md") as opened:
        allowed = content_hash(opened.read())
    papers.rename(tmp_path / "moved")
    papers.symlink_to(tmp_path / "secret")
    with pytest.raises(PaperFileError, match=r"'a\.md': no such file"):
        open_without_links(papers / "a.md")
    with Library.open(tmp_path / "library", settings=load_settings(environ={})) as library:
        # As if the folder were swapped a moment later.
        with pytest.raises(PaperFileError, match=r"'a\.md' was changed or moved while it was read"):
            library.add(papers / "a.md", sha256=allowed)
        assert not library.papers()
        os.mkfifo(tmp_path / "moved" / "pipe.md")
        with pytest.raises(PaperFileError, match=r"'pipe\.md' is not a regular file"):
            library.add(tmp_path / "moved" / "pipe.md")


def test_what_is_parsed_is_what_was_hashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ingest.sandbox.isolated_parser import IsolatedParser

    file, real = tmp_path / "a.md", IsolatedParser.parse
    file.write_bytes(markdown_paper(1, "Indexer"))
    allowed = content_hash(file.read_bytes())

    def swapped(self: IsolatedParser, paper: PaperFile, **options: object) -> object:
        file.write_bytes(markdown_paper(1, "Secret"))
        return real(self, paper, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(IsolatedParser, "parse", swapped)
    with Library.open(tmp_path / "library", settings=load_settings(environ={})) as library:
        paper = library.add(file, sha256=allowed).paper
        assert paper.sha256 == allowed
        assert "Secret" not in repr(library.papers())


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(markdown_paper(1, "Indexer"))

    class Changing(io.FileIO):
        def read(self, size: int | None = -1) -> bytes:
            with file.open("ab") as other:
                other.write(b"more")
            return super().read(size)

    with Changing(file) as opened, pytest.raises(PaperFileError, match=r"'a\.md' was changed while it was read"):
        read_unchanged(opened, name=file.name)


def test_an_unreadable_file_is_reported_without_waiting(
    guarded_folder: Path, unprivileged: Callable[[], AbstractContextManager[None]]
) -> None:
    file = guarded_folder / "sub" / "a.md"
    file.parent.mkdir()
    file.write_text("A paper.")
    for closed in (file, file.parent):
        closed.chmod(0)
        with unprivileged(), pytest.raises(PaperFileError, match=r"can't be read \(Permission denied\); upload it"):
            open_without_links(file)
        closed.chmod(0o755)
