"""Model usage in `/metrics`: by work, role and outcome, of jobs and of questions."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.model_server import ModelServer, serve
from tests.service.http.requests import post
from tests.service.http.test_metrics import Numbers, read
from tests.service.jobs.killing import reply
from tests.service.servers import job_of, markdown_paper, serve_app, settings_with_model, upload

QUESTIONS = ["What is the Tagger of part 0?", "What is the Tagger of part 1?"]
PRICES = {f"{role}.price_prompt": 2.0 for role in ("extract", "answer", "embed")}
TEXT = "paperscope_model_"


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with serve(reply) as server:
        yield server


def numbers(address: str) -> Numbers:
    return read(httpx2.get(f"{address}/metrics"))


def calls(told: Numbers, work: str, role: str) -> dict[str, int]:
    """The number of calls by outcome."""
    ended = {"work": work, "role": role}.items()
    counts = {key: count for (name, key), count in told.items() if name == f"{TEXT}calls_total" and ended <= key}
    return {dict(key)["outcome"]: int(count) for key, count in counts.items()}


@pytest.mark.slow
def test_calls_are_counted_by_work_role_and_outcome(tmp_path: Path, model: ModelServer) -> None:
    with serve_app(settings_with_model(tmp_path, model, **PRICES, **{"calls.retries": 1})) as address:
        model.refuse, model.retry_after = [429, 500], 0.01
        added = job_of(upload(address, markdown_paper(2)), address)
        assert added["state"] == "succeeded", added
        told = numbers(address)
        assert calls(told, "add", "extract") == {"answered": 2, "limited": 1, "failed": 1}
        assert calls(told, "add", "embed")["answered"] >= 1
        assert {work for name, key in told if name.startswith(TEXT) for work in [dict(key)["work"]]} == {"add"}
        usage = added["result"]["usage"]
        spender = {"work": "add", "role": "extract"}
        for kind in ("prompt", "completion"):
            counted = told[f"{TEXT}tokens_total", frozenset({**spender, "kind": kind}.items())]
            assert counted == usage[f"{kind}_tokens"] > 0
        cost = told[f"{TEXT}cost_total", frozenset(spender.items())]
        assert cost == pytest.approx(usage["cost"])
        assert cost > 0

        assert post(address, "/v1/query", {"question": QUESTIONS[0]}).status_code == 200
        told = numbers(address)
        assert calls(told, "answer", "answer") == {"answered": 1}
        assert calls(told, "answer", "embed") == {"answered": 1}
        batch = job_of(post(address, "/v1/batch", {"questions": QUESTIONS}), address)
        assert batch["result"]["answered"] == 2
        told = numbers(address)
        assert calls(told, "batch", "answer") == {"answered": 1, "kept": 1}
        assert calls(told, "answer", "answer") == {"answered": 1}
        assert len(model.bodies) == 2 + 2 + 1 + 1
