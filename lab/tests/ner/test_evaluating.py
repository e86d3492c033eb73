"""The report of a system."""

from dataclasses import replace

from paperscope_lab.ner.audit import audit_report
from paperscope_lab.ner.evaluating import evaluate, f1_tallies, label_tallies, markdown
from paperscope_lab.ner.scoring import score_all
from paperscope_lab.statistics import mean_difference, mean_interval

from ingest.extraction.recognizer.examples import Example, Span

GOLD = [
    Example(id=str(number), text="a|b c", tokens=((0, 3), (4, 5)), spans=(Span(start=0, end=3, label="A|B"),))
    for number in range(6)
]
FOUND = [*GOLD[:4], *(replace(one, spans=(), failure="cut\n| off") for one in GOLD[4:])]


def test_the_report_names_scorers_failures_and_gates() -> None:
    report = evaluate(GOLD, FOUND, system="ours", failed_gates=["unscored"])
    entity = next(one for one in report.scores if one.scorer == "entity")
    assert (entity.micro.correct, entity.micro.predicted, entity.micro.gold) == (4, 4, 6)
    assert entity.interval[0] < entity.micro.f1 == 0.8 == entity.macro_f1 < entity.interval[1]
    assert report.failures == {"cut\n| off": 2}
    text = markdown(report)
    assert not [one for one in audit_report(text) if one.kind != "recovered"]
    assert "**Gate failed:** unscored" in text
    assert r"Failed outputs: 2 (cut \| off)" in text
    assert "| entity | offsets and label | 1.0000 | 0.6667 | 0.8000 |" in text
    assert r"| A\|B | 1.0000 | 0.6667 | 0.8000 | 4 | 4 | 6 |" in text


def test_labels_of_the_system_alone_are_counted() -> None:
    found = [replace(GOLD[0], spans=(Span(start=0, end=3, label="Z"),)), *GOLD[1:]]
    report = evaluate(GOLD, found, system="ours")
    assert report.unknown_labels == {"Z": 1}
    assert "Entities of a label that the gold doesn't have: 1 (Z)" in markdown(report)


def test_tallies_give_micro_and_macro_f1() -> None:
    score = next(one for one in score_all(GOLD, FOUND) if one.name == "entity")
    tallies = f1_tallies(score)
    assert sum(one.right for one in tallies) / sum(one.total for one in tallies) == score.total.f1
    groups = label_tallies(score, ["A|B"])
    assert mean_interval(groups, seed=0)[0] < score.macro_f1
    found = mean_difference(groups, groups, seed=0)
    assert (found.value, found.p, found.items) == (0, 1, 6)


def test_intervals_are_of_the_figure_that_they_stand_beside() -> None:
    gold = [GOLD[0], *(replace(one, spans=(Span(start=4, end=5, label="PER"),)) for one in [GOLD[1]] * 29)]
    half = [replace(one, spans=one.spans if number % 2 else ()) for number, one in enumerate(gold)]
    entity = next(one for one in evaluate(gold, half, system="ours").scores if one.scorer == "entity")
    # A resample without the rare label has the F1 of the other one, and no more.
    assert entity.macro_interval[0] < entity.macro_f1 < entity.macro_interval[1]
    assert entity.macro_interval[1] < entity.interval[1] + 0.05
    empty = [replace(one, spans=()) for one in GOLD]
    nothing = next(one for one in evaluate(empty, empty, system="ours").scores if one.scorer == "entity")
    assert (nothing.micro.f1, nothing.interval, nothing.macro_interval) == (0, (0, 0), (0, 0))
    sparse = [GOLD[0], *empty[1:]]
    for found, f1 in ((sparse, 1), (empty, 0)):
        entity = next(one for one in evaluate(sparse, found, system="ours").scores if one.scorer == "entity")
        assert (entity.micro.f1, entity.interval, entity.macro_interval) == (f1, (f1, f1), (f1, f1))
