"""The files of the web page: how they are served, that they are those of the manifest, and that a wheel has them."""

import gzip
import shutil
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import brotli
import httpx2
import pytest

from scripts.vendored import FOLDER, find_faults, main, read_manifest
from service.http import web_files
from tests.service.conftest import settings_in
from tests.service.servers import serve_app

PDF_JS = "/web/vendor/pdfjs-dist-6.5.438/pdf.min.mjs"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serve_app(settings_in(tmp_path_factory.mktemp("service"))) as address:
        yield address


def test_the_page_may_load_its_own_files_only(address: str) -> None:
    for path in ("/", "/web/index.html", PDF_JS):
        policy = httpx2.get(address + path).headers["content-security-policy"]
        directives = dict(one.strip().split(" ", 1) for one in policy.split(";"))
        assert directives["default-src"] == directives["style-src"] == directives["connect-src"] == "'self'"
        assert directives["frame-ancestors"] == directives["base-uri"] == directives["object-src"] == "'none'"
        scripts = directives["script-src"].split()
        assert scripts[0] == "'self'"
        assert all(one.startswith("'sha256-") for one in scripts[1:])


def test_the_strict_policy_of_the_api_stays(address: str) -> None:
    for path in ("/v1/papers", "/openapi.json", "/web/none.js"):
        assert httpx2.get(address + path).headers["content-security-policy"].startswith("default-src 'none'")


@pytest.mark.parametrize(
    ("path", "media_type"),
    [("/", "text/html"), (PDF_JS, "text/javascript"), ("/web/vendor/katex-0.19.1/katex.min.css", "text/css")],
)
def test_a_file_comes_compressed_and_once(address: str, path: str, media_type: str) -> None:
    plain = httpx2.get(address + path, headers={"Accept-Encoding": "identity"})
    assert plain.headers["content-type"].partition(";")[0] == media_type
    assert "content-encoding" not in plain.headers
    compressed = httpx2.get(address + path, headers={"Accept-Encoding": "gzip"})
    assert compressed.headers["content-encoding"] == "gzip"
    assert compressed.headers["vary"] == "Accept-Encoding"
    assert int(compressed.headers["content-length"]) < len(plain.content) == len(compressed.content)
    assert compressed.headers["etag"] != plain.headers["etag"]
    known = {"Accept-Encoding": "gzip", "If-None-Match": compressed.headers["etag"]}
    again = httpx2.get(address + path, headers=known)
    assert (again.status_code, again.content) == (304, b"")
    immutable = "immutable" in plain.headers["cache-control"]
    assert immutable == path.startswith("/web/vendor/")
    assert httpx2.head(address + path).status_code == 200


def test_a_large_library_comes_smaller_to_a_browser_that_knows_brotli(address: str) -> None:
    small = httpx2.get(address + PDF_JS, headers={"Accept-Encoding": "gzip, deflate, br, zstd"})
    assert small.headers["content-encoding"] == "br"
    assert small.headers["content-type"].partition(";")[0] == "text/javascript"
    gzipped = httpx2.get(address + PDF_JS, headers={"Accept-Encoding": "gzip"})
    assert int(small.headers["content-length"]) < int(gzipped.headers["content-length"])
    assert small.headers["etag"] != gzipped.headers["etag"]
    # Only with a name of its own would it be served without its coding.
    assert httpx2.get(f"{address}{PDF_JS}.br").status_code == 404


def test_compressed_libraries_are_the_libraries() -> None:
    compressed = list(FOLDER.rglob("*.br"))
    assert {path.name for path in compressed} >= {"pdf.min.mjs.br", "pdf.worker.min.mjs.br", "katex.mjs.br"}
    for path in compressed:
        assert brotli.decompress(path.read_bytes()) == path.with_suffix("").read_bytes()


def test_a_refused_encoding_is_not_sent(address: str) -> None:
    for accepted in ("gzip;q=0", "br", ""):
        assert "content-encoding" not in httpx2.get(address, headers={"Accept-Encoding": accepted}).headers


@pytest.mark.parametrize(
    "path",
    [
        "/web/",
        "/web/../__init__.py",
        "/web/%2e%2e/__init__.py",
        "/web/..%2f__init__.py",
        "/web//etc/passwd",
        "/web/vendor",
        "/web/vendor/../index.html",
        "/web/vendor/..%5c..%5ckeys.py",
        "/web/index.html%00.js",
        "/web/%ff",
    ],
)
def test_only_files_of_the_page_are_served(address: str, path: str) -> None:
    # Sends the path as it is.
    connection = HTTPConnection(urlsplit(address).netloc)
    connection.request("GET", path)
    assert connection.getresponse().status == 404
    connection.close()


def test_an_edited_file_is_served_anew(address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text('<script type="importmap">{}</script>')
    (tmp_path / "late.js").write_text("1")
    monkeypatch.setattr(web_files, "FOLDER", tmp_path)
    web_files._paths.cache_clear()
    try:
        first = httpx2.get(f"{address}/web/late.js")
        (tmp_path / "late.js").write_text("2 // longer")
        second = httpx2.get(f"{address}/web/late.js")
        policy = httpx2.get(address).headers["content-security-policy"]
    finally:
        web_files._paths.cache_clear()
    assert (first.text, second.text) == ("1", "2 // longer")
    # The SHA-256 of `{}`.
    assert "'sha256-RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o='" in policy


def test_the_libraries_are_those_of_the_manifest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["--wrong"]) == 2


def test_a_changed_library_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FOLDER, tmp_path / "vendor"))
    monkeypatch.setattr("scripts.vendored.FOLDER", folder)
    (folder / "htm-3.1.1" / "htm.mjs").write_text("evil()")
    (folder / "htm-3.1.1" / "new.mjs").write_text("")
    (folder / "htm-3.1.1" / "LICENSE").unlink()
    assert [fault.partition(" ")[0] for fault in find_faults()] == [
        "htm-3.1.1/LICENSE",
        "htm-3.1.1/htm.mjs",
        "htm-3.1.1/new.mjs",
    ]
    assert main(["--check"]) == 1


def test_each_library_has_its_licence_and_is_documented(root: Path) -> None:
    documented = (root / "docs" / "dependencies.md").read_text()
    for package in read_manifest()["packages"]:
        assert any(name.startswith("LICENSE") for name in package["files"])
        assert f"| {package['name']} {package['version']} |" in documented


def test_the_libraries_of_the_first_view_are_small() -> None:
    small = ("pdfjs-dist-6.5.438/pdf.min.mjs.br", "pdfjs-dist-6.5.438/pdf.worker.min.mjs.br")
    gzipped = ("preact-11.2.0/preact.mjs", "preact-11.2.0/hooks.mjs", "htm-3.1.1/htm.mjs")
    size = sum((FOLDER / name).stat().st_size for name in small)
    size += sum(len(gzip.compress((FOLDER / name).read_bytes())) for name in gzipped)
    assert size < 450_000
