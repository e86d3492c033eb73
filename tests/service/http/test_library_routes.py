"""What the web page asks of a library: searches, estimates, bibliographies, parts of files, settings and usage."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from service.keys import KeyStore
from tests.model_server import ModelServer, echo, serve
from tests.service.conftest import settings_of
from tests.service.http.requests import copy_library
from tests.service.servers import job_of, model_settings, serve_app

PAPER = "/v1/papers/b1810c2e3f4a"
SECRET = "sk-nobody-may-see-this"  # noqa: S105 # not a key of anything


def found(address: str, path: str, **query: str | int | list[str]) -> Any:
    response = httpx2.get(address + path, params=query)
    assert response.status_code == 200, response.text
    return response.json()


def test_papers_are_found_by_words_and_years(address: str) -> None:
    (paper,) = found(address, "/v1/papers")["papers"]
    word = paper["title"].split()[0].upper()
    assert found(address, "/v1/papers", query=word, sort="title")["total"] == 1
    assert found(address, "/v1/papers", query=f"{word} nowhere") == {"papers": [], "total": 0, "limit": 50, "offset": 0}
    assert found(address, "/v1/papers", year="1900")["total"] == 0
    for wrong in ({"year": "20"}, {"sort": "size"}, {"query": "a" * 301}):
        assert httpx2.get(f"{address}/v1/papers", params=wrong).status_code == 422


def test_entities_are_found_by_the_beginnings_of_words(address: str) -> None:
    entities = found(address, "/v1/graph/search", query="ent f", type="concept")["entities"]
    assert entities[0]["name"] == "Entity F1"
    assert entities[0]["relations"] > 0
    assert found(address, "/v1/graph", entity=entities[0]["id"])["center"]["name"] == "Entity F1"
    assert found(address, "/v1/graph/search", query="F1 ENTITY")["entities"][0]["name"] == "Entity F1"
    assert found(address, "/v1/graph/search", query="ntity")["entities"] == []
    kinds = found(address, "/v1/graph/search", query="table", type="table", limit=3)["entities"]
    assert [one["type"] for one in kinds] == ["table"] * 3
    degrees = [one["relations"] for one in kinds]
    assert degrees == sorted(degrees, reverse=True)
    for query in ("%", "_", "' OR 1=1 --", "\\", "-"):
        assert found(address, "/v1/graph/search", query=query)["entities"] == [] or query in ("-", "'")


def test_papers_come_as_bibtex(address: str) -> None:
    one = httpx2.get(f"{address}/v1/bibtex", params={"paper": "b1810c2e3f4a"})
    assert one.headers["content-type"] == "application/x-bibtex"
    assert one.headers["content-disposition"].startswith("attachment;")
    assert one.text.startswith("@misc{")
    assert "b1810c2e3f4a.bib" in one.headers["content-disposition"]
    for query in ({}, {"paper": ["b1810c2e3f4a", "b1810c2e3f4a"]}):
        assert httpx2.get(f"{address}/v1/bibtex", params=query).text == one.text
    for form, kind, start in (
        ("ris", "x-research-info-systems", "TY  - GEN"),
        ("csl-json", "vnd.citationstyles.csl+json", "["),
    ):
        other = httpx2.get(f"{address}/v1/bibtex", params={"format": form})
        assert (other.headers["content-type"], other.text[: len(start)]) == (f"application/{kind}", start)
    assert httpx2.get(f"{address}/v1/bibtex", params={"paper": "0123456789ab"}).status_code == 404


def test_a_part_of_a_file_is_sent(address: str) -> None:
    whole = httpx2.get(f"{address}{PAPER}/file")
    assert whole.headers["accept-ranges"] == "bytes"
    for asked, part in (
        ("bytes=0-99", slice(0, 100)),
        ("bytes=100-", slice(100, None)),
        ("bytes=-10", slice(-10, None)),
    ):
        given = httpx2.get(f"{address}{PAPER}/file", headers={"Range": asked})
        assert given.status_code == 206
        assert given.content == whole.content[part]
        assert given.headers["content-range"].endswith(f"/{len(whole.content)}")
        assert given.headers["content-security-policy"].startswith("default-src 'none'")
    stale = {"Range": "bytes=0-99", "If-Range": '"another"'}
    assert httpx2.get(f"{address}{PAPER}/file", headers=stale).status_code == 200
    beyond = {"Range": f"bytes={len(whole.content)}-"}
    assert httpx2.get(f"{address}{PAPER}/file", headers=beyond).status_code == 416


def test_the_settings_have_no_secret_and_no_folder(example_library: Path, tmp_path: Path) -> None:
    models = {
        "answer": {
            "model": "large",
            "base_url": "https://models.example:8443/v1",
            "api_key": SECRET,
        },
        "embed": {"model": str(tmp_path / "weights")},
        "api_key": SECRET,
        "service.folders": [str(tmp_path)],
    }
    with serve_app(settings_of(tmp_path / "library", **models)) as address:
        response = httpx2.get(f"{address}/v1/settings")
    for secret in (SECRET, str(tmp_path), "8443"):
        assert secret not in response.text
    shown = response.json()
    assert shown["models"]["answer"]["model"] == "large"
    assert shown["models"]["answer"]["host"] == "models.example"
    assert shown["models"]["extract"] is None
    assert shown["models"]["embed"]["model"] == "weights"
    assert shown["can_add_by_path"] is True
    assert shown["requires_key"] is False


@pytest.fixture(scope="module")
def priced(example_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, ModelServer]]:
    """The address of a service with an extraction model that has a price, and the model."""
    folder = tmp_path_factory.mktemp("priced")
    with serve(echo) as model:
        given = {**model_settings(model.url), "extract.price_prompt": 2.0, "service.folders": [str(folder)]}
        with serve_app(settings_of(folder / "library", **given)) as address:
            yield address, model


def markdown() -> bytes:
    return ("# On Taggers\n\n" + "The Tagger reads the Corpus. " * 200).encode()


def test_an_estimate_adds_nothing_and_calls_nothing(priced: tuple[str, ModelServer]) -> None:
    address, model = priced
    estimate = httpx2.post(f"{address}/v1/papers/estimate", files={"file": ("taggers.md", markdown())}).json()
    assert estimate["calls"] == sum(role["calls"] for role in estimate["roles"].values()) > 0
    assert estimate["cost"] > 0
    assert estimate["prompt_tokens"] > 100
    assert found(address, "/v1/papers")["total"] == 0
    assert found(address, "/v1/jobs") == []
    assert found(address, "/v1/usage")["models"] == []
    assert model.bodies == []


def test_what_can_not_be_added_can_not_be_estimated(priced: tuple[str, ModelServer]) -> None:
    address, _ = priced
    path = f"{address}/v1/papers/estimate"
    assert httpx2.post(path, files={"file": ("a.pdf", b"%PDF-1.7 broken")}).status_code == 422
    assert httpx2.post(path, files={"file": ("a.bin", b"\0\1\2")}).status_code == 422
    assert httpx2.post(path, data={"password": "x"}, files={"other": ("a.md", b"a")}).status_code == 422
    assert httpx2.post(path, json={"path": "/etc/passwd"}).status_code == 403
    assert httpx2.post(path, content=b"", headers={"Content-Type": "text/plain"}).status_code == 415


def test_usage_is_what_the_library_paid_for(priced: tuple[str, ModelServer]) -> None:
    address, model = priced
    accepted = httpx2.post(f"{address}/v1/papers", files={"file": ("taggers.md", markdown())})
    assert job_of(accepted, address)["state"] == "succeeded"
    usage = found(address, "/v1/usage")
    calls = [body for body in model.bodies if "messages" in body]
    assert usage["total"]["calls"] == sum(one["calls"] for one in usage["models"]) == len(calls) > 0
    assert usage["total"]["cost"] > 0
    estimate = httpx2.post(f"{address}/v1/papers/estimate", files={"file": ("taggers.md", markdown())}).json()
    assert estimate["calls"] == 0


def test_settings_and_usage_take_a_key(example_library: Path, tmp_path: Path) -> None:
    KeyStore.open(tmp_path / "keys.json").create("alice", tmp_path / "library")
    with serve_app(settings_of(copy_library(example_library, tmp_path))) as address:
        for path in ("/v1/settings", "/v1/usage", "/v1/graph/search?query=a", "/v1/bibtex", "/v1/conversations"):
            assert httpx2.get(address + path).status_code == 401
