"""The short reports: their figures follow from the predictions, and the audit finds nothing wrong with them."""

from dataclasses import replace
from typing import get_args

import pytest
from paperscope_lab.ner.audit import audit_report
from paperscope_lab.ner.reports import ReportForm, write_report
from tests.ner.tiny_encoder import GOLD

from ingest.extraction.recognizer.examples import Example, Span
from paperscope_core.errors import InputError

NONE = [replace(example, spans=()) for example in GOLD]
WRONG = [replace(example, spans=tuple(replace(span, label="LOC") for span in example.spans)) for example in GOLD]
FAILED = [replace(GOLD[0], spans=(), failure="no valid JSON"), *GOLD[1:]]


def rows(text: str) -> dict[str, list[str]]:
    """The cells of each row by its first cell."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.split("\n") if line[:1] == "|"]
    return {row[0]: row[1:] for row in cells}


def test_levels_state_the_counts_behind_each_figure() -> None:
    text = write_report("levels", GOLD, {"wrong": WRONG})
    found = rows(text)
    assert "Gold: 4 sentences, 19 tokens, 7 entities." in text
    assert found["Sentence level (accuracy)"][:4] == ["4", "2", "2", "2"]
    # Of the three people and four places, the people have the wrong label; one has two words.
    assert found["Entity level"] == ["7", "4", "3", "3", "0.5714", "0.5714", "0.5714"]
    assert found["Token level"][:4] == ["8", "4", "4", "4"]


def test_failed_outputs_count_as_empty() -> None:
    text = write_report("levels", GOLD, {"failed": FAILED})
    assert "1 outputs of failed could not be read; they count as empty." in text
    assert rows(text)["Entity level"][:4] == ["7", "4", "0", "3"]


def test_seeds_have_the_mean_and_its_kind_of_deviation() -> None:
    text = write_report("seeds", GOLD, {"1/small": GOLD, "1/ensemble": WRONG, "2/small": NONE, "2/ensemble": WRONG})
    assert "| 1 | small | 100.00 | 100.00 | 100.00 |" in text
    found = rows(text)
    assert found["small"][:2] == ["2", "50.00 ± 70.71"]
    assert found["ensemble"][:2] == ["2", "57.14 ± 0.00"]
    assert "sample standard deviation" in text


def test_seeds_have_a_status_and_the_deviation_that_is_asked_for() -> None:
    text = write_report("seeds", GOLD, {"1/small": GOLD, "2/small": FAILED, "1/a": GOLD}, deviation="population")
    assert text.index("| 1 | a |") < text.index("| 2 | small |")
    assert "| 1 | small | 100.00 | 100.00 | 100.00 | OK |" in text
    assert "| 1 failed |" in text
    small = rows(text)["small"]
    sample = rows(write_report("seeds", GOLD, {"1/small": GOLD, "2/small": FAILED}))["small"]
    widths = [float(cell[1].split(" ± ")[1]) for cell in (small, sample)]
    assert widths[0] == pytest.approx(widths[1] / 2**0.5, abs=0.01)
    assert "population standard deviation (n)" in text


def test_a_pair_has_the_figures_wins_and_mean_difference_of_the_form_and_its_doubts() -> None:
    text = write_report("pair", GOLD, {"gold": GOLD, "none": NONE}, about=["# Two models", ""])
    assert text.startswith("# Two models\n")
    assert rows(text)["Micro Recall"] == ["1.0000", "0.5789", "-0.4211", "gold"]
    assert "- gold is better in 6/6 figures\n- none is better in 0/6 figures\n- Mean Δ: -0.5" in text
    assert "**Winner by figures:** gold." in text
    assert "- Micro F1, Micro Precision, Micro Recall are one number in every column; it counts once" in text


def test_spans_have_the_tables_of_seqeval_and_nervaluate() -> None:
    found = rows(write_report("spans", GOLD, {"wrong": WRONG}))
    assert found["micro avg"] == ["0.5714", "0.5714", "0.5714", "7"]
    assert found["PER"] == ["0.0000", "0.0000", "0.0000", "3"]
    assert found["exact"] == ["1.0000", "1.0000", "1.0000"]
    assert found["ent_type"] == ["0.5714", "0.5714", "0.5714"]


def test_a_pair_names_no_winner_without_evidence_and_states_the_baseline() -> None:
    text = write_report("pair", GOLD, {"gold": GOLD, "none": NONE})
    found = rows(text)
    assert "Always O has a token accuracy of 0.5789." in text
    assert found["Token accuracy (= micro P = R = F1)"][:3] == ["1.0000", "0.5789", "-0.4211"]
    assert found["Entity F1 (offsets and label)"][-1] == "no significant winner"
    assert found["O"] == ["0.5789", "1.0000", "0.7333", "11"]


def test_a_pair_names_the_winner_that_many_sentences_show() -> None:
    gold = [replace(GOLD[0], id=str(number)) for number in range(40)]
    none = [replace(example, spans=()) for example in gold]
    found = rows(write_report("pair", gold, {"none": none, "gold": gold}))
    assert found["Entity F1 (offsets and label)"][-1] == "gold"


@pytest.mark.parametrize("form", get_args(ReportForm))
def test_no_report_contradicts_itself(form: ReportForm) -> None:
    gold = [replace(one, id=f"{number}-{one.id}") for number in range(9) for one in GOLD]
    noisy = [
        replace(one, spans=(*one.spans[number % 2 :], Span(start=0, end=2, label="LOC")) if number % 3 else one.spans)
        for number, one in enumerate(gold)
    ]
    text = write_report(form, gold, {"1/noisy": noisy, "1/none": [replace(one, spans=()) for one in gold]})
    assert [one for one in audit_report(text) if one.kind == "contradiction"] == []


@pytest.mark.parametrize(
    ("form", "systems"),
    [("pair", {"one": NONE}), ("seeds", {"small": NONE}), ("pair", {"a": NONE, "b": NONE, "c": NONE})],
)
def test_systems_that_do_not_suit_the_form_are_refused(form: ReportForm, systems: dict[str, list[Example]]) -> None:
    with pytest.raises(InputError):
        write_report(form, GOLD, systems)


@pytest.mark.parametrize("form", ["levels", "spans"])
def test_gold_without_entities_has_a_report(form: ReportForm) -> None:
    assert "0 entities" in write_report(form, [NONE[3]], {"none": [NONE[3]]})
