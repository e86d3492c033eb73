"""The page that `bench quality` prints: a table a suite, a row for each set and mode."""

from collections.abc import Iterator, Sequence

from evaluation.comparing import compare
from evaluation.rendering import number, provenance_line, table
from evaluation.report import ALL, Figure, Report
from paperscope_core.errors import InputError

__all__ = ["render_page", "suite_rows"]


_HEAD = """# Quality

Made of the suites' reports; `scripts/bench quality --write` makes it anew, and the tests check some of it. Each figure
stands with its 95 % bootstrap interval over the items. The first system of a suite is Paperscope as it comes; `*` marks
a figure of another one that differs from it by more than chance (paired permutation test, adjusted for the number of
metrics, p < .05). `paperscope eval SUITE --data DIR` gives every metric, item and miss.
"""
_CHANCE = 0.05


def render_page(suites: Sequence[Sequence[Report]]) -> str:
    """The page over all suites; each has a report a mode, Paperscope's own first."""
    lines = [_HEAD]
    for reports in suites:
        first = reports[0]
        header = ["set", "system", "items", *_metrics(first)]
        lines += [
            f"## {first.suite.capitalize()}",
            "",
            provenance_line(first.provenance),
            "",
            *table(header, list(suite_rows(reports)), texts=2),
            "",
            *_problems(reports),
        ]
    return "\n".join(lines).rstrip() + "\n"


def suite_rows(reports: Sequence[Report]) -> Iterator[list[str]]:
    """The rows of a suite's table: set, system, items, and the headline's figures."""
    metrics = _metrics(reports[0])
    apart = {report.mode: _apart(reports[0], report, metrics) for report in reports[1:]}
    sets = list(dict.fromkeys(name for report in reports for name in report.figures if name != ALL))
    for name in sets:
        for report in reports:
            figures = report.figures.get(name, {})
            items = max((figures[metric].items for metric in metrics if metric in figures), default=0)
            if items:
                marked = apart.get(report.mode, {}).get(name, frozenset())
                cells = [_cell(figures.get(metric)) + ("*" if metric in marked else "") for metric in metrics]
                yield [name, report.mode, str(items), *cells]


def _metrics(report: Report) -> list[str]:
    return [metric for metric in report.headline if metric in report.figures.get(ALL, {})]


def _cell(figure: Figure | None) -> str:
    return f"{number(figure.value)} ({number(figure.low)}–{number(figure.high)})" if figure else ""


def _apart(ours: Report, theirs: Report, metrics: Sequence[str]) -> dict[str, frozenset[str]]:
    """By set: the metrics in which the two differ by more than chance."""
    found = {}
    for name in theirs.figures:
        try:
            differences = compare(ours, theirs, within=name, metrics=metrics).metrics
        except InputError:
            continue
        found[name] = frozenset(metric for metric, one in differences.items() if one.p_adjusted < _CHANCE)
    return found


def _problems(reports: Sequence[Report]) -> list[str]:
    """What could not be scored, said once however many modes it befell."""
    told = dict.fromkeys(f"- {report.mode}: {problem}" for report in reports for problem in report.problems)
    return ["Not scored:", "", *told, ""] if told else []
