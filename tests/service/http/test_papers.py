"""The routes that list, show, download and remove papers."""

import json
import shutil
from pathlib import Path

import httpx2
import pytest

from graph_store import Store
from paperscope_core.types import content_hash
from tests.service.conftest import PAPER, PNG, settings_of, small_paper
from tests.service.servers import serve_app

EXAMPLE = "b1810c2e3f4a"
UNKNOWN = "0123456789ab"


def small_library(folder: Path, *, source: str = "/tagger.pdf") -> Path:
    store = Store.open(folder)
    store.add(small_paper(), crops={content_hash(PNG): PNG}, source=source, embedder="fake-64")
    store.close()
    return folder


def test_papers_are_listed_with_counts_and_without_elements_or_paths(address: str) -> None:
    listed = httpx2.get(f"{address}/v1/papers").json()
    (paper,) = listed["papers"]
    assert paper["id"] == EXAMPLE
    assert paper["title"].startswith("Four Reports, Four Rulers")
    assert (paper["file"], paper["counts"]["table"], paper["counts"]["figure"]) == ("ner-report.pdf", 9, 3)
    assert (paper["pages"], paper["problems"]) == (7, 0)
    assert listed["total"] == 1
    assert "/examples/" not in json.dumps(listed)


def test_papers_are_listed_in_parts(tmp_path: Path, example_library: Path) -> None:
    library = tmp_path / "library"
    shutil.copytree(example_library, library)
    small_library(library)
    with serve_app(settings_of(library)) as address:
        parts = [httpx2.get(f"{address}/v1/papers?limit=1&offset={offset}").json() for offset in range(3)]
    assert [[paper["id"] for paper in part["papers"]] for part in parts] == [[EXAMPLE], [PAPER], []]
    assert {part["total"] for part in parts} == {2}


def test_a_paper_is_shown_without_its_elements(address: str) -> None:
    shown = httpx2.get(f"{address}/v1/papers/{EXAMPLE}").json()
    assert shown["head"] == httpx2.get(f"{address}/v1/papers").json()["papers"][0]
    assert [section["title"] for section in shown["sections"][:2]] == ["Abstract", "Introduction"]
    assert (len(shown["pages"]), shown["format"], shown["problems"]) == (7, "pdf", [])
    assert shown["images"] == {"reader": "", "readings": []}
    assert shown["shortfall"]["unread"] == []
    assert "elements" not in shown


def test_the_file_is_sent_as_it_was_added(address: str, root: Path) -> None:
    response = httpx2.get(f"{address}/v1/papers/{EXAMPLE}/file")
    assert response.content == (root / "examples/paper/ner-report.pdf").read_bytes()
    assert response.headers["content-type"] == "application/pdf"
    assert response.headers["content-disposition"].startswith('attachment; filename="ner-report.pdf"')
    assert response.headers["x-content-type-options"] == "nosniff"
    part = httpx2.get(f"{address}/v1/papers/{EXAMPLE}/file", headers={"Range": "bytes=0-3"})
    assert (part.status_code, part.content) == (206, b"%PDF")


def test_a_file_that_is_gone_or_has_changed_is_not_sent(tmp_path: Path) -> None:
    source = tmp_path / "tagger.pdf"
    with serve_app(settings_of(small_library(tmp_path / "library", source=str(source)))) as address:
        gone = httpx2.get(f"{address}/v1/papers/{PAPER}/file")
        source.write_bytes(b"something else")
        changed = httpx2.get(f"{address}/v1/papers/{PAPER}/file")
    for response in (gone, changed):
        assert response.status_code == 404
        assert response.json()["type"] == "urn:paperscope:problem:no-file"
        assert str(tmp_path) not in response.text
        assert "something else" not in response.text


def test_a_removed_paper_takes_everything_along(tmp_path: Path) -> None:
    library = small_library(tmp_path / "library")
    with serve_app(settings_of(library)) as address:
        crop = f"{address}/v1/crops/{content_hash(PNG)}"
        assert httpx2.get(crop).content == PNG
        removed = httpx2.delete(f"{address}/v1/papers/{PAPER}")
        assert (removed.status_code, removed.content) == (204, b"")
        assert httpx2.get(f"{address}/v1/papers").json()["total"] == 0
        for gone in (f"{address}/v1/papers/{PAPER}", f"{address}/v1/papers/{PAPER}/elements/table-1", crop):
            assert httpx2.get(gone).status_code == 404
        assert httpx2.delete(f"{address}/v1/papers/{PAPER}").status_code == 404
    assert not list((library / "crops").glob("*/*.png"))


def test_a_paper_is_named_by_its_id_alone(tmp_path: Path) -> None:
    indexed = small_paper()
    library = small_library(tmp_path / "library", source=UNKNOWN)
    assert indexed.paper.id.startswith("aaaa")
    with serve_app(settings_of(library)) as address:
        # On the command line the start of an id, a source or a title will do.
        for name in ("aaaa", "tagger.pdf", "A%20Tagger"):
            assert httpx2.delete(f"{address}/v1/papers/{name}").status_code == 422
        assert httpx2.delete(f"{address}/v1/papers/{UNKNOWN}").status_code == 404
        assert httpx2.get(f"{address}/v1/papers").json()["total"] == 1


@pytest.mark.parametrize(
    "path",
    ["", "/file", "/elements", "/elements/table-1", "/tables/table-1.csv"],
)
def test_an_unknown_paper_is_quoted(address: str, path: str) -> None:
    response = httpx2.get(f"{address}/v1/papers/{UNKNOWN}{path}")
    assert response.status_code == 404
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem["type"] == "urn:paperscope:problem:unknown-paper"
    assert UNKNOWN in problem["detail"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "..%2f..%2flibrary.sqlite",
        "..%2F..%2Fetc%2Fpasswd",
        "%2e%2e%2f%2e%2e%2fkeys.json",
        "....//....//library.sqlite",
        "b1810c2e3f4a%00.pdf",
        "b1810c2e3f4a%0a",
        "B1810C2E3F4A",
        "%5c..%5c..%5clibrary.sqlite",
    ],
)
def test_what_is_no_id_leads_nowhere(address: str, name: str) -> None:
    for path in (
        f"/v1/papers/{name}",
        f"/v1/papers/{name}/file",
        f"/v1/papers/{EXAMPLE}/elements/{name}",
        f"/v1/papers/{EXAMPLE}/tables/{name}.csv",
        f"/v1/crops/{name}",
    ):
        response = httpx2.get(address + path)
        assert response.status_code in (404, 422), path
        assert response.headers["content-type"] == "application/problem+json"
        assert b"SQLite" not in response.content


def test_head_has_the_headers_of_get_and_no_body(address: str) -> None:
    for path in ("/v1/papers", f"/v1/papers/{EXAMPLE}/file", f"/v1/papers/{UNKNOWN}", "/healthz"):
        got, head = httpx2.get(address + path), httpx2.head(address + path)
        assert head.content == b""
        assert head.status_code == got.status_code
        for name in ("content-type", "content-length"):
            assert head.headers[name] == got.headers[name]


def test_a_corrected_record_is_one_line_of_text(tmp_path: Path) -> None:
    body = {"title": "Foxes\n\0\x1b[31m at\tLarge", "authors": ["\0", "Ada\r\nBee"], "venue": "\x07 Dens"}
    body["doi"] = "10.5555/a\x1b"
    with serve_app(settings_of(small_library(tmp_path))) as address:
        assert httpx2.patch(f"{address}/v1/papers/{PAPER}", json=body).status_code == 200
        shown = httpx2.get(f"{address}/v1/papers/{PAPER}").json()["head"]
    assert (shown["title"], shown["authors"]) == ("Foxes [31m at Large", ["Ada Bee"])
    assert (shown["venue"], shown["doi"]) == ("Dens", "10.5555/a")


def test_an_unknown_method_gets_the_allowed_ones(address: str) -> None:
    of_paper = {"GET", "HEAD", "DELETE", "PATCH"}
    for path, allowed in (("/v1/papers/" + EXAMPLE, of_paper), ("/v1/graph", {"GET", "HEAD"})):
        for method in ("OPTIONS", "PUT"):
            response = httpx2.request(method, address + path)
            assert response.status_code == 405
            assert set(response.headers["allow"].split(", ")) == allowed
