"""The command line, run in this process."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

from service.cli import main


@dataclass(frozen=True, kw_only=True)
class Outcome:
    code: int
    out: str
    err: str


class Run(Protocol):
    def __call__(self, *arguments: str | Path) -> Outcome: ...


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Runs `paperscope ARGS…` in an empty working directory, on a wide terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")

    def call(*arguments: str | Path) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["paperscope", *map(str, arguments)])
        capfd.readouterr()
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        captured = capfd.readouterr()
        return Outcome(code=code, out=captured.out, err=captured.err)

    return call
