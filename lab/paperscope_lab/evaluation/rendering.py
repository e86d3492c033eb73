"""Reports as Markdown."""

from collections.abc import Sequence

from paperscope_core.text.escaping import markdown_heading, markdown_line, shortened
from paperscope_lab.evaluation.report import ALL, Figure, Provenance, Report, is_time, results_in
from paperscope_lab.evaluation.score import ItemResult

__all__ = ["number", "provenance_line", "render_figures", "render_report", "table"]

_MISSES_AN_ITEM = 25
_MAX_TEXT = 160


def render_figures(report: Report) -> str:
    """Render the figures as Markdown.

    These are the headline by set, all metrics over all items, times, the agreement of a judge, and
    the problems.
    """
    lines = [f"# Suite {report.suite}, mode {report.mode}", "", provenance_line(report.provenance), ""]
    lines += _by_set(report)
    everything = [("", metric, figure) for metric, figure in report.figures.get(ALL, {}).items()]
    lines += _figures_table("Over all items", [row for row in everything if not is_time(row[1])])
    if times := [row for row in everything if is_time(row[1])]:
        lines += _figures_table("Times (they vary from run to run)", times)
    lines += _agreement(report)
    if report.problems:
        lines += ["## Not scored", "", *(f"- {markdown_line(problem)}" for problem in report.problems), ""]
    return "\n".join(lines).rstrip() + "\n"


def render_report(report: Report) -> str:
    """Render the whole report as Markdown: the figures over all items and by set, the items, and the misses."""
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
    """Return one paragraph with the revision, code hash, seed, facts, settings and versions."""
    parts = [f"revision {provenance.revision}", f"code {provenance.code}", f"seed {provenance.seed}"]
    for words in (provenance.facts, provenance.settings, provenance.versions):
        parts += [f"{name} {value}" for name, value in words.items()]
    text = ", ".join(parts)
    return markdown_line(f"{text[0].upper()}{text[1:]}.")


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, texts: int = 1) -> list[str]:
    """Return a Markdown table with padded columns; all but the first `texts` columns are right-aligned."""
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
    """Return a figure with four decimals; a count without."""
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
