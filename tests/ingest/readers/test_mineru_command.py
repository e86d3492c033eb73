"""MinerU's program as an engine: what it writes is the paper, and whatever goes wrong is one clear message."""

import os
import signal
import stat
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ingest.parsers import parser_for
from ingest.readers.mineru_command import MinerUCommandParser
from paperscope_core.errors import PaperFileError, SettingsError
from paperscope_core.settings import LimitSettings, ParserSettings
from paperscope_core.types import PaperFile, Table, content_hash

PDF = b"%PDF-1.7\nfor the command's eyes only"

WRITES = """
    import json, pathlib, sys
    assert sys.argv[1:-4] == ["--backend", "two words"], sys.argv
    file, out = sys.argv[-3], pathlib.Path(sys.argv[-1])
    assert sys.argv[-4] == "-p" and sys.argv[-2] == "-o" and pathlib.Path(file).read_bytes().startswith(b"%PDF")
    html = "<table><tr><td>Model</td><td>F1</td></tr><tr><td>Ours</td><td>90.1</td></tr></table>"
    def block(kind, top, text):
        box = [60, top, 290, top + 20]
        return {"type": kind, "bbox": box, "lines": [{"bbox": box, "spans": [{"type": "text", "content": text}]}]}
    box = [60, 200, 290, 260]
    body = {"type": "table_body", "bbox": box, "lines": [{"bbox": box, "spans": [
        {"type": "table", "bbox": box, "html": html, "image_path": ""}]}]}
    blocks = [block("title", 40, "A Paper"), block("title", 80, "1 Results"), block("text", 110, "Table 1 has all."),
              block("text", 170, "Table 1: The scores."), {"type": "table", "bbox": box, "blocks": [body]}]
    folder = out / "paper" / "auto"
    folder.mkdir(parents=True)
    page = {"page_idx": 0, "page_size": [600, 800], "preproc_blocks": blocks, "para_blocks": blocks}
    (folder / "paper_middle.json").write_text(json.dumps({"pdf_info": [page]}))
    print("done", file=sys.stderr)
"""

Script = Callable[[str], str]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """Writes a program and returns the command that runs it."""

    def written(code: str) -> str:
        file = tmp_path / "mineru here.py"
        file.write_text(f"#!{sys.executable}\n{textwrap.dedent(code)}")
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
        return f'"{file}"'

    return written


@pytest.fixture
def paper_file(tmp_path: Path) -> Path:
    file = tmp_path / "-p nasty name.pdf"
    file.write_bytes(PDF)
    return file


@pytest.mark.slow
def test_what_the_command_writes_is_the_paper_of_the_pdf(script: Script, paper_file: Path) -> None:
    settings = ParserSettings(engine="mineru", mineru_command=f'{script(WRITES)} --backend "two words"')
    seen: list[tuple[int, int]] = []
    parsed = parser_for(settings, limits=LimitSettings()).parse(
        PaperFile(paper_file), on_page=lambda done, total: seen.append((done, total))
    )
    paper = parsed.paper
    assert (paper.title, paper.file, paper.format) == ("A Paper", paper_file.name, "pdf")
    assert paper.sha256 == content_hash(PDF)
    (table,) = (element for element in paper.elements if isinstance(element, Table))
    assert (table.label, table.caption) == ("Table 1", "The scores.")
    assert table.grid() == [["Model", "F1"], ["Ours", "90.1"]]
    assert table.place.paper == paper.id
    assert seen == [(1, 1)]


def test_a_command_that_is_not_there_is_an_error_of_the_settings() -> None:
    settings = ParserSettings(engine="mineru", mineru_command="no-such-mineru --fast")
    with pytest.raises(SettingsError, match=r"runs 'no-such-mineru --fast' .*no such program.* Install MinerU"):
        parser_for(settings, limits=LimitSettings())


def test_a_command_that_can_not_be_read_or_run_is_an_error_of_the_settings(tmp_path: Path, paper_file: Path) -> None:
    with pytest.raises(SettingsError, match="can't be read: No closing quotation"):
        MinerUCommandParser("mineru 'oops", seconds=10)
    broken = tmp_path / "broken"
    broken.write_text("no program")
    broken.chmod(0o755)
    with pytest.raises(SettingsError, match=r"broken' can't be run: Exec format error"):
        MinerUCommandParser(str(broken), seconds=10).parse(PaperFile(paper_file))


def test_a_command_that_fails_says_its_last_words(script: Script, paper_file: Path) -> None:
    command = script("import sys\nprint('50%\\r60%', file=sys.stderr)\nsys.exit('no model: run its download.\\n\\n')")
    with pytest.raises(PaperFileError, match=r"MinerU failed \(exit code 1\): no model: run its download\. Run"):
        MinerUCommandParser(command, seconds=10).parse(PaperFile(paper_file))


def test_a_command_that_writes_nothing_is_told(script: Script, paper_file: Path) -> None:
    with pytest.raises(PaperFileError, match=r"wrote no middle\.json .*: hello\. Is parser\.mineru_command"):
        MinerUCommandParser(script("print('hello')"), seconds=10).parse(PaperFile(paper_file))


def test_what_the_command_writes_must_be_mineru_s(script: Script, paper_file: Path) -> None:
    code = "import pathlib, sys\npathlib.Path(sys.argv[-1], 'a_middle.json').write_text('[')"
    with pytest.raises(PaperFileError, match=r"no file of a MinerU that Paperscope knows"):
        MinerUCommandParser(script(code), seconds=10).parse(PaperFile(paper_file))


def test_a_command_that_takes_too_long_is_stopped(script: Script, paper_file: Path, tmp_path: Path) -> None:
    mark = tmp_path / "stopped"
    # Python, since a shell can't handle a signal that it was started to ignore, as tests in the background are.
    command = script(
        "import pathlib, signal, sys, time\n"
        f"signal.signal(signal.SIGINT, lambda *_: (pathlib.Path({str(mark)!r}).touch(), sys.exit()))\n"
        "time.sleep(60)"
    )
    with pytest.raises(PaperFileError, match=r"longer than 1 seconds\. Raise limits\.parse_seconds"):
        MinerUCommandParser(command, seconds=1).parse(PaperFile(paper_file))
    assert mark.exists()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_stops_the_command(script: Script, paper_file: Path, tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    command = script(
        f"import os, pathlib, time\npathlib.Path({str(mark)!r}).write_text(str(os.getpid()))\ntime.sleep(60)"
    )
    code = (
        "from pathlib import Path\nfrom ingest.readers.mineru_command import MinerUCommandParser\n"
        "from paperscope_core.types import PaperFile\n"
        f"MinerUCommandParser({command!r}, seconds=50).parse(PaperFile(Path({str(paper_file)!r})))\n"
    )
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", code],
        stderr=subprocess.DEVNULL,
        # A shell that runs the tests in the background has them, and what they start, ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    until = time.monotonic() + 30
    while not (mark.exists() and mark.read_text()) and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) != 0
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)


def test_no_encrypted_file_is_handed_over(script: Script, paper_file: Path) -> None:
    with pytest.raises(PaperFileError, match="opens no encrypted files"):
        MinerUCommandParser(script(WRITES), seconds=10).parse(PaperFile(paper_file, password="secret"))  # noqa: S106


def test_only_pdf_files_go_to_the_command(script: Script, tmp_path: Path) -> None:
    file = tmp_path / "notes.md"
    file.write_text("# Notes\n\nText.\n")
    settings = ParserSettings(engine="mineru", mineru_command=script("raise SystemExit('not for me')"))
    assert parser_for(settings, limits=LimitSettings()).parse(PaperFile(file)).paper.title == "Notes"
