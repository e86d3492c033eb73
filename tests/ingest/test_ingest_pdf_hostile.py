"""Malformed, encrypted, fuzzed and active files: a typed outcome for each, in time, and nothing in them is followed."""

import json
import time
from pathlib import Path

import pymupdf
import pytest

from ingest import PdfParser
from ingest.isolated import IsolatedParser
from ingest.pdf import backend_for
from ingest.pdf.backends import BackendName
from paperscope.errors import PaperFileError
from paperscope.types import Paper

NAMES: tuple[BackendName, ...] = ("pymupdf", "pdfium")
LONGEST = 20.0
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


@pytest.fixture(params=NAMES, scope="module")
def parser(request: pytest.FixtureRequest) -> IsolatedParser:
    return IsolatedParser(PdfParser(dpi=72, backend=backend_for(request.param)), seconds=15, memory_mb=2000)


def outcome(parser: IsolatedParser, file: Path, *, password: str | None = None) -> Paper | str:
    """The paper, or the message of its refusal; any other error fails the test."""
    try:
        return parser.parse(file, password=password).paper
    except PaperFileError as error:
        return str(error)


def test_every_hostile_file_has_a_typed_outcome_in_time(parser: IsolatedParser, shared: Path) -> None:
    expected = {
        row["file"]: row["mupdf_outcome"]
        for row in map(json.loads, (shared / "eval/robustness_expected.jsonl").read_text().splitlines())
    }
    files = sorted((shared / "eval/hostile").glob("*.pdf"))
    assert len(files) == 94
    for file in files:
        started = time.monotonic()
        result = outcome(parser, file)
        assert time.monotonic() - started < LONGEST, file.name
        if isinstance(result, str):
            assert file.name in result
            assert "fail" not in result, result
        else:
            assert result.pages
        if expected[file.name] in ("ok text", "repaired text") and "bad34" not in file.name:
            assert isinstance(result, Paper), result
            assert result.elements, file.name


@pytest.mark.parametrize("name", PASSWORDS)
def test_encrypted_files_open_with_their_passwords_only(parser: IsolatedParser, shared: Path, name: str) -> None:
    [file] = (shared / "eval/hostile").glob(f"*_{name}.pdf")
    assert "is encrypted. Pass its password" in str(outcome(parser, file))
    wrong = outcome(parser, file, password="not this one")  # noqa: S106
    assert "the password given does not open it" in str(wrong)
    for password in PASSWORDS[name]:
        result = outcome(parser, file, password=password)
        assert isinstance(result, Paper), result


@pytest.mark.parametrize("name", NAMES)
def test_scripts_links_and_attachments_are_never_followed(name: BackendName, tmp_path: Path) -> None:
    """The guard of conftest.py fails a test that reaches out; the file that a launch action names stays unmade."""
    made = tmp_path / "made"
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 100), "A page with active content")
    page.insert_link({"kind": pymupdf.LINK_URI, "from": pymupdf.Rect(70, 90, 200, 110), "uri": "http://192.0.2.1/x"})
    page.insert_link({"kind": pymupdf.LINK_LAUNCH, "from": pymupdf.Rect(70, 120, 200, 140), "file": str(made)})
    document.embfile_add("payload.sh", f"touch {made}".encode())
    action = document.get_new_xref()
    document.update_object(action, "<</S/JavaScript/JS(app.launchURL('http://192.0.2.1/y', true);)>>")
    document.xref_set_key(document.pdf_catalog(), "OpenAction", f"{action} 0 R")
    document.xref_set_key(page.xref, "AA", f"<</O <</S/Launch/F(touch {made})>>>>")
    file = tmp_path / "active.pdf"
    file.write_bytes(document.tobytes())
    before = set(tmp_path.iterdir())
    paper = PdfParser(dpi=72, backend=backend_for(name)).parse(file).paper
    assert [element.text for element in paper.elements if element.kind == "passage"] == ["A page with active content"]
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize("name", NAMES)
def test_a_truncated_paper_is_read_as_far_as_it_goes_or_refused(name: BackendName, root: Path, tmp_path: Path) -> None:
    whole = (root / "examples/paper/ner-report.pdf").read_bytes()
    parser = PdfParser(dpi=36, backend=backend_for(name))
    for share in (2, 40, 80, 99):
        file = tmp_path / f"cut-{share}.pdf"
        file.write_bytes(whole[: len(whole) * share // 100])
        try:
            problems = parser.parse(file).paper.problems
        except PaperFileError as error:
            assert file.name in str(error)  # noqa: PT017
        else:
            assert any("repaired" in problem.reason for problem in problems)
