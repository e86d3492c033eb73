"""Comparisons: equal systems have no winner, real differences are found, equal figures are one."""

from dataclasses import replace
from pathlib import Path

import pytest
from paperscope_lab.ner.comparison import (
    Comparison,
    compare,
    comparison_markdown,
    draw,
    learning_curves,
)
from paperscope_lab.ner.evaluating import evaluate
from paperscope_lab.ner.run_records import RunRecord

from ingest.extraction.recognizer.examples import Example, Span

GOLD = [
    Example(
        id=str(number),
        text="Ada saw Rome",
        tokens=((0, 3), (4, 7), (8, 12)),
        spans=(Span(start=0, end=3, label="PER"), Span(start=8, end=12, label="LOC")),
    )
    for number in range(40)
]


def without(numbers: range) -> list[Example]:
    """Predictions that miss the place in some examples."""
    return [replace(one, spans=one.spans[:1]) if at in numbers else one for at, one in enumerate(GOLD)]


@pytest.mark.slow
def test_a_real_difference_is_found_and_a_small_one_is_no_win() -> None:
    found = compare(GOLD, {"good": without(range(2)), "other": without(range(1, 4)), "bad": without(range(30))})
    assert [verdict.partition(":")[0] for verdict in found.verdicts] == [
        "no significant winner between good and other in entity F1 (offsets and label)",
        "good is better than bad in entity F1 (offsets and label)",
        "other is better than bad in entity F1 (offsets and label)",
    ]
    assert all(": +0." in verdict and "[-0." not in verdict for verdict in found.verdicts[1:])
    difference = next(one for one in found.differences if (one.a, one.b) == ("good", "bad"))
    assert difference.difference.low < difference.difference.value < difference.difference.high < 0
    assert difference.difference.p <= difference.difference.p_adjusted < 0.05
    place = next(one for one in found.differences if one.metric == "entity, F1 of PER" and one.b == "bad")
    assert (place.difference.value, place.significant) == (0, False)


def test_differences_are_those_of_the_figures() -> None:
    foreign = [replace(GOLD[0], spans=(*GOLD[0].spans, Span(start=4, end=7, label="ACT"))), *GOLD[1:]]
    found = compare(GOLD, {"foreign": foreign, "weak": without(range(20))})
    macro = next(one.values for one in found.metrics if "entity, macro F1" in one.names)
    by_metric = {one.metric: one.difference for one in found.differences}
    difference = by_metric["entity, macro F1"]
    assert (difference.a, difference.b) == pytest.approx((macro["foreign"], macro["weak"]))
    # Neither the gold nor one of the systems has this label: it is no success.
    assert (by_metric["entity, F1 of ACT"].a, by_metric["entity, F1 of ACT"].b) == (0, 0)


def test_equal_figures_are_one_row() -> None:
    found = compare(GOLD, {"a": without(range(2)), "b": without(range(4))})
    names = next(metric.names for metric in found.metrics if "entity, micro F1" in metric.names)
    assert {"nervaluate strict, micro F1", "seqeval strict, micro F1", "entity multiset, micro F1"} <= {*names}
    assert sum(len(metric.names) for metric in found.metrics) == 11 * 4 + 2
    assert len(found.metrics) < 20


def test_errors_are_compared_by_example() -> None:
    found = compare(GOLD, {"a": without(range(2)), "b": without(range(1, 3))})
    (errors,) = found.errors
    assert (errors.only_a, errors.only_b, errors.neither) == (["2"], ["0"], ["1"])
    assert found.texts["2"] == {
        "gold": ["Ada (PER)", "Rome (LOC)"],
        "a": ["Ada (PER)", "Rome (LOC)"],
        "b": ["Ada (PER)"],
    }


@pytest.mark.slow
def test_the_report_has_cost_and_curve_and_each_figure_once(tmp_path: Path) -> None:
    runs = {
        "a": RunRecord(seconds=2, calls=3, cost=0.5, train_examples=100, curve="small"),
        "b": RunRecord(
            seconds=4, calls=3, failures=1, outcomes={"exact": 2, "broken": 1}, train_examples=400, curve="small"
        ),
    }
    found = compare(GOLD, {"a": without(range(9)), "b": GOLD}, runs=runs, failed_gates={"a": ["unscored: 1"]})
    text = comparison_markdown(found)
    assert "| a | 20.0 | 0.5000 | 100 |" in text
    replies = "0 rejected, 0 unknown label, 1 broken, 2 exact, 1 texts failed"
    assert f"| b | 10.0 | 3 calls, price not known | 400 | {replies} |" in text
    value, micro = f"{found.differences[0].difference.value:+.4f}", "entity, micro F1"
    assert (text.count(value), found.differences[0].metric, micro in text) == (1, micro, False)
    assert "**Gate failed** (a): unscored: 1" in text
    assert "nervaluate partial (overlap is half, any label), " in text
    assert "| small | 100 | 0.9404 |\n| small | 400 | 1.0000 |" in text
    pytest.importorskip("matplotlib")
    draw(found, tmp_path / "comparison.png")
    assert (tmp_path / "comparison.png").stat().st_size > 1000


def test_seeds_are_one_point_of_a_curve_and_runs_without_one_are_none() -> None:
    systems = {"a": without(range(40)), "b": GOLD, "c": GOLD, "d": GOLD}
    sizes = {"a": 100, "b": 100, "c": 200, "d": 300}
    curves = {name: "" if name == "d" else "small" for name in systems}
    runs = {name: RunRecord(train_examples=sizes[name], curve=curves[name]) for name in systems}
    found = Comparison(
        systems=[evaluate(GOLD, spans, system=name, run=runs[name]) for name, spans in systems.items()],
        metrics=[],
        differences=[],
        errors=[],
        texts={},
    )
    assert learning_curves(found) == {"small": [(100, pytest.approx(5 / 6)), (200, 1.0)]}
