"""Batches that are killed, resumed or cancelled, or whose model is unavailable for a while."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from paperscope.retries import RetryRounds
from paperscope_core.errors import ModelUnavailableError, StoreUnavailableError
from paperscope_core.models import FakeModel
from paperscope_core.types import Answer, ModelRequest
from service.batch import BatchRow, BatchRunner, load_questions
from tests.service.batch.fakes import HangingModel, MakeLibrary, questions, reply


def lines_of(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").rstrip("\n").split("\n")


def asks(model: FakeModel, text: str) -> int:
    return sum(text in request.messages[-1].text for request in model.requests)


def test_a_second_run_asks_again_only_what_failed(make_library: MakeLibrary, tmp_path: Path) -> None:
    model = FakeModel(reply)
    asked = questions("F1 of the tagger?", "forbidden?")
    first = BatchRunner(make_library(model), out=tmp_path / "out").run(asked)
    before = len(model.requests)
    heard: list[BatchRow] = []
    second = BatchRunner(make_library(model), out=tmp_path / "out").run(asked, on_row=heard.append)
    assert second.rows[0].answer == first.rows[0].answer
    assert [row.resumed for row in second.rows] == [True, False]
    assert [row.index for row in heard] == [0, 1], "those of an earlier run are heard first"
    assert second.summary.resumed == 1
    assert len(model.requests) > before
    assert all("forbidden" in request.messages[-1].text for request in model.requests[before:])


def test_a_question_is_not_asked_again_where_it_has_moved(make_library: MakeLibrary, tmp_path: Path) -> None:
    model = FakeModel(reply)
    BatchRunner(make_library(model), out=tmp_path / "out").run(questions("F1 of the tagger?", "Its name?"))
    before = len(model.requests)
    moved = questions("Its name?", "F1 of the tagger?")
    rows = BatchRunner(make_library(model), out=tmp_path / "out").run(moved).rows
    assert len(model.requests) == before
    assert [(row.index, row.question) for row in rows] == [(0, "Its name?"), (1, "F1 of the tagger?")]
    written = [json.loads(line) for line in lines_of(tmp_path / "out" / "answers.jsonl")]
    assert [row["index"] for row in written] == [0, 1]


def test_questions_of_two_files_are_all_answered(make_library: MakeLibrary, tmp_path: Path) -> None:
    both = [*questions("F1 of the tagger?"), *questions("Its name?")]
    rows = BatchRunner(make_library(FakeModel(reply)), out=tmp_path / "out").run(both).rows
    assert [(row.index, row.question) for row in rows] == [(0, "F1 of the tagger?"), (1, "Its name?")]


def test_a_batch_whose_server_is_lost_stops_and_the_next_run_goes_on(
    make_library: MakeLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, asked = make_library(FakeModel(reply)), questions("F1 of the tagger?", "Its name?", "Its year?")
    ask = library.ask_async

    async def losing(question: str, **options: Any) -> Answer:
        if question == "Its name?":
            raise StoreUnavailableError("the connection was lost")
        return await ask(question, **options)

    monkeypatch.setattr(library, "ask_async", losing)
    with pytest.raises(StoreUnavailableError):
        BatchRunner(library, out=tmp_path / "out", concurrency=1).run(asked)
    monkeypatch.undo()
    rows = BatchRunner(library, out=tmp_path / "out").run(asked).rows
    assert [row.resumed for row in rows] == [True, False, False]


def test_a_torn_progress_line_is_asked_again(make_library: MakeLibrary, tmp_path: Path) -> None:
    model = FakeModel(reply)
    texts = ("F1 of the tagger?", "Its\u2028name?")
    BatchRunner(make_library(model), out=tmp_path / "out", concurrency=1).run(questions(*texts))
    progress = tmp_path / "out" / "progress.jsonl"
    progress.write_bytes(progress.read_bytes()[:-40])
    rows = BatchRunner(make_library(model), out=tmp_path / "out").run(questions(*texts)).rows
    assert [row.resumed for row in rows] == [True, False]
    assert len(lines_of(progress)) == 3
    rows = BatchRunner(make_library(model), out=tmp_path / "out").run(questions(*texts)).rows
    assert [row.resumed for row in rows] == [True, True]


KILLED = """
import json, sys, time
from pathlib import Path
from graph_store import Store
from paperscope.library import Library
from paperscope_core.models import FakeEmbedder, FakeModel, Models
from paperscope_core.settings import Settings
from service.batch import BatchRunner, load_questions

def slow(row):
    print(row.index, flush=True)
    time.sleep(0.1)

reply = json.dumps({"status": "unanswerable", "answer": "The papers do not say.", "claims": []})
models = Models(embedder=FakeEmbedder(), answer=FakeModel(lambda _request: reply))
with Library(store=Store.open(Path(sys.argv[1])), settings=Settings(), models=models) as library:
    runner = BatchRunner(library, out=Path(sys.argv[3]), concurrency=2)
    runner.run(load_questions(Path(sys.argv[2])), on_row=slow)
"""


@pytest.mark.slow
def test_kill_9_loses_no_finished_row(make_library: MakeLibrary, tmp_path: Path, root: Path) -> None:
    make_library(None)
    file = tmp_path / "q.txt"
    file.write_text("".join(f"What F1 does the tagger reach in run {number}?\n" for number in range(12)))
    command = [sys.executable, "-c", KILLED, *map(str, (tmp_path / "library", file, tmp_path / "out"))]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as killed:  # noqa: S603
        assert killed.stdout is not None
        heard = [killed.stdout.readline() for _ in range(4)]
        killed.kill()
    finished = set(map(int, heard))
    assert len(finished) == 4
    result = BatchRunner(make_library(FakeModel(reply)), out=tmp_path / "out").run(load_questions(file))
    kept = {row.index for row in result.rows if row.resumed}
    assert finished <= kept < set(range(12))
    assert result.summary.resumed == len(kept)
    assert len(lines_of(tmp_path / "out" / "answers.jsonl")) == 12


def test_a_cancelled_run_leaves_its_results_and_the_next_goes_on(make_library: MakeLibrary, tmp_path: Path) -> None:
    model = HangingModel()
    runner = BatchRunner(make_library(model), out=tmp_path / "out", concurrency=2)
    asked = questions("F1 of the tagger?", "hanging?", "Its name?", "hanging again?", "And its year?")

    async def cancelled() -> None:
        task = asyncio.create_task(runner.run_async(asked))
        for _ in range(2):
            assert await asyncio.to_thread(model.held.acquire, timeout=30)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())
    out = tmp_path / "out"
    assert [json.loads(line)["index"] for line in lines_of(out / "answers.jsonl")] == [0, 2]
    assert "5 questions: 2 answered, 3 not asked yet" in (out / "report.md").read_text()
    rows = BatchRunner(make_library(FakeModel(reply)), out=out).run(asked).rows
    assert [row.resumed for row in rows] == [True, False, True, False, False]
    assert {row.status for row in rows} == {"answered"}


def test_a_run_that_is_cancelled_before_any_row_leaves_older_results_alone(
    make_library: MakeLibrary, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    BatchRunner(make_library(FakeModel(reply)), out=out).run(questions("F1 of the tagger?"))
    before = (out / "answers.csv").read_bytes()
    model = HangingModel()

    async def cancelled() -> None:
        task = asyncio.create_task(BatchRunner(make_library(model), out=out).run_async(questions("hanging?")))
        assert await asyncio.to_thread(model.held.acquire, timeout=30)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())
    assert (out / "answers.csv").read_bytes() == before


def test_questions_that_an_outage_failed_are_retried_after_the_others(
    make_library: MakeLibrary, tmp_path: Path
) -> None:
    down = [True, True]

    def flaky(request: ModelRequest) -> str:
        if "outage" in request.messages[-1].text and down:
            down.pop()
            raise ModelUnavailableError("no connection")
        return reply(request)

    heard: list[int] = []
    runner = BatchRunner(
        make_library(FakeModel(flaky)),
        out=tmp_path / "out",
        concurrency=1,
        retries=RetryRounds(first_pause=0.01, max_rounds=5),
    )
    result = runner.run(questions("outage?", "Its name?", "forbidden?"), on_row=lambda row: heard.append(row.index))
    assert [row.status for row in result.rows] == ["error", "answered", "error"], "a round that brought nothing ends it"
    assert heard == [1, 2, 0]
    assert "no connection" in result.rows[0].error
    down[:] = [True]
    again = runner.run(questions("outage?", "Its name?"))
    assert [row.status for row in again.rows] == ["answered", "answered"]


def test_other_errors_are_asked_once(make_library: MakeLibrary, tmp_path: Path) -> None:
    model = FakeModel(reply)
    BatchRunner(make_library(model), out=tmp_path / "out").run(questions("forbidden?"))
    assert asks(model, "forbidden") == 1
