"""Pages with an image and no text: every command that reads them reports it."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PIL import Image, ImageDraw

if TYPE_CHECKING:
    from tests.service.cli.conftest import Run


SAID = "the page has no text layer; text recognition (OCR) is off; set parser.ocr to auto to read it"


@pytest.fixture(params=["scan.pdf", "scan.tiff", "scan.png", "scan.jpg"])
def scan(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scanned page in each format, two pages if the format has pages; OCR is off."""
    monkeypatch.setenv("PAPERSCOPE_PARSER__OCR", "off")
    frames = []
    for number in (1, 2):
        frame = Image.new("RGB", (600, 800), "white")
        ImageDraw.Draw(frame).text((50, 50 * number), f"page {number}", fill="black")
        frames.append(frame)
    file: Path = tmp_path / request.param
    if file.suffix in (".pdf", ".tiff"):
        frames[0].save(file, save_all=True, append_images=frames[1:])
    else:
        frames[0].save(file)
    return file


def said_of(out: str) -> list[str]:
    return [line.strip() for line in out.splitlines() if "text layer" in line]


@pytest.mark.slow
def test_parse_says_which_pages_have_no_text(run: "Run", scan: Path, tmp_path: Path) -> None:
    pages = 2 if scan.suffix in (".pdf", ".tiff") else 1
    parsed = run("parse", scan, "--out", tmp_path / "out")
    assert parsed.code == 0
    assert said_of(parsed.out) == [f"page {number}: {SAID}" for number in range(1, pages + 1)]


@pytest.mark.slow
@pytest.mark.parametrize("scan", ["scan.pdf"], indirect=True)
def test_every_command_says_which_pages_have_no_text(run: "Run", scan: Path, tmp_path: Path) -> None:
    expected = [{"page": number, "reason": SAID, "kind": "text"} for number in (1, 2)]
    for command, option, folder in (("parse", "--out", tmp_path / "out"), ("add", "--library", tmp_path / "a")):
        assert json.loads(run(command, scan, option, folder, "--json").out)["problems"] == expected
    for shown in (run("add", scan, "--library", tmp_path / "b"), run("show", scan.name, "--library", tmp_path / "a")):
        assert said_of(shown.out) == [f"page {problem['page']}: {problem['reason']}" for problem in expected]
