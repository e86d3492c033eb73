"""The scripts that make whole reports: each option that they use is one of its command."""

import re
import subprocess
from pathlib import Path

import pytest
from paperscope_lab.cli.ner import ner_app
from typer.main import get_command

SCRIPTS = sorted((Path(__file__).parents[2] / "examples").glob("*.sh"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_uses_options_that_exist(script: Path) -> None:
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0  # noqa: S603, S607
    text = script.read_text(encoding="utf-8").replace("\\\n", " ")
    used = re.findall(r"^ *paperscope ner ((?:data )?\w+)(.*)$", text, re.MULTILINE)
    assert used
    for name, rest in used:
        command = get_command(ner_app)
        for part in name.split():
            command = command.commands[part]  # type: ignore[attr-defined]
        known = {option for parameter in command.params for option in parameter.opts}
        assert set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", rest)) <= known, name
