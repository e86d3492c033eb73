"""The page of all suites: a row for each set and mode, and what differs by more than chance is marked."""

import json
from pathlib import Path

import pytest
from paperscope_lab.evaluation.bench import main
from paperscope_lab.evaluation.bench.quality import render_page
from paperscope_lab.evaluation.report import Report, make_report
from paperscope_lab.evaluation.score import ItemResult, Score, Tally


def report_of(mode: str, *values: float, problem: str = "") -> Report:
    results = [
        ItemResult(name=f"set/{number}", key="", score=Score(tallies={"hit@1": Tally(right=value, total=1)}))
        for number, value in enumerate(values)
    ]
    return make_report(
        results, suite="retrieval", mode=mode, seed=0, headline=("hit@1",), problems=[problem] if problem else []
    )


def test_rows_by_set_and_mode_with_marks_for_what_is_no_chance() -> None:
    ours = report_of("fused", *[1.0] * 20)
    peers = [report_of("bm25", *[0.0] * 18, 1.0, 1.0, problem="not installed"), report_of("minilm", *[1.0] * 19, 0.0)]
    page = [" ".join(line.split()) for line in render_page([[ours, *peers]]).splitlines()]
    assert "| set | system | items | hit@1 |" in page
    assert "| set | fused | 20 | 1.0000 (1.0000–1.0000) |" in page
    assert [line for line in page if line.startswith("| set | bm25 | 20 | 0.1000 (") and line.endswith(r")\* |")]
    assert [line for line in page if line.startswith("| set | minilm | 20 | 0.9500 (") and line.endswith(") |")]
    assert page.count("- bm25: not installed") == 1


@pytest.mark.slow
def test_the_command_scores_every_mode_and_resumes(
    short_paper: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "data/papers/example"
    folder.mkdir(parents=True)
    (folder / "paper.pdf").write_bytes(short_paper.read_bytes())
    (folder / "gold.json").write_text(json.dumps({"headings": [{"title": "Introduction"}, {"title": "Nowhere"}]}))
    arguments = ["quality", "--data", str(tmp_path / "data"), "--out", str(tmp_path / "out"), "--suite", "parsing"]
    assert main(arguments) == 0
    page = capsys.readouterr().out
    assert "| papers | pymupdf" in page
    assert (tmp_path / "out" / "parsing-pymupdf" / "parsing.json").is_file()
    assert "0.5000 (0.5000–0.5000)" in page
    assert main(arguments) == 0
    assert capsys.readouterr().out == page
    assert main([*arguments[:2], str(tmp_path / "nowhere"), *arguments[3:]]) == 2
    assert "no gold here" in capsys.readouterr().err
