"""`bench parse` runs on a few pages; a reader that isn't installed is named with its remedy."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from paperscope_lab.evaluation.bench import main
from paperscope_lab.evaluation.bench.parse import measure


@pytest.mark.slow
def test_figures_of_each_reader(short_paper: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "bench.json"
    readers = ("paperscope", "get-text")
    options = ["--only", *readers, "--out", str(out)]
    assert main(["parse", str(short_paper), *options]) == 0
    table = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in table[1:3]] == ["Paperscope", "PyMuPDF get_text"]
    figures = json.loads(out.read_text())
    rows = {row["name"]: row for row in figures["contenders"]}
    for row in rows.values():
        assert row["pages"] == 2
        assert 0 < row["seconds"] < 60
        assert 20 < row["memory_mb"] < 2000
    assert rows["get-text"]["seconds"] < rows["paperscope"]["seconds"]


def test_a_peer_that_is_not_installed_is_named_with_its_remedy(short_paper: Path, tmp_path: Path) -> None:
    found = measure("layout", [short_paper], python=_python_without_packages(tmp_path))
    assert found.note == "not installed: pip install pymupdf4llm"


def _python_without_packages(folder: Path) -> str:
    script = folder / "python"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    script.chmod(0o755)
    return str(script)


@pytest.mark.slow
def test_a_file_that_is_missing_or_unreadable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", str(tmp_path / "absent.pdf")]) == 2
    assert "absent.pdf" in capsys.readouterr().err
    (tmp_path / "bad.pdf").write_bytes(b"no paper")
    assert main(["parse", str(tmp_path / "bad.pdf"), "--only", "paperscope"]) == 1
    assert "bad.pdf: PaperFileError" in capsys.readouterr().out


@pytest.mark.slow
def test_the_script_runs(root: Path, short_paper: Path) -> None:
    done = subprocess.run(  # noqa: S603
        [root / "scripts/bench", "parse", short_paper, "--only", "get-text"],
        env={"PYTHON": sys.executable, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert "PyMuPDF get_text" in done.stdout


def test_the_memory_of_a_large_parent_does_not_count() -> None:
    child = "from paperscope_lab.evaluation.peers.memory import peak_memory_mb; print(peak_memory_mb())"
    parent = f"import subprocess, sys; held = bytearray(400 << 20); subprocess.run([sys.executable, '-c', {child!r}])"
    done = subprocess.run([sys.executable, "-c", parent], capture_output=True, text=True, check=True)  # noqa: S603
    assert 5 < float(done.stdout) < 200
