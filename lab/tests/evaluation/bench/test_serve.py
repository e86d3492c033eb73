"""The bench of the HTTP service: a real service over a real library is asked by several clients at once."""

import json
import os
import sys
from pathlib import Path

import pytest
from paperscope_lab.evaluation.bench import main

from paperscope.library import Library
from paperscope_core.settings import load_settings


@pytest.mark.slow
def test_a_service_is_asked_by_several_clients(
    root: Path, short_paper: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], served_embedder: None
) -> None:
    library, out = tmp_path / "library", tmp_path / "served.json"
    with Library.open(library, settings=load_settings(environ=os.environ)) as opened:
        opened.add(short_paper)
    options = ["--library", str(library), "--questions", str(root / "examples" / "paper" / "questions.jsonl")]
    assert main(["serve", *options, "--clients", "2", "--seconds", "0.3", "--out", str(out)]) == 0
    found = json.loads(out.read_text())
    assert [(one["way"], one["clients"]) for one in found] == [
        ("query", 2),
        ("retrieve", 2),
    ]
    assert all(one["load"]["answers"] > 0 == one["load"]["failed"] for one in found)
    assert all(one["cpu_ms"] > 0 for one in found if sys.platform == "linux")
    assert all(0 < one["load"]["p50"] <= one["load"]["p95"] <= one["load"]["most"] for one in found)
    assert "| retrieve |" in capsys.readouterr().out


def test_a_file_without_questions_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "empty.jsonl"
    file.write_text("\n")
    assert main(["serve", "--library", str(tmp_path), "--questions", str(file)]) == 2
    assert "no question" in capsys.readouterr().err
