"""Retries: failed items are tried again after all others, and the number of rounds is limited."""

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_store import Store
from paperscope.library import Library
from paperscope.retries import RetryRounds
from paperscope_core.errors import ModelRateLimitError, ModelRefusedError, ModelUnavailableError, OutputError
from paperscope_core.models import FakeEmbedder, Models, build_model
from paperscope_core.settings import AnswerSettings, CallSettings, Settings
from paperscope_core.types import content_hash
from service.batch import BadQuestion, BatchRunner, Question
from tests.model_server import Body, ModelServer, serve
from tests.service.conftest import PNG, small_paper

STOPPED = ModelUnavailableError("no connection")


@dataclass
class Trial:
    """The items that were tried, in order, and the pauses."""

    fails: Callable[[int, int], Exception | None]
    asked: list[int] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)

    def run(self, count: int, *, concurrency: int = 1, **options: float) -> dict[int, str]:
        async def sleep(seconds: float) -> None:
            self.pauses.append(seconds)

        async def work(item: int) -> None:
            self.asked.append(item)
            error = self.fails(item, self.asked.count(item))
            await asyncio.sleep(0)
            if error is not None:
                raise error

        rounds = RetryRounds(sleep=sleep, **options)  # type: ignore[arg-type] # whole numbers are floats here
        left = asyncio.run(rounds.run(range(count), work, concurrency=concurrency))
        return {item: str(error) for item, error in left}


def test_without_failures_there_is_one_round_and_no_pause() -> None:
    trial = Trial(lambda _item, _time: None)
    assert trial.run(5, concurrency=2) == {}
    assert (sorted(trial.asked), trial.pauses) == ([0, 1, 2, 3, 4], [])


def test_failed_items_are_retried_after_the_others() -> None:
    trial = Trial(lambda item, time: STOPPED if item == 0 and time < 3 else None)
    assert trial.run(3) == {0: "no connection"}, "a round that brings nothing is the last"
    assert trial.asked == [0, 1, 2, 0]
    trial = Trial(lambda item, time: STOPPED if time <= item else None)
    assert trial.run(4, max_rounds=9, first_pause=1.0) == {}
    assert trial.asked == [0, 1, 2, 3, 1, 2, 3, 2, 3, 3]
    assert trial.pauses == [1.0, 2.0, 4.0]


def test_the_number_of_rounds_is_limited() -> None:
    trial = Trial(lambda item, time: STOPPED if time <= item else None)
    assert list(trial.run(6, max_rounds=2)) == [3, 4, 5]


def test_a_pause_is_as_long_as_the_endpoint_asks(caplog: pytest.LogCaptureFixture) -> None:
    limited = ModelRateLimitError("slow down", retry_after=75.0)
    trial = Trial(lambda item, time: limited if item and time == 1 else None)
    with caplog.at_level(logging.WARNING):
        assert trial.run(3, first_pause=1.0) == {}
    assert trial.pauses == [75.0]
    assert "2 questions wait: slow down; asking again in 75 s" in caplog.text


def test_an_endpoint_that_asks_for_too_long_is_not_waited_for() -> None:
    trial = Trial(lambda item, _time: ModelRateLimitError("come tomorrow", retry_after=86_400) if item else None)
    assert trial.run(2) == {1: "come tomorrow"}
    assert trial.pauses == []


@pytest.mark.parametrize("concurrency", [1, 4])
def test_an_endpoint_that_is_down_costs_two_short_rounds(concurrency: int) -> None:
    trial = Trial(lambda _item, _time: STOPPED)
    left = trial.run(1000, concurrency=concurrency, max_failures=8)
    assert list(left) == list(range(1000))
    assert left[0] == "no connection"
    assert left[999].startswith("not asked, after ")
    assert "failures in a row: no connection" in left[999]
    assert len(trial.asked) <= 2 * (8 + concurrency)
    assert len(trial.pauses) == 1


def test_items_that_were_not_sent_are_sent_in_a_later_round() -> None:
    trial = Trial(lambda item, time: STOPPED if item < 3 and time == 1 else None)
    assert trial.run(10, max_failures=3) == {}
    assert trial.asked == [0, 1, 2, *range(10)]


@pytest.mark.parametrize("error", [ModelRefusedError("wrong key"), OutputError("the disk is full")])
def test_any_other_error_ends_all_as_it_is(error: Exception) -> None:
    trial = Trial(lambda item, _time: error if item == 1 else None)
    with pytest.raises(type(error), match=str(error)):
        trial.run(50, concurrency=2)
    assert len(trial.asked) < 50


@given(st.lists(st.integers(0, 4), max_size=30), st.integers(1, 5), st.integers(1, 5))
def test_each_item_is_done_or_left_and_none_is_done_twice(
    failures: list[int], concurrency: int, max_failures: int
) -> None:
    trial = Trial(lambda item, time: STOPPED if time <= failures[item] else None)
    left = trial.run(len(failures), concurrency=concurrency, max_failures=max_failures)
    counts = Counter(trial.asked)
    for item, fails in enumerate(failures):
        if item in left:
            assert counts[item] <= min(fails, 4)
        else:
            assert counts[item] == fails + 1


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
    """The small library with a model at an address, which is called once per answer."""
    opened: list[Library] = []

    def opens(url: str) -> Library:
        store = Store.open(tmp_path / "library")
        if not store.papers():
            store.add(small_paper(), crops={content_hash(PNG): PNG}, source="/tagger.pdf", embedder="fake-64")
        settings = Settings(answer=AnswerSettings(model="m", base_url=url), calls=CallSettings(retries=0))
        answer = build_model(settings.answer, store, calls=settings.calls)
        models = Models(embedder=FakeEmbedder(), answer=answer)
        opened.append(Library(store=store, settings=settings, models=models))
        return opened[-1]

    yield opens
    for library in opened:
        library.close()


@pytest.mark.slow
def test_calls_turned_down_are_made_up_for(
    server: ModelServer, open_library: OpenLibrary, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server.refuse += [500, 429, 503, 500]
    server.retry_after = 0.1
    runner = BatchRunner(
        open_library(server.url), out=tmp_path / "out", concurrency=2, retries=RetryRounds(first_pause=0.01)
    )
    with caplog.at_level(logging.WARNING):
        result = runner.run(questions(6))
    assert [row.status for row in result.rows] == ["answered"] * 6
    assert result.summary.usage.calls == 6
    assert len(server.bodies) == 10
    assert "questions wait" in caplog.text


@pytest.mark.slow
def test_a_request_that_is_refused_is_not_made_again(
    server: ModelServer, open_library: OpenLibrary, tmp_path: Path
) -> None:
    server.refuse += [401]
    runner = BatchRunner(
        open_library(server.url), out=tmp_path / "out", concurrency=1, retries=RetryRounds(first_pause=0.01)
    )
    result = runner.run(questions(2))
    assert [row.status for row in result.rows] == ["error", "answered"]
    assert len(server.bodies) == 2


@pytest.mark.slow
def test_an_endpoint_that_stays_away_ends_soon_and_the_next_run_asks_all_the_rest(
    server: ModelServer, open_library: OpenLibrary, tmp_path: Path
) -> None:
    library = open_library(server.url)
    runner = BatchRunner(
        library, out=tmp_path / "out", concurrency=2, retries=RetryRounds(first_pause=0.01, max_failures=4)
    )
    assert [row.status for row in runner.run(questions(3)).rows] == ["answered"] * 3
    server.refuse += [500] * 1000
    asked = len(server.bodies)
    result = runner.run(questions(300))
    assert (result.summary.resumed, result.summary.answered, result.summary.errors) == (3, 3, 297)
    assert len(server.bodies) - asked <= 2 * (4 + 2)
    assert "not asked, after" in result.rows[-1].error
    server.refuse.clear()
    asked = len(server.bodies)
    result = runner.run(questions(20))
    assert (result.summary.resumed, result.summary.answered) == (3, 20)
    assert len(server.bodies) - asked == 17
