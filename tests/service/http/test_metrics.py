"""The Prometheus metrics of the service."""

import json
from pathlib import Path

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

from graph_store import Store
from paperscope import __version__
from service.keys import KeyStore
from tests.service.conftest import settings_in
from tests.service.servers import serve_app

Numbers = dict[tuple[str, frozenset[tuple[str, str]]], float]


def read(response: httpx2.Response) -> Numbers:
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }


def value(numbers: Numbers, name: str, **labels: str) -> float:
    return numbers[name, frozenset(labels.items())]


@pytest.mark.slow
def test_requests_are_counted_by_route_and_status(tmp_path: Path) -> None:
    with serve_app(settings_in(tmp_path)) as address:
        for number in range(3):
            httpx2.get(f"{address}/v1/jobs/job-{number:024x}")
        httpx2.get(f"{address}/v1/secret-path")
        httpx2.request("NOISE", f"{address}/healthz")
        numbers = read(httpx2.get(f"{address}/metrics"))
    jobs = {"method": "GET", "route": "/v1/jobs/{job}"}
    assert value(numbers, "paperscope_http_requests_total", **jobs, status="404") == 3
    assert value(numbers, "paperscope_http_request_seconds_count", **jobs) == 3
    assert value(numbers, "paperscope_http_requests_total", method="GET", route="unknown", status="404") == 1
    assert value(numbers, "paperscope_http_requests_total", method="OTHER", route="/healthz", status="405") == 1
    assert value(numbers, "paperscope_info", version=__version__) == 1
    assert value(numbers, "paperscope_questions_running") == 0
    assert value(numbers, "process_resident_memory_bytes") > 10_000_000
    assert "secret-path" not in str(numbers)


def test_jobs_of_all_libraries_are_counted_for_any_key_without_names(tmp_path: Path) -> None:
    keys = KeyStore.open(tmp_path / "keys.json")
    secrets = [keys.create(f"tenant-{name}", tmp_path / name)[1].get_secret_value() for name in ("apple", "pear")]
    keys.create("tenant-pear-too", tmp_path / "pear")
    keys.create("tenant-plum", tmp_path / "plum")
    for name, count in (("apple", 1), ("pear", 2)):
        store = Store.open(tmp_path / name)
        for _ in range(count):
            job = store.jobs.create("batch", json.dumps({}))
            store.jobs.cancel(job.id)
        store.close()
    with serve_app(settings_in(tmp_path)) as address:
        refused = httpx2.get(f"{address}/metrics")
        answered = httpx2.get(f"{address}/metrics", headers={"Authorization": f"Bearer {secrets[0]}"})
    assert refused.status_code == 401
    numbers = read(answered)
    assert value(numbers, "paperscope_jobs", state="cancelled") == 3
    assert value(numbers, "paperscope_jobs", state="running") == 0
    assert value(numbers, "paperscope_libraries", state="read") == 2
    assert value(numbers, "paperscope_libraries", state="unread") == 1
    assert not (tmp_path / "plum").exists()
    for name in ("apple", "pear", "plum", "tenant", *(key.id for key in keys.all())):
        assert name not in answered.text


def test_refusals_are_counted_by_reason(tmp_path: Path) -> None:
    keys = KeyStore.open(tmp_path / "keys.json")
    eager, calm = (
        {"X-API-Key": keys.create(name, tmp_path / "library")[1].get_secret_value()} for name in ("eager", "calm")
    )
    with serve_app(settings_in(tmp_path, **{"service.requests_per_minute": 2})) as address:
        statuses = [httpx2.get(f"{address}/v1/jobs", headers=eager).status_code for _ in range(3)]
        numbers = read(httpx2.get(f"{address}/metrics", headers=calm))
    assert statuses == [200, 200, 429]
    assert value(numbers, "paperscope_http_refused_total", reason="too-many-requests") == 1
