"""Tags, notes and the gallery over HTTP: filters of lists and questions, files for Obsidian, captions of all papers."""

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.service.http.requests import copy_library, serve_library

PAPER = "b1810c2e3f4a"


@pytest.fixture(scope="module")
def address(example_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serve_library(copy_library(example_library, tmp_path_factory.mktemp("notes"))) as address:
        yield address


def test_tags_name_papers_everywhere(address: str) -> None:
    change = {"papers": ["Four Reports"], "add": ["to read"]}
    assert httpx2.patch(f"{address}/v1/tags", json=change).json() == {"tags": {"to-read": [PAPER]}}
    (paper,) = httpx2.get(f"{address}/v1/papers", params={"query": "#to-read reports"}).json()["papers"]
    assert paper["tags"] == ["to-read"]
    assert httpx2.get(f"{address}/v1/papers", params={"query": "#other"}).json()["total"] == 0
    assert httpx2.get(f"{address}/v1/bibtex", params={"paper": "#TO-READ"}).text.startswith("@misc{")
    question = {"question": "What is the recall in Table 3?", "papers": ["#to-read"]}
    assert httpx2.post(f"{address}/v1/retrieve", json=question, timeout=60).json()["sources"]
    found = httpx2.get(f"{address}/v1/tools/search", params={"argument": "recall", "paper": "#to-read"}, timeout=60)
    assert found.json()["items"]
    assert httpx2.get(f"{address}/v1/tools/papers", params={"argument": "#to-read four"}).json()["items"]
    refused = httpx2.post(f"{address}/v1/retrieve", json={**question, "papers": ["#other"]})
    assert (refused.status_code, "tags of the library: #to-read" in refused.json()["detail"]) == (404, True)
    assert httpx2.patch(f"{address}/v1/tags", json={**change, "add": ["a,b"]}).status_code == 400
    cleared = httpx2.patch(f"{address}/v1/tags", json={"papers": ["#to-read"], "remove": ["to-read"]})
    assert cleared.json() == {"tags": {}}


def test_notes_are_kept_and_exported(address: str) -> None:
    made = httpx2.post(f"{address}/v1/notes", json={"paper": PAPER, "text": "See *B*.", "element": "table-3"})
    note = made.json()
    assert (made.status_code, made.headers["location"]) == (201, f"/v1/notes/{note['id']}")
    assert note["quote"].startswith("Report A under the four scenarios")
    assert {place["page"] for place in note["places"]} == {3}
    marked = {"paper": PAPER, "quote": "a <b>", "places": [{"page": 1, "box": [72, 80, 200, 90]}]}
    assert httpx2.post(f"{address}/v1/notes", json=marked).json()["text"] == ""
    listed = httpx2.get(f"{address}/v1/notes", params={"query": "SCENARIOS see"}).json()
    assert (listed["notes"], listed["total"]) == ([note], 1)
    assert httpx2.patch(f"{address}{made.headers['location']}", json={"text": "See C."}).json()["text"] == "See C."
    written = httpx2.get(f"{address}/v1/notes", params={"format": "markdown", "paper": PAPER})
    assert (written.headers["content-type"], written.text[:4]) == ("text/markdown; charset=utf-8", "---\n")
    assert 'citekey: "authorsfour"' in written.text
    assert written.text.index("> a &lt;b>") < written.text.index("See C.")
    assert f"({address}/#/papers/{PAPER}?at=1,72,80,200,90)" in written.text
    for wrong in (
        {"paper": PAPER},
        {"paper": PAPER, "text": "x", "element": "table-99"},
        {"paper": "0" * 12, "text": "x"},
    ):
        assert httpx2.post(f"{address}/v1/notes", json=wrong).status_code in (400, 404)
    assert httpx2.delete(f"{address}{made.headers['location']}").status_code == 204
    assert httpx2.delete(f"{address}{made.headers['location']}").status_code == 404
    nothing = httpx2.get(f"{address}/v1/notes", params={"format": "markdown", "query": "nowhere"})
    assert zipfile.ZipFile(io.BytesIO(nothing.content)).namelist() == []


def test_the_gallery_has_figures_and_tables_of_all_papers(address: str) -> None:
    def gallery(**query: str | int) -> dict[str, Any]:
        found: dict[str, Any] = httpx2.get(f"{address}/v1/gallery", params=query).json()
        return found

    whole = gallery()
    assert (len(whole["items"]), whole["total"]) == (12, 12)
    (table,) = gallery(query="SCENARIOS of nervaluate", kind="table", paper="Four Reports")["items"]
    assert (table["id"], table["label"], table["place"]["page"]) == (f"{PAPER}/table-3", "Table 3", 3)
    assert table["title"].startswith("Four Reports")
    assert httpx2.get(f"{address}/v1/crops/{table['crop']}").headers["content-type"] == "image/png"
    assert {one["kind"] for one in gallery(kind="figure")["items"]} == {"figure"}
    assert gallery(limit=1, offset=1)["items"] == whole["items"][1:2]
    assert gallery(query="nervaluate", kind="figure")["total"] == 0
    assert httpx2.get(f"{address}/v1/gallery", params={"paper": "#none"}).status_code == 404
