"""The documentation site builds strictly and offline, and has no broken link, foreign resource or unlisted page."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import paperscope
from paperscope_core.settings.fields import setting_names
from service.cli import app


def run(root: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)  # noqa: S603


@pytest.mark.slow
def test_the_site_builds_without_problems(root: Path) -> None:
    """What `scripts/docs` does, without the set-up."""
    steps = re.findall(r"^(?:exec )?(\.venv/bin/.*)", (root / "scripts/docs").read_text(), flags=re.MULTILINE)
    python = str(Path(sys.executable).parent)
    for step in steps:
        program, *arguments = shlex.split(step)
        done = run(root, program.replace(".venv/bin", python), *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
    text = (root / "build/site/reference/python-api.html").read_text()
    assert 'id="paperscope.Library.ask"' in text


def test_the_check_reports_what_is_broken(root: Path, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(
        '<h2 id="there">x</h2><a href="#there">ok</a><a href="#gone">x</a><a href="gone.html">x</a>'
        '<a href="https://example.org/">ok</a><script src="https://example.org/a.js"></script>'
    )
    (tmp_path / "style.css").write_text("@import '//example.org/b.css'; a { background: url(c.png) }")
    done = run(root, sys.executable, "scripts/check_site.py", tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "index.html loads https://example.org/a.js",
        "index.html has a broken link to #gone",
        "index.html has a broken link to gone.html",
        "style.css loads //example.org/b.css",
    ]


def pages(root: Path) -> Iterator[Path]:
    yield root / "README.md"
    yield root / "CONTRIBUTING.md"
    yield from sorted((root / "docs").rglob("*.md"))


def options_of(words: list[str]) -> set[str]:
    """The options of the command that the words begin with."""
    command: Any = typer.main.get_command(app)
    while commands := getattr(command, "commands", None):
        command, words = commands[words[0]], words[1:]
    return {option for parameter in command.params for option in parameter.opts}


def test_the_commands_in_code_blocks_exist(root: Path) -> None:
    seen = 0
    for page in pages(root):
        for block in re.findall(r"^```(?:bash|text)\n(.*?)^```", page.read_text(), flags=re.DOTALL | re.MULTILINE):
            for line in re.findall(r"^paperscope .*", block.replace("\\\n", ""), flags=re.MULTILINE):
                words = [word.strip("[]") for word in shlex.split(line.removesuffix("&"))][1:]
                assert {word for word in words if word.startswith("--")} <= options_of(words), f"{page.name}: {line}"
                seen += 1
    assert seen > 10


def test_the_settings_named_in_the_pages_exist(root: Path) -> None:
    known = set(setting_names())
    sections = "|".join(sorted({name.partition(".")[0] for name in known if "." in name}))
    for page in pages(root):
        named = set(re.findall(rf"`((?:{sections})\.[a-z_]+)`", page.read_text()))
        assert named - {"service.cli", "service.batch"} <= known, page.name


def test_the_python_api_lists_every_public_name(root: Path) -> None:
    page = (root / "docs/reference/python-api.md").read_text()
    listed = [name for names in re.findall(r"members: \[(.*)\]", page) for name in names.split(", ")]
    assert len(listed) == len(set(listed))
    assert set(paperscope.__all__) - set(listed) == {"ProgressCallback", "__version__"}
