"""Malformed, encrypted and fuzzed files: a typed outcome for each. `ingest/sandbox` limits time and memory."""

import json
from pathlib import Path

import pytest

from ingest.ocr import OcrBackend, recognition_for
from ingest.pdf import Backend, PdfBackend, PdfParser
from paperscope_core.errors import PaperFileError
from paperscope_core.types import Paper, PaperFile

# Of the eight files whose pages have no text: a bitmap, a table and a fuzzed file.
SCANNED = ("1bb492c3", "29f02a2d", "380f5d73")
PASSWORDS = {
    "job-json-encrypt-40": ("u", "o"),
    "c-r4": ("user2", "owner2"),
    "c-r6-in": ("user4", "owner4"),
    "20-pages": ("user", "owner"),
    "pr6531_2": ("asdfasdf",),
    "issue6010_2": ("æøå", "owner"),
    "print_protection": ("1234", "password"),
    "password": ("password",),
    "enc-XI-R6_V5_U_view_attachments_cleartext-metadata": ("view",),
    "libreoffice-writer-password": ("openpassword", "permissionpassword"),
}


def outcome(file: Path, *, password: str | None = None, backend: Backend | None = None) -> Paper | str:
    """The paper, or the message of its refusal; any other error fails the test."""
    try:
        return PdfParser(dpi=20, backend=backend).parse(PaperFile(file, password=password)).paper
    except PaperFileError as error:
        return str(error)


@pytest.fixture(scope="module")
def hostile(shared: Path) -> list[Path]:
    return sorted((shared / "eval/hostile").glob("*.pdf"))


@pytest.mark.slow
def test_every_hostile_file_has_a_typed_outcome_and_prints_nothing(
    hostile: list[Path], shared: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    expected = {
        row["file"]: row["mupdf_outcome"]
        for row in map(json.loads, (shared / "eval/robustness_expected.jsonl").read_text().splitlines())
    }
    assert len(hostile) == 94
    for file in hostile:
        result = outcome(file)
        assert file.name in result if isinstance(result, str) else result.pages
        if expected[file.name] in ("ok text", "repaired text") and "bad34" not in file.name:
            assert isinstance(result, Paper), result
            assert result.elements, file.name
    assert capfd.readouterr().err == ""


@pytest.mark.slow
def test_hostile_pages_without_text_are_recognised(hostile: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rapidocr")
    # At a quarter of the resolution, which takes a fraction of the time.
    monkeypatch.setattr("ingest.ocr.backend._LONGEST_SIDE", 585)
    recognising = OcrBackend(PdfBackend(), recognition_for("auto"))
    scanned = [file for file in hostile if file.stem.startswith(SCANNED)]
    assert len(scanned) == len(SCANNED)
    for file in scanned:
        paper = outcome(file, backend=recognising)
        assert isinstance(paper, Paper), paper
        assert any("recogni" in problem.reason for problem in paper.problems), file.name
        assert not any("set parser.ocr" in problem.reason for problem in paper.problems)


@pytest.mark.slow
@pytest.mark.parametrize("name", PASSWORDS)
def test_encrypted_files_open_with_their_passwords_only(shared: Path, name: str) -> None:
    [file] = (shared / "eval/hostile").glob(f"*_{name}.pdf")
    assert "is encrypted. Send its password along" in str(outcome(file))
    wrong = outcome(file, password="not this one")  # noqa: S106
    assert "the password given does not open it" in str(wrong)
    for password in PASSWORDS[name]:
        result = outcome(file, password=password)
        assert isinstance(result, Paper), result
