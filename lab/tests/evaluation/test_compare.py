"""Two runs side by side, and what they leave on disk."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from paperscope_lab.evaluation.compare import compare, compare_runs, render_comparison
from paperscope_lab.evaluation.rendering import number, render_figures, render_report, table
from paperscope_lab.evaluation.report import Report, load_reports, make_report
from paperscope_lab.evaluation.score import ItemResult, Miss, Score, Tally

from paperscope_core.errors import InputError

if TYPE_CHECKING:
    from tests.evaluation.conftest import Evaluate


def report_of(values: dict[str, float], *, suite: str = "retrieval", mode: str = "words") -> Report:
    results = [
        ItemResult(
            name=name,
            key=name,
            score=Score(
                tallies={
                    "hit@1": Tally(right=value, total=1),
                    "seconds": Tally(right=value, total=1),
                    "never": Tally(right=0, total=0),
                },
                misses=(Miss(metric="hit@1", what="the question", gold="a|b", got="c"),) if value < 1 else (),
            ),
        )
        for name, value in values.items()
    ]
    failed = ItemResult(name="set/broken", key="k", problem="damaged")
    return make_report([*results, failed], suite=suite, mode=mode, seed=0, headline=("hit@1", "absent"))


A = {f"one/{number}": float(number % 2) for number in range(20)}
B = {f"one/{number}": 1.0 for number in range(20)}


def test_figures_by_set_times_apart_and_what_failed() -> None:
    shown = render_figures(report_of(A | {"two/1": 1.0}))
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    assert "| set | items | hit@1 |" in lines
    assert "| one | 20 | 0.5000 |" in lines
    assert "| two | 1 | 1.0000 |" in lines
    assert "| all | 21 | 0.5238 |" in lines
    assert lines.index("## Over all items") < lines.index("## Times (they vary from run to run)")
    assert not [line for line in lines if line.startswith("| never")]
    assert "- set/broken: damaged" in lines


def test_the_full_report_holds_every_item_and_miss() -> None:
    shown = render_report(report_of(A))
    assert "- **one/1**: hit@1 1/1, seconds 1/1" in shown
    assert "- hit@1, the question: 'a\\|b' → 'c'" in shown


def test_a_comparison_pairs_the_items_of_both() -> None:
    found = compare(report_of(A), report_of(B | {"one/99": 0.0}))
    assert set(found.metrics) == {"hit@1", "never"}
    difference = found.metrics["hit@1"]
    assert (difference.items, difference.a, difference.b, difference.value) == (20, 0.5, 1, 0.5)
    assert 0.2 < difference.low < 0.5 < difference.high < 0.8
    assert difference.p < 0.01
    assert found.apart == ("one/99",)
    shown = render_comparison(found)
    assert "+0.5000" in shown
    assert "Left out, as only one run scored them: 1 items (one/99" in shown
    assert found == compare(report_of(A), report_of(B | {"one/99": 0.0}))


def test_runs_that_share_nothing_are_refused() -> None:
    with pytest.raises(InputError, match="share no item"):
        compare(report_of(A), report_of({"other/1": 1.0}))
    with pytest.raises(InputError, match="share no suite: A has retrieval, B has parsing"):
        compare_runs([report_of(A)], [report_of(A, suite="parsing")])


def test_the_command_compares_folders_and_files(
    tmp_path: Path, evaluate: "Evaluate", capsys: pytest.CaptureFixture[str]
) -> None:
    for name, values in (("a", A), ("b", B)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "retrieval.json").write_text(report_of(values, mode=name).to_json())
    assert load_reports(tmp_path / "a") == [report_of(A, mode="a")]
    assert evaluate("compare", tmp_path / "a", tmp_path / "b" / "retrieval.json") == 0
    assert "# Suite retrieval: B against A" in capsys.readouterr().out
    assert evaluate("compare", tmp_path / "a", tmp_path / "b", "--json") == 0
    assert json.loads(capsys.readouterr().out)[0]["metrics"]["hit@1"]["b"] == 1
    (tmp_path / "empty").mkdir()
    assert evaluate("compare", tmp_path / "a", tmp_path / "empty") == 2
    assert "no report of an evaluation in it" in capsys.readouterr().err
    (tmp_path / "broken.json").write_text("{}")
    assert evaluate("compare", tmp_path / "broken.json", tmp_path / "a") == 2
    assert "broken.json: no report of an evaluation" in " ".join(capsys.readouterr().err.split())


def test_a_table_is_markdown_with_equal_columns() -> None:
    assert table(["a", "b"], [["x|y", "1"], ["z", "22"]]) == [
        "| a    |   b |",
        "| ---- | --: |",
        "| x\\|y |   1 |",
        "| z    |  22 |",
    ]
    assert [number(value) for value in (0, 1, 0.5, 12, 12.5)] == ["0.0000", "1.0000", "0.5000", "12", "12.5000"]
