"""Two tenants of one service: to each, what belongs to the other looks as if it did not exist.

What is tried is made from the OpenAPI document; for a parameter or a body that is new there, a test fails until it says
here how to try it.
"""

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from graph_store import Store
from paperscope.library import Library
from paperscope_core.codec import to_json
from paperscope_core.settings import load_settings
from paperscope_core.types import Answer, Box, Claim, Context, Evidence, Place, content_hash
from service.keys import KeyStore
from tests.model_server import serve
from tests.service.conftest import PNG, settings_of, small_paper
from tests.service.http.requests import model_reply
from tests.service.servers import serve_app

OPEN = {"/healthz", "/readyz"}
# Open to everybody, too: see test_session.py.
SIGN_IN = "/v1/session"
EXAMPLE = "b1810c2e3f4a"
TITLE = "Four Reports, Four Rulers"
STREAM = {"stream": True}
QUESTION = "Which model has the highest F1?"
_VOLATILE = re.compile(
    r'("(?:seconds|created)": ?)[0-9.e-]+|(chatcmpl-)[0-9a-f]+|(job-)[0-9a-f]{24}|(date: ).*|(x-request-id: ).*'
    r"|(content-length: ).*"
)
_SUGGESTED = re.compile(r"(did you mean|it holds:)[^\"\n]*")

Names = Mapping[str, str]

NOBODYS: Names = {
    "paper": "0123456789ab",
    "model": "paperscope/0123456789ab",
    "element": "table-1",
    "table": "table-1",
    "page": "1",
    "crop": "0" * 64,
    "job": f"job-{'0' * 24}",
    "conversation": f"conversation-{'0' * 24}",
    "file": "answers.jsonl",
    "image": "no-such-picture.png",
    "entity": "Nobodys Entity",
    "name": "her-report.pdf",
    "title": "A title that nobody wrote",
    "path": "/nowhere/nobody.pdf",
    "table_id": "table-000000000000",
    "note": f"note-{'0' * 24}",
    "query": "Nobodys",
    "index": "0",
    "tool": "outline",
    "argument": "Nobodys",
    "dataset": "Nobodys",
    "metric": "Nobodys",
    "task": "Nobodys",
}


@dataclass(frozen=True, kw_only=True)
class Tenants:
    """A service with keys for two libraries; `of_a` are names of what the first one has."""

    address: str
    keys: Path
    a: str
    b: str
    of_a: Names
    texts: tuple[str, ...]


@pytest.fixture(scope="module")
def tenants(example_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tenants]:
    folder = tmp_path_factory.mktemp("tenants")
    library_a = Path(shutil.copytree(example_library, folder / "a"))
    store = Store.open(folder / "b")
    store.add(small_paper(), crops={content_hash(PNG): PNG}, source="/tagger.pdf", embedder="fake-64")
    store.close()
    (folder / "papers").mkdir()
    keys = KeyStore.open(folder / "keys.json")
    _, a = keys.create("a", library_a)
    _, b = keys.create("b", folder / "b", folders=[folder / "papers"])
    with Library.open(library_a, settings=load_settings(environ={})) as opened:
        paper = opened.paper(EXAMPLE)
        entity = max(opened.most_connected(EXAMPLE, limit=20), key=len)
        texts = tuple(text for text in (getattr(one, "text", "") for one in paper.elements) if len(text) > 40)
    crop = next(name for one in paper.elements if (name := getattr(one, "crop", None)))
    settings = settings_of(folder / "a")
    with serve_app(settings) as address:
        asked = {"questions": [{"question": QUESTION}]}
        sent = httpx2.post(f"{address}/v1/batch", json=asked, headers=_key(a.get_secret_value()))
        job = _ended(address, sent, a.get_secret_value())
        assert job["state"] == "succeeded", job
        began = httpx2.post(f"{address}/v1/conversations", json={"title": TITLE}, headers=_key(a.get_secret_value()))
        columns = {"title": TITLE, "columns": [{"name": "objective"}]}
        table = httpx2.post(f"{address}/v1/tables", json=columns, headers=_key(a.get_secret_value()))
        assert _ended(address, table, a.get_secret_value())["state"] == "succeeded"
        note = httpx2.post(
            f"{address}/v1/notes", json={"paper": EXAMPLE, "text": TITLE}, headers=_key(a.get_secret_value())
        )
        of_a: dict[str, str] = {
            **NOBODYS,
            "paper": EXAMPLE,
            "model": f"paperscope/{EXAMPLE}",
            "crop": crop,
            "job": str(job["id"]),
            "conversation": str(began.json()["id"]),
            "table_id": str(table.json()["table"]),
            "note": str(note.json()["id"]),
            "entity": entity,
            "name": paper.file,
            "title": paper.title,
            "path": str(library_a / "jobs" / job["id"] / "answers.jsonl"),
        }
        texts = (*texts, paper.title, paper.file, TITLE)
        yield Tenants(
            address=address,
            keys=folder / "keys.json",
            a=a.get_secret_value(),
            b=b.get_secret_value(),
            of_a=of_a,
            texts=texts,
        )


def _key(secret: str) -> dict[str, str]:
    return {"X-API-Key": secret}


def _ended(address: str, accepted: httpx2.Response, secret: str) -> Any:
    assert accepted.status_code == 202, accepted.text
    url = address + accepted.headers["location"]
    return httpx2.get(url, params={"wait": 60}, headers=_key(secret), timeout=90).json()


def cited(paper: str) -> Any:
    """An answer, as JSON, that cites a table of a paper."""
    place = Place(paper=paper, page=3, box=Box(0, 0, 600, 800))
    claim = Claim(text="It is so.", evidence=(Evidence(element=f"{paper}/table-3", place=place, quote="It"),))
    return json.loads(
        to_json(Answer(question=QUESTION, status="answered", text="It is so.", claims=(claim,), context=Context()))
    )


def bodies(method: str, path: str, names: Names) -> list[dict[str, Any]]:
    """Requests with these names in their bodies; raises KeyError for an operation that is missing here."""
    upload = {"file": ("note.md", b"# A note\n\nIt says nothing of note.")}
    filters: list[dict[str, Any]] = [{"papers": [names[how]]} for how in ("paper", "name", "title")]
    turns: list[dict[str, Any]] = [{"history": [{"question": "Who?", "answer": "It.", "papers": [names["paper"]]}]}]
    questions = [{"question": QUESTION, **more} for more in (*filters, *turns)]
    streamed = [{**one, "stream": True} for one in questions]
    chats = [
        {"model": f"paperscope/{names['paper']}", "messages": [{"role": "user", "content": QUESTION}], "stream": stream}
        for stream in (False, True)
    ]
    said = f"It is so.\n\nSources:\n1. Untitled, page 1 (paper {names['paper']})"
    history = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": said}]
    chats.append({"messages": [*history, {"role": "user", "content": QUESTION}]})
    known: dict[str, list[dict[str, Any]]] = {
        "/v1/papers": [
            {"files": upload, "data": {"replaces": names["paper"]}},
            {"files": upload, "data": {"replaces": names["name"]}},
            {"json": {"path": names["path"]}},
        ],
        "/v1/papers/estimate": [{"files": upload}, {"json": {"path": names["path"]}}],
        "/v1/query": [
            *({"json": body} for body in (*questions, *streamed)),
            *({"json": {"question": QUESTION, "conversation": names["conversation"], **more}} for more in ({}, STREAM)),
        ],
        "/v1/query/estimate": [{"json": body} for body in questions],
        "/v1/retrieve": [{"json": body} for body in questions if "history" not in body],
        "/v1/export": [
            {"json": {"answers": [cited(names["paper"])], "format": form}} for form in ("html", "markdown", "csv")
        ],
        "/v1/batch": [{"json": {"questions": []}}],  # see the test of batches
        "/v1/chat/completions": [{"json": body} for body in chats],
        "/v1/embeddings": [{"json": {"input": QUESTION}}],
        "/v1/jobs/{job}/cancel": [{}],
        "/v1/conversations": [{"json": {}}],
        **{
            path: [
                {"json": {"title": "Theirs", "columns": [{"name": "objective"}], "papers": [names[how]]}}
                for how in ("paper", "name", "title")
            ]
            for path in ("/v1/tables", "/v1/tables/estimate")
        },
        "/v1/tables/{table_id}/cells": [
            {"json": {"paper": names["paper"], "column": "objective", "correction": "Theirs"}}
        ],
        "/v1/tables/{table_id}/rows": [{"json": {"paper": names["paper"], "reason": "Theirs"}}],
        "/v1/tags": [{"json": {"papers": [names[how]], "add": ["theirs"]}} for how in ("paper", "name", "title")],
        "/v1/notes": [{"json": {"paper": names["paper"], "text": "Theirs"}}],
        "/v1/notes/{note}": [{"json": {"text": "Theirs"}}],
        "/v1/conversations/{conversation}": [{"json": {"title": "Theirs"}}],
        "/v1/papers/{paper}": [{"json": {"title": "Theirs"}}],
        "/v1/results": [{"json": {"paper": names["paper"], "entity": "F1"}}],
        "/v1/conversations/{conversation}/cancel": [{}],
    }
    return known[path] if method in ("post", "patch") else [{}]


def attempts(document: Any, names: Names) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """A request for each operation of the document and each place where it takes a name."""
    harmless = {
        "limit",
        "offset",
        "after",
        "kind",
        "wait",
        "steps",
        "format",
        "dpi",
        "box",
        "If-None-Match",
        "X-Paper-Password",
        "role",
        "sort",
        "type",
        "year",
        "part",
    }
    for path, operations in document["paths"].items():
        for method, operation in operations.items() if path != SIGN_IN else ():
            query: dict[str, str] = {}
            filled = path
            for parameter in operation.get("parameters", ()):
                name = parameter["name"]
                if parameter["in"] == "path":
                    filled = filled.replace(f"{{{name}}}", names[name])
                elif name not in harmless:
                    query[name] = names[name]
            for body in bodies(method, path, names):
                yield method, filled, {"params": query, **body}


def told(response: httpx2.Response, names: Names) -> str:
    """A response as text, with placeholders for requested names and for volatile values."""
    heads = "\n".join(f"{name.lower()}: {value}" for name, value in response.headers.items())
    text = f"{response.status_code}\n{heads}\n\n{response.text}"
    for name in ("path", "title", "name", "paper", "crop", "job", "conversation", "table_id", "note", "entity"):
        value = names[name]
        for form in (value, json.dumps(value)[1:-1]):
            text = text.replace(form, f"<{name}>")
    # Suggestions depend on the names of the caller's own papers.
    text = _SUGGESTED.sub("<suggested>", text)
    return _VOLATILE.sub(lambda match: next(filter(None, match.groups())), text)


def document_of(address: str) -> Any:
    return httpx2.get(f"{address}/openapi.json").json()


@pytest.mark.slow
def test_the_other_tenants_data_looks_absent(tenants: Tenants) -> None:
    document, headers = document_of(tenants.address), _key(tenants.b)
    before = state_of(tenants)
    pairs = zip(attempts(document, tenants.of_a), attempts(document, NOBODYS), strict=True)
    tried = 0
    for (method, path, of_a), (_, other, of_nobody) in pairs:
        found = httpx2.request(method, tenants.address + path, headers=headers, timeout=60, **of_a)
        nothing = httpx2.request(method, tenants.address + other, headers=headers, timeout=60, **of_nobody)
        named = (path, of_a) != (other, of_nobody)
        assert not named or told(found, tenants.of_a) == told(nothing, NOBODYS), (method, path, of_a)
        shown = json.dumps(dict(found.headers)) + found.text
        echoed = json.dumps(of_a, default=str) + path
        assert not [text for text in tenants.texts if text in shown and text not in echoed], (method, path)
        tried += named
    assert tried >= 35
    assert state_of(tenants) == before


def state_of(tenants: Tenants) -> list[Any]:
    """What the first tenant sees."""
    paths = [
        "/v1/papers",
        "/v1/jobs",
        "/v1/models",
        "/v1/conversations",
        f"/v1/tables/{tenants.of_a['table_id']}",
        f"/v1/jobs/{tenants.of_a['job']}/results/answers.jsonl",
    ]
    return [httpx2.get(tenants.address + path, headers=_key(tenants.a)).text for path in paths]


@pytest.mark.slow
def test_a_batch_does_not_reach_anothers_papers(tenants: Tenants) -> None:
    results = []
    for names in (tenants.of_a, NOBODYS):
        questions = [{"question": QUESTION, "filters": {"papers": [names[how]]}} for how in ("paper", "name", "title")]
        sent = httpx2.post(f"{tenants.address}/v1/batch", json={"questions": questions}, headers=_key(tenants.b))
        job = _ended(tenants.address, sent, tenants.b)
        for file in ("answers.jsonl", "answers.csv", "report.md"):
            url = f"{tenants.address}/v1/jobs/{job['id']}/results/{file}"
            got = httpx2.get(url, headers=_key(tenants.b))
            assert not [text for text in tenants.texts if text in got.text and text not in str(names)]
            # CSV quotes a reason depending on its suggestions.
            results += [] if file == "answers.csv" else [told(got, names)]
    assert sorted(map(_without_times, results[:2])) == sorted(map(_without_times, results[2:]))


def _without_times(text: str) -> str:
    return re.sub(r"[0-9]+(\.[0-9]+)?", "0", re.sub(r"etag: .*|last-modified: .*", "", text))


@pytest.fixture(scope="module")
def refused(tenants: Tenants) -> dict[str, dict[str, str]]:
    """Headers without a valid key, by what is wrong with them."""
    keys = KeyStore.open(tenants.keys)
    key, revoked = keys.create("gone", tenants.keys.parent / "a")
    keys.revoke(key.id)
    long_ago = KeyStore.open(tenants.keys, today=lambda: date(2020, 1, 1))
    _, expired = long_ago.create("old", tenants.keys.parent / "a", expires=date(2020, 1, 2))
    _, today = long_ago.create("until today", tenants.keys.parent / "a", expires=datetime.now(UTC).date())
    return {
        "none": {},
        "empty": _key(""),
        "revoked": _key(revoked.get_secret_value()),
        "expired": _key(expired.get_secret_value()),
        "expired today": _key(today.get_secret_value()),
        "cut short": _key(tenants.a[:-1]),
        "only its id": _key(tenants.a.rpartition("_")[0]),
        "a hash": _key(json.loads(tenants.keys.read_text())["keys"][0]["sha256"]),
        "basic": {"Authorization": f"Basic {tenants.a}"},
        "in the address": {"Cookie": f"X-API-Key={tenants.a}"},
        "other letters": {"X-API-Key": "\u00e9\ud800".encode("utf-8", "surrogatepass").decode("latin-1")},
    }


@pytest.mark.slow
def test_no_request_succeeds_without_a_valid_key(tenants: Tenants, refused: dict[str, dict[str, str]]) -> None:
    document = document_of(tenants.address)
    operations = {(method, path): rest for method, path, rest in attempts(document, tenants.of_a)}
    tried = [(where, wrong) for where in operations for wrong in ("none", "revoked", "expired")]
    tried += [(("get", "/v1/papers"), wrong) for wrong in refused]
    with httpx2.Client(base_url=tenants.address) as client:
        for (method, path), wrong in tried:
            sent = {name.encode(): value.encode("latin-1") for name, value in refused[wrong].items()}
            found = client.request(method, path, headers=sent, **operations[method, path])
            assert found.status_code == (200 if path in OPEN else 401), (wrong, method, path, found.text)
            assert path in OPEN or found.headers["www-authenticate"] == "Bearer"
            assert not [text for text in (*tenants.texts, tenants.a) if text in found.text]
    assert httpx2.get(f"{tenants.address}/v1/papers", params={"key": tenants.a}).status_code == 401


def test_a_stream_that_has_begun_ends_when_its_key_is_revoked_and_nothing_new_begins(
    tmp_path: Path, example_library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.http.auth._KEY_CHECK_SECONDS", 0.05)
    keys = KeyStore.open(tmp_path / "keys.json")
    key, secret = keys.create("soon gone", Path(shutil.copytree(example_library, tmp_path / "library")))
    headers = _key(secret.get_secret_value())
    with serve(model_reply, seconds=2) as model:
        answered = {"answer.model": "m", "answer.base_url": model.url}
        with serve_app(settings_of(tmp_path / "library", **answered)) as address:
            body = {"question": QUESTION, "stream": True}
            with httpx2.stream("POST", f"{address}/v1/query", json=body, headers=headers, timeout=60) as stream:
                lines = stream.iter_lines()
                assert next(lines).startswith("event: stage")
                keys.revoke(key.id)
                again = httpx2.post(f"{address}/v1/query", json=body, headers=headers)
                rest = list(lines)
            assert again.status_code == 401
            assert "event: done" not in rest
            assert "event: error" in rest
            assert "urn:paperscope:problem:unknown-key" in "".join(rest)
