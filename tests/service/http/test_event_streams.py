"""Idle event streams are kept alive by comments, which do not change the events."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from service.http.responses import EventStreamResponse
from tests.model_server import serve
from tests.service.http.requests import (
    QUESTION,
    copy_library,
    events_of,
    model_reply,
    post,
    post_question,
    serve_library,
    without_times,
)

PING = ": ping\n\n"
SECONDS = 0.8


@pytest.fixture(scope="module")
def address(example_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service that sends a comment after 0.1 s without an event, over a model that replies after 0.8 s."""
    library = copy_library(example_library, tmp_path_factory.mktemp("streams"))
    with pytest.MonkeyPatch.context() as patch, serve(model_reply, seconds=SECONDS) as model:
        patch.setattr(EventStreamResponse, "KEEP_ALIVE_SECONDS", 0.1)
        # FastAPI's own interval, for the events of jobs.
        patch.setattr("fastapi.routing._PING_INTERVAL", 0.1)
        with serve_library(library, model=model) as address:
            yield address


def test_a_streamed_answer_is_kept_alive(address: str) -> None:
    response = post_question(address, stream=True)
    assert response.text.count(PING) >= 3
    events = events_of(response)
    assert without_times(events[-1][1])["text"] == post_question(address).json()["text"]
    # Comments are between events, never inside one.
    assert all(block.count("\n") < 2 for block in response.text.replace(PING, "").strip().split("\n\n"))


@pytest.mark.slow
def test_a_streamed_completion_is_kept_alive_and_the_client_does_not_mind(address: str) -> None:
    import openai

    body = {"messages": [{"role": "user", "content": f"{QUESTION} Tell."}], "stream": True}
    assert post(address, "/v1/chat/completions", body).text.count(PING) >= 3
    with openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0, timeout=120) as client:
        stream = client.chat.completions.create(
            model="paperscope", messages=[{"role": "user", "content": QUESTION}], stream=True
        )
        text = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
    assert text.startswith("The rank is 256")


@pytest.mark.slow
def test_the_events_of_a_job_are_kept_alive(address: str) -> None:
    accepted = post(address, "/v1/batch", {"questions": [f"{QUESTION} Please."]})
    response = httpx2.get(f"{address}{accepted.headers['location']}/events", timeout=120)
    assert PING in response.text
    kind, job = events_of(response)[-1]
    assert (kind, job["state"]) == ("end", "succeeded")
