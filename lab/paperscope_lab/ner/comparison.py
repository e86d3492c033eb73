"""Compares systems on the same gold: figures side by side, differences beyond chance, errors, learning curves, cost."""

import warnings
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from statistics import fmean

from ingest.extraction.recognizer.examples import Example, Span
from paperscope_core.text.escaping import markdown_line
from paperscope_lab.ner.evaluating import Evaluation, ScorerFigures, evaluate, f1_tallies, label_tallies, markdown_table
from paperscope_lab.ner.run_records import RunRecord
from paperscope_lab.ner.scoring import SCORERS, Counts, PredictedTags, Score
from paperscope_lab.statistics import Difference, Tally, adjusted, mean_difference, paired_difference

__all__ = [
    "Comparison",
    "ErrorDifference",
    "Metric",
    "PairedDifference",
    "compare",
    "comparison_markdown",
    "draw",
    "learning_curves",
]

# A difference whose adjusted p is above this can be chance (the usual level).
_SIGNIFICANT = 0.05
_EXAMPLES_SHOWN = 10
_MICRO = "entity, micro F1"


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One figure of every system, with all the names under which reports would state it."""

    names: list[str]
    values: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class PairedDifference:
    """The difference of two systems in one figure; `value` is that of `b` minus that of `a`."""

    a: str
    b: str
    metric: str
    difference: Difference

    @property
    def significant(self) -> bool:
        """Whether the difference is beyond chance, after adjusting for the number of comparisons."""
        return self.difference.p_adjusted < _SIGNIFICANT


@dataclass(frozen=True, kw_only=True)
class ErrorDifference:
    """The examples of which only one of two systems has all entities right, and those of which neither has."""

    a: str
    b: str
    only_a: list[str]
    only_b: list[str]
    neither: list[str]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Systems side by side."""

    systems: list[Evaluation]
    metrics: list[Metric]
    differences: list[PairedDifference]
    errors: list[ErrorDifference]
    texts: dict[str, dict[str, list[str]]]

    @property
    def verdicts(self) -> list[str]:
        """For each pair, which system has the higher micro F1 of entities, or that the difference can be chance."""
        lines = []
        for one in self.differences:
            found = one.difference
            if one.metric != _MICRO:
                continue
            pair, values = (one.b, one.a), (found.value, found.low, found.high)
            if found.value < 0:
                pair, values = (one.a, one.b), (-found.value, -found.high, -found.low)
            value, low, high = (f"{number:+.4f}" for number in values)
            verdict = "{} is better than {}" if one.significant else "no significant winner between {} and {}"
            figures = f"{value} [{low}, {high}], p = {found.p_adjusted:.4f}"
            lines.append(f"{verdict.format(*pair)} in entity F1 (offsets and label): {figures}")
        return lines


def learning_curves(found: Comparison) -> dict[str, list[tuple[int, float]]]:
    """Return the entity F1 of the runs of each curve by their number of training examples, the mean where seeds differ.

    A curve has runs with two numbers of examples or more.
    """
    figures: defaultdict[str, defaultdict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in found.systems:
        run = one.run
        if run.train_examples is not None and run.curve:
            figures[run.curve][run.train_examples].append(_entity_figures(one).micro.f1)
    return {
        name: [(examples, fmean(values)) for examples, values in sorted(points.items())]
        for name, points in figures.items()
        if len(points) > 1
    }


def compare(
    gold: Sequence[Example],
    systems: Mapping[str, Sequence[Example]],
    *,
    runs: Mapping[str, RunRecord] | None = None,
    tags: Mapping[str, PredictedTags | None] | None = None,
    failed_gates: Mapping[str, Sequence[str]] | None = None,
    seed: int = 0,
) -> Comparison:
    """Compare systems.

    Args:
        gold: The examples.
        systems: The predictions of each system, in the order of the gold.
        runs: What is recorded of each run.
        tags: The tags that systems predicted, of those that predicted tags.
        failed_gates: Reasons not to use the figures of a system.
        seed: The seed of resamples and permutations.

    Returns:
        The comparison. Differences have paired bootstrap intervals and p of a paired randomization test, adjusted for
        the number of comparisons (Benjamini & Hochberg).
    """
    evaluations = [
        evaluate(
            gold,
            found,
            system=name,
            tags=(tags or {}).get(name),
            failed_gates=(failed_gates or {}).get(name, ()),
            run=(runs or {}).get(name, RunRecord()),
            seed=seed,
        )
        for name, found in systems.items()
    ]
    entity, sentence = (next(one for one in SCORERS if one.name == name) for name in ("entity", "sentence"))
    scores = {
        name: Score(name=entity.name, mode=entity.mode, examples=list(map(entity.count, gold, found)))
        for name, found in systems.items()
    }
    right = {
        name: [bool(sentence.count(*pair).total.correct) for pair in zip(gold, predicted, strict=True)]
        for name, predicted in systems.items()
    }
    errors = [_errors(gold, a, b, right[a], right[b]) for a, b in combinations(systems, 2)]
    shown = {identity for one in errors for ids in (one.only_a, one.only_b) for identity in ids[:_EXAMPLES_SHOWN]}
    return Comparison(
        systems=evaluations,
        metrics=_metrics(evaluations),
        differences=_differences(scores, seed),
        errors=errors,
        texts={
            example.id: {"gold": _entities(example), **{name: _entities(found[at]) for name, found in systems.items()}}
            for at, example in enumerate(gold)
            if example.id in shown
        },
    )


def _metrics(evaluations: Sequence[Evaluation]) -> list[Metric]:
    """Return every figure; those that are equal for all systems are one, because they are no further evidence."""
    figures: dict[str, list[float]] = {}
    for number, one in enumerate(evaluations[0].scores):
        all_ = [evaluation.scores[number] for evaluation in evaluations]
        if not one.labels:
            figures[f"{one.scorer}, accuracy"] = [found.micro.f1 for found in all_]
            continue
        figures[f"{one.scorer}, precision"] = [found.micro.precision for found in all_]
        figures[f"{one.scorer}, recall"] = [found.micro.recall for found in all_]
        figures[f"{one.scorer}, micro F1"] = [found.micro.f1 for found in all_]
        figures[f"{one.scorer}, macro F1"] = [found.macro_f1 for found in all_]
    figures["KLUE-baseline, character macro F1"] = [evaluation.character_macro_f1 for evaluation in evaluations]
    same: defaultdict[tuple[float, ...], list[str]] = defaultdict(list)
    for name, values in figures.items():
        same[tuple(round(value, 12) for value in values)].append(name)
    systems = [evaluation.system for evaluation in evaluations]
    return [Metric(names=names, values=dict(zip(systems, values, strict=True))) for values, names in same.items()]


def _differences(scores: Mapping[str, Score], seed: int) -> list[PairedDifference]:
    found: list[PairedDifference] = []
    empty = Counts().f1
    for a, b in combinations(scores, 2):
        labels = sorted({*scores[a].labels, *scores[b].labels})
        groups = {name: label_tallies(scores[name], labels) for name in (a, b)}
        pairs: list[tuple[str, Sequence[Tally], Sequence[Tally]]] = [
            (_MICRO, f1_tallies(scores[a]), f1_tallies(scores[b])),
            *(
                (f"entity, F1 of {label}", one, other)
                for label, one, other in zip(labels, groups[a], groups[b], strict=True)
            ),
        ]
        found += [
            PairedDifference(a=a, b=b, metric=metric, difference=paired_difference(one, other, seed=seed, empty=empty))
            for metric, one, other in pairs
        ]
        if labels:
            macro = mean_difference(groups[a], groups[b], seed=seed, empty=empty)
            found.append(PairedDifference(a=a, b=b, metric="entity, macro F1", difference=macro))
    corrected = adjusted([one.difference.p for one in found])
    return [
        replace(one, difference=replace(one.difference, p_adjusted=p)) for one, p in zip(found, corrected, strict=True)
    ]


def _errors(
    gold: Sequence[Example], a: str, b: str, right_a: Sequence[bool], right_b: Sequence[bool]
) -> ErrorDifference:
    outcomes: dict[tuple[bool, bool], list[str]] = defaultdict(list)
    for example, *right in zip(gold, right_a, right_b, strict=True):
        outcomes[right[0], right[1]].append(example.id)
    return ErrorDifference(
        a=a, b=b, only_a=outcomes[True, False], only_b=outcomes[False, True], neither=outcomes[False, False]
    )


def _entities(example: Example) -> list[str]:
    def shown(span: Span) -> str:
        return f"{example.text[span.start : span.end]} ({span.label})"

    return [f"failed: {example.failure}"] if example.failure else [shown(span) for span in example.spans]


def comparison_markdown(found: Comparison) -> str:
    """Return the comparison as Markdown."""
    names = [one.system for one in found.systems]
    lines = ["# Comparison of entity extractors", "", *(f"- {verdict}" for verdict in found.verdicts), ""]
    lines += [
        f"**Gate failed** ({markdown_line(one.system)}): {markdown_line(reason)}"
        for one in found.systems
        for reason in one.failed_gates
    ]
    modes = dict.fromkeys(f"{one.scorer} ({one.mode})" for system in found.systems for one in system.scores)
    lines += ["", "## Figures", "", f"Scorers and their modes: {', '.join(modes)}.", ""]
    lines += ["Figures that are equal for all systems are one row.", ""]
    rows = [[_figure_name(one.names), *(f"{value:.4f}" for value in one.values.values())] for one in found.metrics]
    lines += [*markdown_table(("figure", *names), rows), "", "## Labels", "", "Entity F1 (offsets and label).", ""]
    by_label = {one.system: _entity_figures(one).labels for one in found.systems}
    labels = sorted({label for figures in by_label.values() for label in figures})
    cells = [
        [f"{figures[label].f1:.4f}" if label in figures else "" for figures in by_label.values()] for label in labels
    ]
    lines += markdown_table(("label", *names), [[label, *row] for label, row in zip(labels, cells, strict=True)])
    lines += ["", "## Differences", ""]
    lines += [
        f"95 % paired bootstrap intervals; p of a paired randomization test over {found.systems[0].examples:,}",
        f"examples, adjusted for {len(found.differences)} comparisons.",
        "",
    ]
    head = ("B − A", "figure", "difference", "interval", "p", "beyond chance")
    # The verdicts state the differences in micro F1.
    others = [one for one in found.differences if one.metric != _MICRO]
    lines += markdown_table(head, list(map(_difference_row, others)))
    lines += ["", "## Errors", "", "Examples of which all entities are right.", ""]
    lines += markdown_table(
        ("A", "B", "only A", "only B", "neither"),
        [[one.a, one.b, *(f"{len(ids):,}" for ids in (one.only_a, one.only_b, one.neither))] for one in found.errors],
    )
    lines += _text_lines(found)
    lines += _run_lines(found)
    return "\n".join(lines) + "\n"


def _figure_name(names: Sequence[str]) -> str:
    """Return the names of one figure: "precision: entity, token; F1: ..."."""
    scorers: defaultdict[str, list[str]] = defaultdict(list)
    for name in names:
        scorer, _, figure = name.partition(", ")
        scorers[figure].append(scorer)
    return "; ".join(f"{figure}: {', '.join(of_figure)}" for figure, of_figure in scorers.items())


def _entity_figures(one: Evaluation) -> ScorerFigures:
    return next(score for score in one.scores if score.scorer == "entity")


def _difference_row(one: PairedDifference) -> list[str]:
    found = one.difference
    interval = f"{found.low:+.4f} to {found.high:+.4f}"
    return [
        f"{one.b} − {one.a}",
        one.metric,
        f"{found.value:+.4f}",
        interval,
        f"{found.p_adjusted:.4f}",
        "yes" if one.significant else "no",
    ]


def _text_lines(found: Comparison) -> list[str]:
    if not found.texts:
        return []
    names = [one.system for one in found.systems]
    rows = [
        [identity, *("; ".join(shown[name]) for name in ("gold", *names))] for identity, shown in found.texts.items()
    ]
    return ["", *markdown_table(("example", "gold", *names), rows)]


def _run_lines(found: Comparison) -> list[str]:
    rows = []
    for one in found.systems:
        run = one.run
        speed = f"{one.examples / run.seconds:,.1f}" if run.seconds else ""
        train = f"{run.train_examples:,}" if run.train_examples is not None else ""
        rows.append([one.system, speed, run.cost_text, train, run.replies_text])
    if not any(any(row[1:]) for row in rows):
        return []
    head = ("system", "examples a second", "cost", "training examples", "replies")
    lines = ["", "## Cost", "", *markdown_table(head, rows)]
    points = [
        [name, f"{examples:,}", f"{f1:.4f}"] for name, curve in learning_curves(found).items() for examples, f1 in curve
    ]
    if points:
        lines += ["", "## Learning curves", ""]
        lines += markdown_table(("training", "examples", "entity F1 (mean over seeds)"), points)
    return lines


def draw(found: Comparison, file: Path) -> None:
    """Draw the entity F1 by label, and the learning curves, if there are any.

    Needs matplotlib (extra: plots).

    Raises:
        OutputError: The file can't be written.
    """
    from matplotlib.figure import Figure

    from paperscope_core.files import output_errors

    entity = {one.system: _entity_figures(one) for one in found.systems}
    curves = learning_curves(found)
    labels = ["micro", *sorted({label for one in entity.values() for label in one.labels})]
    height = (8 if curves else 4) + 0.2 * len(entity)
    figure = Figure(figsize=(max(6.0, 1.2 * len(labels) + 2), height), layout="constrained")
    axes = figure.subplots(2 if curves else 1, squeeze=False)[:, 0]
    width = 0.8 / len(entity)
    for number, (name, score) in enumerate(entity.items()):
        places = [place + number * width for place in range(len(labels))]
        values = [score.micro.f1, *(score.labels[label].f1 if label in score.labels else 0 for label in labels[1:])]
        axes[0].bar(places, values, width, label=name)
        error = [[max(0, score.micro.f1 - score.interval[0])], [max(0, score.interval[1] - score.micro.f1)]]
        axes[0].errorbar(places[:1], values[:1], yerr=error, capsize=2, color="black")
    axes[0].set_xticks([place + 0.4 - width / 2 for place in range(len(labels))], labels, rotation=20, ha="right")
    axes[0].set_title("entity F1 (offsets and label), 95 % bootstrap interval", fontsize=10)
    axes[0].set_ylabel("entity F1")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower left", fontsize=8)
    for name, points in curves.items():
        axes[1].plot(*zip(*points, strict=True), marker="o", label=name)
    if curves:
        axes[1].set_xlabel("training examples")
        axes[1].set_ylabel("entity F1")
        axes[1].legend(fontsize=8)
    with output_errors(file), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # a box stands for it
        figure.savefig(file, dpi=120, metadata={"Software": None})
