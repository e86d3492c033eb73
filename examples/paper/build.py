"""Build the example paper: draw its plots, then compile `ner-report.typ` to `ner-report.pdf`.

Run it from anywhere, with the two development dependencies installed:

    python -m pip install typst matplotlib
    python examples/paper/build.py            # writes figures/ and ner-report.pdf
    python examples/paper/build.py --check    # builds elsewhere and compares with the PDF that is there

Only the fonts embedded in typst and in matplotlib are used, and no date is written, so the same versions give the same
bytes. The shipped PDF was made with typst 0.15.0 and matplotlib 3.11.2; others may differ in bytes, not in content.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import plots
import typst

HERE = Path(__file__).resolve().parent
SOURCE = "ner-report.typ"
BIBLIOGRAPHY = "refs.bib"
RESULT = "ner-report.pdf"


def build(folder: Path) -> Path:
    """Draw the plots and compile the paper inside `folder`, which must hold the source; returns the PDF's path."""
    plots.draw_all(folder / "figures")
    result = folder / RESULT
    typst.compile(str(folder / SOURCE), output=str(result), root=str(folder), ignore_system_fonts=True)
    return result


def is_current() -> bool:
    """Whether a fresh build equals the PDF beside this file, byte for byte."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in (SOURCE, BIBLIOGRAPHY):
            shutil.copy(HERE / part, folder / part)
        return build(folder).read_bytes() == (HERE / RESULT).read_bytes()


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status: 1 when `--check` finds a difference."""
    parser = argparse.ArgumentParser(description="Build the example paper.")
    parser.add_argument("--check", action="store_true", help="compare a fresh build with the PDF; write nothing")
    if parser.parse_args(arguments).check:
        current = is_current()
        state = "is up to date" if current else "differs: run build.py without --check"
        sys.stdout.write(f"{RESULT} {state}\n")
        return 0 if current else 1
    sys.stdout.write(f"wrote {build(HERE)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
