"""Reports as Markdown and as plots."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from paperscope_core.files import output_errors
from paperscope_core.text.escaping import markdown_heading, markdown_line, shortened
from paperscope_lab.evaluation.metrics.selective import risks
from paperscope_lab.evaluation.report import ALL, Figure, Provenance, Report, grades_of, is_time, results_in
from paperscope_lab.evaluation.score import ItemResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["can_draw", "draw_plots", "number", "provenance_line", "render_figures", "render_report", "table"]

_MISSES_AN_ITEM = 25
_MAX_TEXT = 160
_GROUP_WIDTH = 0.8


def render_figures(report: Report) -> str:
    """Renders the figures as Markdown.

    These are the headline by set, all metrics over all items, times, risk and coverage, the agreement of a judge, and
    the problems.
    """
    lines = [f"# Suite {report.suite}, mode {report.mode}", "", provenance_line(report.provenance), ""]
    lines += _by_set(report)
    everything = [("", metric, figure) for metric, figure in report.figures.get(ALL, {}).items()]
    lines += _figures_table("Over all items", [row for row in everything if not is_time(row[1])])
    if times := [row for row in everything if is_time(row[1])]:
        lines += _figures_table("Times (they vary from run to run)", times)
    lines += [*_risks(report), *_agreement(report)]
    if report.problems:
        lines += ["## Not scored", "", *(f"- {markdown_line(problem)}" for problem in report.problems), ""]
    return "\n".join(lines).rstrip() + "\n"


def render_report(report: Report) -> str:
    """Renders the whole report as Markdown: the figures over all items and by set, the items, and the misses."""
    sets = [
        (name, metric, figure)
        for name, figures in report.figures.items()
        if name != ALL
        for metric, figure in figures.items()
    ]
    lines = [
        render_figures(report),
        *_figures_table("By set", sets),
        *_items_list(report.results),
        *_misses_list(report.results),
    ]
    return "\n".join(lines).rstrip() + "\n"


def provenance_line(provenance: Provenance) -> str:
    """One paragraph with the revision, code hash, seed, facts, settings and versions."""
    parts = [f"revision {provenance.revision}", f"code {provenance.code}", f"seed {provenance.seed}"]
    for words in (provenance.facts, provenance.settings, provenance.versions):
        parts += [f"{name} {value}" for name, value in words.items()]
    text = ", ".join(parts)
    return markdown_line(f"{text[0].upper()}{text[1:]}.")


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, texts: int = 1) -> list[str]:
    """A Markdown table with padded columns; all but the first `texts` columns are right-aligned."""
    cells = [[markdown_line(cell) for cell in row] for row in (header, *rows)]
    widths = [max(3, *(len(row[column]) for row in cells)) for column in range(len(header))]

    def line(row: Sequence[str]) -> str:
        padded = (
            cell.ljust(width) if column < texts else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        return f"| {' | '.join(padded)} |"

    rule = ["-" * width if column < texts else "-" * (width - 1) + ":" for column, width in enumerate(widths)]
    return [line(cells[0]), f"| {' | '.join(rule)} |", *(line(row) for row in cells[1:])]


def number(value: float) -> str:
    """A figure with four decimals; a count without."""
    return f"{value:.0f}" if value == int(value) and abs(value) >= 2 else f"{value:.4f}"


def _by_set(report: Report) -> list[str]:
    metrics = report.headline_metrics
    names = [name for name in report.figures if name != ALL and report.headline_items(name)]
    if not metrics:
        return []
    rows = []
    for name in (*names, ALL) if len(names) > 1 else names:
        figures = report.figures[name]
        values = [number(figures[metric].value) if metric in figures else "" for metric in metrics]
        rows.append([name, str(report.headline_items(name)), *values])
    return [*table(["set", "items", *metrics], rows), ""]


def _figures_table(title: str, figures: Sequence[tuple[str, str, Figure]]) -> list[str]:
    named = any(name for name, _, _ in figures)
    rows = [
        [
            *([name] if named else []),
            metric,
            number(figure.value),
            f"{number(figure.low)}–{number(figure.high)}",
            _short_number(figure.right),
            _short_number(figure.total),
            str(figure.items),
        ]
        for name, metric, figure in figures
        if figure.total
    ]
    header = [*(["set"] if named else []), "metric", "value", "95 % interval", "right", "of", "items"]
    return [f"## {title}", "", *table(header, rows, texts=2 if named else 1), ""]


def _risks(report: Report) -> list[str]:
    if not report.risks:
        return []
    coverages = list(next(iter(report.risks.values())).at)
    rows = [
        [name, str(risk.answers), *map(number, (risk.aurc, risk.excess_aurc, *risk.at.values()))]
        for name, risk in report.risks.items()
    ]
    header = ["set", "answers", "AURC", "E-AURC", *(f"risk at {coverage}" for coverage in coverages)]
    return ["## Risk and coverage", "", *table(header, rows), ""]


def _agreement(report: Report) -> list[str]:
    found = report.agreement
    if found is None:
        return []
    rows = [[str(found.items), number(found.share), number(found.kappa)]]
    return ["## Agreement of the judge with our rules", "", *table(["items", "share", "Cohen's kappa"], rows), ""]


def _items_list(results: Sequence[ItemResult]) -> list[str]:
    lines = ["## Items", ""]
    for result in results_in(results, ALL):
        tallies = result.score.tallies.items()
        shown = [f"{m} {_short_number(t.right)}/{_short_number(t.total)}" for m, t in tallies if t.total]
        lines.append(f"- **{markdown_line(result.name)}**: {', '.join(shown)}")
    return [*lines, ""]


def _misses_list(results: Sequence[ItemResult]) -> list[str]:
    lines = ["## Misses", ""]
    for result in results:
        if misses := result.score.misses:
            lines += [markdown_heading(result.name, level=3), ""]
            lines += [
                "- "
                + markdown_line(
                    f"{miss.metric}, {_truncate(miss.what)}: {_truncate(miss.gold)!r} → {_truncate(miss.got)!r}"
                )
                for miss in misses[:_MISSES_AN_ITEM]
            ]
            lines += [f"- … {len(misses) - _MISSES_AN_ITEM} more"] if len(misses) > _MISSES_AN_ITEM else []
            lines.append("")
    return lines


def _truncate(text: str) -> str:
    return shortened(" ".join(text.split()), limit=_MAX_TEXT)


def _short_number(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")


def can_draw() -> bool:
    """Whether matplotlib is installed (extra: plots)."""
    from importlib.util import find_spec

    return find_spec("matplotlib") is not None


def draw_plots(report: Report, out: Path) -> list[Path]:
    """Writes OUT/SUITE.png and, if answers were graded, OUT/SUITE-risk.png. Draws nothing without matplotlib."""
    if not can_draw():
        return []
    from matplotlib.figure import Figure

    files = []
    if metrics := report.headline_metrics:
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
    width = _GROUP_WIDTH / len(metrics)
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
        curve = risks(grades_of(results_in(report.results, name)))
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
