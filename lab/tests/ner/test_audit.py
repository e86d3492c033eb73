"""Audits of reports: planted contradictions are found, sound reports are not blamed, and the owner's reports."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from paperscope_lab.ner.audit import audit_report
from paperscope_lab.ner.datasets import DataStats

REFERENCE = Path(__file__).resolve().parents[4] / "shared" / "reference"


def messages(text: str, kind: str = "", **options: object) -> list[str]:
    found = audit_report(text, **options)  # type: ignore[arg-type]
    return [one.message for one in found if one.kind == kind or not kind]


def table(head: str, *rows: str) -> str:
    columns = head.split(",")
    return "\n".join(
        "| " + " | ".join(row.split(",")) + " |" for row in (head, ",".join("-" * 3 for _ in columns), *rows)
    )


@st.composite
def counts(draw: st.DrawFn) -> tuple[int, int, int]:
    gold = draw(st.integers(1, 5000))
    correct = draw(st.integers(0, gold))
    return correct, correct + draw(st.integers(0, 2000)), gold


def figures(correct: int, predicted: int, gold: int, digits: int = 4) -> list[str]:
    precision, recall = (correct / total if total else 0 for total in (predicted, gold))
    return [f"{value:.{digits}f}" for value in (precision, recall, 2 * correct / (predicted + gold))]


@settings(deadline=None)
@given(rows=st.lists(counts(), min_size=1, max_size=4), digits=st.integers(2, 5))
# Many numbers of predictions give such a precision; trying each took minutes.
@example(rows=[(1, 2001, 1), (2, 2002, 3)], digits=5)
def test_what_follows_from_counts_is_no_contradiction(rows: list[tuple[int, int, int]], digits: int) -> None:
    lines = [
        ",".join([f"system {number}", str(c), str(p - c), str(g - c), *figures(c, p, g, digits)])
        for number, (c, p, g) in enumerate(rows)
    ]
    assert messages(table("Model,TP,FP,FN,P,R,F1", *lines), "contradiction") == []
    without = [",".join([f"system {number}", *figures(*row, digits)]) for number, row in enumerate(rows)]
    assert messages(table("Model,Precision,Recall,F1-score", *without), "contradiction") == []


def test_an_f1_that_does_not_follow_is_found() -> None:
    (found,) = messages(table("Modèle,Précision,Prec.,Rappel,Recall,F1", "CamemBERT,,0.80,,0.60,0.70"), "contradiction")
    assert found == "CamemBERT: F1 0.7 is more than precision and recall give: 0.6806 to 0.6908"
    assert (
        messages(table("Model,Precision,Recall,F1", "x,80.0%,60.0%,68.6%", "macro avg,0.8,0.6,0.7"), "contradiction")
        == []
    )


def test_an_f1_below_that_of_the_means_can_be_a_mean() -> None:
    report = table("Level,Precision,Recall,F1", "5%,0.917,0.897,0.892")
    assert messages(report, "contradiction") == []
    assert messages(report) == [
        "5%: F1 0.892 is less than precision and recall give, 0.9064 to 0.9074: is it a mean over classes or runs?"
    ]


def test_whole_percentages_are_rounded_and_columns_of_other_data_apart() -> None:
    assert messages(table("Tool,TP,FP,FN,Precision,Recall", "a,2,1,1,67%,67", "b,7,0,2,100%,78%")) == []
    assert messages(table("Model,Train F1,Precision,Recall,Test F1", "a,0.99,0.60,0.70,0.65")) == []
    dotted = table("Model,entities.precision,entities.recall,entities.f1,relations.f1", "a,0.60,0.70,0.65,0.20")
    assert messages(dotted) == []


def test_a_small_figure_in_a_column_of_percentages_is_one() -> None:
    head, low = "System,Precision,Recall,F1,TP,FP,FN", "b,1.08,0.20,0.33,1,92,508"
    rows = ["a,42.78,74.46,54.34,379,507,130", "c,59.49,36.94,45.58,188,128,321", "d,50.00%,50.00%,50.00%,2,2,2"]
    assert messages(table(head, low, *rows), "contradiction") == []
    (found,) = messages(table(head, low.replace("0.20", "0.90"), *rows), "contradiction")
    assert "recall 0.009 is not 1 / 509" in found


def test_text_reports_are_read_with_a_name_for_the_label() -> None:
    report = """```
       label  precision    recall  f1-score   support
     Class 1       0.90      0.50      0.64       100
     Class 2       0.50      0.50      0.50        20
    accuracy          -         -      0.50       120
   macro-avg       0.70      0.50      0.67       120
```"""
    assert messages(report, "contradiction") == [
        "macro-avg: f1 0.67 does not follow from the classes: 0.5650 to 0.5750",
    ]
    assert "accuracy: always predicting Class 1 has accuracy 0.8333, which beats 0.5" in messages(report)


def test_figures_are_recomputed_from_counts() -> None:
    report = table(
        "Stage,TP,FP,FN,Total,Precision,Recall", "first,90,10,30,120,0.8000,0.7500", "second,90,10,20,120,0.9,0.75"
    )
    assert messages(report, "contradiction") == [
        "first: precision 0.8 is not 90 / 100 = 0.9000",
        "second: correct 90 and missed 20 make 110, not 120",
    ]


def test_a_column_of_all_errors_is_explained() -> None:
    report = table("Run,Gold,Correct,Incorrect,Precision,Recall", "a,400,300,250,0.6667,0.7500")
    assert messages(report) == [
        "a: precision 0.6667 is not 300 / 550 = 0.5455",
        "a: predicted 450, by 300 correct and precision 0.6667",
        "a: 250 are false positives and false negatives together: 150 and 100",
    ]


def test_precision_called_accuracy_is_found() -> None:
    (found,) = messages(table("Run,Support,TP,FP,Acc/Precision", "a,210,150,50,0.75"))
    assert found.startswith("a: what is called accuracy (0.75) is precision, 150 / 200; right of all")
    assert messages(table("Run,TP,FP,FN,Precision,Type accuracy", "a,10,0,50,1.00,1.00")) == []
    # A share of whole sentences is an accuracy.
    assert messages(table("Run,Total,Correct,Incorrect,Precision", "sentences,200,150,50,0.75 (Acc)")) == []


def test_a_broken_run_is_doubted() -> None:
    (found,) = messages(table("Run,Support,TP,FP,Precision,Recall", "a,100,30,720,0.0400,0.3000"))
    assert "7.50 times as much is predicted as is gold" in found


def test_different_denominators_are_compared_by_level() -> None:
    one = "## A\n" + table("Level,Total,Correct,Recall", "entities,500,400,0.8", "documents,50,20,0.4")
    other = "## B\n" + table("Level,Total,Correct,Recall", "entities,480,400,0.8333", "documents,50,25,0.5")
    (found,) = messages(f"{one}\n\n{other}\n")
    assert found == "entities: the figures are of different data, so they don't compare: 500 (A); 480 (B)"


def test_a_baseline_beats_both_and_one_number_counts_once() -> None:
    report = table(
        "Metric,BERT,LSTM",
        "Micro Precision,0.6000,0.6100",
        "Micro Recall,0.6000,0.6100",
        "Micro F1,0.6000,0.6100",
        "Macro F1,0.3000,0.2500",
    )
    for name, accuracy, outside, gene in (("BERT", 0.6, 0.75, 0.15), ("LSTM", 0.61, 0.7625, 0.0)):
        report += f"\n\n{name}\n\n```\n              precision    recall  f1-score   support\n\n"
        report += f"       OTHER     0.7000    {outside:.4f}    {2 * 0.7 * outside / (0.7 + outside):.4f}       800\n"
        report += f"        GENE     0.5000    {gene:.4f}    {gene / (0.5 + gene):.4f}       200\n"
        report += (
            f"\n    accuracy                         {accuracy + gene * 0.2 * (name == 'BERT'):.4f}      1000\n```\n"
        )
    found = messages(report)
    assert (
        "Micro Precision, Micro Recall, Micro F1 are one number in every column; it counts once, not 3 times" in found
    )
    assert "LSTM is higher in 1 of 2 different metrics, not in 3 of 4" in found
    assert "a baseline that always predicts the largest class has accuracy 0.8000 and beats all 2 systems" in found
    assert "accuracy: without OTHER, 30 of 200 are right, a recall of 0.1500 at most" in found
    assert "nothing is right for 1 of 2 classes: GENE" in found


def test_averages_are_recomputed() -> None:
    report = table(
        "Label,Precision,Recall,F1,Support",
        "a,0.50,0.50,0.50,100",
        "b,1.00,1.00,1.00,300",
        "macro avg,0.75,0.75,0.80,400",
        "weighted avg,0.88,0.88,0.75,400",
        "micro avg,0.90,0.99,0.94,400",
    )
    found = messages(report, "contradiction")
    assert [message.partition(" does")[0] for message in found] == [
        "macro avg: f1 0.8",
        "weighted avg: f1 0.75",
        "micro avg: recall 0.99",
    ]


def test_a_wrong_difference_is_found_among_right_ones() -> None:
    report = table(
        "Metric,A,B,Delta", "F1,0.50,0.60,+0.10", "Recall,0.40,0.35,-0.05", "Precision,0.7,0.8,+0.3", "Acc,0.1,0.3,0.2"
    )
    assert messages(report, "contradiction") == ["Precision: Delta 0.3 is not B minus A"]


def test_a_bold_figure_that_is_not_the_best_is_found() -> None:
    report = table("Fold,System,F1", "1,a,71.2", "1,ours,**72.0**", "2,a,73.4", "2,ours,**73.1**")
    assert messages(report) == ["ours: F1 73.1 is in bold, but a (line 5) has 73.4"]


def test_a_deviation_of_unrounded_values_is_no_contradiction_and_a_named_one_no_doubt() -> None:
    # The deviation of the values before rounding is 0.334, that of the printed ones 0.336.
    values = ("39.32", "39.19", "39.86", "39.39", "39.90", "40.14", "39.90", "39.67")
    text = table("Seed,F1", *(f"{number},{value}" for number, value in enumerate(values))) + "\n\nF1 39.67 ± 0.33"
    (found,) = messages(text, "doubt")
    assert "the sample deviation is 0.34" in found
    assert messages(text, "contradiction") == []
    assert messages(f"{text} (sample standard deviation)") == []
    assert messages(f"{text.replace('0.33', '0.23')} (sample deviation)", "contradiction") != []


@pytest.mark.parametrize(("spread", "kind"), [("1.12", "population"), ("1.29", "sample")])
def test_the_kind_of_a_deviation_is_found(spread: str, kind: str) -> None:
    report = table("Seed,F1", "1,81.00", "2,82.00", "3,83.00", "4,84.00") + f"\n\nMean: 82.50 ± {spread}\n"
    (found,) = messages(report, "doubt")
    assert f"with the {kind} deviation, which is not named; the population deviation is 1.12" in found
    wrong = messages(report.replace(spread, "0.50"), "contradiction")
    assert wrong[0].startswith("82.50 ± 0.50 is the mean of 4 values of F1, but not their deviation")


def test_counts_are_recovered_from_rounded_figures() -> None:
    rows = [(31, 43), (40, 58), (44, 61)]
    lines = [
        f"run {number}: "
        + ", ".join(
            f"{name}: {value}" for name, value in zip(("Precision", "Recall", "F1"), figures(*row, 67), strict=True)
        )
        for number, row in enumerate(rows)
    ]
    report = table("Other,Total,TP,Recall", "a,1200,600,0.5") + "\n\n" + "\n\n".join(lines) + "\n"
    found = messages(report)
    assert found[0].startswith("these figures fit 67, 134")
    assert found[1] == "they don't fit what the report states elsewhere: 1,200"


def test_scenarios_share_their_counts_and_keep_their_order() -> None:
    gold, predicted = 812, 790
    shares = {"strict": 601, "exact": 655, "partial": 655 + 43 / 2, "ent_type": 640}
    rows = {
        name: ",".join([name, *[f"{correct / total:.4f}" for total in (predicted, gold)]])
        for name, correct in shares.items()
    }
    report = table("Schema,Precision,Recall", *rows.values())
    (found,) = messages(report, gold=[gold])
    listed = "strict 601, exact 655, partial 676.5 (655 and 43 halves), type 640"
    assert found == f"all figures follow from gold 812, predicted 790: {listed}"
    assert messages(report, "contradiction", gold=[700]) == ["no counts of 700 gold entities give these figures"]
    swapped = report.replace("strict", "x").replace("exact", "strict").replace("| x", "| exact")
    assert messages(swapped, "contradiction")[0] == "exact: precision 0.7608 is less than that of strict, 0.8291"


def test_lines_that_start_documents_are_no_sentences() -> None:
    data = DataStats(
        examples=900,
        tokens=20_000,
        spans=5,
        documents=39,
        document_marks=40,
        without_spans=0,
        duplicates=0,
        overlapping=0,
        labels={},
    )
    assert messages("On 940 sentences (20,040 tokens) we reach", data=data) == [
        "940 sentences are 900 and 40 lines -DOCSTART-",
        "20,040 tokens are 20,000 and 40 lines -DOCSTART-",
    ]


def test_any_text_is_read() -> None:
    draw = random.Random(3)
    pieces = [
        "|",
        "---",
        "\n",
        "Precision",
        "Recall",
        "F1",
        "0.5",
        "**1.0**",
        "TP",
        "7",
        " ",
        "±",
        "macro",
        "support",
        "0.0000",
    ]
    for _ in range(300):
        audit_report("".join(draw.choice(pieces) for _ in range(60)), gold=[10])


def owner_s(name: str, gold: Sequence[int] = ()) -> str:
    file = REFERENCE / name
    if not file.is_file():
        pytest.skip("the owner's reports are not there")
    return "\n".join(messages(file.read_text(), gold=gold))


def test_the_owner_s_comparison() -> None:
    found = owner_s("ner_comparison_two_models.md")
    assert "Micro F1, Micro Precision, Micro Recall are one number in every column" in found
    assert "always predicts the largest class has accuracy 0.7531 and beats all 2 systems" in found
    assert "higher in 3 of 4 different metrics, not in 5 of 6" in found


def test_the_owner_s_ensemble() -> None:
    found = owner_s("ner_klue_swa_ensemble.md")
    assert found.count("with the population deviation, which is not named") == 2
    assert "the sample deviation is 0.20" in found
    assert "the sample deviation is 0.07" in found


def test_the_owner_s_generative_report() -> None:
    found = owner_s("ner_report_generative_vs_spacy.md")
    assert found.count("what is called accuracy") == 3
    assert "316,240 to 316,984" in found
    assert "these figures fit 85, 170" in found
    assert "2,297 (DeepSeek-R1 7B)" in found
    assert "704 are false positives and false negatives together: 344 and 360" in found


def test_the_owner_s_bracketed_report() -> None:
    found = owner_s("ner_bracketed_qwen_conll.md", gold=[5648, 5942])
    assert (
        "gold 5,648, predicted 5,676: strict 5,307, exact 5,471, partial 5,515 (5,471 and 88 halves), type 5,356"
        in found
    )
    assert (
        "gold 5,942, predicted 5,969: strict 5,766, exact 5,839, partial 5,870 (5,839 and 62 halves), type 5,816"
        in found
    )


def test_what_chance_gives_is_no_finding() -> None:
    none = table("Model,TP,FP,FN,Precision,Recall,F1", "silent,0,0,7,0.000,0.000,0.000", "empty,0,0,0,0,0,0")
    few = table(
        "label,precision,recall,f1,support",
        "A,0.545,0.545,0.545,11",
        "B,0.0,0.0,0.0,0",
        "micro avg,0.545,0.545,0.545,11",
    )
    assert messages(f"{none}\n\n{few}") == []


def test_degenerate_reports_are_audited() -> None:
    one = table("label,f1,recall,support", "A,0.9,0.9,400", "B,0.0,0.0,0", "accuracy,0.95,,400")
    assert messages(one) == ["accuracy: always predicting A has accuracy 1.0000, which beats 0.95"]
    assert messages(one.replace("400", "0")) == []
    assert messages(table("Metric,only", "Precision,0.5", "Recall,0.5", "Recall,0.4")) == []
    scenarios = [f"{name},0.5000,0.5000,0.5000" for name in ("strict", "exact", "partial", "ent_type")]
    assert messages(table("Scenario,Precision,Recall,F1", *scenarios), "contradiction", gold=[0])


def test_a_mean_that_a_column_fits_with_its_deviation_is_not_asked_of_others() -> None:
    seeds = [
        table("Seed,F1", *(f"{number},{value}" for number, value in enumerate(values)))
        for values in (("82.00", "83.00"), ("82.40", "82.60"))
    ]
    text = "\n\n".join([*seeds, "F1: 82.50 ± 0.71 (sample standard deviation)"])
    assert messages(text) == []
    assert len(messages(text.replace("0.71", "0.40"), "contradiction")) == 2
