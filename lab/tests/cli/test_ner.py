"""`paperscope ner`: data in, counts and problems out."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.service.cli.conftest import Run

TRAIN = "-DOCSTART- O\n\nAda B-PER\nran O\n\nBob B-PER\nran O\n"
TEST = "Ada B-PER\nran O\n\nEve B-PER\nsat I-LOC\n"


def write(folder: Path) -> tuple[Path, Path]:
    (folder / "train.txt").write_text(TRAIN)
    (folder / "test.txt").write_text(TEST)
    return folder / "train.txt", folder / "test.txt"


def test_data_is_imported_counted_and_checked(run: "Run", tmp_path: Path) -> None:
    train, test = write(tmp_path)
    imported = run("ner", "data", "import", test, "--out", tmp_path / "test.jsonl")
    assert imported.out == f"{tmp_path / 'test.jsonl'}: 2 examples, 3 entities (columns, IOB2)\n"
    assert "1 tags that break IOB2, first on line 5" in imported.err
    stats = json.loads(run("ner", "data", "stats", train, tmp_path / "test.jsonl", "--json").out)
    assert stats["files"][str(train)]["labels"] == {"PER": 2}
    assert stats["shared"][str(tmp_path / "test.jsonl")]["examples"] == 1
    assert "3 sentences and 5 tokens if lines -DOCSTART- count (1)" in run("ner", "data", "stats", train).out
    (tmp_path / "last.txt").write_text(f"{TRAIN}\n-DOCSTART- O\n")
    assert "4 sentences and 6 tokens if" in run("ner", "data", "stats", tmp_path / "last.txt").out
    checked = run("ner", "data", "validate", train, test)
    assert checked.code == 1
    assert f"{test}: 1 texts are also in {train}" in checked.out
    assert run("ner", "data", "validate", train).out == "no problems\n"


@pytest.mark.parametrize("scheme", ["IOB1", "IOB2", "BIOES"])
def test_data_are_exported_as_columns(run: "Run", tmp_path: Path, scheme: str) -> None:
    first, again = tmp_path / "first.jsonl", tmp_path / "again.jsonl"
    run("ner", "data", "import", write(tmp_path)[0], "--out", first)
    assert run("ner", "data", "export", first, "-o", tmp_path / "out.txt", "--scheme", scheme).code == 0
    run("ner", "data", "import", tmp_path / "out.txt", "--out", again)
    assert again.read_text().replace("out.txt", "train.txt") == first.read_text()
    line = '{"id":"1","text":"a bc","tokens":[[0,1],[2,4]],"spans":[{"start":2,"end":3,"label":"X"}]}'
    first.write_text(line + "\n")
    assert "! 1 entities that tags can't say" in run("ner", "data", "export", first, "-o", tmp_path / "out.txt").err
    assert (tmp_path / "out.txt").read_text() == "a O\nbc O\n\n"


def test_a_broken_file_exits_with_2(run: "Run", tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text("Ada X-PER\n")
    found = run("ner", "data", "stats", tmp_path / "bad.txt")
    assert (found.code, found.out) == (2, "")
    assert "bad.txt:1: 'X-PER' is no tag" in found.err


def test_predictions_are_scored_and_gates_decide_the_exit_code(run: "Run", tmp_path: Path) -> None:
    _, gold = write(tmp_path)
    (tmp_path / "found.txt").write_text("Ada I-PER\nran O\n\nEve B-PER\nsat B-LOC\n")
    found = run("ner", "eval", gold, tmp_path / "found.txt", "--json", "--out", tmp_path / "report")
    assert found.code == 0
    scores = {one["scorer"]: one["micro"] for one in json.loads(found.out)["scores"]}
    assert scores["seqeval default"]["f1"] == 1
    assert scores["seqeval strict"]["correct"] == 2
    assert (tmp_path / "report/report.md").read_text().startswith("## found.txt")
    failed = run("ner", "eval", gold, tmp_path / "found.txt", "--selected-on", gold)
    assert failed.code == 1
    assert "**Gate failed:** the data were used for selection: 2 of 2 texts" in failed.out
    (tmp_path / "short.txt").write_text("Ada I-PER\nran O\n")
    assert "short.txt: 1 sentences, but the gold has 2" in run("ner", "eval", gold, tmp_path / "short.txt").err


def test_every_command_scores_the_tags_that_were_predicted(run: "Run", tmp_path: Path) -> None:
    (tmp_path / "gold.txt").write_text("New I-LOC\nYork I-LOC\n\nAda I-PER\nran O\n")
    (tmp_path / "bioes.txt").write_text("New B-LOC\nYork E-LOC\n\nAda I-PER\nran O\n")
    files = (tmp_path / "gold.txt", tmp_path / "bioes.txt")

    def strict(*options: str) -> dict[str, object]:
        (score,) = (
            one for one in json.loads(run("ner", *options, "--json").out)["scores"] if one["scorer"] == "seqeval strict"
        )
        return {"mode": score["mode"], "correct": score["micro"]["correct"], "predicted": score["micro"]["predicted"]}

    assert strict("eval", *map(str, files)) == {"mode": "BIOES, orphans dropped", "correct": 1, "predicted": 1}
    assert strict("eval", *map(str, files), "--scheme", "IOB1")["predicted"] == 1
    compared = json.loads(run("ner", "compare", files[0], f"a={files[0]}", f"b={files[1]}", "--json").out)
    assert [one["scores"][-1]["micro"]["predicted"] for one in compared["systems"]] == [2, 1]
    reported = run("ner", "report", "spans", files[0], f"b={files[1]}").out
    assert "seqeval strict (BIOES, orphans dropped)" in reported
    assert "| micro avg | 1.0000 | 0.5000 | 0.6667 | 2 |" in reported


def test_reports_are_audited(run: "Run", tmp_path: Path) -> None:
    (tmp_path / "wrong.md").write_text(
        "| Model | Precision | Recall | F1 |\n|---|---|---|---|\n| x | 0.80 | 0.60 | 0.70 |\n"
    )
    found = run("ner", "audit", tmp_path / "wrong.md")
    assert (found.code, found.out.split(": ")[:3]) == (1, [f"{tmp_path / 'wrong.md'}:3", "contradiction", "x"])
    (listed,) = json.loads(run("ner", "audit", tmp_path / "wrong.md", "--json").out).values()
    assert [one["line"] for one in listed] == [3]
    (tmp_path / "right.md").write_text("We reach 0.70.\n")
    train, _ = write(tmp_path)
    assert run("ner", "audit", tmp_path / "right.md", "--gold", "5", "--data", train).out == "nothing found\n"


def test_systems_are_reported_in_short_forms(run: "Run", tmp_path: Path) -> None:
    _, gold = write(tmp_path)
    (tmp_path / "found.txt").write_text("Ada B-PER\nran O\n\nEve B-PER\nsat O\n")
    printed = run("ner", "report", "levels", gold, f"perfect={gold}", tmp_path / "found.txt")
    assert printed.code == 0
    assert "### perfect\n" in printed.out
    assert "| Entity level | 3 | 2 | 0 | 1 | 1.0000 | 0.6667 | 0.8000 |" in printed.out
    found = run("ner", "report", "pair", gold, gold, "--out", tmp_path / "pair.md")
    assert "a pair is two systems, not 1" in found.err
    assert "two systems are named test.txt" in run("ner", "report", "levels", gold, gold, gold).err


@pytest.mark.slow
def test_systems_are_compared(run: "Run", tmp_path: Path) -> None:
    _, gold = write(tmp_path)
    (tmp_path / "found.txt").write_text("Ada B-PER\nran O\n\nEve B-PER\nsat O\n")
    found = run("ner", "compare", gold, f"perfect={gold}", tmp_path / "found.txt", "--out", tmp_path / "out")
    assert found.code == 0
    assert "no significant winner between perfect and found.txt in entity F1 (offsets and label): +0.2000" in found.out
    assert json.loads((tmp_path / "out/comparison.json").read_text())["errors"][0]["only_a"] == ["test.txt-2"]
    assert (tmp_path / "out/comparison.md").is_file()
    assert "two or more systems" in run("ner", "compare", gold, gold).err
