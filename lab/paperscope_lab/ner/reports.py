"""Short reports in four common forms, each figure counted from predictions.

| form | for |
|---|---|
| levels | any systems: sentences, entities and tokens, with the counts behind each figure |
| seeds | systems named `SEED/NAME`: each seed, then the mean and deviation of each name |
| spans | any systems: seqeval's table by label, and the four scenarios of nervaluate |
| pair | two systems: figures side by side with what chance allows, and classes of tokens with O |

Figures that follow from the same counts are stated once, the baseline that always predicts O is stated, and deviations
and scorers are named. `paperscope ner audit` finds no contradiction in them.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from statistics import fmean
from typing import Literal

from ingest.extraction.recognizer.examples import Example
from paperscope_core.errors import InputError
from paperscope_lab.ner.audit import audit_report
from paperscope_lab.ner.datasets import stats, with_marks
from paperscope_lab.ner.evaluating import f1_tallies, label_tallies, markdown_table
from paperscope_lab.ner.run_records import RunRecord
from paperscope_lab.ner.scoring import (
    SCORERS,
    Counts,
    PredictedTags,
    Score,
    Scorer,
    character_macro_f1,
    score_seqeval,
    token_classes,
)
from paperscope_lab.statistics import Deviation, Difference, Tally, adjusted, mean_and_deviation, mean_difference

__all__ = ["ReportForm", "write_report"]

ReportForm = Literal["levels", "seeds", "spans", "pair"]
_SIGNIFICANT = 0.05
Systems = Mapping[str, Sequence[Example]]


def write_report(
    form: ReportForm,
    gold: Sequence[Example],
    systems: Systems,
    *,
    tags: Mapping[str, PredictedTags | None] | None = None,
    runs: Mapping[str, RunRecord] | None = None,
    document_marks: int = 0,
    about: Sequence[str] = (),
    deviation: Deviation = "sample",
    seed: int = 0,
) -> str:
    """Return a report as Markdown.

    Args:
        form: Its form.
        gold: The examples.
        systems: The predictions of each system, in the order of the gold. A failed output counts as empty.
        tags: The tags that systems predicted, of those that predicted tags.
        runs: What is recorded of each run.
        document_marks: The lines `-DOCSTART-` of the gold.
        about: The first lines of the report.
        deviation: The kind of standard deviation over seeds.
        seed: The seed of permutations and resamples.

    Raises:
        InputError: The form needs other systems: two for a pair, names `SEED/NAME` for seeds.
    """
    counted = stats(gold, document_marks=document_marks)
    lines = [f"Gold: {counted.examples:,} sentences, {counted.tokens:,} tokens, {counted.spans:,} entities."]
    if counted.documents:
        lines.append(f"{counted.documents:,} documents: {with_marks(counted)}.")
    for name, predictions in systems.items():
        if failures := sum(one.failure is not None for one in predictions):
            lines.append(f"{failures:,} outputs of {name} could not be read; they count as empty.")
        run = (runs or {}).get(name, RunRecord())
        if said := "; cost: ".join(filter(None, (run.replies_text, run.cost_text))):
            lines.append(f"Replies of {name}: {said}.")
    forms: Mapping[ReportForm, Callable[[Sequence[Example], Systems], list[str]]] = {
        "levels": _levels,
        "seeds": partial(_seeds, deviation=deviation),
        "spans": partial(_spans, tags=tags or {}),
        "pair": partial(_pair, seed=seed),
    }
    return "\n".join([*about, *lines, "", *forms[form](gold, systems)]) + "\n"


def _score(scorer: Scorer, gold: Sequence[Example], predictions: Sequence[Example]) -> Score:
    return Score(name=scorer.name, mode=scorer.mode, examples=list(map(scorer.count, gold, predictions)))


def _scorer(name: str) -> Scorer:
    return next(one for one in SCORERS if one.name == name)


def _levels(gold: Sequence[Example], systems: Systems) -> list[str]:
    lines = [
        "An entity is a surface, the number of its occurrence, and a label; a sentence is right if all its entities",
        "are. Tokens are those of entities that are right as a whole; O does not count. Total is the gold.",
    ]
    head = ("Metric type", "Total", "Correct/TP", "Incorrect/FP", "FN", "Precision", "Recall", "F1-score")
    named = {"Entity level": "entity multiset", "Token level": "length-weighted", "Single tokens": "token"}
    for system, predictions in systems.items():
        sentences = _score(_scorer("sentence"), gold, predictions).total
        right = f"{sentences.correct:,g}"
        wrong = f"{sentences.gold - sentences.correct:,g}"
        share = f"{sentences.recall:.4f}"
        rows = [["Sentence level (accuracy)", f"{sentences.gold:,}", right, wrong, wrong, share, "", ""]]
        rows += [[name, *_counted(_score(_scorer(scorer), gold, predictions).total)] for name, scorer in named.items()]
        lines += ["", f"### {system}", "", *markdown_table(head, rows)]
    return lines


def _counted(counts: Counts) -> list[str]:
    missed, wrong = counts.gold - counts.correct, counts.predicted - counts.correct
    return [*(f"{number:,g}" for number in (counts.gold, counts.correct, wrong, missed)), *_shares(counts)]


def _shares(counts: Counts) -> list[str]:
    return [f"{value:.4f}" for value in (counts.precision, counts.recall, counts.f1)]


_SEED_COLUMNS = ("Entity F1", "Entity macro F1", "Char F1")
_DEVIATIONS = {"sample": "sample standard deviation (n − 1)", "population": "population standard deviation (n)"}


def _seeds(gold: Sequence[Example], systems: Systems, *, deviation: Deviation) -> list[str]:
    figures: dict[str, dict[str, tuple[float, ...]]] = defaultdict(dict)
    rows = []
    for system, predictions in systems.items():
        number, slash, name = system.partition("/")
        if not slash:
            raise InputError(f"{system}: no seed; name systems SEED/NAME, such as 1/ensemble")
        entity = _score(_scorer("entity"), gold, predictions)
        values = (entity.total.f1, entity.macro_f1, character_macro_f1(gold, predictions))
        figures[number][name] = values
        failures = sum(one.failure is not None for one in predictions)
        status = f"{failures} failed" if failures else "OK"
        rows.append([number, name, *(f"{100 * value:.2f}" for value in values), status])
    lines = [
        "Entity F1: offsets and label, micro average; macro: the mean of the labels' F1, KLUE-baseline's entity macro",
        "F1. Char F1: KLUE-baseline's character macro F1, over tags of characters without spaces, with O. After",
        f"±: the {_DEVIATIONS[deviation]} over seeds. Status: OK if no output failed.",
        "",
    ]
    rows.sort(key=lambda row: list(figures).index(row[0]))
    lines += [*markdown_table(("Seed", "Model", *_SEED_COLUMNS, "Status"), rows), "", "### Mean over seeds", ""]
    names = dict.fromkeys(chain.from_iterable(figures.values()))
    runs = {name: [of_seed[name] for of_seed in figures.values() if name in of_seed] for name in names}
    means = [
        [name, str(len(values)), *(_mean(each, deviation) for each in zip(*values, strict=True))]
        for name, values in runs.items()
    ]
    return [*lines, *markdown_table(("Model", "Seeds", *_SEED_COLUMNS), means)]


def _mean(values: Sequence[float], deviation: Deviation) -> str:
    found = mean_and_deviation([100 * value for value in values], deviation)
    spread = "" if found.deviation is None else f" ± {found.deviation:.2f}"
    return f"{found.mean:.2f}{spread}"


def _spans(gold: Sequence[Example], systems: Systems, *, tags: Mapping[str, PredictedTags | None]) -> list[str]:
    lines = ["The scenarios are counted as nervaluate 1.2.1 does it."]
    scenarios = [one for one in SCORERS if one.name.startswith("nervaluate ")]
    for system, predictions in systems.items():
        seqeval = score_seqeval(gold, predictions, strict=True, tags=tags.get(system))
        rows = [[label, *_shares(counts), f"{counts.gold:,}"] for label, counts in seqeval.labels.items()]
        rows.append(["micro avg", *_shares(seqeval.total), f"{seqeval.total.gold:,}"])
        shown = [
            [one.name.removeprefix("nervaluate "), *_shares(_score(one, gold, predictions).total)] for one in scenarios
        ]
        lines += ["", f"### {system}", "", f"{seqeval.name} ({seqeval.mode})", ""]
        lines += markdown_table(("Entity", "Precision", "Recall", "F1", "Support"), rows)
        lines += ["", "nervaluate", "", *markdown_table(("Scenario", "Precision", "Recall", "F1"), shown)]
    return lines


def _pair(gold: Sequence[Example], systems: Systems, *, seed: int) -> list[str]:
    if len(systems) != 2:
        raise InputError(f"a pair is two systems, not {len(systems)}; use the form levels or spans for more")
    first, second = systems
    classes = {
        name: Score(name="token", mode="classes with O", examples=list(map(token_classes, gold, found)))
        for name, found in systems.items()
    }
    entity = {name: _score(_scorer("entity"), gold, found) for name, found in systems.items()}
    labels = sorted({*classes[first].labels, *classes[second].labels})
    outside = classes[first].labels.get("O", Counts()).gold / max(1, classes[first].total.gold)

    def tallies(name: str) -> dict[str, list[list[Tally]]]:
        return {
            "Entity F1 (offsets and label)": [f1_tallies(entity[name])],
            "Macro F1 of token classes": label_tallies(classes[name], labels),
            "Token accuracy (= micro P = R = F1)": [
                [Tally(right=one.total.correct, total=one.total.gold) for one in classes[name].examples]
            ],
        }

    pairs = [
        (metric, mean_difference(a, b, seed=seed, empty=Counts().f1))
        for (metric, a), b in zip(tallies(first).items(), tallies(second).values(), strict=True)
    ]
    corrected = adjusted([one.p for _, one in pairs])
    rows = [_difference_row(metric, one, p, (first, second)) for (metric, one), p in zip(pairs, corrected, strict=True)]
    lines = [
        *_verdict(classes),
        "",
        "### What chance allows",
        "",
        f"Always O has a token accuracy of {outside:.4f}. Differences: 95 % paired bootstrap intervals, p of a paired",
        f"randomization test over sentences, adjusted for {len(rows)} figures.",
        "",
        *markdown_table(("Metric", first, second, "Δ", "interval", "p", "Better"), rows),
    ]
    for name in systems:
        lines += ["", f"### Token classes: {name}", "", *_class_report(classes[name])]
    doubts = [f"- {one.message}" for one in audit_report("\n".join(lines)) if one.kind == "doubt"]
    return [*lines, "", "### Doubts", "", *dict.fromkeys(doubts)] if doubts else lines


def _verdict(classes: Mapping[str, Score]) -> list[str]:
    """Return the figures of two systems over classes of tokens, and which system has the higher one of how many."""
    (first, one), (second, other) = classes.items()
    rows: list[list[str]] = []
    deltas = []
    for name, (a, b) in {
        "Macro F1": (one.macro_f1, other.macro_f1),
        "Micro F1": (one.total.f1, other.total.f1),
        "Macro Precision": (_macro(one, "precision"), _macro(other, "precision")),
        "Macro Recall": (_macro(one, "recall"), _macro(other, "recall")),
        "Micro Precision": (one.total.precision, other.total.precision),
        "Micro Recall": (one.total.recall, other.total.recall),
    }.items():
        deltas.append(b - a)
        better = "equal" if a == b else second if a < b else first
        rows.append([name, f"{a:.4f}", f"{b:.4f}", f"{deltas[-1]:+.4f}", better])
    wins = {name: sum(row[-1] == name for row in rows) for name in classes}
    winner = "none" if wins[first] == wins[second] else max(wins, key=lambda name: wins[name])
    return [
        "### Figures of token classes, O included",
        "",
        *markdown_table(("Metric", first, second, "Δ", "Better"), rows),
        "",
        *(f"- {name} is better in {count}/{len(rows)} figures" for name, count in wins.items()),
        f"- Mean Δ: {fmean(deltas):+.4f}",
        "",
        f"**Winner by figures:** {winner}. Micro precision, recall and F1 are one figure, the token accuracy.",
    ]


def _macro(score: Score, figure: Literal["precision", "recall"]) -> float:
    return fmean(getattr(counts, figure) for counts in score.labels.values()) if score.labels else 0.0


def _difference_row(metric: str, one: Difference, p: float, names: tuple[str, str]) -> list[str]:
    better = names[one.value > 0] if p < _SIGNIFICANT else "no significant winner"
    return [
        metric,
        f"{one.a:.4f}",
        f"{one.b:.4f}",
        f"{one.value:+.4f}",
        f"{one.low:+.4f} to {one.high:+.4f}",
        f"{p:.4f}",
        better,
    ]


def _class_report(score: Score) -> list[str]:
    """Return the table of scikit-learn's classification report."""
    named, total = score.labels, score.total.gold
    rows = [[label, *_shares(counts), f"{counts.gold:,}"] for label, counts in named.items()]
    all_ = list(named.values())

    def average(weights: Sequence[float]) -> list[str]:
        columns = [[one.precision, one.recall, one.f1] for one in all_]
        shares = [sum(w * row[at] for w, row in zip(weights, columns, strict=True)) for at in range(3)]
        return [*(f"{share:.4f}" for share in shares), f"{total:,}"]

    rows.append(["accuracy", "", "", f"{score.total.recall:.4f}", f"{total:,}"])
    rows.append(["macro avg", *average([1 / len(all_)] * len(all_))])
    rows.append(["weighted avg", *average([one.gold / max(1, total) for one in all_])])
    return markdown_table(("", "precision", "recall", "f1-score", "support"), rows)
