"""The benchmarks' own rules, case by case as their papers and scorers describe them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paperscope_lab.evaluation.metrics.benchmarks import (
    NOT_ANSWERABLE,
    mmlongbench_score,
    mmlongbench_tallies,
    qasper_answer_f1,
    qasper_evidence_f1,
)
from paperscope_lab.evaluation.score import Score, Tally, total

FORMATS = ["Int", "Float", "Str", "List", "None"]


@pytest.mark.parametrize(
    ("gold", "predicted", "answer_format", "score"),
    [
        ("2", "2", "Int", 1),
        ("2", "2.0", "Int", 1),
        ("2", "2.7", "Int", 1),
        ("2", "3", "Int", 0),
        ("2", "two", "Int", 0),
        ("2", NOT_ANSWERABLE, "Int", 0),
        ("2", "inf", "Int", 0),
        ("GPT-4", "GPT-4", "Int", 0),
        ("0.45", "0.4561", "Float", 0),
        ("0.45", "0.4545", "Float", 1),
        ("0.45", "45%", "Float", 1),
        ("73.2% ", "0.732", "Float", 1),
        ("73.2", "$73.3 (about)", "Float", 1),
        ("73.2", "75", "Float", 0),
        ("73.2", "unknown", "Float", 0),
        ("0.004", "0", "Float", 1),
        ("0.4", "0.36", "Float", 0),
        ("0.4", "nan", "Float", 0),
        ("Yellow", "yellow", "Str", 1),
        ("Yellow", "'Yellow' (bright)", "Str", 1),
        ("Yellow", "Yelow", "Str", 5 / 6),
        ("Yellow", "Blue", "Str", 0),
        ("page 3", "page 4", "Str", 0),
        ("2019-03-12", "2019-03-13", "Str", 0),
        ("2019-03", "2019-03", "Str", 1),
        ("555-1234", "555-1235", "Str", 0),
        ("https://a.org/b", "https://a.org/c", "Str", 0),
        ("someone@a.org", "someone@b.org", "Str", 0),
        ("train.py", "brain.py", "Str", 0),
        ("at 10 a.m.", "at 11 a.m.", "Str", 0),
        ("['71.02', '75.38']", "['75.38', '71.02']", "List", 1),
        ("['71.02', '75.38']", "['75.38', '71.03']", "List", 0),
        ("['Alpha', 'Gamma']", "['gama', 'alpha']", "List", 4 / 5),
        ("['Alpha', 'Gamma']", "['alpha', 'x']", "List", 0),
        ("['Alpha', 'Gamma']", "['alpha']", "List", 0),
        ("['Fact Checker']", "Fact checker", "List", 1),
        ("['5%', '6']", "['5', '$6 (or so)']", "List", 1),
        ("[]", "[]", "List", 1),
        (NOT_ANSWERABLE, "Not answerable", "None", 1),
        (NOT_ANSWERABLE, "42", "None", 0),
    ],
)
def test_mmlongbench(gold: str, predicted: str, answer_format: str, score: float) -> None:
    assert mmlongbench_score(gold, predicted, answer_format=answer_format) == pytest.approx(score)


def test_mmlongbench_over_all_questions() -> None:
    """Of four answerable ones three are answered, for 1, 0.5 and 0; of three others, two are."""
    questions = [(True, True, 1.0), (True, True, 0.5), (True, True, 0.0), (True, False, 0.0)]
    questions += [(False, False, 1.0), (False, True, 0.0), (False, True, 0.0)]
    tallies = total(
        Score(tallies=mmlongbench_tallies(score, answerable=answerable, answered=answered))
        for answerable, answered, score in questions
    ).tallies
    assert tallies["accuracy"] == Tally(right=2.5, total=7)
    precision, recall = 1.5 / 5, 1.5 / 4
    assert tallies["f1"].share == pytest.approx(2 * precision * recall / (precision + recall))


@given(st.text(max_size=12), st.text(max_size=12), st.sampled_from(FORMATS))
def test_any_answer_can_be_scored(gold: str, predicted: str, answer_format: str) -> None:
    assert 0 <= mmlongbench_score(gold, predicted, answer_format=answer_format) <= 1


@given(st.text(st.sampled_from("0123456789.-e%$'[], ()"), max_size=10), st.sampled_from(FORMATS))
def test_any_figure_can_be_scored(text: str, answer_format: str) -> None:
    assert 0 <= mmlongbench_score(text, "1", answer_format=answer_format) <= 1
    assert 0 <= mmlongbench_score("1", text, answer_format=answer_format) <= 1


def test_qasper_takes_the_annotator_who_agrees_most() -> None:
    assert qasper_answer_f1(["Unanswerable", "SQuAD, QuoRef"], "squad and quoref") == pytest.approx(4 / 5)
    assert qasper_answer_f1(["Yes", "No"], "yes") == 1
    assert qasper_answer_f1([], "yes") == 0


def test_qasper_evidence() -> None:
    assert qasper_evidence_f1([["p1"], ["p2", "p3"]], ["p2", "p4", "p2"]) == pytest.approx(1 / 2)
    assert (qasper_evidence_f1([[]], []), qasper_evidence_f1([[]], ["p1"]), qasper_evidence_f1([["p1"]], [])) == (
        1,
        0,
        0,
    )
