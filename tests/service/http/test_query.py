"""Asking over HTTP without a model: plain and streamed answers are those of the library."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from paperscope.library import Library
from paperscope_core.codec import from_json, to_json
from paperscope_core.settings import Settings
from paperscope_core.types import Answer, Context, Filters, Turn
from service.cli import main
from service.http.pictures import with_pictures
from tests.context_parsing import parse_context
from tests.service.http.requests import QUESTION, events_of, post, post_question, without_times


@pytest.fixture(scope="module")
def library(example_library: Path) -> Iterator[Library]:
    with Library.open(example_library, settings=Settings()) as library:
        yield library


def as_json(value: object) -> object:
    return json.loads(to_json(value))


@pytest.mark.slow
def test_an_answer_is_the_one_of_the_library_and_of_the_command_line(
    address: str,
    library: Library,
    example_library: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    response = post_question(address)
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    answer = from_json(Answer, response.text)
    assert "256" in answer.text
    assert "512" in answer.text
    own = library.ask(QUESTION)
    assert without_times(response.json()) == without_times(json.loads(to_json(with_pictures(own))))
    (page, *_) = answer.evidence[0].pictures
    assert httpx2.get(address + page).headers["content-type"] == "image/png"
    monkeypatch.setattr(sys, "argv", ["paperscope", "ask", QUESTION, "--json", "--library", str(example_library)])
    capfd.readouterr()
    with pytest.raises(SystemExit):
        main()
    assert without_times(json.loads(capfd.readouterr().out)) == without_times(json.loads(to_json(own)))


def test_a_streamed_answer_is_the_plain_one(address: str) -> None:
    events = events_of(post_question(address, stream=True))
    kinds = [kind for kind, _ in events]
    assert kinds == ["stage", "stage", "stage", "text", "citations", "done"]
    answer = events[-1][1]
    assert without_times(answer) == without_times(post_question(address).json())
    assert "".join(data["text"] for kind, data in events if kind == "text") == answer["text"]
    assert events[-2][1]["claims"] == answer["claims"]
    assert [data["stage"] for kind, data in events if kind == "stage"] == [one["stage"] for one in answer["stages"]]


def test_filters_and_history_are_those_of_the_library(address: str, library: Library) -> None:
    paper = library.entries()[0].id
    history = [{"question": "In Table 3, what is the recall on the test split under the exact scenario?"}]
    body = {"question": "And the precision?", "papers": [paper], "kinds": ["table"], "years": "1990-"}
    told = post(address, "/v1/query", body | {"history": history}).json()
    asked = library.ask(
        "And the precision?",
        papers=[paper],
        filters=Filters.of(kinds=["table"], years="1990-"),
        history=[Turn(question=history[0]["question"])],
    )
    assert without_times(told) == without_times(json.loads(to_json(asked)))


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        ({"question": ""}, 422, "body.question"),
        ({"question": " \n"}, 422, "body.question"),
        ({"question": "x" * 4001}, 422, "at most 4000 characters"),
        ({}, 422, "body.question"),
        ({"question": QUESTION, "kinds": ["tables of contents"]}, 422, "body.kinds.0"),
        ({"question": QUESTION, "years": "soon"}, 422, "body.years"),
        ({"question": QUESTION, "years": "2020-2010"}, 400, "2020 to 2010"),
        ({"question": QUESTION, "sections": ["—"]}, 400, "names no section"),
        ({"question": QUESTION, "papers": ["nothing like it"]}, 404, "nothing like it"),
        ({"question": QUESTION, "paper": "x"}, 422, "body.paper"),
        ({"question": QUESTION, "history": [{"question": "x"}] * 51}, 422, "body.history"),
        ({"question": "\ud800"}, 422, "body.question"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_what_is_wrong_about_a_question_is_a_problem_document(
    address: str, body: dict[str, object], status: int, told: str, *, stream: bool
) -> None:
    response = post(address, "/v1/query", body | {"stream": stream})
    assert (response.status_code, response.headers["content-type"]) == (status, "application/problem+json")
    assert told in response.json()["detail"]


@pytest.mark.slow
def test_a_question_of_odd_signs_is_answered_too(address: str) -> None:
    for question in ("\x00", "\U0001f600 ?", '"*" AND NOT (', "x" * 4000, "<script>alert(1)</script>"):
        response = post(address, "/v1/query", {"question": question})
        assert response.status_code == 200, response.text
        assert response.json()["question"] == question


def test_the_context_comes_as_json_and_as_csv(address: str, library: Library) -> None:
    context = library.retrieve(QUESTION)
    body = {"question": QUESTION}
    told = post(address, "/v1/retrieve", body)
    assert from_json(Context, told.text) == context
    for response in (
        post(address, "/v1/retrieve", body, Accept="text/csv"),
        post(address, "/v1/retrieve", body | {"format": "csv"}),
    ):
        assert response.headers["content-type"] == "text/csv; charset=utf-8"
        assert parse_context(response.text) == context
    assert post(address, "/v1/retrieve", body | {"format": "json"}, Accept="text/csv").json() == as_json(context)
    assert post(address, "/v1/retrieve", body | {"papers": ["?"]}).status_code == 404


def test_the_examples_of_the_openapi_document_are_true(address: str) -> None:
    paths = httpx2.get(f"{address}/openapi.json").json()["paths"]
    asked, found = (paths[path]["post"] for path in ("/v1/query", "/v1/retrieve"))
    (example,) = asked["requestBody"]["content"]["application/json"]["examples"].values()
    contents = asked["responses"]["200"]["content"]
    answer = post(address, "/v1/query", example["value"])
    # The document leaves out what is null.
    told = {key: value for key, value in answer.json().items() if value is not None}
    assert without_times(told) == without_times(contents["application/json"]["example"])
    assert contents["application/json"]["schema"]["$ref"].endswith("/Answer")
    streamed = events_of(post(address, "/v1/query", example["value"] | {"stream": True}))
    shown = contents["text/event-stream"]["example"]
    assert [f"event: {kind}" for kind, _ in streamed] == [line for line in shown.splitlines() if line[:6] == "event:"]
    context = found["responses"]["200"]["content"]
    assert post(address, "/v1/retrieve", example["value"]).json() == context["application/json"]["example"]
    assert post(address, "/v1/retrieve", example["value"] | {"format": "csv"}).text == context["text/csv"]["example"]
