"""A judge's agreement: computed and shown; and a report that an earlier version wrote."""

import json

import pytest
from paperscope_lab.evaluation.rendering import render_figures
from paperscope_lab.evaluation.report import Report, agreement_of, make_report
from paperscope_lab.evaluation.score import ItemResult, Score, Tally

from paperscope_core.codec import from_json, to_json


def result(name: str, *, right: float, judged: bool | None = None) -> ItemResult:
    tallies = {"right": Tally(right=right, total=1)}
    if judged is not None:
        tallies["judge.right"] = Tally(right=judged, total=1)
    return ItemResult(name=name, key="", score=Score(tallies=tallies))


RESULTS = [
    result("a/1", right=1, judged=True),
    result("a/2", right=1, judged=False),
    result("a/3", right=0, judged=False),
    result("b/1", right=0, judged=False),
    result("b/2", right=0),
]


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


def test_the_report_shows_the_agreement() -> None:
    report = make_report(RESULTS, suite="answers", mode="extractive", seed=0, headline=("right",))
    assert from_json(Report, to_json(report)) == report
    assert "Cohen's kappa" in render_figures(report)
    assert "judge" not in render_figures(make_report(RESULTS[-1:], suite="parsing", mode="pymupdf", seed=0))


def test_a_report_with_what_is_no_longer_measured_is_read() -> None:
    report = make_report(RESULTS, suite="answers", mode="extractive", seed=0)
    old = json.loads(to_json(report)) | {"risks": {"all": {"answers": 1}}}
    old["results"][0]["score"]["graded"] = [{"confidence": 0.9, "loss": 0}]
    assert from_json(Report, json.dumps(old)) == report
