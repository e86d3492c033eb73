"""Risk over coverage and a judge's agreement: computed, shown, drawn."""

from pathlib import Path

import pytest
from paperscope_lab.evaluation.metrics.selective import risk_of
from paperscope_lab.evaluation.rendering import draw_plots, render_figures
from paperscope_lab.evaluation.report import Report, agreement_of, grades_of, make_report
from paperscope_lab.evaluation.score import Graded, ItemResult, Score, Tally

from paperscope_core.codec import from_json, to_json


def result(name: str, *, right: float, confidence: float | None = None, judged: bool | None = None) -> ItemResult:
    tallies = {"right": Tally(right=right, total=1)}
    if judged is not None:
        tallies["judge.right"] = Tally(right=judged, total=1)
    graded = () if confidence is None else (Graded(confidence=confidence, loss=1 - right),)
    return ItemResult(name=name, key="", score=Score(tallies=tallies, graded=graded))


RESULTS = [
    result("a/1", right=1, confidence=0.9, judged=True),
    result("a/2", right=1, confidence=0.8, judged=False),
    result("a/3", right=0, confidence=0.4, judged=False),
    result("b/1", right=0, confidence=0.2, judged=False),
    result("b/2", right=0),
]


def test_the_risk_grows_with_coverage() -> None:
    risk = risk_of(grades_of(RESULTS))
    assert risk is not None
    assert risk.answers == 4
    assert risk.at == {"25 %": 0, "50 %": 0, "75 %": pytest.approx(1 / 3), "100 %": 0.5}
    assert risk.aurc == pytest.approx((0 + 0 + 1 / 3 + 1 / 2) / 4)
    assert risk.excess_aurc == pytest.approx(0)
    assert risk_of(grades_of(RESULTS[-1:])) is None


def test_kappa_of_constant_verdicts_is_zero() -> None:
    found = agreement_of([result("a/1", right=1, judged=True), result("a/2", right=1, judged=True)])
    assert found is not None
    assert (found.share, found.kappa) == (1, 0)


def test_only_judged_items_agree_or_not() -> None:
    found = agreement_of(RESULTS)
    assert found is not None
    assert (found.items, found.share) == (4, 0.75)
    assert found.kappa == pytest.approx(0.5)
    assert agreement_of(RESULTS[-1:]) is None


def test_the_report_shows_and_draws_them(tmp_path: Path) -> None:
    report = make_report(RESULTS, suite="answers", mode="extractive", seed=0, headline=("right",))
    assert list(report.risks) == ["all", "a", "b"]
    assert from_json(Report, to_json(report)) == report
    shown = render_figures(report)
    assert "## Risk and coverage" in shown
    assert "risk at 25 %" in shown
    assert "Cohen's kappa" in shown
    files = draw_plots(report, tmp_path)
    assert [file.name for file in files] == ["answers.png", "answers-risk.png"]
    assert files[1].read_bytes().startswith(b"\x89PNG")


def test_a_report_without_grades_says_nothing_of_them(tmp_path: Path) -> None:
    report = make_report(RESULTS[-1:], suite="parsing", mode="pymupdf", seed=0, headline=("right",))
    assert "Risk and coverage" not in render_figures(report)
    assert "judge" not in render_figures(report)
    assert [file.name for file in draw_plots(report, tmp_path)] == ["parsing.png"]
