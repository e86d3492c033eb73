"""The report of one system: every scorer's figures with intervals, its labels, its failures, and the gates."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ingest.extraction.recognizer.examples import Example
from paperscope_core.text.escaping import markdown_line
from paperscope_lab.ner.run_records import RunRecord
from paperscope_lab.ner.scoring import Counts, PredictedTags, Score, character_macro_f1, score_all
from paperscope_lab.statistics import Tally, mean_interval

__all__ = [
    "Evaluation",
    "Figures",
    "ScorerFigures",
    "evaluate",
    "f1_tallies",
    "label_tallies",
    "markdown",
    "markdown_table",
]


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Precision, recall and F1, and the counts that they follow from."""

    precision: float
    recall: float
    f1: float
    correct: float
    predicted: int
    gold: int

    @classmethod
    def of(cls, counts: Counts) -> "Figures":
        """Return the figures of these counts."""
        return cls(
            precision=counts.precision,
            recall=counts.recall,
            f1=counts.f1,
            correct=counts.correct,
            predicted=counts.predicted,
            gold=counts.gold,
        )


@dataclass(frozen=True, kw_only=True)
class ScorerFigures:
    """The figures of one scorer: all labels together (micro), the mean of the labels' F1 (macro), and each label.

    The intervals are those of F1: 95 %, by the bootstrap over examples.
    """

    scorer: str
    mode: str
    micro: Figures
    interval: tuple[float, float]
    macro_f1: float
    macro_interval: tuple[float, float]
    labels: dict[str, Figures]


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """What a system's predictions of one data set are worth.

    Attributes:
        system: Its name.
        examples: The scored examples.
        scores: The figures of each scorer.
        character_macro_f1: That of KLUE-baseline: over the tags of characters, O included.
        unknown_labels: The predicted entities whose label the gold doesn't have, by label.
        failures: The outputs that could not be used, by reason. They score as empty.
        failed_gates: Reasons not to use these figures.
        run: What is recorded of the run.
    """

    system: str
    examples: int
    scores: list[ScorerFigures]
    character_macro_f1: float
    unknown_labels: dict[str, int]
    failures: dict[str, int]
    failed_gates: list[str]
    run: RunRecord


def evaluate(
    gold: Sequence[Example],
    predictions: Sequence[Example],
    *,
    system: str,
    tags: PredictedTags | None = None,
    failed_gates: Sequence[str] = (),
    run: RunRecord | None = None,
    seed: int = 0,
) -> Evaluation:
    """Score a system by every scorer.

    Args:
        gold: The examples.
        predictions: Their predictions, in the same order.
        system: The system's name.
        tags: The predicted tags, if the system predicted tags.
        failed_gates: What `join_predictions` and `check_run` found.
        run: What is recorded of the run.
        seed: The seed of the intervals.
    """
    scores = score_all(gold, predictions, tags=tags)
    labels = {span.label for one in gold for span in one.spans}
    return Evaluation(
        system=system,
        examples=len(gold),
        scores=[_figures(score, seed) for score in scores],
        character_macro_f1=character_macro_f1(gold, predictions),
        unknown_labels=dict(
            Counter(span.label for one in predictions for span in one.spans if span.label not in labels)
        ),
        failures=dict(Counter(one.failure for one in predictions if one.failure).most_common()),
        failed_gates=list(failed_gates),
        run=run or RunRecord(),
    )


def f1_tallies(score: Score) -> list[Tally]:
    """Return the tallies of the examples whose overall share is the F1: twice the correct, of predicted and gold."""
    return [_f1_tally(one.total) for one in score.examples]


def label_tallies(score: Score, labels: Sequence[str]) -> list[list[Tally]]:
    """Return the tallies of the examples for each label. The mean of their shares is the macro F1."""
    return [[_f1_tally(one.labels.get(label, Counts())) for one in score.examples] for label in labels]


def _f1_tally(counts: Counts) -> Tally:
    return Tally(right=2 * counts.correct, total=counts.predicted + counts.gold)


def _figures(score: Score, seed: int) -> ScorerFigures:
    labels = list(score.labels)
    macro = _interval(label_tallies(score, labels), seed, score.macro_f1) if labels else (0.0, 0.0)
    return ScorerFigures(
        scorer=score.name,
        mode=score.mode,
        micro=Figures.of(score.total),
        interval=_interval([f1_tallies(score)], seed, score.total.f1),
        macro_f1=score.macro_f1,
        macro_interval=macro,
        labels={label: Figures.of(counts) for label, counts in score.labels.items()},
    )


def _interval(groups: Sequence[Sequence[Tally]], seed: int, figure: float) -> tuple[float, float]:
    """Return a resample without entities tells nothing of a figure, and has the figure itself."""
    return _interval_of(tuple(map(tuple, groups)), seed, figure)


@lru_cache(maxsize=32)
def _interval_of(groups: tuple[tuple[Tally, ...], ...], seed: int, empty: float) -> tuple[float, float]:
    """Return cached, because several scorers often have the same counts."""
    return mean_interval(groups, seed=seed, empty=empty)


def markdown(evaluation: Evaluation, *, by_label: Sequence[str] = ("entity", "nervaluate partial")) -> str:
    """Return the report as Markdown.

    Args:
        evaluation: The report.
        by_label: The scorers whose figures are shown for each label.
    """
    lines = [
        f"## {evaluation.system}",
        "",
        f"{evaluation.examples:,} examples. Intervals: 95 %, bootstrap over examples. Precision, recall and F1 are",
        "micro averages; macro F1 is the mean of the labels' F1. Failed outputs score as empty.",
        "",
    ]
    lines += [f"**Gate failed:** {markdown_line(reason)}" for reason in evaluation.failed_gates]
    lines += [f"Replies: {evaluation.run.replies_text}"] if evaluation.run.replies_text else []
    lines += [f"Cost: {evaluation.run.cost_text}"] if evaluation.run.cost_text else []
    lines += [f"Failed outputs: {count} ({markdown_line(reason)})" for reason, count in evaluation.failures.items()]
    lines += [
        f"Entities of a label that the gold doesn't have: {count} ({markdown_line(label)})"
        for label, count in evaluation.unknown_labels.items()
    ]
    lines += [""] * (lines[-1] != "")
    lines += markdown_table(
        ("scorer", "mode", "precision", "recall", "F1", "F1 interval", "macro F1", "correct", "predicted", "gold"),
        [_scorer_row(one) for one in evaluation.scores],
    )
    lines += [
        "",
        f"KLUE-baseline's character macro F1 (tags without spaces, with O): {evaluation.character_macro_f1:.4f}",
    ]
    for one in evaluation.scores:
        if one.scorer in by_label and one.labels:
            lines += [
                "",
                f"By label, {one.scorer} ({one.mode}):",
                "",
                *markdown_table(_LABEL_HEAD, _label_rows(one.labels)),
            ]
    return "\n".join(lines) + "\n"


_LABEL_HEAD = ("label", "precision", "recall", "F1", "correct", "predicted", "gold")


def _scorer_row(one: ScorerFigures) -> list[str]:
    macro = f"{one.macro_f1:.4f}" if one.labels else ""
    interval_text = f"{one.interval[0]:.4f}–{one.interval[1]:.4f}"
    figures = _figure_cells(one.micro)
    if not one.labels:  # an accuracy
        figures[:2] = ["", ""]
    return [one.scorer, one.mode, *figures[:3], interval_text, macro, *figures[3:]]


def _label_rows(labels: Mapping[str, Figures]) -> list[list[str]]:
    return [[label, *_figure_cells(figures)] for label, figures in labels.items()]


def _figure_cells(figures: Figures) -> list[str]:
    shares = [f"{value:.4f}" for value in (figures.precision, figures.recall, figures.f1)]
    return [*shares, f"{figures.correct:,g}", f"{figures.predicted:,}", f"{figures.gold:,}"]


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table."""
    return [_row(head), "|" + "---|" * len(head), *map(_row, rows)]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(markdown_line(cell) for cell in cells) + " |"
