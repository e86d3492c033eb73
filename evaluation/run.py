"""Runs a suite: scores its items one by one, resumably, and writes the reports."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evaluation.rendering import draw_plots, render_report
from evaluation.report import ItemResult, Report, make_report, run_items
from evaluation.suite import Part, Request, Suite
from paperscope_core.codec import to_json
from paperscope_core.errors import InputError
from paperscope_core.files import output_errors, write_atomically
from paperscope_core.settings import Settings

__all__ = ["RunCallbacks", "RunOptions", "run_suite"]


# Where a library lies changes no figure.
_IGNORED_SETTINGS = {"library"}


@dataclass(frozen=True, kw_only=True, slots=True)
class RunOptions:
    """What to measure: data, mode ("" is the suite's first), names of sets or items (none: all), a part of the
    documents ("": both), and the seed.

    `out` keeps SUITE.jsonl (a line an item), SUITE.md, SUITE.json, plots, and what a later run goes on from. `work` is
    the folder for what several runs share, such as libraries (default: below `out`, or a temporary one).
    """

    data: Path
    settings: Settings
    mode: str = ""
    names: tuple[str, ...] = ()
    part: Part | Literal[""] = ""
    out: Path | None = None
    work: Path | None = None
    seed: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class RunCallbacks:
    """Who hears of a run: `begun` the number of items, `done` each item's result."""

    begun: Callable[[int], None]
    done: Callable[[ItemResult], None]


def run_suite(suite: Suite, run: RunOptions, *, hearer: RunCallbacks) -> Report:
    """Score the suite's items and write the reports.

    Stopped and run again with the same `out`, it goes on where it stopped. Raises InputError for a mode that the
    suite does not have, GoldFileError where there is nothing to score, and OutputError.
    """
    mode = run.mode or suite.modes[0]
    if mode not in suite.modes:
        raise InputError(f"suite {suite.name} has no mode {mode!r}; there is {', '.join(suite.modes)}")
    config = {row.name: row.value for row in run.settings.describe() if row.origin != "default"}
    config = {name: value for name, value in config.items() if name not in _IGNORED_SETTINGS}
    if run.out:
        with output_errors(run.out):
            run.out.mkdir(parents=True, exist_ok=True)
    with _work_folder(run) as work:
        request = Request(
            data=run.data,
            mode=mode,
            settings=run.settings,
            work=work,
            names=run.names,
            part=run.part,
            seed=run.seed,
        )
        with suite.open(request) as loaded:
            hearer.begun(len(loaded.items))
            key = run.settings.model_dump_json(exclude=_IGNORED_SETTINGS)
            kept = run.out / f"{suite.name}.progress.jsonl" if run.out else None
            results = run_items(loaded.items, settings=f"{mode}\0{run.seed}\0{key}", kept=kept, on_item=hearer.done)
    report = make_report(
        results,
        suite=suite.name,
        mode=mode,
        seed=run.seed,
        headline=suite.headline,
        settings=config,
        facts={"items": str(len(results)), **({"part": run.part} if run.part else {}), **loaded.facts},
        problems=[str(error) for error in loaded.bad],
    )
    if run.out:
        _write_reports(report, run.out)
    return report


@contextmanager
def _work_folder(run: RunOptions) -> Iterator[Path]:
    folder = run.work or (run.out / "work" if run.out else None)
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="paperscope-eval-") as temporary:
            yield Path(temporary)
        return
    with output_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    yield folder


def _write_reports(report: Report, out: Path) -> None:
    lines = "".join(to_json(result) + "\n" for result in report.results)
    write_atomically(out / f"{report.suite}.jsonl", lines.encode())
    write_atomically(out / f"{report.suite}.md", render_report(report).encode())
    write_atomically(out / f"{report.suite}.json", report.to_json().encode())
    draw_plots(report, out)
