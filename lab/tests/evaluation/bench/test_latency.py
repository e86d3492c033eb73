"""`bench query`: the questions, the number of papers, and the figures."""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from paperscope_lab.evaluation.bench import common, main
from paperscope_lab.evaluation.peers.client import run_module
from paperscope_lab.evaluation.peers.synthetic import SHARED, synthetic_paper
from paperscope_lab.evaluation.peers.timing import papers_with, questions_over, run_worker

from paperscope_core.codec import from_json, to_json


def test_the_papers_have_the_entities_and_one_paper_fewer_does_not() -> None:
    papers = papers_with(150, seed=3)
    names = [{entity.name for entity in synthetic_paper(number, seed=3).entities} for number in range(1, papers + 1)]
    assert len(set.union(*names)) >= 150 > len(set[str]().union(*names[:-1]))


def test_questions_depend_on_the_seed_and_name_what_their_kind_says() -> None:
    questions = questions_over(4, count=6, seed=3)
    assert questions == questions_over(4, count=6, seed=3)
    assert questions != questions_over(4, count=6, seed=4)
    documents = [synthetic_paper(number, seed=3) for number in range(1, 5)]
    shared = {entity.name for document in documents for entity in document.entities[:SHARED]}
    own = {entity.name for document in documents for entity in document.entities[SHARED:]}
    named = [[any(name in question for name in names) for names in (shared, own)] for question in questions]
    assert named == [[True, True], [False, True], [False, False]] * 2


@pytest.fixture
def workers_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs our workers in this process, so that LightRAG is imported once; a peer has a process of its own."""

    def run(module: str, job: object, kind: type[Any], *, python: Path, timeout: float | None) -> tuple[list[Any], str]:
        if python != Path(sys.executable):
            return run_module(module, job, kind, python=python, timeout=timeout)
        files = tmp_path / "job.json", tmp_path / "result.jsonl"
        files[0].write_text(to_json(job), encoding="utf-8")
        run_worker([*map(str, files)], import_module(module).open_library)
        return [from_json(kind, line) for line in files[1].read_text(encoding="utf-8").splitlines()], ""

    monkeypatch.setattr(common, "run_module", run)


@pytest.mark.slow
@pytest.mark.usefixtures("workers_here")
def test_libraries_are_made_asked_and_kept_whatever_the_peer_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, work, python = tmp_path / "latency.json", tmp_path / "work", tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'no such thing' >&2\nexit 3\n")
    python.chmod(0o755)
    options = ["--questions", "4", "--work", str(work), "--out", str(out), "--peers-python", str(python)]
    assert main(["query", "--entities", "60", "100", *options]) == 0
    page = capsys.readouterr().out
    assert "LightRAG, 60 entities: failed: no such thing." in page
    assert "Paperscope, 60 to 100 entities: p50" in page
    small, large = (one for one in json.loads(out.read_text()) if one["system"] == "Paperscope")
    assert [small["papers"], large["papers"]] == [1, 2]
    assert all(one["cold"] > 0 and 0 < one["p50"] <= one["p95"] and one["cpu"] > 0 for one in (small, large))
    assert all(one["make"] > 0 and one["memory_mb"] > 20 and one["empty"] == 0 for one in (small, large))
    assert small["disk_mb"] < large["disk_mb"]
    python.write_text("#!/bin/sh\nexec sleep 60\n")
    assert main(["query", "--entities", "60", *options, "--peer-seconds", "0.5"]) == 0
    assert "LightRAG, 60 entities: stopped after" in capsys.readouterr().out
    assert json.loads(out.read_text())[0]["make"] == 0


def test_too_few_questions_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", "--questions", "2"]) != 0
    assert "--questions 2" in capsys.readouterr().err
