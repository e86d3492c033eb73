"""Running a suite: gold is read, unusable gold is reported, finished items are kept, reports are reproducible."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from paperscope_lab.evaluation.run import run_items
from paperscope_lab.evaluation.score import ItemResult, Score, Tally
from paperscope_lab.evaluation.suite import Item

from paperscope_core.errors import PaperFileError

if TYPE_CHECKING:
    from tests.evaluation.conftest import Evaluate


JOSE = {"title": "T", "sections": [], "paragraphs": [], "tables": [], "figure_captions": [], "n_refs": 0}


@pytest.fixture
def data(tmp_path: Path, short_paper: Path) -> Path:
    """A data folder with a paper and a heading of it."""
    folder = tmp_path / "data" / "papers" / "example"
    folder.mkdir(parents=True)
    shutil.copy(short_paper, folder / "paper.pdf")
    (folder / "gold.json").write_text(json.dumps({"headings": [{"title": "Introduction"}], "figures": 3}))
    return tmp_path / "data"


@pytest.mark.slow
def test_a_run_reports_and_resumes(
    data: Path, tmp_path: Path, evaluate: "Evaluate", capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    arguments = ("parsing", "--data", data, "--out", out)
    assert evaluate(*arguments) == 0
    first = {file.name: file.read_bytes() for file in out.iterdir() if file.is_file()}
    assert set(first) == {f"parsing.{kind}" for kind in ("jsonl", "md", "json", "progress.jsonl")}
    report = json.loads(first["parsing.json"])
    found = {"right": 1, "total": 1, "value": 1, "low": 1, "high": 1, "items": 1}
    assert report["figures"]["all"]["headings.found"] == report["figures"]["papers"]["headings.found"] == found
    assert report["provenance"]["revision"]
    assert report["provenance"]["code"]
    assert report["provenance"]["facts"]["layout"].endswith("papers (not in papers/)")
    assert report["provenance"]["facts"]["fields"] == "left out (no papers/fields)"
    assert json.loads(first["parsing.jsonl"])["name"] == "papers/example"
    assert evaluate(*arguments) == 0
    assert {file.name: file.read_bytes() for file in out.iterdir() if file.is_file()} == first
    assert "# Suite parsing, mode pymupdf" in capsys.readouterr().out


@pytest.mark.slow
def test_the_mode_and_the_named_sets_choose_what_is_measured(
    data: Path, evaluate: "Evaluate", capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate("parsing", "--data", data, "--mode", "pymupdf", "--json") == 0
    assert json.loads(capsys.readouterr().out)["mode"] == "pymupdf"
    assert evaluate("parsing", "--data", data, "--mode", "guess") == 2
    assert "suite parsing has no mode 'guess'; there is pymupdf" in capsys.readouterr().err
    assert evaluate("parsing", "--data", data, "--only", "layout-development") == 2
    assert "the PDFs whose pages were drawn are not there: " in capsys.readouterr().err
    assert evaluate("parsing", "--data", data, "--only", "fields") == 2
    assert "the papers of many fields are not there: papers/fields" in capsys.readouterr().err


@pytest.mark.slow
def test_bad_gold_and_bad_papers_do_not_stop_the_rest(
    data: Path, evaluate: "Evaluate", capsys: pytest.CaptureFixture[str]
) -> None:
    broken = data / "papers" / "broken"
    broken.mkdir()
    (broken / "paper.pdf").write_bytes(b"%PDF-1.5 nothing")
    (broken / "gold.json").write_text("{}")
    wrong = data / "papers" / "wrong"
    wrong.mkdir()
    (wrong / "paper.pdf").write_bytes(b"%PDF-1.5")
    (wrong / "gold_tables.json").write_text('{"tables": [{"number": 1}]}')
    (data / "eval").mkdir()
    lines = [json.dumps(JOSE | {"id": "nobody"}), json.dumps({"id": "x"}), "{"]
    (data / "eval" / "parse_jose_jats.jsonl").write_text("\n".join(lines))
    test = {"id": "t", "pdf": "none.pdf", "page": 1, "type": "present", "text": "x"}
    (data / "eval" / "parse_olmocr_unit_tests.jsonl").write_text(json.dumps(test))
    cell = {"doc": "none", "table": 1, "caption": "c", "row": "r", "col": "c", "answer": "1"}
    (data / "eval" / "tablecells_latex.jsonl").write_text(json.dumps(cell))
    assert evaluate("parsing", "--data", data, "--misses") == 1
    report = capsys.readouterr().out
    for said in (
        "papers/broken: 'paper.pdf' is damaged",
        "gold_tables.json: field 'tables.0.grid' is missing",
        "parse_jose_jats.jsonl:1: unknown paper 'nobody.pdf'",
        "parse_jose_jats.jsonl:2: field 'title' is missing",
        "parse_jose_jats.jsonl:3: Invalid JSON",
        "parse_olmocr_unit_tests.jsonl:1: unknown paper 'none.pdf'",
        "tablecells_latex.jsonl:1: unknown paper 'none'",
        "**papers/example**: headings.found 1/1",
    ):
        assert said in report, said


def test_an_unknown_paper_is_refused(data: Path, evaluate: "Evaluate", capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate("parsing", "--data", data, "--only", "nobody") == 2
    assert "no gold for 'nobody'; there is papers/example" in capsys.readouterr().err


def test_a_folder_without_gold_is_refused(
    tmp_path: Path, evaluate: "Evaluate", capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate("parsing", "--data", tmp_path) == 2
    assert "no gold here" in capsys.readouterr().err


class Scorer:
    """Scores an item, and counts the calls."""

    def __init__(self, *, fails: bool = False) -> None:
        self.fails = fails
        self.calls = 0

    def __call__(self) -> Score:
        self.calls += 1
        if self.fails:
            raise PaperFileError("damaged")
        return Score(tallies={"m": Tally(right=1, total=2)})


def run(kept: Path, *items: Item, settings: str = "s") -> list[ItemResult]:
    seen: list[ItemResult] = []
    results = run_items(items, settings=settings, progress=kept, on_item=seen.append)
    assert seen == results
    return results


def test_finished_items_are_kept_unless_something_changed(tmp_path: Path) -> None:
    kept = tmp_path / "run.jsonl"
    good, bad = Scorer(), Scorer(fails=True)
    items = [Item(name="good", score=good, gold="1"), Item(name="bad", score=bad)]
    first = run(kept, *items)
    assert [result.problem for result in first] == ["", "damaged"]
    assert run(kept, *items) == first
    assert (good.calls, bad.calls) == (1, 2)
    run(kept, replace(items[0], gold="2"))
    run(kept, items[0], settings="t")
    (tmp_path / "paper.pdf").write_bytes(b"%PDF")
    run(kept, replace(items[0], files=[tmp_path / "paper.pdf"]))
    assert good.calls == 4
    run(kept, *items[:1])
    assert good.calls == 4


def test_an_unforeseen_error_is_reported_with_its_item(tmp_path: Path) -> None:
    def score() -> Score:
        raise KeyError("percentage")

    bad, good = run(tmp_path / "run.jsonl", Item(name="bad", score=score), Item(name="good", score=Scorer()))
    assert "KeyError('percentage')" in bad.problem
    assert "test_run.py:" in bad.problem
    assert good.score.tallies["m"].right == 1


def test_a_torn_last_line_is_passed_over(tmp_path: Path) -> None:
    kept = tmp_path / "run.jsonl"
    scorers = Scorer(), Scorer()
    items = [Item(name=str(number), score=scorer) for number, scorer in enumerate(scorers)]
    run(kept, *items)
    kept.write_bytes(kept.read_bytes()[:-20])
    run(kept, *items)
    run(kept, *items)
    assert [scorer.calls for scorer in scorers] == [1, 2]


def test_a_finished_item_may_quote_any_line_separator(tmp_path: Path) -> None:
    kept = tmp_path / "run.jsonl"
    scorer = Scorer()
    run(kept, Item(name="a\u2028b\x85", score=scorer))
    run(kept, Item(name="a\u2028b\x85", score=scorer))
    assert scorer.calls == 1


def test_scores_add_up() -> None:
    score = Score(tallies={"m": Tally(right=1, total=2)}) + Score(tallies={"m": Tally(right=1, total=1)})
    assert score.tallies["m"] == Tally(right=2, total=3)
    assert Tally(right=0, total=0).share == 1
