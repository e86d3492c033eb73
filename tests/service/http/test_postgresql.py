"""A service responds alike for a library in PostgreSQL and for one in a folder."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from paperscope_core.locations import Location
from service.keys import KeyStore
from tests.model_server import serve
from tests.postgresql_server import PostgresServer
from tests.service.conftest import settings_in
from tests.service.servers import embedder_settings, markdown_paper, serve_app

pytestmark = pytest.mark.slow

# What differs between two libraries with the same papers.
_OWN = re.compile(r'"(seconds|added|created|updated|started|finished)":[^,}]+|(job|conversation)-[0-9a-f]{24}')


def responses(client: httpx2.Client) -> Iterator[tuple[int, str]]:
    uploaded = client.post("/v1/papers", files={"file": ("tagger.md", markdown_paper(2))})
    job = client.get(uploaded.headers["location"], params={"wait": 60.0})
    paper = f"/v1/papers/{job.json()['result']['paper']}"
    question = {"question": "What does part 1 name?"}
    for response in (
        uploaded,
        job,
        client.get("/v1/papers", params={"query": "Tagger", "sort": "title"}),
        client.post("/v1/retrieve", json=question),
        client.post("/v1/query", json=question),
        client.get("/v1/graph", params={"entity": "Tagger"}),
        client.get("/v1/graph/search", params={"query": "Corp"}),
        client.post("/v1/conversations", json={"title": "A talk"}),
        client.get("/v1/conversations"),
        client.get(f"{paper}/elements"),
        client.get(f"{paper}/file"),
        client.get("/v1/usage"),
        client.delete(paper),
        client.get(paper),
        client.post("/v1/retrieve", json=question),
    ):
        yield response.status_code, _OWN.sub("", response.text)


def test_both_engines_respond_alike(postgresql: PostgresServer, tmp_path: Path) -> None:
    keys = KeyStore.open(tmp_path / "keys.json")
    schema = postgresql.new_schema()
    libraries: dict[str, Location] = {
        "folder": tmp_path / "library",
        "server": postgresql.address(tmp_path, schema=schema),
    }
    secrets = [keys.create(name, library)[1].get_secret_value() for name, library in libraries.items()]
    found = []
    with serve() as model, serve_app(settings_in(tmp_path, **embedder_settings(model.url))) as address:
        for secret in secrets:
            with httpx2.Client(base_url=address, headers={"X-API-Key": secret}) as client:
                found.append(list(responses(client)))
                if len(found) == len(secrets):
                    with postgresql.connect() as connection:
                        connection.execute(f"DROP SCHEMA {schema} CASCADE")
                    lost = client.get("/v1/papers")
    assert found[0] == found[1]
    assert lost.status_code == 503, lost.text
    assert "postgres" not in lost.text
    assert [status for status, _ in found[0]].count(200) > 8
