"""Papers and batches whose model fails: what the job says, that nothing wrong is kept, and that later it succeeds."""

import json
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from paperscope.settings import Settings
from tests.model_server import ModelServer, serve
from tests.service.asking import post
from tests.service.killing import reply
from tests.service.serving import serving
from tests.service.work import job_of, modelled, paper, upload

QUESTIONS = ["What is the Tagger of part 0?", "What is the Tagger of part 1?"]
_SOON = {"retries": 0, "timeout": 1.5}


def impatient(folder: Path, model: ModelServer) -> Settings:
    """The settings of a service that gives up on its model soon."""
    soon = {f"{role}.{name}": value for role in ("extract", "answer") for name, value in _SOON.items()}
    return modelled(folder, model, **soon)


def refuses(model: ModelServer) -> None:
    model.refuse = [401] * 100


def breaks_down(model: ModelServer) -> None:
    model.refuse = [500] * 100


def hangs(model: ModelServer) -> None:
    model.seconds = 6.0


def babbles(model: ModelServer) -> None:
    model.reply = lambda _body: "no JSON at all"


def recover(model: ModelServer) -> None:
    model.refuse, model.seconds, model.reply = [], 0.0, reply


@pytest.mark.parametrize(
    ("fail", "told"),
    [(refuses, "check the role's api_key"), (breaks_down, "HTTP 500"), (hangs, "no reply within 1.5 s")],
)
def test_a_paper_whose_model_fails_is_not_added_and_says_why(
    tmp_path: Path, fail: Callable[[ModelServer], None], told: str
) -> None:
    with serve(reply) as model, serving(impatient(tmp_path, model)) as address:
        fail(model)
        job = job_of(upload(address, paper(2)), address)
        assert (job["state"], job["result"]) == ("failed", None)
        assert told in job["error"]
        assert httpx2.get(f"{address}/v1/papers").json()["total"] == 0
        assert not list((tmp_path / "library" / "originals").glob("*/*"))
        recover(model)
        again = job_of(upload(address, paper(2)), address)
        assert (again["state"], again["result"]["outcome"]) == ("succeeded", "added")
        assert again["result"]["shortfall"]["unread"] == []


def test_nonsense_of_a_model_is_a_shortfall_that_a_later_add_makes_good(tmp_path: Path) -> None:
    with serve(reply) as model, serving(impatient(tmp_path, model)) as address:
        babbles(model)
        job = job_of(upload(address, paper(2)), address)
        assert job["state"] == "succeeded"
        assert len(job["result"]["shortfall"]["unread"]) > 0
        recover(model)
        again = job_of(upload(address, paper(2)), address)
        assert (again["state"], again["result"]["shortfall"]["unread"]) == ("succeeded", [])


@pytest.mark.parametrize(("fail", "told"), [(refuses, "check the role's api_key"), (babbles, "no valid 'answer'")])
def test_the_rows_of_a_batch_say_why_they_failed_and_the_next_batch_asks_them_again(
    tmp_path: Path, fail: Callable[[ModelServer], None], told: str
) -> None:
    with serve(reply) as model, serving(impatient(tmp_path, model)) as address:
        assert job_of(upload(address, paper(2)), address)["state"] == "succeeded"
        fail(model)
        response = post(address, "/v1/batch", {"questions": QUESTIONS})
        job = job_of(response, address)
        assert (job["state"], job["result"]["errors"]) == ("succeeded", 2)
        text = httpx2.get(f"{address}{response.headers['location']}/results/answers.jsonl").text
        assert all(told in json.loads(line)["warnings"][0] for line in text.splitlines())
        recover(model)
        again = job_of(post(address, "/v1/batch", {"questions": QUESTIONS}), address)
        assert (again["result"]["answered"], again["result"]["errors"]) == (2, 0)


def test_an_unusable_reply_is_a_problem_with_a_name_of_its_own(tmp_path: Path) -> None:
    with serve(reply) as model, serving(impatient(tmp_path, model)) as address:
        assert job_of(upload(address, paper(1)), address)["state"] == "succeeded"
        babbles(model)
        plain = post(address, "/v1/query", {"question": QUESTIONS[0]})
        chat = post(address, "/v1/chat/completions", {"messages": [{"role": "user", "content": QUESTIONS[0]}]})
        assert (plain.status_code, plain.json()["type"]) == (502, "urn:paperscope:problem:unusable-reply")
        assert (chat.status_code, chat.json()["error"]["code"]) == (502, "unusable_reply")
        recover(model)
        assert post(address, "/v1/query", {"question": QUESTIONS[0]}).status_code == 200
