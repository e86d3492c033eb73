"""The folder lock: one batch at a time writes into a folder."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from paperscope_core.errors import OutputError
from paperscope_core.models import FakeModel
from service.batch import BatchRunner
from service.batch.folder import newly_finished
from tests.service.batch.fakes import HangingModel, MakeLibrary, questions, reply
from tests.service.servers import wait_until

HOLDING = """
import asyncio, sys
from pathlib import Path
from service.batch.folder import folder_lock

async def hold():
    async with folder_lock(Path(sys.argv[1])):
        print("held", flush=True)
        await asyncio.Event().wait()

asyncio.run(hold())
"""


@contextmanager
def held_elsewhere(out: Path, root: Path) -> Iterator["subprocess.Popen[str]"]:
    """Another process that holds the folder's lock."""
    command = [sys.executable, "-c", textwrap.dedent(HOLDING), str(out)]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 # our own
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def state_of(folder: Path) -> dict[str, tuple[int, bytes]]:
    """The modification time and content of every file in a folder."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def test_a_second_run_into_a_locked_folder_asks_and_changes_nothing(make_library: MakeLibrary, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first, second = HangingModel(), FakeModel(reply)
    asked = questions("F1 of the tagger?", "hanging?")

    async def at_once() -> None:
        task = asyncio.create_task(BatchRunner(make_library(first), out=out, concurrency=2).run_async(asked))
        assert await asyncio.to_thread(first.held.acquire, timeout=30)
        await asyncio.to_thread(wait_until, (out / "progress.jsonl").is_file)
        before, began = state_of(out), time.monotonic()
        with pytest.raises(OutputError) as told:
            await BatchRunner(make_library(second), out=out).run_async(asked)
        assert time.monotonic() - began < 2
        assert state_of(out) == before
        rows, count = newly_finished(out / "progress.jsonl", after=0)
        assert ([row.question for row in rows], count) == (["F1 of the tagger?"], 1)
        assert newly_finished(out / "progress.jsonl", after=count) == ([], 1)
        said = str(told.value)
        assert said.startswith(f"{out}: ")
        assert f"process {os.getpid()}" in said
        assert "choose another folder" in said
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(at_once())
    assert second.requests == []
    rows = BatchRunner(make_library(second), out=out).run(asked).rows
    assert [row.resumed for row in rows] == [True, False], "a run that ended lets the next one in"
    assert not list(out.glob(".*")), "nothing of the lock is left"


@pytest.mark.slow
def test_the_lock_of_a_killed_run_does_not_stay(make_library: MakeLibrary, tmp_path: Path, root: Path) -> None:
    out = tmp_path / "out"
    runner = BatchRunner(make_library(FakeModel(reply)), out=out)
    with held_elsewhere(out, root) as process:
        with pytest.raises(OutputError, match=f"process {process.pid} of .+, since "):
            runner.run(questions("F1 of the tagger?"))
        process.send_signal(signal.SIGKILL)
        process.wait(30)
        assert runner.run(questions("F1 of the tagger?")).summary.answered == 1


@pytest.mark.slow
def test_a_run_with_a_timeout_waits_for_the_one_before(make_library: MakeLibrary, tmp_path: Path, root: Path) -> None:
    out = tmp_path / "out"
    runner = BatchRunner(make_library(FakeModel(reply)), out=out, lock_timeout=30.0)

    async def waits(process: "subprocess.Popen[str]") -> int:
        task = asyncio.create_task(runner.run_async(questions("F1 of the tagger?")))
        await asyncio.wait({task}, timeout=1.0)
        assert not task.done()
        process.kill()
        return (await task).summary.answered

    with held_elsewhere(out, root) as process:
        assert asyncio.run(waits(process)) == 1


def test_temporary_files_of_a_killed_run_are_deleted_and_other_files_stay(
    make_library: MakeLibrary, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    (out / "images").mkdir(parents=True)
    torn = [out / f".answers.csv.{'0' * 16}.tmp", out / "images" / f".aaaa-table-1.png.{'0' * 16}.tmp"]
    other = out / ".my.notes.tmp"
    for file in (*torn, other):
        file.write_text("half")
    BatchRunner(make_library(None), out=out).run(questions("F1 of the tagger?"))
    assert [file.exists() for file in (*torn, other)] == [False, False, True]
