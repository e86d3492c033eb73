"""The commands of the laboratory: listed without it, imported only when they are asked for."""

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from service.cli import lab

if TYPE_CHECKING:
    from tests.service.cli.conftest import Run


def test_without_the_laboratory_its_commands_say_how_to_install_it(run: "Run", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "entry_points", lambda **_: ())
    assert all(f"\n  {command} " in run("--help").out for command in ("eval", "ner"))
    for arguments in (["eval"], ["eval", "--help"], ["eval", "answers", "--data", "x"], ["ner", "train", "x"]):
        shown = run(*arguments)
        assert (shown.code, shown.out) == (2, "")
        [line] = shown.err.splitlines()
        assert f"`paperscope {arguments[0]}` is part of the laboratory; install it: pip install paperscope-lab" in line


def test_help_imports_nothing_of_the_laboratory() -> None:
    code = "import sys; from service.cli import app; app(['--help'], standalone_mode=False); import json"
    code += "; print(json.dumps([name for name in sys.modules if name.startswith('paperscope_lab.')]))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert "  eval " in shown.stdout
    assert json.loads(shown.stdout.splitlines()[-1]) == []
