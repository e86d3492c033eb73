"""`paperscope batch`: question files of every kind, an interrupt, and the output."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.service.cli.conftest import Run


SEED = "In Table 5, what is the entity F1 of the ensemble with seed 2?"
GPU = "On which GPU, and for how many hours, was Qwen2.5-7B fine-tuned?"
RECALL = "In Table 3, what is the recall on the test split under the exact scenario?"
ROWS = [(SEED, "89.80"), (GPU, "The paper does not say."), (RECALL, "0.5")]
FILES = {
    "q.csv": "\ufeffquestion;answer\r\n" + "".join(f'"{text}";"{gold}"\r\n' for text, gold in ROWS),
    "1_qa.jsonl": "".join(
        json.dumps({"question": text, "answer": gold, "type": "text-only", "evidence": "…"}) + "\n"
        for text, gold in ROWS
    ),
}


def cells_of(out: Path) -> list[dict[str, str]]:
    with (out / "answers.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_questions_with_gold_are_scored(run: "Run", example_library: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(FILES[name], encoding="utf-8", newline="")
    shown = run("batch", name, "--library", example_library, "--out", "out")
    assert shown.code == 0
    assert "3 questions: 2 answered, 1 with evidence only\n" in shown.out
    assert "against 3 gold answers: right 2 of 3 (67%), right of answered 1 of 2 (50%), rightly refused 1 of 1" in (
        shown.out
    )
    assert "no model judged" in shown.out
    assert "0 model calls" in shown.out
    seed, gpu, recall = cells_of(tmp_path / "out")
    assert seed["citations"] == "Four Reports, Four Rulers, Table 5, page 4"
    assert "89.80" in seed["answer"]
    assert [row["right"] for row in (seed, gpu, recall)] == ["1.0", "1.0", "0.0"]
    assert [row["question"] for row in (seed, gpu, recall)] == [text for text, _ in ROWS]
    summary = (tmp_path / "out" / "report.md").read_text().partition("\n---\n")[0]
    assert summary.startswith("## Summary\n")
    assert "right 2 of 3" in summary
    assert f"1. {SEED} **answered**: " in summary


@pytest.mark.slow
def test_a_batch_can_be_restricted_to_papers(run: "Run", example_library: Path, tmp_path: Path) -> None:
    own = {"question": RECALL, "filters": {"papers": ["ner-report.pdf"]}}
    (tmp_path / "q.jsonl").write_text(f"{json.dumps({'question': RECALL})}\n{json.dumps(own)}\n")
    shown = run("batch", "q.jsonl", "--library", example_library, "--out", "out", "--paper", "unknown.pdf")
    assert shown.code == 1
    assert "no paper 'unknown.pdf'" in shown.err
    assert [row["status"] for row in cells_of(tmp_path / "out")] == ["error", "answered"]


@pytest.mark.slow
def test_a_list_is_answered_and_a_second_run_asks_nothing(run: "Run", example_library: Path, tmp_path: Path) -> None:
    (tmp_path / "q.md").write_text(f"# Seeds\n\n1. {SEED}\n")
    first = run("batch", "q.md", "--library", example_library, "--out", "out")
    before = (tmp_path / "out" / "answers.jsonl").read_bytes()
    second = run("batch", "q.md", "--library", example_library, "--out", "out")
    assert (first.code, second.code) == (0, 0)
    assert "gold" not in first.out
    assert "1 question: 1 answered\n" in first.out
    assert "1 question: 1 answered (1 from an earlier run)\n" in second.out
    assert (tmp_path / "out" / "answers.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("q.csv", b"Frage,Antwort\nWas?,Das.\n", "exactly one of them 'question'"),
        ("q.py", b"import os\n", "can't tell what it is"),
        ("q.txt", b"\xff\xfeA\x00", "not UTF-8"),
        ("q.json", b'[{"question": "A?"}]', "one object a line"),
    ],
)
def test_a_wrong_file_is_one_message(run: "Run", tmp_path: Path, name: str, data: bytes, says: str) -> None:
    (tmp_path / name).write_bytes(data)
    shown = run("batch", name, "--out", "out")
    assert shown.code == 2
    assert shown.err.startswith(f"error: {name}: ")
    assert says in shown.err
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_answered_and_says_how_to_go_on(example_library: Path, root: Path, tmp_path: Path) -> None:
    questions = root / "examples" / "paper" / "questions.jsonl"
    out = tmp_path / "out"
    command = [sys.executable, "-m", "paperscope", "batch", str(questions), "--out", str(out), "--at-once", "1"]
    process = subprocess.Popen(  # noqa: S603
        [*command, "--library", str(example_library)],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "1000"},
        # Processes that a shell runs in the background, and their children, ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    progress = out / "progress.jsonl"
    deadline = time.monotonic() + 240
    while not (progress.exists() and progress.read_bytes().count(b"\n") > 1) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _out, err = process.communicate(timeout=60)
    kept = progress.read_bytes().count(b"\n")
    assert process.returncode == 130
    assert "Traceback" not in err
    assert f"{kept} of 24 questions are answered and kept in {out}" in err
    assert "run the same command again to continue" in err
    assert 1 < kept < 24
    assert [row["index"] for row in cells_of(out)] == [str(index) for index in range(kept)]
    assert "24 questions: " in (out / "report.md").read_text()
