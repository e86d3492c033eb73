"""No error reveals the library's folder or a model's address to a caller; the log has them."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from paperscope_core.settings import load_settings
from service.keys import KeyStore
from tests.model_server import serve
from tests.service.http.requests import QUESTION, model_reply
from tests.service.servers import markdown_paper, serve_app

HOST = "127.0.0.1"
NOWHERE = f"http://{HOST}:9/v1"
PICTURED = "In Table 3, what is the recall on the test split under the exact scenario?"


class Tenant:
    """The holder of an API key: sends requests and keeps all responses."""

    def __init__(self, address: str, key: str) -> None:
        self._client = httpx2.Client(base_url=address, headers={"X-API-Key": key}, timeout=120)
        self.told: list[str] = []

    def get(self, path: str, **parameters: float) -> httpx2.Response:
        return self._kept(self._client.get(path, params=parameters))

    def post(self, path: str, body: object = None, **files: tuple[str, bytes]) -> httpx2.Response:
        sent = self._client.post(path, files=files) if files else self._client.post(path, json=body)
        return self._kept(sent)

    def ended(self, accepted: httpx2.Response) -> httpx2.Response:
        assert accepted.status_code == 202, accepted.text
        return self.get(accepted.headers["location"], wait=60)

    def heard(self, *forbidden: str) -> bool:
        """Whether any of these is in a response, headers included."""
        return any(one in text for one in forbidden for text in self.told)

    def close(self) -> None:
        self._client.close()

    def _kept(self, response: httpx2.Response) -> httpx2.Response:
        self.told += [response.text, str(response.headers)]
        return response


@contextmanager
def tenant_of(folder: Path, example_library: Path, **addresses: str) -> Iterator[Tenant]:
    """The holder of a key to a copy of the example library, whose model roles have these addresses."""
    library = Path(shutil.copytree(example_library, folder / "library"))
    _, secret = KeyStore.open(folder / "keys.json").create("lab", library)
    given: dict[str, object] = {"library": str(library), "service.keys": str(folder / "keys.json")}
    given["calls.retries"] = 0
    for role, url in addresses.items():
        given |= {f"{role}.model": "m", f"{role}.base_url": url}
    with serve_app(load_settings(environ={}, overrides=given)) as address:
        tenant = Tenant(address, secret.get_secret_value())
        try:
            yield tenant
        finally:
            tenant.close()
    assert not tenant.heard(HOST, str(folder))


@pytest.mark.slow
def test_an_unavailable_model_is_reported_without_its_address(
    tmp_path: Path, example_library: Path, caplog: pytest.LogCaptureFixture
) -> None:
    message = {"messages": [{"role": "user", "content": QUESTION}]}
    with tenant_of(tmp_path, example_library, answer=NOWHERE, extract=NOWHERE) as tenant:
        for path, body in (("/v1/query", {"question": QUESTION}), ("/v1/chat/completions", message)):
            assert tenant.post(path, body).status_code == 503
            assert "model 'm': no connection" in tenant.post(path, {**body, "stream": True}).text
        job = tenant.ended(tenant.post("/v1/papers", file=("tagger.md", markdown_paper(1)))).json()
        assert job["state"] == "failed"
        assert "model 'm': no connection" in job["error"]
    assert NOWHERE in caplog.text


@pytest.mark.slow
def test_the_errors_of_a_refusing_model_do_not_contain_its_address(tmp_path: Path, example_library: Path) -> None:
    with serve(model_reply) as model, tenant_of(tmp_path, example_library, answer=model.url, vision=NOWHERE) as tenant:
        answer = tenant.post("/v1/query", {"question": PICTURED}).json()
        assert any("no connection" in reading["reason"] for reading in answer["readings"])
        model.refuse = [401] * 100
        sent = tenant.post("/v1/batch", {"questions": [QUESTION]})
        assert tenant.ended(sent).json()["result"]["errors"] == 1
        for file in ("answers.jsonl", "answers.csv", "report.md"):
            assert "HTTP 401" in tenant.get(f"{sent.headers['location']}/results/{file}").text


@pytest.mark.sqlite("damages the file of the library")
def test_an_unreadable_library_is_reported_without_its_folder(
    tmp_path: Path, example_library: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with tenant_of(tmp_path, example_library) as tenant:
        library = tmp_path / "library"
        crop = next((library / "crops").glob("??/*.png"))
        crop.unlink()
        crop.mkdir()
        assert tenant.get(f"/v1/crops/{crop.stem}").status_code == 503
        (library / "jobs").write_text("no folder")
        assert tenant.post("/v1/batch", {"questions": [QUESTION]}).status_code == 503
        (library / "library.sqlite").write_text("no database" * 1000)
        assert tenant.get("/v1/papers").status_code == 503
        assert tenant.get("/readyz").status_code == 200
    assert str(library) in caplog.text
