"""What chat front ends send: Open WebUI and LibreChat, in the shape of their requests."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.model_server import ModelServer, serve
from tests.service.http.requests import QUESTION, copy_library, model_reply, serve_library

# What Open WebUI sends for a chat: all its parameters, an empty list of tools, its own metadata.
OPEN_WEBUI: dict[str, Any] = {
    "model": "paperscope",
    "stream": True,
    "stream_options": {"include_usage": True},
    "messages": [
        {"role": "system", "content": "User context: Ada. Answer in her language."},
        {"role": "user", "content": [{"type": "text", "text": QUESTION}]},
    ],
    "tools": [],
    "temperature": 0.8,
    "top_p": 0.9,
    "max_tokens": 128,
    "frequency_penalty": 0.5,
    "presence_penalty": 0,
    "seed": 1,
    "stop": ["###", "\n\n"],
    "logit_bias": {"50256": -100},
    "reasoning_effort": "low",
    "metadata": {"chat_id": "c0ffee", "features": {"web_search": False}},
    "user": {"id": "1", "name": "Ada", "role": "user"},
    "chat_id": "c0ffee",
    "session_id": "5e55",
}

# What LibreChat's agents send in the second turn, with one of their tools.
LIBRECHAT: dict[str, Any] = {
    "model": "paperscope",
    "user": "66b1f0c0ffee",
    "stream": True,
    "stream_options": {"include_usage": True},
    "max_completion_tokens": 4096,
    "parallel_tool_calls": True,
    "store": False,
    "tools": [{"type": "function", "function": {"name": "calculator", "parameters": {"type": "object"}}}],
    "tool_choice": "auto",
    "messages": [
        {"role": "developer", "name": "instructions", "content": "Be brief."},
        {"role": "user", "content": "How much is 2 + 2?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "1", "type": "function", "function": {"name": "calculator", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "1", "content": "4"},
        {"role": "assistant", "content": "It is 4."},
        {"role": "user", "name": "Ada", "content": QUESTION},
    ],
}

# After the first answer, both ask for a title of the chat in a single prompt.
TITLE: dict[str, Any] = {
    "model": "paperscope",
    "stream": False,
    "max_completion_tokens": 1000,
    "metadata": {"task": "title_generation", "chat_id": "c0ffee"},
    "messages": [
        {
            "role": "user",
            "content": "### Task:\nWrite a short title for this chat.\n### Output:\n"
            '{ "title": "the title" }\n'
            f"<chat_history>\nUSER: {QUESTION}\nASSISTANT: 256 and 512.\n</chat_history>",
        }
    ],
}


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with serve(model_reply) as server:
        server.streams = True
        yield server


@pytest.fixture(scope="module")
def client(
    model: ModelServer, example_library: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx2.Client]:
    library = copy_library(example_library, tmp_path_factory.mktemp("front"))
    with serve_library(library, model=model) as address, httpx2.Client(base_url=f"{address}/v1", timeout=120) as client:
        yield client


def chunks_of(response: httpx2.Response) -> list[dict[str, Any]]:
    """The chunks of a streamed completion, which ends as OpenAI's does."""
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/event-stream")
    lines = [line.removeprefix("data: ") for line in response.text.splitlines() if line.startswith("data: ")]
    assert lines.pop() == "[DONE]"
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("body", [OPEN_WEBUI, LIBRECHAT], ids=["Open WebUI", "LibreChat"])
def test_a_chat_is_answered_as_the_front_end_reads_it(client: httpx2.Client, body: dict[str, Any]) -> None:
    listed = client.get("/models", headers={"Authorization": "Bearer none"}).json()
    assert body["model"] in [one["id"] for one in listed["data"]]
    first, *middle, last, usage = chunks_of(client.post("/chat/completions", json=body))
    assert first["choices"][0]["delta"]["role"] == "assistant"
    text = "".join(chunk["choices"][0]["delta"]["content"] for chunk in middle)
    assert text.startswith("The rank is 256 and alpha is 512.")
    assert (last["choices"][0]["finish_reason"], usage["choices"]) == ("stop", [])
    assert usage["usage"]["total_tokens"] == usage["usage"]["prompt_tokens"] + usage["usage"]["completion_tokens"]
    assert {chunk["object"] for chunk in (first, *middle, last, usage)} == {"chat.completion.chunk"}
    plain = client.post("/chat/completions", json={**body, "stream": False, "stream_options": None}).json()
    (cited,) = [chunk["choices"][0]["delta"]["annotations"] for chunk in middle]
    message = {"role": "assistant", "content": text, "refusal": None, "annotations": cited}
    assert plain["choices"][0]["message"] == message
    assert cited[0]["type"] == "url_citation"


def test_without_the_option_no_usage_is_streamed(client: httpx2.Client) -> None:
    chunks = chunks_of(client.post("/chat/completions", json={**OPEN_WEBUI, "stream_options": None}))
    assert all(chunk["choices"] and chunk["usage"] is None for chunk in chunks)


def test_a_stream_leaves_the_connection_for_the_next_request(client: httpx2.Client) -> None:
    for _ in range(2):
        response = client.post("/chat/completions", json=OPEN_WEBUI)
        assert response.headers.get("connection", "keep-alive") == "keep-alive"


def test_a_request_for_a_title_is_a_question_like_any_other(client: httpx2.Client, model: ModelServer) -> None:
    """Open WebUI takes the first question as the title if the reply is not JSON."""
    completion = client.post("/chat/completions", json=TITLE).json()
    (choice,) = completion["choices"]
    assert choice["message"]["content"]
    assert "chat_history" in json.dumps(model.bodies[-1])


@pytest.mark.parametrize(
    ("more", "code", "told"),
    [
        ({"response_format": {"type": "json_schema", "json_schema": {"name": "title"}}}, "unsupported", "is text"),
        ({"tools": LIBRECHAT["tools"], "tool_choice": "required"}, "unsupported", "no tool is ever called"),
        ({"messages": [{"role": "user", "content": "All that was said. " * 300}]}, "question_too_long", "4000"),
    ],
)
def test_what_could_not_be_answered_honestly_is_refused_once_and_clearly(
    client: httpx2.Client, more: dict[str, Any], code: str, told: str
) -> None:
    response = client.post("/chat/completions", json={**TITLE, **more})
    error = response.json()["error"]
    assert (response.status_code, error["type"], error["code"]) == (400, "invalid_request_error", code)
    assert told in error["message"]
