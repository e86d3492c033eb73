"""`paperscope add` with an estimate or a budget, and unread chunks in `show`."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.model_server import Body, ModelServer, echo, serve, words

if TYPE_CHECKING:
    from tests.service.cli.conftest import Run


TEXT = "The Tagger reads a Sentence of the Corpus, and the Parser reads what the Tagger wrote. "


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A model server that the settings name for extraction."""
    with serve() as started:
        values = {"model": "m", "base_url": started.url, "tokens_per_call": "300"}
        for name, value in values.items():
            monkeypatch.setenv(f"PAPERSCOPE_EXTRACT__{name.upper()}", value)
        monkeypatch.setenv("PAPERSCOPE_CALLS__RETRIES", "0")
        yield started


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    for number in range(1, 4):
        sections = "\n\n".join(f"## Part {n}\n\n{f'Paper {number}, part {n}. ' + TEXT * 8}" for n in range(1, 4))
        (folder / f"{number}.md").write_text(f"# Paper {number}\n\n{sections}\n")
    return folder


def rows(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def answer(body: Body) -> str:
    claims = [{"text": "It is 89.80.", "evidence": ["S0"]}]
    return json.dumps({"status": "answered", "answer": "It is 89.80.", "claims": claims, "look_up": []})


@pytest.mark.slow
def test_a_batch_is_estimated_before_it_is_asked(
    run: "Run", example_library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = shutil.copytree(example_library, tmp_path / "library")
    (tmp_path / "q.txt").write_text("What is the entity F1 of seed 2?\nWhat is the recall?\n")
    (tmp_path / "unknown.jsonl").write_text('{"question": "What is it?", "papers": ["nowhere"]}\n')
    with serve(answer) as server:
        values = {"model": "m", "base_url": server.url, "price_prompt": "1", "price_completion": "4"}
        for name, value in values.items():
            monkeypatch.setenv(f"PAPERSCOPE_ANSWER__{name.upper()}", value)
        estimate = ("batch", "q.txt", "--library", library, "--out", "out", "--estimate")
        shown = run(*estimate)
        assert (shown.code, server.bodies, (tmp_path / "out").exists()) == (0, [], False)
        assert "Estimated model usage of 2 questions" in shown.out
        least, most = (line.split() for line in shown.out.splitlines() if "all roles" in line)
        assert least[-5:-3] == ["2", "0"]
        assert [int(most[-5]), float(most[-1]) > float(least[-1]) > 0] == [4, True]
        assert run("batch", "unknown.jsonl", "--library", library, "--out", "other", "--estimate").code == 0
        assert run("batch", "q.txt", "--library", library, "--out", "out").code == 0
        assert len(server.bodies) == int(least[-5])
        assert "Estimated model usage of 0 questions" in run(*estimate).out


def test_an_estimate_is_printed_for_people_and_for_programs(run: "Run", server: ModelServer, papers: Path) -> None:
    (papers / "broken.pdf").write_text("no PDF")
    shown = run("add", "--estimate", papers)
    assert shown.code == 1
    assert "broken.pdf" in shown.err
    assert [line.split()[:2] for line in shown.out.splitlines() if "extract" in line] == [
        ["1.md", "extract"],
        ["2.md", "extract"],
        ["3.md", "extract"],
        ["all", "files"],
    ]
    estimates = [row for row in rows(run("add", "--estimate", "--json", papers).out) if "roles" in row]
    assert [Path(str(row["file"])).name for row in estimates] == ["1.md", "2.md", "3.md"]
    assert all(row["total"]["calls"] > 0 for row in estimates)  # type: ignore[index]
    assert server.bodies == []
    assert not run("papers", "--json").out


@pytest.mark.slow
def test_a_budget_ends_with_its_own_code_says_what_is_left_and_is_taken_up_again(
    run: "Run", server: ModelServer, papers: Path
) -> None:
    calls = sum(row["total"]["calls"] for row in rows(run("add", "--estimate", "--json", papers).out))  # type: ignore[index]
    each = calls // 3
    stopped = run("add", "--workers", "1", "--max-calls", str(each + 1), papers)
    assert stopped.code == 5
    assert f"stopped: the budget of {each + 1} model calls is spent; 1 of 3 files are done" in stopped.err
    assert f"finishing takes about {calls - each - 1} calls" in stopped.err
    assert "run the same command again with more" in stopped.err
    assert run("add", "--max-calls", str(calls), papers).code == 0
    assert len(server.names) == len(set(server.names)) == calls
    assert len(rows(run("papers", "--json").out)) == 3


def test_a_budget_that_papers_read_at_once_spend_leaves_nothing_half_done(
    run: "Run", server: ModelServer, papers: Path
) -> None:
    stopped = run("add", "--workers", "3", "--max-calls", "1", papers)
    assert stopped.code == 5
    assert "0 of 3 files are done, and what was paid for is kept" in stopped.err
    assert run("add", "--workers", "3", "--max-calls", "100", papers).code == 0
    assert len(server.names) == len(set(server.names))
    assert len(rows(run("papers", "--json").out)) == 3


def test_a_bound_of_the_cost_needs_prices(run: "Run", server: ModelServer, papers: Path) -> None:
    refused = run("add", "--max-cost", "0.5", papers)
    assert refused.code == 2
    assert "--max-cost 0.5 can't be kept: set extract.price_prompt" in refused.err
    assert server.bodies == []


@pytest.mark.usefixtures("server")
def test_no_money_at_all_buys_nothing(
    run: "Run", papers: Path, monkeypatch: pytest.MonkeyPatch, server: ModelServer
) -> None:
    monkeypatch.setenv("PAPERSCOPE_EXTRACT__PRICE_PROMPT", "1")
    assert run("add", "--max-cost", "0", papers).code == 5
    assert server.bodies == []


@pytest.mark.slow
def test_chunks_that_were_not_read_are_shown(run: "Run", server: ModelServer, papers: Path) -> None:
    server.reply = lambda body: "never" if "part 2." in words(body) else echo(body)
    added = run("add", papers / "1.md")
    assert added.code == 0
    assert "chunks unread: add the file again to retry" in added.out
    shown = run("show", "Paper 1").out
    assert "was not read by the model: model 'm' twice gave no valid 'entities'" in shown
    shortfall = json.loads(run("show", "--json", "Paper 1").out)["shortfall"]
    assert all("/chunk-" in unread["chunk"] for unread in shortfall["unread"])
    (row,) = rows(run("add", "--json", papers / "1.md").out)
    assert row["shortfall"] == shortfall
