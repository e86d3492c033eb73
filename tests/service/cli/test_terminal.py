"""What reaches the terminal: no control characters and no markup of papers and models."""

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from rich.table import Table
from rich.text import Text

from paperscope_core.types import Publication
from service.cli.terminal import print_json, print_text, publication_line, stdout
from tests.rendered_markdown import TEXTS

if TYPE_CHECKING:
    from tests.service.cli.conftest import Run

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
ESCAPES = "\x1b]8;;http://evil.example\x1b\\here\x1b]8;;\x1b\\ \x1b[31mred \x9b2J \u202eback \x07"
# Rich would make a link of this.
MARKUP = "[link=http://evil.example]here[/link] [/bold] :smile:"
PAPER = f"""# Taggers {ESCAPES} {MARKUP}

Ann {ESCAPES} Author

## Results {ESCAPES}

The tagger {ESCAPES} reaches an F1 of 0.83 {MARKUP}.

Table 1 {ESCAPES}{MARKUP}: F1 of taggers

| Tagger {ESCAPES} | F1 |
|---|---|
| CRF {ESCAPES} | 0.83 |
"""


@given(TEXTS)
def test_a_console_writes_only_its_own_control_characters(text: str) -> None:
    shown = io.StringIO()
    console = stdout()
    console.file = shown
    grid = Table(text)
    grid.add_row(text, Text(text))
    console.print(grid, Text(text, style="bold"), text + ESCAPES + MARKUP)
    assert not CONTROL.search(shown.getvalue())
    assert "[link=" in shown.getvalue().replace("\n", "")


def test_styles_are_written_to_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    shown = io.StringIO()
    console = stdout()
    console.file = shown
    console.print(Text(f"a{ESCAPES}b", style="red"))
    assert shown.getvalue().startswith("\x1b[31ma]8;;http")
    assert "\x1b]8" not in shown.getvalue()


def test_json_and_text_are_safe_to_print(capfd: pytest.CaptureFixture[str]) -> None:
    print_json(json.dumps([ESCAPES], ensure_ascii=False))
    printed = capfd.readouterr().out
    assert json.loads(printed) == [ESCAPES]
    assert not CONTROL.search(printed)
    print_text(f"# Report\n{ESCAPES}")
    assert not CONTROL.search(capfd.readouterr().out)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no device that is full")
@pytest.mark.slow
@pytest.mark.parametrize("command", [["--version"], ["config"], ["config", "--json"]])
def test_a_stdout_that_cannot_be_written_is_named(command: list[str], root: Path) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(  # noqa: S603
            [sys.executable, "-m", "paperscope", *command], cwd=root, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert ended.returncode == 3
    error = " ".join(ended.stderr.decode().split())
    assert error.startswith("error: standard output: can't be written (No space left on device); free some space")


@pytest.mark.slow
def test_what_the_encoding_of_stdout_lacks_is_escaped(tmp_path: Path, root: Path) -> None:
    config = tmp_path / "×.toml"
    config.write_text('library = "Größe \U0001d4b3"')
    command = [sys.executable, "-m", "paperscope", "config", "--config", str(config), "--json"]
    environ = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    ended = subprocess.run(command, cwd=root, capture_output=True, env=environ, check=True)  # noqa: S603
    shown = json.loads(ended.stdout.decode("latin-1"))
    assert shown["settings"]["library"]["value"] == "Größe \U0001d4b3"


@pytest.mark.slow
def test_no_command_writes_control_characters_of_a_paper(run: "Run", tmp_path: Path) -> None:
    file = tmp_path / "taggers.md"
    file.write_text(PAPER, encoding="utf-8")
    asked = tmp_path / "questions.txt"
    asked.write_text(f"What F1 does the tagger reach? {ESCAPES}\n", encoding="utf-8")
    library = ("--library", tmp_path / "library")
    commands: list[tuple[str | Path, ...]] = [
        ("parse", file, "--out", tmp_path / "parsed"),
        ("parse", file, "--json"),
        ("add", file, *library),
        ("add", tmp_path / f"{ESCAPES[:4]}.txt", *library),
        ("papers", *library),
        ("papers", *library, "--json"),
        ("show", "taggers.md", *library),
        ("show", "taggers.md", *library, "--json"),
        ("ask", f"What F1 does the tagger reach? {ESCAPES}", *library),
        ("ask", "What F1 does the tagger reach?", *library, "--json"),
        ("batch", asked, "--out", tmp_path / "answers", "--show", *library),
        ("graph", "CRF", *library),
        ("graph", "Table 1", *library),
        ("graph", ESCAPES, *library),
        ("remove", "taggers.md", *library),
    ]
    for command in commands:
        shown = run(*command)
        found = CONTROL.search(shown.out + shown.err)
        assert found is None, f"{command[0]}: {(shown.out + shown.err)[found.start() :][:80]!r}"
        assert "Traceback" not in shown.err


@pytest.mark.parametrize(
    ("publication", "line"),
    [
        (Publication(), ""),
        (Publication(year=2020), "2020"),
        (
            Publication(year=2020, venue="Maps", doi="10.5555/1", arxiv="2001.00001"),
            "Maps, 2020, doi:10.5555/1, arXiv:2001.00001",
        ),
    ],
)
def test_a_publication_is_shown_as_far_as_it_is_known(publication: Publication, line: str) -> None:
    assert publication_line(publication) == line
