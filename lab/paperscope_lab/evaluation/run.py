"""Runs a suite: scores its items one by one, resumably, and writes the reports.

A finished item is appended to a progress file at once. A later run reuses it while everything it depends on is the
same: the code, the settings, the item's file and its gold. An item that fails does not stop the others.
"""

import hashlib
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import InputError, PaperscopeError
from paperscope_core.files import output_errors, write_atomically
from paperscope_core.settings import Settings
from paperscope_lab.evaluation.provenance import code_fingerprint
from paperscope_lab.evaluation.rendering import render_report
from paperscope_lab.evaluation.report import Report, make_report
from paperscope_lab.evaluation.score import ItemResult
from paperscope_lab.evaluation.suite import Item, Part, Request, Suite

__all__ = ["RunCallbacks", "RunOptions", "run_items", "run_suite"]

# The library's folder doesn't affect any figure.
_IGNORED_SETTINGS = {"library"}


@dataclass(frozen=True, kw_only=True, slots=True)
class RunOptions:
    """What to measure: the data, the mode ("": the suite's default), names of sets or items (empty: all), a part of the
    documents ("": both), and the seed.

    `out` receives SUITE.jsonl (a line per item), SUITE.md, SUITE.json, and the progress file. `work` is the
    folder for what several runs share, such as libraries (default: below `out`, or a temporary one).
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
    """Called with the number of items when a run starts, and with the result of each item."""

    started: Callable[[int], None]
    done: Callable[[ItemResult], None]


def run_suite(suite: Suite, run: RunOptions, *, callbacks: RunCallbacks) -> Report:
    """Score the suite's items and write the reports. With the same `out`, an interrupted run is resumed.

    Raises:
        InputError: The suite has no such mode.
        GoldFileError: There is nothing to score.
        OutputError: A report can't be written.
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
            callbacks.started(len(loaded.items))
            key = f"{mode}\0{run.seed}\0{run.settings.model_dump_json(exclude=_IGNORED_SETTINGS)}"
            progress = run.out / f"{suite.name}.progress.jsonl" if run.out else None
            results = run_items(loaded.items, settings=key, progress=progress, on_item=callbacks.done)
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


def run_items(
    items: Sequence[Item], *, settings: str, progress: Path | None = None, on_item: Callable[[ItemResult], None]
) -> list[ItemResult]:
    """Score the items in order, except those in the progress file. Failed items are retried."""
    finished = dict(_read_finished(progress)) if progress else {}
    code = code_fingerprint()
    results = []
    for item in items:
        key = hashlib.sha256("\0".join((code, settings, item.name, item.fingerprint)).encode()).hexdigest()
        result = finished.get(key) or _score_item(item, key=key)
        if progress and key not in finished and not result.problem:
            with output_errors(progress), progress.open("a", encoding="utf-8") as file:
                file.write(to_json(result) + "\n")
        results.append(result)
        on_item(result)
    return results


def _score_item(item: Item, *, key: str) -> ItemResult:
    try:
        return ItemResult(name=item.name, key=key, score=item.score())
    except PaperscopeError as error:
        return ItemResult(name=item.name, key=key, problem=str(error))
    except Exception as error:  # noqa: BLE001 - an item that no metric foresaw must not lose the others
        where = traceback.extract_tb(error.__traceback__)[-1]
        problem = f"not scored because of a bug: {error!r} at {where.filename}:{where.lineno}; report it"
        return ItemResult(name=item.name, key=key, problem=problem)


def _read_finished(progress: Path) -> Iterator[tuple[str, ItemResult]]:
    """Read the results of earlier runs by key.

    Skips an incomplete last line, and terminates it so that the next one is valid.
    """
    if not progress.is_file():
        return
    with output_errors(progress):
        data = progress.read_bytes()
        if data and not data.endswith(b"\n"):
            progress.write_bytes(data + b"\n")
    # Not `splitlines`: a JSON string may contain U+2028 and other line separators unescaped.
    for line in data.split(b"\n"):
        try:
            result = from_json(ItemResult, line)
        except ValueError:
            continue
        yield result.key, result
