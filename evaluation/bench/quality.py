"""`bench quality`: every suite in every mode that runs here, ours and the peers', as one page of tables."""

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.bench.quality_page import render_page
from evaluation.measuring import Hearer, Run, measure
from evaluation.report import Report
from evaluation.suite import Suite
from evaluation.suites import SUITES, suite_called
from paperscope_core.files import write_atomically
from paperscope_core.settings import load_settings

if TYPE_CHECKING:
    from evaluation.bench.speed import Commands
    from evaluation.running import ItemResult


__all__ = ["add_command"]


_PAGE = Path(__file__).resolve().parents[2] / "docs/quality.md"
# It costs money and its answers differ from run to run: measured by `paperscope eval`, not for the page.
_PAID = "model"


def add_command(commands: "Commands") -> None:
    """The command `quality` and its options."""
    quality = commands.add_parser(
        "quality",
        help="every suite, ours and the peers'",
        description="Scores Paperscope and its peers on the same papers and questions and prints one page of tables. "
        "Peers that are not installed are named with the command that installs them. Stopped, it goes on where it was.",
    )
    quality.add_argument("--data", type=Path, required=True, metavar="DIR", help="the folder with eval/ and papers/")
    quality.add_argument("--out", type=Path, required=True, metavar="DIR", help="keeps every run's report here")
    quality.add_argument("--suite", nargs="+", choices=SUITES, default=list(SUITES), help="these suites only")
    quality.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these sets, papers or items only")
    quality.add_argument("--seed", type=int, default=0, help="decides every draw")
    quality.add_argument("--write", action="store_true", help=f"write the page to {_PAGE.name} in docs/ too")
    quality.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    """The exit code: 0, or 1 where something could not be scored."""
    reports = [list(_reports(suite_called(name), options)) for name in options.suite]
    page = render_page([found for found in reports if found])
    sys.stdout.write(page)
    if options.write:
        write_atomically(_PAGE, page.encode())
    return 1 if any(report.problems for found in reports for report in found) else 0


def _reports(suite: Suite, options: argparse.Namespace) -> Iterator[Report]:
    """One a mode, the suite's own first."""
    for mode in suite.modes:
        if mode == _PAID:
            continue
        run = Run(
            data=options.data,
            settings=load_settings(environ=os.environ),
            mode=mode,
            names=tuple(options.only),
            out=options.out / f"{suite.name}-{mode}",
            work=options.out / "work",
            seed=options.seed,
        )
        sys.stderr.write(f"{suite.name}, mode {mode}\n")
        yield measure(suite, run, hearer=Hearer(begun=_begun, done=_done))


def _begun(items: int) -> None:
    sys.stderr.write(f"  {items} items\n")


def _done(result: "ItemResult") -> None:
    if result.problem:
        sys.stderr.write(f"  ! {result.name}: {result.problem}\n")
