"""`bench quality`: all suites in all modes on one page of tables."""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from paperscope_core.errors import InputError
from paperscope_core.files import write_atomically
from paperscope_core.settings import load_settings
from paperscope_core.text.escaping import terminal_text
from paperscope_lab.evaluation.compare import compare
from paperscope_lab.evaluation.rendering import number, provenance_line, table
from paperscope_lab.evaluation.report import ALL, Figure, Report
from paperscope_lab.evaluation.run import RunCallbacks, RunOptions, run_suite
from paperscope_lab.evaluation.score import ItemResult
from paperscope_lab.evaluation.suite import SUITES, Suite, load_suite

__all__ = ["DESCRIPTION", "HELP", "add_options", "render_page", "run", "suite_rows"]

HELP = "every suite, ours and the peers'"
DESCRIPTION = (
    "Scores Paperscope and its peers on the same papers and questions and prints one page of tables. Peers that are "
    "not installed are listed with the command that installs them. A run that was stopped resumes."
)
_HEAD = """# Quality

Each figure has its 95 % bootstrap interval over the items. The first system of a suite is Paperscope with its default
settings; `*` marks a figure of another system that differs from it by more than chance (paired permutation test,
adjusted for the number of metrics, p < .05). `paperscope eval SUITE --data DIR` gives every metric, item and miss.
"""
_CHANCE = 0.05


# A model costs money and its answers vary: `paperscope eval` measures it, this page doesn't.
_PAID = "model"


def render_page(suites: Sequence[Sequence[Report]]) -> str:
    """Render the page for all suites; each has one report per mode, Paperscope's default first."""
    lines = [_HEAD]
    for reports in suites:
        first = reports[0]
        header = ["set", "system", "items", *first.headline_metrics]
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
    """Yield the rows of a suite's table: set, system, items, and the headline metrics."""
    metrics = reports[0].headline_metrics
    apart = {report.mode: _significant_metrics(reports[0], report, metrics) for report in reports[1:]}
    for name in dict.fromkeys(name for report in reports for name in report.figures if name != ALL):
        for report in reports:
            if items := report.headline_items(name):
                marked = apart.get(report.mode, {}).get(name, frozenset())
                figures = report.figures[name]
                cells = [_cell(figures.get(metric)) + ("*" if metric in marked else "") for metric in metrics]
                yield [name, report.mode, str(items), *cells]


def _cell(figure: Figure | None) -> str:
    return f"{number(figure.value)} ({number(figure.low)}–{number(figure.high)})" if figure else ""


def _significant_metrics(ours: Report, theirs: Report, metrics: Sequence[str]) -> dict[str, frozenset[str]]:
    """Return the metrics, by set, in which the two reports differ by more than chance."""
    found = {}
    for name in theirs.figures:
        try:
            differences = compare(ours, theirs, within=name, metrics=metrics).metrics
        except InputError:
            continue
        found[name] = frozenset(metric for metric, one in differences.items() if one.p_adjusted < _CHANCE)
    return found


def _problems(reports: Sequence[Report]) -> list[str]:
    """Return the problems of all modes, each once."""
    problems = dict.fromkeys(f"- {report.mode}: {problem}" for report in reports for problem in report.problems)
    return ["Not scored:", "", *problems, ""] if problems else []


def add_options(quality: argparse.ArgumentParser) -> None:
    """Add the options of `quality`."""
    quality.add_argument("--data", type=Path, required=True, metavar="DIR", help="the folder with eval/ and papers/")
    quality.add_argument("--out", type=Path, required=True, metavar="DIR", help="keeps every run's report here")
    quality.add_argument("--suite", nargs="+", choices=SUITES, default=list(SUITES), help="these suites only")
    quality.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these sets, papers or items only")
    quality.add_argument("--seed", type=int, default=0, help="determines all random choices")


def run(options: argparse.Namespace) -> int:
    """Return 0, or 1 if something could not be scored."""
    reports = [list(_reports(load_suite(name), options)) for name in options.suite]
    page = render_page([found for found in reports if found])
    sys.stdout.write(page)
    write_atomically(options.out / "quality.md", page.encode())
    return 1 if any(report.problems for found in reports for report in found) else 0


def _reports(suite: Suite, options: argparse.Namespace) -> Iterator[Report]:
    """Return one report per mode, the suite's default first."""
    for mode in suite.modes:
        if mode == _PAID:
            continue
        run_options = RunOptions(
            data=options.data,
            settings=load_settings(environ=os.environ),
            mode=mode,
            names=tuple(options.only),
            out=options.out / f"{suite.name}-{mode}",
            work=options.out / "work",
            seed=options.seed,
        )
        sys.stderr.write(f"{suite.name}, mode {mode}\n")
        yield run_suite(suite, run_options, callbacks=RunCallbacks(started=_started, done=_done))


def _started(items: int) -> None:
    sys.stderr.write(f"  {items} items\n")


def _done(result: ItemResult) -> None:
    if result.problem:
        sys.stderr.write(terminal_text(f"  ! {result.name}: {result.problem}\n"))
