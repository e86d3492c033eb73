"""Risk over coverage and a judge's agreement: computed, shown, drawn."""

from pathlib import Path

import pytest
from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped,unused-ignore]

from evaluation.rendering import draw_plots, render_figures
from evaluation.report import ItemResult, Report, agreement_of, cohen_kappa, make_report, risk_of
from evaluation.score import Graded, Score, Tally
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
    risk = risk_of(RESULTS)
    assert risk is not None
    assert risk.answers == 4
    assert risk.at == {"25 %": 0, "50 %": 0, "75 %": pytest.approx(1 / 3), "100 %": 0.5}
    assert risk.aurc == pytest.approx((0 + 0 + 1 / 3 + 1 / 2) / 4)
    assert risk.excess_aurc == pytest.approx(0)
    assert risk_of(RESULTS[-1:]) is None


@pytest.mark.parametrize(
    "pairs",
    [
        [(True, True), (True, False), (False, False), (False, False)],
        [(True, False), (False, True), (True, True)],
        [(True, True), (False, False)],
    ],
)
def test_kappa_is_scikit_learns(pairs: list[tuple[bool, bool]]) -> None:
    one, two = zip(*pairs, strict=True)
    assert cohen_kappa(pairs) == pytest.approx(cohen_kappa_score(one, two))


def test_kappa_of_raters_who_never_differ_in_themselves_is_nothing() -> None:
    assert cohen_kappa([(True, True), (True, True)]) == 0


def test_kappa_of_cohens_worked_figures() -> None:
    # Two raters, 50 cases: 20 yes by both, 15 no by both, 5 and 10 apart; p_o 0.7, p_e 0.5.
    pairs = [(True, True)] * 20 + [(True, False)] * 5 + [(False, True)] * 10 + [(False, False)] * 15
    assert cohen_kappa(pairs) == pytest.approx(0.4)


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
