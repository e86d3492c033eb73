"""LightRAG's own server on a library: its graph is ours, and it changes nothing."""

from pathlib import Path

import pytest

from graph_store import Store
from graph_store.lightrag.view import LibraryReader
from tests.graph_store.indexed_papers import PAPER_IDS, add, make_indexed

pytestmark = pytest.mark.slow
# ascii_colors writes to the standard output that it finds when it is imported, which a test may close.
for _package in ("lightrag", "bcrypt", "jwt", "aiofiles", "ascii_colors"):
    pytest.importorskip(_package)


# LightRAG's server uses deprecated names of its packages.
@pytest.mark.filterwarnings("ignore")
def test_the_graph_of_its_webui_is_the_librarys(tmp_path: Path, store: Store, reader: LibraryReader) -> None:
    from fastapi.testclient import TestClient

    from graph_store.lightrag.web_server import make_app

    app = make_app(reader, host="127.0.0.1", port=9621, inputs=tmp_path, complete=None, model="")
    with TestClient(app, base_url="http://127.0.0.1:9621") as client:
        health = client.get("/health")
        assert health.json()["status"] == "healthy"
        assert str(reader.store.folder) not in health.text
        assert client.get("/webui/").status_code == 200
        assert client.get("/graph/label/list").json() == ["BERT", "Dice loss", "F1", "SST-5", "focal loss"]
        graph = client.get("/graphs", params={"label": "Dice loss", "max_depth": 1}).json()
        assert [node["id"] for node in graph["nodes"]] == ["Dice loss", "F1"]
        assert graph["edges"][0]["properties"]["element_ids"].startswith(PAPER_IDS[0])
        listed = client.post("/documents/paginated", json={}).json()["documents"]
        assert {document["id"] for document in listed} == set(PAPER_IDS[:2])
        edit = {"entity_name": "BERT", "updated_data": {"description": "x"}}
        refused = client.post("/graph/entity/edit", json=edit)
        assert refused.status_code == 403
        assert "add and remove papers with Paperscope" in refused.json()["detail"]
        assert client.post("/documents/scan").status_code == 403
        assert client.request("DELETE", "/documents", params={"x": "1"}).status_code == 403
        assert store.revision == 2
        add(store, make_indexed(PAPER_IDS[2], names=("XLNet",)))
        assert "XLNet" in client.get("/graph/label/list").json()


@pytest.mark.filterwarnings("ignore")
def test_nothing_but_health_and_the_webui_is_open_without_the_key(
    tmp_path: Path, reader: LibraryReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fastapi.testclient import TestClient

    from graph_store.lightrag.web_server import make_app

    async def complete(*_arguments: object, **_options: object) -> str:
        return "an answer"

    monkeypatch.setenv("LIGHTRAG_API_KEY", "secret")
    before = {file for file in reader.store.folder.rglob("*") if file.is_dir()}
    app = make_app(reader, host="127.0.0.1", port=9621, inputs=tmp_path, complete=complete, model="m")
    chat = {"model": "m", "stream": False, "messages": [{"role": "user", "content": "/naive What is Dice loss?"}]}
    asked = {"model": "m", "stream": False, "prompt": "/naive What is Dice loss?"}
    with TestClient(app, base_url="http://127.0.0.1:9621") as client:
        assert client.get("/health").status_code == 200
        assert client.get("/webui/").status_code == 200
        for path, body in (("/api/chat", chat), ("/api/generate", asked), ("/query", {"query": "Dice loss?"})):
            assert client.post(path, json=body).status_code in (401, 403), path
            # It counts the tokens of Ollama's API without a file from the network.
            assert client.post(path, json=body, headers={"X-API-Key": "secret"}).status_code == 200, path
        assert client.get("/graph/label/list").status_code in (401, 403)
    assert {file for file in reader.store.folder.rglob("*") if file.is_dir()} == before
