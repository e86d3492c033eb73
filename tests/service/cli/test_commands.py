"""Each command on the example paper."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from paperscope import __version__
from tests.model_server import kind_of, serve
from tests.paperscope.test_adding import write_pdf
from tests.paperscope.test_damage import do_damage, open_library
from tests.remembered_papers import PAPERS_FOLDER

if TYPE_CHECKING:
    from tests.service.cli.conftest import Run


COMMANDS = ("add", "parse", "papers", "ask", "batch", "show", "graph", "remove", "migrate", "config", "eval", "keys")
ROW_KEYS = {"index", "question", "status", "answer", "claims", "images", "usage", "seconds", "findings", "error"}


def test_help_names_every_command(run: "Run") -> None:
    shown = run("--help")
    assert shown.code == 0
    for command in COMMANDS:
        assert command in shown.out
        assert run(command, "--help").code == 0


def test_the_version_is_that_of_the_package(run: "Run") -> None:
    shown = run("--version")
    assert (shown.code, shown.out) == (0, f"paperscope {__version__}\n")


@pytest.mark.slow
def test_add_reports_the_paper_and_a_second_add_costs_nothing(run: "Run", tmp_path: Path) -> None:
    paper = write_pdf(tmp_path / "taggers.pdf", "Taggers are compared.")
    first = run("add", paper, "--library", tmp_path / "l", "--json")
    second = run("add", paper, "--library", tmp_path / "l", "--json")
    rows = [json.loads(first.out), json.loads(second.out)]
    assert [row["outcome"] for row in rows] == ["added", "unchanged"]
    assert rows[0]["title"]
    assert rows[0]["pages"] == 1


def test_several_papers_are_read_at_once_and_a_bad_one_stops_no_other(run: "Run", tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    for number in range(4):
        (folder / f"{number}.md").write_text(f"# Paper {number}\n\nTagger {number} reaches an F1 of 8{number}.5.\n")
    (folder / "bad.pdf").write_bytes(b"no paper")
    added = run("add", "--workers", "4", folder, "--library", tmp_path / "l")
    assert added.code == 1
    assert sorted(line.split()[0] for line in added.out.splitlines()) == ["added"] * 4
    assert "bad.pdf" in added.err
    assert len(run("papers", "--json", "--library", tmp_path / "l").out.splitlines()) == 4


def test_papers_and_show(run: "Run", example_library: Path) -> None:
    listed = run("papers", "--library", example_library)
    title, details = listed.out.splitlines()
    assert title.startswith("Four Reports, Four Rulers: Re-reading Published Named Entity")
    assert details.strip().split("  ")[1:] == ["ner-report.pdf", "7 pages, 9 tables, 3 figures, 10 equations"]
    shown = run("show", "Four Reports", "--library", example_library)
    for expected in ("Table 5", "Figure 3", "Equation 4", "Limitations"):
        assert expected in shown.out
    paper = json.loads(run("show", "ner-report.pdf", "--library", example_library, "--json").out)
    assert sum(element["kind"] == "table" for element in paper["elements"]) == 9


def test_papers_lists_the_others_beside_a_damaged_one(run: "Run", tmp_path: Path) -> None:
    with open_library(tmp_path / "library") as library:
        ids = []
        for name in ("One", "Two"):
            (tmp_path / f"{name}.md").write_text(f"# {name}\n\nTaggers are compared.\n")
            ids.append(library.add(tmp_path / f"{name}.md").paper.id)
    do_damage(tmp_path / "library", ids[0], "papers")
    listed = run("papers", "--library", tmp_path / "library")
    assert (listed.code, listed.out.splitlines()[0]) == (1, "Two")
    assert f"{ids[0]!r} is damaged" in listed.err


def test_ask_cites_the_cell_and_says_that_no_model_was_used(run: "Run", example_library: Path) -> None:
    question = "In Table 5, what is the entity F1 of the ensemble with seed 2?"
    answer = json.loads(run("ask", question, "--library", example_library, "--json").out)
    assert answer["status"] == "answered"
    assert "89.80" in answer["text"]
    evidence = answer["claims"][0]["evidence"][0]
    assert evidence["quote"] == "89.80"
    assert evidence["place"]["page"] == 4
    assert "model" in [finding["kind"] for finding in answer["findings"]]
    shown = run("ask", question, "--library", example_library)
    assert "Table 5, page 4" in shown.out


def test_ask_without_a_model_shows_each_place_once_and_says_how_to_use_one(run: "Run", example_library: Path) -> None:
    outcome = run("ask", "What are the limitations?", "--library", example_library)
    shown = " ".join(outcome.out.split())
    assert "1. Limitations: “We had no access to model outputs" in shown
    assert shown.count("We had no access to model outputs") == 1
    assert "5. " in shown
    assert "`paperscope setup` sets one up" in outcome.err
    assert "paperscope setup" not in run("ask", "What is F1?", "--library", example_library, "--json").err


def test_ask_of_an_empty_library_says_that_there_is_nothing(run: "Run", tmp_path: Path) -> None:
    answer = json.loads(run("ask", "What is F1?", "--library", tmp_path / "l", "--json").out)
    assert answer["status"] == "unanswerable"


def test_batch_writes_rows_and_report(run: "Run", example_library: Path, tmp_path: Path) -> None:
    questions = tmp_path / "q.jsonl"
    questions.write_text('{"question": "What is the F1 in Table 9?"}\n{"question": \n{"question": "Who wrote it?"}\n')
    outcome = run("batch", questions, "--library", example_library, "--out", tmp_path / "out", "--show")
    assert outcome.code == 1
    assert "q.jsonl:2" in outcome.err
    rows = [json.loads(line) for line in (tmp_path / "out" / "answers.jsonl").read_text().splitlines()]
    assert [row["index"] for row in rows] == [0, 1, 2]
    assert rows[1]["status"] == "error"
    assert all(row.keys() >= ROW_KEYS for row in rows)
    assert (tmp_path / "out" / "report.md").read_text().count("## Query:") == 3


def test_a_question_with_filters_is_answered_from_what_they_allow(run: "Run", example_library: Path) -> None:
    question = "In Table 5, what is the entity F1 of the ensemble with seed 2?"

    def cited(*options: str) -> set[str]:
        outcome = run("ask", question, "--library", example_library, "--json", *options)
        assert outcome.code == 0
        sources = json.loads(outcome.out)["context"]["sources"]
        return {source["element"].partition("/")[2].partition("-")[0] for source in sources}

    assert cited("--kind", "table", "--kind", "equation") <= {"table", "equation"}
    assert cited("--section", "Limitations") == {"passage"}
    none = run("ask", question, "--library", example_library, "--year", "-1950")
    assert "year is not known" in none.out.replace("\n", " ")
    for wrong in (("--kind", "chart"), ("--year", "next"), ("--after", "nowhere.json")):
        refused = run("ask", question, "--library", example_library, *wrong)
        assert refused.code == 2
        assert wrong[1] in refused.err


def test_a_follow_up_says_how_it_was_understood(
    run: "Run", example_library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = shutil.copytree(example_library, tmp_path / "l")
    first = run("ask", "What is the entity F1 of seed 1 on KLUE-NER?", "--library", library, "--json")
    (tmp_path / "first.json").write_text(first.out)
    full = "What is the entity F1 of seed 2 on KLUE-NER?"
    replies = {"question": {"question": full}, "answer": {"status": "answered", "answer": "It is 77.", "claims": []}}
    with serve(lambda body: json.dumps(replies[kind_of(body)])) as model:
        monkeypatch.setenv("PAPERSCOPE_ANSWER__MODEL", "some-model")
        monkeypatch.setenv("PAPERSCOPE_ANSWER__BASE_URL", model.url)
        shown = run("ask", "and of seed 2?", "--library", library, "--after", tmp_path / "first.json")
    assert f"asked as: {full}" in shown.out


def test_remove_takes_the_paper_and_its_crops(run: "Run", example_library: Path, tmp_path: Path) -> None:
    library = Path(shutil.copytree(example_library, tmp_path / "l"))
    assert list((library / "crops").rglob("*.png"))
    assert run("remove", "ner-report.pdf", "--library", library).code == 0
    assert "No papers yet" in run("papers", "--library", library).out
    assert not list((library / "crops").rglob("*.png"))


def test_config_masks_keys(run: "Run", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    shown = run("config")
    assert "sk-very-secret" not in shown.out
    assert "set PAPERSCOPE_MODEL" in shown.out
    assert "sk-very-secret" not in run("config", "--json").out


def test_a_key_without_a_model_is_said_to_have_no_effect(
    run: "Run", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    outcome = run("papers", "--library", tmp_path / "l")
    assert "set PAPERSCOPE_MODEL" in outcome.err
    assert "sk-very-secret" not in outcome.err


@pytest.mark.slow
def test_ctrl_c_stops_an_add_and_the_library_stays_whole(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The add ends before it is stopped if another process has read the paper.
    monkeypatch.delenv(PAPERS_FOLDER)
    paper = root / "examples" / "paper" / "ner-report.pdf"
    command = [sys.executable, "-m", "paperscope", "add", str(paper), "--library", str(tmp_path / "l")]
    process = subprocess.Popen(  # noqa: S603
        command,
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Processes that a shell runs in the background, and their children, ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "l" / "crops").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in err
    assert b"stopped: what is finished is kept" in err


def test_python_dash_m_is_the_command(root: Path) -> None:
    command = [sys.executable, "-m", "paperscope", "--help"]
    shown = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True, env={**os.environ})  # noqa: S603
    assert "Usage" in shown.stdout
