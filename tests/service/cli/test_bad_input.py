"""Bad input: one clear message, a non-zero exit code, and the rest is done."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pymupdf
import pytest

from graph_store import Store
from paperscope.retries import RetryRounds
from service.batch import BatchRunner

if TYPE_CHECKING:
    from tests.service.cli.conftest import Run


def write_note(file: Path) -> None:
    """A paper of one sentence, quickly parsed."""
    document = pymupdf.open()
    document.new_page().insert_text((72, 72), "A short note on tagging.")
    document.save(file)


def encrypted(file: Path) -> None:
    document = pymupdf.open()
    document.new_page().insert_text((72, 72), "secret")
    document.save(file, encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="u", owner_pw="o")


@pytest.fixture
def bad_files(tmp_path: Path, root: Path) -> Path:
    """A folder of files that can't be read."""
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "empty.pdf").write_bytes(b"")
    (folder / "text.pdf").write_bytes(b"this is no PDF")
    whole = (root / "examples" / "paper" / "ner-report.pdf").read_bytes()
    (folder / "truncated.pdf").write_bytes(whole[:900])
    encrypted(folder / "locked.pdf")
    return folder


@pytest.mark.parametrize("name", ["empty.pdf", "text.pdf", "truncated.pdf", "locked.pdf"])
def test_a_bad_file_is_named_with_a_remedy(run: "Run", bad_files: Path, tmp_path: Path, name: str) -> None:
    outcome = run("add", bad_files / name, "--library", tmp_path / "l")
    assert outcome.code == 1
    assert outcome.err.count("error:") == 1
    assert name in outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.slow
def test_the_good_files_of_a_folder_with_bad_ones_are_added(run: "Run", bad_files: Path, tmp_path: Path) -> None:
    write_note(bad_files / "z.pdf")
    outcome = run("add", bad_files, tmp_path / "absent.pdf", "--library", tmp_path / "l", "--json")
    assert outcome.code == 1
    rows = [json.loads(line) for line in outcome.out.splitlines()]
    assert sorted(row["outcome"] for row in rows) == ["added"] + ["failed"] * 5


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
@pytest.mark.slow
def test_a_name_that_is_not_utf8_stops_no_other_file(run: "Run", tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    write_note(folder / "z.pdf")
    shutil.copy(folder / "z.pdf", folder / os.fsdecode(b"a\xe4.pdf"))
    outcome = run("add", folder, "--library", tmp_path / "l")
    assert outcome.code == 1
    assert "a\\udce4.pdf" in outcome.err
    assert "rename" in outcome.err
    assert outcome.out.startswith("added")
    assert run("add", folder, "--library", tmp_path / "l", "--estimate").code == 1


def test_a_folder_without_papers(run: "Run", tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    outcome = run("add", tmp_path / "none", "--library", tmp_path / "l")
    assert outcome.code == 1
    assert "no paper below this folder" in outcome.err


def test_files_that_a_folder_holds_besides_papers_are_counted(run: "Run", tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    (folder / "latex").mkdir(parents=True)
    write_note(folder / "z.pdf")
    (folder / "latex" / "main.tex").write_text("\\documentclass{article}\\begin{document}A text.\\end{document}")
    for name in ("latex/part.tex", "latex/refs.bib", "notes", "a.csv", "b.csv", ".hidden"):
        (folder / name).write_text("text")
    outcome = run("add", folder, "--library", tmp_path / "l")
    assert "left out 5 files that are not read from a folder: 1 without suffix, 1 .bib, 2 .csv, 1 .tex" in outcome.err
    assert outcome.out.count("added") == 2


def test_a_model_without_an_endpoint(run: "Run", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAPERSCOPE_MODEL", "some-model")
    outcome = run("ask", "Why?")
    assert outcome.code == 2
    assert "base_url" in outcome.err


@pytest.mark.slow
def test_a_dead_endpoint(run: "Run", example_library: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PAPERSCOPE_ANSWER__MODEL", "some-model")
    monkeypatch.setenv("PAPERSCOPE_ANSWER__BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("PAPERSCOPE_CALLS__RETRIES", "0")
    outcome = run("ask", "What is F1?", "--library", example_library)
    assert outcome.code == 4
    assert "127.0.0.1:9" in outcome.err
    assert "some-model" in outcome.err
    runner = partial(BatchRunner, retries=RetryRounds(first_pause=0.01))
    monkeypatch.setattr("service.batch.BatchRunner", runner)
    (tmp_path / "q.jsonl").write_text('{"question": "What is F1?"}')
    outcome = run("batch", tmp_path / "q.jsonl", "--library", example_library, "--out", tmp_path / "out")
    assert outcome.code == 1
    assert json.loads((tmp_path / "out" / "answers.jsonl").read_text())["status"] == "error"


def test_an_absent_question_file(run: "Run", example_library: Path, tmp_path: Path) -> None:
    outcome = run("batch", tmp_path / "absent.jsonl", "--library", example_library, "--out", tmp_path / "out")
    assert outcome.code == 2
    assert "absent.jsonl" in outcome.err


def test_a_library_of_a_newer_version(run: "Run", example_library: Path, tmp_path: Path) -> None:
    library = tmp_path / "newer"
    shutil.copytree(example_library, library)
    with closing(Store.open(library)) as store, store.database.write() as connection:
        connection.exec_driver_sql("UPDATE library SET version = 999")
    outcome = run("papers", "--library", library)
    assert outcome.code == 3
    assert "newer" in outcome.err


def test_a_library_that_is_a_file(run: "Run", tmp_path: Path) -> None:
    (tmp_path / "l").write_text("")
    outcome = run("papers", "--library", tmp_path / "l")
    assert outcome.code == 3
    assert "Traceback" not in outcome.err


@pytest.mark.slow
@pytest.mark.sqlite("takes away the right to write the files of the library")
def test_a_read_only_library_answers_but_takes_no_paper(
    run: "Run",
    example_library: Path,
    guarded_folder: Path,
    unprivileged: Callable[[], AbstractContextManager[None]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(guarded_folder)
    library = guarded_folder / "library"
    shutil.copytree(example_library, library)
    other = guarded_folder / "other.pdf"
    write_note(other)
    # Starts the process that parses, which another user may not be able to start.
    assert run("add", other, "--library", guarded_folder / "first").code == 0
    assert run("ask", "What is F1?", "--library", library).code == 0
    for path in (*library.rglob("*"), library):
        path.chmod(0o555 if path.is_dir() else 0o444)
    with unprivileged():
        assert run("ask", "What is F1?", "--library", library).code == 0
        outcome = run("add", other, "--library", library)
    assert outcome.code == 3
    assert outcome.err.count("error:") == 1
    assert "Traceback" not in outcome.err
