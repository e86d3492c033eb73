"""A report's pictures: the headline by set with intervals, and risk over coverage where answers were graded."""

from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.metrics.selective import risks
from evaluation.report import ALL, Report, set_of
from evaluation.risk import grades_of
from paperscope_core.files import output_errors

if TYPE_CHECKING:
    from matplotlib.axes import Axes


__all__ = ["draw", "drawable"]


_WIDTH = 0.8


def drawable() -> bool:
    """Whether matplotlib is installed (extra: plots)."""
    from importlib.util import find_spec

    return find_spec("matplotlib") is not None


def draw(report: Report, out: Path) -> list[Path]:
    """Write OUT/SUITE.png and, where answers were graded, OUT/SUITE-risk.png. Without matplotlib nothing is drawn."""
    if not drawable():
        return []
    from matplotlib.figure import Figure

    files = []
    metrics = [metric for metric in report.headline if metric in report.figures.get(ALL, {})]
    if metrics:
        sets = [name for name in report.figures if name != ALL]
        figure = Figure(figsize=(max(6.0, 1.2 * len(sets) + 2), 4), layout="constrained")
        _bars(figure.subplots(), report, sets or [ALL], metrics)
        files.append(_save(figure, out / f"{report.suite}.png"))
    if report.risks:
        figure = Figure(figsize=(6, 4), layout="constrained")
        _curves(figure.subplots(), report)
        files.append(_save(figure, out / f"{report.suite}-risk.png"))
    return files


def _bars(axes: "Axes", report: Report, sets: list[str], metrics: list[str]) -> None:
    width = _WIDTH / len(metrics)
    for number, metric in enumerate(metrics):
        found = [(place, report.figures[name].get(metric)) for place, name in enumerate(sets)]
        places = [place + (number - (len(metrics) - 1) / 2) * width for place, figure in found if figure]
        figures = [figure for _, figure in found if figure]
        below = [max(0.0, figure.value - figure.low) for figure in figures]
        above = [max(0.0, figure.high - figure.value) for figure in figures]
        axes.bar(places, [figure.value for figure in figures], width, yerr=[below, above], capsize=2, label=metric)
    axes.set_xticks(range(len(sets)), sets, rotation=20, ha="right")
    axes.set_ylim(bottom=0)
    axes.set_title(f"{report.suite}, mode {report.mode}: 95 % bootstrap intervals", fontsize=10)
    axes.legend(fontsize=8)


def _curves(axes: "Axes", report: Report) -> None:
    for name in report.risks:
        members = [result for result in report.results if name in (ALL, set_of(result.name))]
        curve = risks(grades_of(members))
        coverages = [count / len(curve) for count in range(1, len(curve) + 1)]
        axes.plot(coverages, curve, label=name, linewidth=2 if name == ALL else 1)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_xlabel("coverage: share of the answers, the most confident first")
    axes.set_ylabel("risk: their mean loss")
    axes.set_title(f"{report.suite}, mode {report.mode}", fontsize=10)
    axes.legend(fontsize=8)


def _save(figure: "object", file: Path) -> Path:
    with output_errors(file):
        figure.savefig(file, dpi=120, metadata={"Software": None})  # type: ignore[attr-defined]
    return file
