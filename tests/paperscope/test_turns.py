"""The turns of libraries: who has used less goes first, and nobody waits for long."""

import threading
from concurrent.futures import ThreadPoolExecutor

from paperscope.turns import _Turns
from paperscope_core.cancellation import waiting


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_library_that_has_used_much_waits_for_one_that_has_used_little() -> None:
    clock, order = Clock(), list[str]()
    turns = _Turns(clock)
    entered, leave = threading.Event(), threading.Event()
    for library, seconds in (("much", 5.0), ("little", 0.01)):
        with turns.turn(library):
            clock.now += seconds
    clock.now += 1

    def little() -> None:
        with turns.turn("little"):
            entered.set()
            leave.wait(5)
            order.append("little")

    def much() -> None:
        entered.wait(5)
        with turns.turn("much"):
            order.append("much")

    with ThreadPoolExecutor(2) as pool:
        steps = [pool.submit(little), pool.submit(much)]
        assert entered.wait(5)
        leave.set()
        clock.now += 0.01
        steps[0].result(5)
        # It was about to begin another step; now it is not.
        clock.now += 0.1
        steps[1].result(5)
    assert order == ["little", "much"]


def test_a_step_waits_no_longer_than_a_quarter_of_a_second() -> None:
    clock = Clock()
    turns = _Turns(clock)
    for library, seconds in (("much", 5.0), ("little", 0.01)):
        with turns.turn(library):
            clock.now += seconds
    with turns.turn("little"), ThreadPoolExecutor(1) as pool:

        def much() -> None:
            with turns.turn("much"):
                pass

        step = pool.submit(much)
        clock.now += 0.3
        step.result(5)


def test_a_library_alone_never_waits() -> None:
    turns = _Turns()
    with turns.turn("one"), turns.turn("one"), turns.turn("one"):
        turns.forget("one")


def test_a_step_that_waits_for_another_process_holds_no_turn_and_uses_nothing() -> None:
    clock = Clock()
    turns = _Turns(clock)
    with turns.turn("other"):
        clock.now += 1
    with turns.turn("one"):
        clock.now += 0.01
        with waiting():
            clock.now += 0.1
            share = turns._shares["one"]
            assert not share.is_active(clock.now)
            assert turns._may_begin(turns._shares["other"])
        assert share.is_active(clock.now)
    assert 0.009 < share.used < 0.011


def test_a_step_in_progress_counts_as_use() -> None:
    clock = Clock()
    turns = _Turns(clock)
    with turns.turn("little"):
        clock.now += 0.1
    with turns.turn("much"):
        clock.now += 5
        assert turns._may_begin(turns._shares["little"])
        with turns.turn("little"):
            clock.now += 0.1
            assert not turns._may_begin(turns._shares["much"])
