"""`paperscope parse` on the example paper and on bad input."""

import csv
import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import pymupdf
import pytest

from ingest.export import read_paper_json

if TYPE_CHECKING:
    from tests.service.cli.conftest import Run


@pytest.fixture
def example(root: Path) -> Path:
    return root / "examples" / "paper" / "ner-report.pdf"


@pytest.fixture
def note(tmp_path: Path) -> Path:
    """A paper of one page, quickly read."""
    file = tmp_path / "note.pdf"
    save(file)
    return file


def save(file: Path, *, text: str = "A short note on tagging.", **options: object) -> None:
    document = pymupdf.open()
    document.new_page(width=300, height=200).insert_text((30, 60), text)
    document.save(file, **options)


def encrypted(file: Path) -> Path:
    save(file, encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="sesame", owner_pw="owner")
    return file


@pytest.mark.slow
def test_the_example_paper_becomes_files(run: "Run", example: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    outcome = run("parse", example, "--out", out, "--overlay")
    assert outcome.code == 0, outcome.err
    assert "Four Reports, Four Rulers" in outcome.out
    assert "7 pages, 29 sections, 9 tables, 3 figures, 10 equations, 18 references" in outcome.out
    assert str(out) in outcome.out
    paper = read_paper_json((out / "paper.json").read_bytes())
    assert len(list((out / "overlay").glob("*.png"))) == len(paper.pages) == 7
    with (out / "tables" / "table-5.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["", "RoBERTa-base", "", "RoBERTa-large", "", "Ensemble", ""]
    assert rows[1][0] == "Seed"
    assert rows[3][5] == "89.80"
    assert (out / "paper.md").read_text(encoding="utf-8").startswith("# Four Reports")
    for name in ("tables/table-5.png", "figures/figure-1.png", "equations/equation-1.png", "paper.html"):
        assert (out / name).stat().st_size > 100
    assert not (tmp_path / "library").exists()


def test_several_files_get_a_folder_each_and_a_bad_one_does_not_stop_the_rest(
    run: "Run", note: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "more"
    folder.mkdir()
    save(folder / "NOTE.pdf")
    (folder / "bad.pdf").write_bytes(b"no PDF")
    outcome = run("parse", note, folder, tmp_path / "absent.pdf", "--out", tmp_path / "out", "--format", "json")
    assert outcome.code == 1
    assert outcome.err.count("error:") == 2
    assert "Traceback" not in outcome.err
    found = sorted(path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.json"))
    assert [name for name in found if "paperscope" not in name] == ["NOTE-2/paper.json", "note/paper.json"]


def test_a_folder_with_one_paper_still_gives_it_a_folder(run: "Run", tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    save(tmp_path / "papers" / "...pdf")
    outcome = run("parse", tmp_path / "papers", "--out", tmp_path / "out", "--format", "markdown")
    assert outcome.code in (0, 1)
    assert {path.name for path in tmp_path.iterdir()} == {"papers", "out"}


def test_json_without_a_folder_prints_the_paper(run: "Run", note: Path, tmp_path: Path) -> None:
    outcome = run("parse", note, "--json")
    assert read_paper_json(outcome.out).file == "note.pdf"
    assert {path.name for path in tmp_path.iterdir()} == {"note.pdf"}


def test_json_with_a_folder_prints_a_row_for_each_file(run: "Run", note: Path, tmp_path: Path) -> None:
    outcome = run("parse", note, tmp_path / "absent.pdf", "--json", "--out", tmp_path / "out")
    rows = [json.loads(line) for line in outcome.out.splitlines()]
    assert [row["outcome"] for row in rows] == ["failed", "parsed"]
    assert rows[1]["pages"] == 1
    assert "paper.json" in rows[1]["files"]


def test_without_a_folder_there_is_nothing_to_do(run: "Run", note: Path) -> None:
    for options in ([], ["--json", "--overlay"]):
        outcome = run("parse", note, *options)
        assert outcome.code == 2
        assert "--out" in outcome.err


def test_an_unknown_format_names_those_there_are(run: "Run", note: Path, tmp_path: Path) -> None:
    outcome = run("parse", note, "--out", tmp_path / "out", "--format", "json,docx")
    assert outcome.code == 2
    assert "'docx'; choose among json, markdown, html, csv" in outcome.err
    assert not (tmp_path / "out").exists()


def test_a_second_run_replaces_the_first(run: "Run", note: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for _ in range(2):
        assert run("parse", note, "--out", out).code == 0
    (out / "paper.md").unlink()
    assert run("parse", note, "--out", out).code == 0
    assert (out / "paper.md").exists()


def test_a_file_that_parse_did_not_write_is_kept_and_named(run: "Run", note: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "paper.md").write_text("mine")
    outcome = run("parse", note, "--out", tmp_path / "out")
    assert outcome.code == 1
    assert outcome.err.count("error:") == 1
    assert "no earlier run wrote it" in outcome.err
    assert (tmp_path / "out" / "paper.md").read_text() == "mine"


def test_the_folder_is_a_file(run: "Run", note: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    outcome = run("parse", note, "--out", tmp_path / "out")
    assert outcome.code == 3
    assert "part of this path is a file" in outcome.err
    assert (tmp_path / "out").read_text() == "mine"


def test_a_folder_that_may_not_be_written(
    run: "Run",
    guarded_folder: Path,
    unprivileged: Callable[[], AbstractContextManager[None]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    save(guarded_folder / "note.pdf")
    (guarded_folder / "out").mkdir()
    (guarded_folder / "out").chmod(0o555)
    monkeypatch.chdir(guarded_folder)
    with unprivileged():
        outcome = run("parse", guarded_folder / "note.pdf", "--out", guarded_folder / "out")
        below = run("parse", guarded_folder / "note.pdf", "--out", guarded_folder / "out" / "below")
    assert (outcome.code, below.code) == (1, 3)
    for tried in (outcome, below):
        assert tried.err.count("error:") == 1
        assert "choose a folder that you may write" in tried.err
        assert "Traceback" not in tried.err


def test_an_encrypted_file_needs_its_password(run: "Run", tmp_path: Path) -> None:
    file = encrypted(tmp_path / "locked.pdf")
    out = tmp_path / "out"
    without = run("parse", file, "--out", out)
    assert without.code == 1
    assert "--password" in without.err
    wrong = run("parse", file, "--out", out, "--password", "open")
    assert wrong.code == 1
    assert "does not open it" in wrong.err
    assert "open'" not in wrong.err
    right = run("parse", file, "--out", out, "--password", "sesame", "--overlay")
    assert right.code == 0
    assert (out / "overlay" / "page-01.png").exists()


def test_the_password_may_stand_in_a_file(run: "Run", tmp_path: Path) -> None:
    file = encrypted(tmp_path / "locked.pdf")
    (tmp_path / "secret").write_text("sesame\n")
    assert run("parse", file, "--json", "--password-file", tmp_path / "secret").code == 0
    assert run("add", file, "--library", tmp_path / "l", "--password-file", tmp_path / "secret").code == 0
    for options in (["--password-file", tmp_path / "absent"], ["--password", "a", "--password-file", "b"]):
        outcome = run("parse", file, "--json", *options)
        assert outcome.code == 2
        assert "--password-file" in outcome.err
    (tmp_path / "empty").write_text("")
    assert "is empty" in run("parse", file, "--json", "--password-file", tmp_path / "empty").err


def test_the_settings_apply(run: "Run", note: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other.toml").write_text("[limits]\nmax_pages = 1\nmax_file_mb = 1\n")
    note.write_bytes(note.read_bytes() + b"\n" * 2_000_000)
    outcome = run("parse", note, "--json", "--config", tmp_path / "other.toml")
    assert outcome.code == 1
    assert "over the limit of 1 MB" in outcome.out


def test_a_fault_of_the_parser_is_one_files_fault(
    run: "Run", note: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object, **_options: object) -> None:
        raise ZeroDivisionError("a rule broke")

    monkeypatch.setattr("ingest.sandbox.isolated_parser.IsolatedParser.parse", fail)
    outcome = run("parse", note, "--out", tmp_path / "out")
    assert outcome.code == 1
    assert "ZeroDivisionError: a rule broke" in outcome.err


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_finished(example: Path, root: Path, tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    save(papers / "a.pdf")
    for number in range(8):
        shutil.copy(example, papers / f"b{number}.pdf")
    command = [sys.executable, "-m", "paperscope", "parse", str(papers), "--out", str(tmp_path / "out")]
    process = subprocess.Popen(  # noqa: S603
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Processes that a shell runs in the background, and their children, ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "out" / "a" / "paper.html").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in err
    assert b"stopped: what is finished is kept" in err
    assert read_paper_json((tmp_path / "out" / "a" / "paper.json").read_bytes()).file == "a.pdf"
    assert not list((tmp_path / "out").rglob("*.tmp"))
