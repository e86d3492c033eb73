"""What the benchmarks share: their output."""

import argparse
import json
import os
import sys
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

from paperscope_core.files import write_atomically

__all__ = ["add_out", "print_page", "write_figures"]


def add_out(command: argparse.ArgumentParser) -> None:
    """Add the option `--out`."""
    command.add_argument("--out", type=Path, metavar="FILE", help="write the figures as JSON too")


def print_page(lines: Iterable[str]) -> None:
    """Print the lines and the load of the machine, which affects the figures."""
    load = " ".join(f"{value:.1f}" for value in os.getloadavg())
    sys.stdout.write("\n".join([*lines, f"Load of the machine: {load}, {os.cpu_count()} cores."]) + "\n")


def write_figures(file: Path | None, figures: object) -> None:
    """Write figures, which may contain dataclasses, as JSON. Raises OutputError."""
    if file:
        write_atomically(file, json.dumps(figures, indent=2, default=_fields).encode() + b"\n")


def _fields(figures: Any) -> dict[str, object]:  # noqa: ANN401 # what is no JSON
    """Return a dataclass as a dict; `asdict` would count the items of a Counter."""
    return {field.name: getattr(figures, field.name) for field in fields(figures)}
