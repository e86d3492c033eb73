"""Rounds: what failed for now is tried again after all others, and an end is certain."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paperscope.errors import ModelRateLimitError, ModelRefusedError, ModelUnavailableError, OutputError
from service.rounds import Rounds

STOPPED = ModelUnavailableError("no connection")


@dataclass
class Trial:
    """What is worked on, in order, and how long was waited."""

    fails: Callable[[int, int], Exception | None]
    asked: list[int] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)

    def run(self, count: int, *, at_once: int = 1, **options: float) -> dict[int, str]:
        async def sleep(seconds: float) -> None:
            self.pauses.append(seconds)

        async def work(item: int) -> None:
            self.asked.append(item)
            error = self.fails(item, self.asked.count(item))
            await asyncio.sleep(0)
            if error is not None:
                raise error

        rounds = Rounds(sleep=sleep, **options)  # type: ignore[arg-type] # whole numbers are floats here
        left = asyncio.run(rounds.run(range(count), work, at_once=at_once))
        return {item: str(error) for item, error in left}


def test_without_failures_there_is_one_round_and_no_pause() -> None:
    trial = Trial(lambda _item, _time: None)
    assert trial.run(5, at_once=2) == {}
    assert (sorted(trial.asked), trial.pauses) == ([0, 1, 2, 3, 4], [])


def test_what_failed_is_asked_again_after_the_others() -> None:
    trial = Trial(lambda item, time: STOPPED if item == 0 and time < 3 else None)
    assert trial.run(3) == {0: "no connection"}, "a round that brings nothing is the last"
    assert trial.asked == [0, 1, 2, 0]
    trial = Trial(lambda item, time: STOPPED if time <= item else None)
    assert trial.run(4, most=9, first=1.0) == {}
    assert trial.asked == [0, 1, 2, 3, 1, 2, 3, 2, 3, 3]
    assert trial.pauses == [1.0, 2.0, 4.0]


def test_rounds_have_an_end() -> None:
    trial = Trial(lambda item, time: STOPPED if time <= item else None)
    assert list(trial.run(6, most=2)) == [3, 4, 5]


def test_a_pause_is_as_long_as_the_endpoint_asks(caplog: pytest.LogCaptureFixture) -> None:
    limited = ModelRateLimitError("slow down", retry_after=75.0)
    trial = Trial(lambda item, time: limited if item and time == 1 else None)
    with caplog.at_level(logging.WARNING):
        assert trial.run(3, first=1.0) == {}
    assert trial.pauses == [75.0]
    assert "2 questions wait: slow down; asking again in 75 s" in caplog.text


def test_an_endpoint_that_asks_for_too_long_is_not_waited_for() -> None:
    trial = Trial(lambda item, _time: ModelRateLimitError("come tomorrow", retry_after=86_400) if item else None)
    assert trial.run(2) == {1: "come tomorrow"}
    assert trial.pauses == []


@pytest.mark.parametrize("at_once", [1, 4])
def test_a_stopped_endpoint_costs_two_short_rounds(at_once: int) -> None:
    trial = Trial(lambda _item, _time: STOPPED)
    left = trial.run(1000, at_once=at_once, strikes=8)
    assert list(left) == list(range(1000))
    assert left[0] == "no connection"
    assert left[999].startswith("not asked, after ")
    assert "failures in a row: no connection" in left[999]
    assert len(trial.asked) <= 2 * (8 + at_once)
    assert len(trial.pauses) == 1


def test_what_was_not_sent_is_sent_in_a_later_round() -> None:
    trial = Trial(lambda item, time: STOPPED if item < 3 and time == 1 else None)
    assert trial.run(10, strikes=3) == {}
    assert trial.asked == [0, 1, 2, *range(10)]


@pytest.mark.parametrize("error", [ModelRefusedError("wrong key"), OutputError("the disk is full")])
def test_any_other_error_ends_all_as_it_is(error: Exception) -> None:
    trial = Trial(lambda item, _time: error if item == 1 else None)
    with pytest.raises(type(error), match=str(error)):
        trial.run(50, at_once=2)
    assert len(trial.asked) < 50


@given(st.lists(st.integers(0, 4), max_size=30), st.integers(1, 5), st.integers(1, 5))
def test_each_item_is_done_or_left_and_none_is_done_twice(failures: list[int], at_once: int, strikes: int) -> None:
    trial = Trial(lambda item, time: STOPPED if time <= failures[item] else None)
    left = trial.run(len(failures), at_once=at_once, strikes=strikes)
    counts = Counter(trial.asked)
    for item, fails in enumerate(failures):
        if item in left:
            assert counts[item] <= min(fails, 4)
        else:
            assert counts[item] == fails + 1
