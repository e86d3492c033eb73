"""Build the example papers: draw their plots, then compile each `.typ` file to the PDF beside it.

Run it from anywhere, with the two development dependencies installed:

    python -m pip install typst matplotlib
    python examples/paper/build.py            # writes figures/ and the PDFs
    python examples/paper/build.py --check    # builds elsewhere and compares with the PDFs that are there

Only the fonts embedded in typst and in matplotlib are used, and no date is written, so the same versions give the same
bytes. The shipped PDFs were made with typst 0.15.0 and matplotlib 3.11.2; others may differ in bytes, not in content.
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
PAPERS = ("ner-report", "seed-intervals")
BIBLIOGRAPHY = "refs.bib"


def build(folder: Path) -> list[Path]:
    """Draw the plots and compile the papers inside `folder`, which must hold the sources; returns the PDFs' paths."""
    plots.draw_all(folder / "figures")
    return [_compile(folder / f"{paper}.typ") for paper in PAPERS]


def _compile(source: Path) -> Path:
    result = source.with_suffix(".pdf")
    typst.compile(str(source), output=str(result), root=str(source.parent), ignore_system_fonts=True)
    return result


def changed() -> list[str]:
    """Return the names of the PDFs beside this file that a fresh build does not equal, byte for byte."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in (*(f"{paper}.typ" for paper in PAPERS), BIBLIOGRAPHY):
            shutil.copy(HERE / part, folder / part)
        return [new.name for new in build(folder) if new.read_bytes() != (HERE / new.name).read_bytes()]


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the command line; returns the exit status: 1 when `--check` finds a difference."""
    parser = argparse.ArgumentParser(description="Build the example papers.")
    parser.add_argument("--check", action="store_true", help="compare a fresh build with the PDFs; write nothing")
    if parser.parse_args(arguments).check:
        differing = changed()
        state = f"{', '.join(differing)} differs: run build.py without --check" if differing else "up to date"
        sys.stdout.write(f"{state}\n")
        return 1 if differing else 0
    for file in build(HERE):
        sys.stdout.write(f"wrote {file}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
