"""Batches over an endpoint that turns calls down, answers late, or is not there."""

import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from graph_store import Store
from paperscope.library import Library
from paperscope.models import FakeEmbedder, Models, build_model
from paperscope.settings import AnswerSettings, Settings
from paperscope.types import content_hash
from service import BadQuestion, BatchRunner, Question
from service.rounds import Rounds
from tests.model_server import Body, ModelServer, serve
from tests.service.conftest import PNG, small_paper

OpenLibrary = Callable[[str], Library]


def answer(_body: Body) -> str:
    claims = [{"text": "The F1 is 0.83.", "evidence": ["S0"]}]
    return json.dumps({"status": "answered", "answer": "The F1 is 0.83.", "claims": claims})


def questions(count: int) -> list[Question | BadQuestion]:
    return [Question(index=index, text=f"What F1 does run {index} reach?") for index in range(count)]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serve(answer) as started:
        yield started


@pytest.fixture
def open_library(tmp_path: Path) -> Iterator[OpenLibrary]:
    """The small library with a model behind an address, which is called once for each answer."""
    opened: list[Library] = []

    def opens(url: str) -> Library:
        store = Store.open(tmp_path / "library")
        if not store.papers():
            store.add(small_paper(), crops={content_hash(PNG): PNG}, source="/tagger.pdf", embedder="fake-64")
        settings = Settings(answer=AnswerSettings(model="m", base_url=url, retries=0))
        models = Models(embedder=FakeEmbedder(), answer=build_model(settings.answer, store))
        opened.append(Library(store=store, settings=settings, models=models))
        return opened[-1]

    yield opens
    for library in opened:
        library.close()


def test_calls_turned_down_are_made_up_for(
    server: ModelServer, open_library: OpenLibrary, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server.refuse += [500, 429, 503, 500]
    server.retry_after = 0.1
    runner = BatchRunner(open_library(server.url), out=tmp_path / "out", concurrency=2, rounds=Rounds(first=0.01))
    with caplog.at_level(logging.WARNING):
        result = runner.run(questions(6))
    assert [row.status for row in result.rows] == ["answered"] * 6
    assert result.summary.usage.calls == 6
    assert len(server.bodies) == 10
    assert "questions wait" in caplog.text


def test_a_request_that_is_refused_is_not_made_again(
    server: ModelServer, open_library: OpenLibrary, tmp_path: Path
) -> None:
    server.refuse += [401]
    runner = BatchRunner(open_library(server.url), out=tmp_path / "out", concurrency=1, rounds=Rounds(first=0.01))
    result = runner.run(questions(2))
    assert [row.status for row in result.rows] == ["error", "answered"]
    assert len(server.bodies) == 2


def test_an_endpoint_that_stays_away_ends_soon_and_the_next_run_asks_all_the_rest(
    server: ModelServer, open_library: OpenLibrary, tmp_path: Path
) -> None:
    library = open_library(server.url)
    runner = BatchRunner(library, out=tmp_path / "out", concurrency=2, rounds=Rounds(first=0.01, strikes=4))
    assert [row.status for row in runner.run(questions(3)).rows] == ["answered"] * 3
    server.refuse += [500] * 1000
    asked = len(server.bodies)
    result = runner.run(questions(300))
    assert (result.summary.resumed, result.summary.answered, result.summary.errors) == (3, 3, 297)
    assert len(server.bodies) - asked <= 2 * (4 + 2)
    assert "not asked, after" in result.rows[-1].warnings[0]
    server.refuse.clear()
    asked = len(server.bodies)
    result = runner.run(questions(20))
    assert (result.summary.resumed, result.summary.answered) == (3, 20)
    assert len(server.bodies) - asked == 17
