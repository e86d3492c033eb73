"""`bench parse`: seconds per page and memory of PDF readers."""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from paperscope_lab.evaluation.bench.common import add_out, write_figures
from paperscope_lab.evaluation.bench.pdf_readers import PDF_READERS

__all__ = ["DESCRIPTION", "HELP", "Figures", "add_options", "measure", "run"]

HELP = "seconds per page, peak memory"
DESCRIPTION = (
    "Seconds per page and peak memory of Paperscope and of other PDF readers, each on the same files in a process of "
    "its own. Those that are not installed are listed with the command that installs them."
)
_ROOT = Path(__file__).resolve().parents[4]
_SCRIPT = Path(__file__).with_name("pdf_readers.py")
_EXAMPLE = _ROOT / "examples/paper/ner-report.pdf"


@dataclass(frozen=True, kw_only=True, slots=True)
class Figures:
    """The figures of a PDF reader; `note` says why there are none, or which files it could not read."""

    name: str
    pages: int = 0
    seconds: float = 0.0
    memory_mb: float = 0.0
    note: str = ""

    @property
    def page_seconds(self) -> float:
        """Seconds per page, 0 if there are no pages."""
        return self.seconds / self.pages if self.pages else 0.0


def add_options(parse: argparse.ArgumentParser) -> None:
    """Add the options of `parse`."""
    parse.add_argument("files", nargs="*", type=Path, metavar="FILE", help="PDF files (default: the example paper)")
    parse.add_argument("--data", type=Path, metavar="DIR", help="instead of files: all PDF files below this folder")
    parse.add_argument(
        "--only", nargs="+", choices=PDF_READERS, metavar="NAME", help=f"some of {', '.join(PDF_READERS)}"
    )
    parse.add_argument(
        "--python", action="append", default=[], metavar="NAME=PATH", help="the Python that has a contender's packages"
    )
    add_out(parse)


def run(options: argparse.Namespace) -> int:
    """Return 0, 1 if Paperscope could not read a file, or 2 if there are no files."""
    files = options.files or (sorted(options.data.rglob("*.pdf")) if options.data else [_EXAMPLE])
    missing = [str(file) for file in files if not file.is_file()]
    if missing or not files:
        sys.stderr.write(f"error: no such file: {', '.join(missing) or options.data}\n")
        return 2
    pythons = dict(item.split("=", 1) for item in options.python)
    rows = [measure(name, files, python=pythons.get(name, sys.executable)) for name in options.only or PDF_READERS]
    sys.stdout.write(_table(rows))
    write_figures(options.out, {"files": [file.name for file in files], "contenders": rows})
    ours = [row for row in rows if row.name == "paperscope"]
    return 1 if any(row.pages == 0 and "not installed" not in row.note for row in ours) else 0


def measure(name: str, files: Sequence[Path], *, python: str = sys.executable) -> Figures:
    """Run a PDF reader on the files in a separate process."""
    # The script's folder, with a module `ner`, must not come before ours.
    command = [python, "-P", str(_SCRIPT), name, *map(str, files)]
    done = subprocess.run(  # noqa: S603
        command,
        env={"PYTHONPATH": os.pathsep.join((str(_ROOT), str(_ROOT / "lab")))},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return Figures(name=name, note=f"failed: {(done.stderr.strip().splitlines() or ['no reason given'])[-1]}")
    found = json.loads(done.stdout.splitlines()[-1])
    if "missing" in found:
        return Figures(name=name, note=f"not installed: {found['missing']}")
    note = "; ".join(found["failed"])
    return Figures(name=name, pages=found["pages"], seconds=found["seconds"], memory_mb=found["memory_mb"], note=note)


def _table(rows: Sequence[Figures]) -> str:
    base = next((row.page_seconds for row in rows if row.name == "paperscope"), 0.0)
    lines = [f"{'':28} {'pages':>6} {'s/page':>8} {'x ours':>8} {'peak MB':>8}"]
    for row in rows:
        ratio = f"{row.page_seconds / base:.2f}" if base and row.pages else "-"
        figures = f"{row.pages:6} {row.page_seconds:8.4f} {ratio:>8} {row.memory_mb:8.0f}" if row.pages else ""
        lines.append(f"{PDF_READERS[row.name].title:28} {figures} {row.note}".rstrip())
    return "\n".join(lines) + "\n"
