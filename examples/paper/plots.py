"""Draw the plots of the example papers: three of the first, one of the second.

Every number below is copied from one of the four reports that the first paper re-reads. The files come out byte for
byte the same from one run to the next under one version of matplotlib: no creation date, no clock, no random ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

__all__ = ["draw_all"]

COLUMN_INCHES = 3.35

SEED_F1: dict[str, tuple[float, ...]] = {
    "RoBERTa-base": (89.33, 89.04, 88.79, 89.28, 88.91, 88.63, 89.09, 88.77),
    "RoBERTa-large": (88.70, 89.68, 89.19, 89.05, 89.47, 88.98, 89.05, 89.46),
    "Ensemble": (89.34, 89.80, 89.41, 89.55, 89.79, 89.23, 89.53, 89.43),
}
SEED_LOOK: dict[str, tuple[str, str, str]] = {
    "RoBERTa-base": ("#4c78a8", "o", "--"),
    "RoBERTa-large": ("#f58518", "s", "--"),
    "Ensemble": ("#222222", "D", "-"),
}

ENTITY_TYPES = ("LOC", "MISC", "ORG", "PER")
TYPE_F1: dict[str, tuple[float, ...]] = {
    "Development (eng.testa)": (0.98, 0.93, 0.96, 0.99),
    "Test (eng.testb)": (0.95, 0.83, 0.93, 0.98),
}


@dataclass(frozen=True, kw_only=True)
class Run:
    """One system in the precision-recall plane; `shift` moves its label, in points."""

    name: str
    precision: float
    recall: float
    family: str
    shift: tuple[float, float]


RUNS = (
    Run(name="R1 1.5B", precision=0.8715, recall=0.8707, family="DeepSeek-R1", shift=(5, 3)),
    Run(name="R1 7B", precision=0.8638, recall=0.8585, family="DeepSeek-R1", shift=(6, -5)),
    Run(name="md", precision=0.8512, recall=0.8454, family="spaCy", shift=(5, -9)),
    Run(name="lg", precision=0.8529, recall=0.8518, family="spaCy", shift=(-13, 2)),
    Run(name="20 epochs", precision=0.6522, recall=0.5294, family="Electra-base", shift=(-42, -3)),
    Run(name="50 epochs", precision=0.7333, recall=0.7765, family="Electra-base", shift=(-46, 1)),
    Run(name="200 epochs", precision=0.7778, recall=0.8235, family="Electra-base", shift=(-50, 2)),
)
RUN_LOOK: dict[str, tuple[str, str]] = {
    "DeepSeek-R1": ("#b4373a", "^"),
    "spaCy": ("#2a7f86", "s"),
    "Electra-base": ("#6b4c9a", "o"),
}


@contextmanager
def _canvas(height: float) -> Iterator[tuple[Figure, Axes]]:
    """Return a one-column figure of `height` inches, in the paper's style."""
    with mpl.rc_context(
        {
            "axes.labelsize": 8,
            "axes.linewidth": 0.6,
            "axes.spines.right": False,
            "axes.spines.top": False,
            "font.family": "DejaVu Sans",
            "font.size": 7.5,
            "legend.fontsize": 7,
            "legend.frameon": False,
            "pdf.fonttype": 42,
            "xtick.labelsize": 7.5,
            "ytick.labelsize": 7.5,
        }
    ):
        figure = Figure(figsize=(COLUMN_INCHES, height), layout="constrained")
        yield figure, figure.subplots()


def _save(figure: Figure, path: Path) -> Path:
    """Write PDF or PNG (200 dots an inch), by the suffix, without anything that changes between runs."""
    fields = ("Software",) if path.suffix == ".png" else ("CreationDate", "Creator", "Producer")
    figure.savefig(path, dpi=200, metadata=dict.fromkeys(fields))
    return path


def _draw_seeds(path: Path) -> Path:
    with _canvas(2.25) as (figure, axes):
        for name, scores in SEED_F1.items():
            colour, marker, line = SEED_LOOK[name]
            seeds = range(1, len(scores) + 1)
            axes.plot(seeds, scores, color=colour, marker=marker, linestyle=line, linewidth=1, markersize=4, label=name)
        axes.set_xlabel("Random seed")
        axes.set_ylabel("Entity F1 (%)")
        axes.set_ylim(88.4, 90.0)
        axes.grid(axis="y", linewidth=0.3, color="#bbbbbb")
        figure.legend(loc="outside upper center", ncols=3, columnspacing=1.2, handlelength=2.2)
        return _save(figure, path)


def _draw_types(path: Path) -> Path:
    with _canvas(2.3) as (figure, axes):
        width = 0.38
        for place, (name, scores) in enumerate(TYPE_F1.items()):
            centres = [index + (place - 0.5) * width for index in range(len(ENTITY_TYPES))]
            colour = ("#a9c4dd", "#2f5d8a")[place]
            bars = axes.bar(centres, scores, width=width * 0.94, color=colour, label=name)
            axes.bar_label(bars, fmt="%.2f", padding=1.5, fontsize=7)
        axes.set_xticks(range(len(ENTITY_TYPES)), ENTITY_TYPES)
        axes.set_xlabel("Entity type")
        axes.set_ylabel("Entity F1 (seqeval)")
        axes.set_ylim(0.7, 1.03)
        figure.legend(loc="outside upper center", ncols=2, columnspacing=1.4)
        return _save(figure, path)


def _draw_iso_f1(axes: Axes, score: float, *, low: float, high: float) -> None:
    """Return the curve R = F P / (2 P - F) on which F1 is `score`, inside the square from `low` to `high`."""
    steps = [low + (high - low) * step / 400 for step in range(401)]
    points = [(p, score * p / (2 * p - score)) for p in steps if 2 * p > score]
    shown = [(p, r) for p, r in points if low <= r <= high]
    axes.plot([p for p, _ in shown], [r for _, r in shown], color="#999999", linewidth=0.6, linestyle=":")
    last = shown[-1]
    axes.annotate(f"F1 = {score:.1f}", last, xytext=(2, -2), textcoords="offset points", fontsize=6.5, color="#666666")


def _draw_plane(path: Path) -> Path:
    low, high = 0.42, 0.9
    with _canvas(2.75) as (figure, axes):
        axes.plot([low, high], [low, high], color="#cccccc", linewidth=0.6, label="P = R")
        for score in (0.6, 0.7, 0.8):
            _draw_iso_f1(axes, score, low=low, high=high)
        for family, (colour, marker) in RUN_LOOK.items():
            runs = [run for run in RUNS if run.family == family]
            places = ([run.precision for run in runs], [run.recall for run in runs])
            axes.scatter(*places, s=18, color=colour, marker=marker, label=family, zorder=3)
        for run in RUNS:
            colour = RUN_LOOK[run.family][0]
            spot = (run.precision, run.recall)
            axes.annotate(run.name, spot, xytext=run.shift, textcoords="offset points", fontsize=6.5, color=colour)
        axes.set(xlim=(low, high + 0.04), ylim=(low, high), xlabel="Entity precision", ylabel="Entity recall")
        figure.legend(loc="outside upper center", ncols=4, columnspacing=1.0, handletextpad=0.4)
        return _save(figure, path)


def _draw_differences(path: Path) -> Path:
    with _canvas(2.4) as (figure, axes):
        ensemble = SEED_F1["Ensemble"]
        width = 0.38
        for place, name in enumerate(("RoBERTa-base", "RoBERTa-large")):
            centres = [seed + (place - 0.5) * width for seed in range(1, len(ensemble) + 1)]
            gains = [both - one for both, one in zip(ensemble, SEED_F1[name], strict=True)]
            colour = SEED_LOOK[name][0]
            axes.bar(centres, gains, width=width * 0.94, color=colour, label=f"Ensemble − {name}")
        axes.axhline(0, color="#222222", linewidth=0.6)
        axes.set_xticks(range(1, len(ensemble) + 1))
        axes.set_xlabel("Random seed")
        axes.set_ylabel("Difference in entity F1 (points)")
        figure.legend(loc="outside upper center", ncols=2, columnspacing=1.2)
        return _save(figure, path)


def draw_all(folder: Path) -> list[Path]:
    """Draw the plots into `folder`, which is made when missing; returns the files in the papers' order."""
    folder.mkdir(parents=True, exist_ok=True)
    return [
        _draw_seeds(folder / "seeds.pdf"),
        _draw_types(folder / "types.pdf"),
        _draw_plane(folder / "plane.png"),
        _draw_differences(folder / "differences.pdf"),
    ]
