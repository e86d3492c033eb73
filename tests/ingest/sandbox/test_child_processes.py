"""A pool starts a child ahead while jobs run at once, so that the next job does not wait for a start."""

import errno
import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from ingest.sandbox import child_processes
from ingest.sandbox.child_processes import ChildPool
from paperscope_core.errors import PaperFileError


class Starts:
    """Stands in for `ChildProcess`: records the thread of each start; `allowed` holds starts in other threads back."""

    def __init__(self) -> None:
        self.own = self.ahead = 0
        self.fails_ahead = False
        self.allowed = threading.Event()
        self.done = threading.Semaphore(0)

    def __call__(self, *_args: object, **_options: object) -> "Starts.Child":
        if threading.current_thread() is threading.main_thread():
            self.own += 1
            return self.Child()
        self.ahead += 1
        self.allowed.wait(10)
        self.done.release()
        if self.fails_ahead:
            raise PaperFileError("no process")
        return self.Child()

    class Child:
        """A child that does nothing."""

        def __init__(self) -> None:
            self.jobs, self.is_running = 1, True

        def kill(self) -> None:
            self.is_running = False

        def close(self) -> None:
            """Closes nothing."""


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> Iterator[Starts]:
    starts = Starts()
    monkeypatch.setattr(child_processes, "ChildProcess", starts)
    yield starts
    starts.allowed.set()


@pytest.fixture
def pool(starts: Starts) -> ChildPool[Any]:
    return ChildPool(print, memory_mb=None)


def test_jobs_one_after_another_share_a_child(pool: ChildPool[Any], starts: Starts) -> None:
    for _ in range(3):
        with pool.acquire():
            pass
    assert (starts.own, starts.ahead) == (1, 0)


def test_the_next_of_jobs_at_once_finds_a_child(pool: ChildPool[Any], starts: Starts) -> None:
    starts.allowed.set()
    with pool.acquire(), pool.acquire():
        assert starts.done.acquire(timeout=10)
        with pool.acquire():
            assert starts.own == 2


def test_a_job_waits_for_the_child_that_is_being_started(pool: ChildPool[Any], starts: Starts) -> None:
    with pool.acquire(), pool.acquire():
        threading.Timer(0.05, starts.allowed.set).start()
        with pool.acquire():
            assert starts.own == 2


def test_a_child_that_failed_is_replaced_while_another_job_runs(pool: ChildPool[Any], starts: Starts) -> None:
    def fail() -> None:
        with pool.acquire():
            starts.allowed.set()
            assert starts.done.acquire(timeout=10)
            # The child that was started ahead fails, too.
            with pool.acquire():
                raise ValueError("the file")

    with pool.acquire():
        with pytest.raises(ValueError, match="the file"):
            fail()
        assert starts.done.acquire(timeout=10)
        with pool.acquire():
            assert starts.own == 2


def test_a_start_ahead_that_fails_is_no_jobs_error(pool: ChildPool[Any], starts: Starts) -> None:
    starts.allowed.set()
    starts.fails_ahead = True
    with pool.acquire(), pool.acquire():
        assert starts.done.acquire(timeout=10)
        with pool.acquire():
            assert starts.own == 3


def test_a_system_that_starts_no_process_is_the_error_of_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []

    def temporary_file() -> Any:
        opened.append(real())
        return opened[-1]

    def refuse(*_args: object, **_options: object) -> None:
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    real = tempfile.TemporaryFile
    monkeypatch.setattr(tempfile, "TemporaryFile", temporary_file)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    pool: ChildPool[object] = ChildPool(print, memory_mb=None)
    with (
        pytest.raises(PaperFileError, match=r"no process .*temporarily unavailable.*end other programs"),
        pool.acquire(),
    ):
        pass
    assert [file.closed for file in opened] == [True]
