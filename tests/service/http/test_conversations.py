"""Conversations over HTTP."""

import shutil
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest

from graph_store import Store
from service.keys import KeyStore
from tests.model_server import ModelServer, kind_of, serve, words
from tests.service.conftest import settings_of
from tests.service.http.requests import QUESTION, copy_library, events_of, model_reply, post, serve_library
from tests.service.servers import serve_app, wait_until

PATH = "/v1/conversations"
UNKNOWN = f"conversation-{'0' * 24}"


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with serve(model_reply) as server:
        yield server


@pytest.fixture(scope="module")
def address(example_library: Path, tmp_path_factory: pytest.TempPathFactory, model: ModelServer) -> Iterator[str]:
    library = copy_library(example_library, tmp_path_factory.mktemp("conversations"))
    with serve_library(library, model=model) as address:
        yield address


def begin(address: str, **headers: str) -> str:
    created = httpx2.post(address + PATH, json={}, headers=headers)
    assert created.status_code == 201, created.text
    assert created.headers["location"] == f"{PATH}/{created.json()['id']}"
    return str(created.json()["id"])


def shown(address: str, conversation: str) -> Any:
    return httpx2.get(f"{address}{PATH}/{conversation}").json()


def asked(question: str, conversation: str, **more: object) -> dict[str, object]:
    return {"question": question, "conversation": conversation, **more}


@pytest.mark.parametrize("stream", [False, True])
def test_answers_are_stored_as_they_were_given(address: str, stream: bool) -> None:
    conversation = begin(address)
    response = post(address, "/v1/query", asked(QUESTION, conversation, stream=stream))
    answer = events_of(response)[-1][1] if stream else response.json()
    found = shown(address, conversation)
    assert found["turns"] == [answer]
    assert found["turns"][0]["claims"][0]["evidence"][0]["place"]["box"]
    assert found["title"] == QUESTION
    assert found["missing_papers"] == []
    listed = httpx2.get(address + PATH).json()
    assert listed["conversations"][0]["id"] == conversation
    assert listed["conversations"][0]["questions"] == 1
    assert listed["total"] >= 1


def test_a_follow_up_is_understood_by_what_was_asked_before(address: str, model: ModelServer) -> None:
    conversation = begin(address)
    post(address, "/v1/query", asked(QUESTION, conversation))
    model.bodies.clear()
    followed = post(address, "/v1/query", asked("And the dropout?", conversation))
    assert followed.status_code == 200, followed.text
    rewriting = next(body for body in model.bodies if kind_of(body) == "question")
    assert QUESTION in words(rewriting)
    assert [turn["question"] for turn in shown(address, conversation)["turns"]] == [QUESTION, "And the dropout?"]


def test_a_conversation_is_renamed_and_deleted(address: str) -> None:
    conversation = begin(address)
    renamed = httpx2.patch(f"{address}{PATH}/{conversation}", json={"title": "<b>Ranks</b>"})
    assert renamed.json()["title"] == shown(address, conversation)["title"] == "<b>Ranks</b>"
    for title in ("", " ", "a" * 201):
        assert httpx2.patch(f"{address}{PATH}/{conversation}", json={"title": title}).status_code == 422
    assert httpx2.delete(f"{address}{PATH}/{conversation}").status_code == 204
    for response in (
        httpx2.get(f"{address}{PATH}/{conversation}"),
        httpx2.delete(f"{address}{PATH}/{conversation}"),
        httpx2.post(f"{address}{PATH}/{conversation}/cancel"),
        httpx2.patch(f"{address}{PATH}/{conversation}", json={"title": "Ranks"}),
        post(address, "/v1/query", asked(QUESTION, conversation)),
        post(address, "/v1/query", asked(QUESTION, UNKNOWN, stream=True)),
    ):
        assert response.status_code == 404
        assert response.json()["type"].endswith(":unknown-conversation")


def test_a_conversation_and_a_history_exclude_each_other(address: str) -> None:
    history = [{"question": "Which rank?"}]
    refused = post(address, "/v1/query", asked(QUESTION, begin(address), history=history))
    assert refused.status_code == 422
    assert "history" in refused.json()["detail"]


def test_a_full_conversation_takes_no_question(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    conversation = begin(address)
    monkeypatch.setattr("graph_store.conversations.MAX_TURNS", 0)
    refused = post(address, "/v1/query", asked(QUESTION, conversation, stream=True))
    assert refused.status_code == 400
    assert "begin another" in refused.json()["detail"]


def test_an_error_stores_nothing(address: str) -> None:
    conversation = begin(address)
    refused = post(address, "/v1/query", asked(QUESTION, conversation, papers=["nobodys-paper.pdf"], stream=True))
    assert refused.status_code == 404
    assert shown(address, conversation)["turns"] == []


@pytest.fixture
def slow(example_library: Path, tmp_path: Path) -> Iterator[str]:
    """The address of a service over a model that takes a second."""
    with (
        serve(model_reply, seconds=1.0) as model,
        serve_library(copy_library(example_library, tmp_path), model=model) as address,
    ):
        yield address


def leave(address: str, conversation: str) -> None:
    """Ask, and disconnect after the first event."""
    body = asked(QUESTION, conversation, stream=True)
    with httpx2.stream("POST", f"{address}/v1/query", json=body) as stream:
        assert next(stream.iter_lines()) == "event: stage"


def test_an_answer_is_completed_after_its_client_left(slow: str) -> None:
    conversation = begin(slow)
    leave(slow, conversation)
    assert shown(slow, conversation)["turns"] == []
    (turn,) = wait_until(lambda: shown(slow, conversation)["turns"])
    assert turn["status"] == "answered"


def test_a_stopped_question_is_not_answered(slow: str) -> None:
    conversation = begin(slow)
    body = asked(QUESTION, conversation, stream=True)
    with httpx2.stream("POST", f"{slow}/v1/query", json=body) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: stage"
        assert httpx2.post(f"{slow}{PATH}/{conversation}/cancel").status_code == 204
        told = "\n".join(lines)
    assert "event: error" in told
    assert "urn:paperscope:problem:stopped" in told
    wait_until(lambda: "paperscope_questions_running 0.0" in httpx2.get(f"{slow}/metrics").text)
    assert shown(slow, conversation)["turns"] == []
    assert httpx2.post(f"{slow}{PATH}/{conversation}/cancel").status_code == 204


def test_a_deleted_conversation_stops_its_question(slow: str) -> None:
    conversation = begin(slow)
    leave(slow, conversation)
    assert httpx2.delete(f"{slow}{PATH}/{conversation}").status_code == 204
    wait_until(lambda: "paperscope_questions_running 0.0" in httpx2.get(f"{slow}/metrics").text)
    assert httpx2.get(f"{slow}{PATH}/{conversation}").status_code == 404


def test_a_revoked_key_ends_what_goes_on_in_the_background(
    example_library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.http.auth._KEY_CHECK_SECONDS", 0.05)
    library = copy_library(example_library, tmp_path)
    keys = KeyStore.open(tmp_path / "keys.json")
    (gone, secret), (_, other) = keys.create("gone", library), keys.create("other", library)
    headers = {"X-API-Key": secret.get_secret_value()}
    with serve(model_reply, seconds=2.0) as model, serve_library(library, model=model) as address:
        conversation = begin(address, **headers)
        body = asked(QUESTION, conversation, stream=True)
        with httpx2.stream("POST", f"{address}/v1/query", json=body, headers=headers) as stream:
            assert next(stream.iter_lines()) == "event: stage"
        keys.revoke(gone.id)
        headers = {"X-API-Key": other.get_secret_value()}
        began = time.monotonic()
        wait_until(lambda: "questions_running 0.0" in httpx2.get(f"{address}/metrics", headers=headers).text)
        assert time.monotonic() - began < 1.5
        assert httpx2.get(f"{address}{PATH}/{conversation}", headers=headers).json()["turns"] == []


def test_nothing_is_paid_for_an_answer_that_could_not_be_stored(
    example_library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = copy_library(example_library, tmp_path)
    with closing(Store.open(library)) as store:
        conversation = store.conversations.create().id
    monkeypatch.setattr("paperscope.library.open_store", partial(Store.open, read_only=True))
    with serve(model_reply) as model, serve_library(library, model=model) as address:
        for stream in (False, True):
            response = post(address, "/v1/query", asked(QUESTION, conversation, stream=stream))
            assert response.status_code == 403
            assert response.json()["type"].endswith(":store-read-only")
        assert model.bodies == []
        assert post(address, "/v1/query", {"question": QUESTION}).status_code == 200


@pytest.mark.parametrize("ends_itself", [False, True])
def test_the_service_ends_while_an_answer_goes_on(example_library: Path, tmp_path: Path, ends_itself: bool) -> None:
    library = copy_library(example_library, tmp_path)
    with serve(model_reply, seconds=1.0) as model:
        settings = settings_of(library, **{"answer.model": "m", "answer.base_url": model.url})
        with serve_app(settings, ends_itself=ends_itself) as address:
            conversation = begin(address)
            leave(address, conversation)
            began = time.monotonic()
        assert time.monotonic() - began < 20
    with closing(Store.open(library, read_only=True)) as store:
        assert len(store.conversations.get(conversation).turns) == 1


def test_an_answer_that_takes_too_long_does_not_delay_the_end(example_library: Path, tmp_path: Path) -> None:
    library = copy_library(example_library, tmp_path)
    with (
        serve(model_reply, seconds=30.0) as model,
        serve_library(library, model=model, **{"service.shutdown_seconds": 0.5}) as address,
    ):
        leave(address, begin(address))
        began = time.monotonic()
    assert time.monotonic() - began < 20


def test_a_conversation_opens_after_its_paper_was_removed(example_library: Path, tmp_path: Path) -> None:
    library = Path(shutil.copytree(example_library, tmp_path / "library"))
    with serve_app(settings_of(library)) as address:
        conversation = begin(address)
        question = "In Table 3, what is the recall on the test split under the exact scenario?"
        answer = post(address, "/v1/query", asked(question, conversation)).json()
        cited = {evidence["place"]["paper"] for claim in answer["claims"] for evidence in claim["evidence"]}
        assert cited
        for paper in cited:
            assert httpx2.delete(f"{address}/v1/papers/{paper}").status_code == 204
        found = shown(address, conversation)
        assert found["turns"] == [answer]
        assert set(found["missing_papers"]) == cited
