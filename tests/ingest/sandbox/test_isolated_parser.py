"""A file that crashes, stalls or bloats the parser is an error of that file; the caller and the next file go on."""

import asyncio
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from ingest.pdf import PdfParser
from ingest.sandbox.isolated_parser import IsolatedParser
from paperscope_core.cancellation import run_in_thread
from paperscope_core.errors import PaperFileError, SettingsError
from paperscope_core.protocols import Parser
from paperscope_core.types import PaperFile
from tests.ingest.pdf.test_golden import make_paper

ODD = """
import os, signal, time
from pathlib import Path
from ingest.document.source import read_file
from paperscope_core.cancellation import extend_time_limit
from paperscope_core.errors import SettingsError
from paperscope_core.types import Page, Paper, ParsedPaper

class OddParser:
    def parse(self, file, *, on_page=None):
        on_page(1, 2)
        print("noise on the output")
        match file.path.stem:
            case "crash": signal.raise_signal(signal.SIGSEGV)
            case "killed": os.kill(os.getpid(), signal.SIGKILL)
            case "killed once":
                if not (marker := file.path.with_suffix(".marker")).exists():
                    marker.touch()
                    os.kill(os.getpid(), signal.SIGKILL)
            case "hang": time.sleep(60)
            case "slow":
                extend_time_limit(10)
                time.sleep(1.5)
            case "slower":
                extend_time_limit(1.5)
                time.sleep(60)
            case "after":
                on_page(2, 2)
                time.sleep(60)
            case "bloat": bytearray(3_000_000_000)
            case "bug": raise ZeroDivisionError("nobody thought of it")
            case "settings": raise SettingsError("install it")
            case "nowhere": read_file(file)
        on_page(2, 2)
        pages = (Page(number=1, width=1.0, height=2.0),)
        paper = Paper(id="p", title=str(os.getpid()), authors=(), sha256="", file=file.name, pages=pages,
                      sections=(), elements=())
        return ParsedPaper(paper=paper, crops={"name": b"bytes\\nand more"})
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("odd")
    (folder / "odd_parser.py").write_text(ODD)
    return folder


@pytest.fixture(scope="module")
def odd(folder: Path) -> Iterator[Parser]:
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(folder)
        import odd_parser  # type: ignore[import-not-found]

        parser: Parser = odd_parser.OddParser()
        yield parser


@pytest.fixture(scope="module")
def isolated(odd: Parser) -> IsolatedParser:
    """Its tests share a child process."""
    return IsolatedParser(odd, seconds=60, memory_mb=500)


@pytest.fixture(scope="module")
def hasty(odd: Parser) -> IsolatedParser:
    return IsolatedParser(odd, seconds=1, memory_mb=500)


def test_the_paper_its_crops_and_the_pages_come_through(isolated: IsolatedParser) -> None:
    seen: list[tuple[int, int]] = []
    parsed = isolated.parse(PaperFile(Path("good.pdf")), on_page=lambda done, total: seen.append((done, total)))
    assert parsed.crops == {"name": b"bytes\nand more"}
    assert parsed.paper.pages[0].height == 2.0
    assert int(parsed.paper.title) != os.getpid()
    assert seen == [(1, 2), (2, 2)]
    assert isolated.parse(PaperFile(Path("next.pdf"))).paper.title == parsed.paper.title


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("crash", r"'crash\.pdf' made the parser fail at page 2 \(signal 11\)"),
        ("hang", r"'hang\.pdf' was given up: a step of reading it, at page 2, took longer than 1 seconds"),
        ("slower", r"a step of reading it, at page 2, took longer than 1\.5 seconds"),
        ("after", r"a step of reading it, after its last page, took longer than 3 seconds"),
        ("bug", r"ZeroDivisionError: nobody thought of it"),
        pytest.param(
            "bloat",
            r"takes more than 500 MB of memory\. Raise limits\.memory_mb",
            marks=pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits a process's memory"),
        ),
    ],
)
def test_a_failure_is_the_files_own_and_the_next_file_is_read(hasty: IsolatedParser, name: str, message: str) -> None:
    with pytest.raises(PaperFileError, match=message):
        hasty.parse(PaperFile(Path(f"{name}.pdf")))
    assert hasty.parse(PaperFile(Path("good.pdf"))).crops


@pytest.mark.slow
def test_a_file_whose_child_another_program_ended_is_read_again(isolated: IsolatedParser, folder: Path) -> None:
    assert isolated.parse(PaperFile(folder / "killed once.pdf")).paper.id == "p"
    with pytest.raises(PaperFileError, match="was ended 5 times from outside"):
        isolated.parse(PaperFile(folder / "killed.pdf"))


def test_a_step_that_asks_for_time_gets_it(hasty: IsolatedParser) -> None:
    assert hasty.parse(PaperFile(Path("slow.pdf"))).crops


def test_errors_keep_their_kind(isolated: IsolatedParser) -> None:
    with pytest.raises(SettingsError, match="install it"):
        isolated.parse(PaperFile(Path("settings.pdf")))
    with pytest.raises(PaperFileError, match="There is no file"):
        isolated.parse(PaperFile(Path("nowhere.pdf")))


async def test_work_that_is_given_up_kills_the_child_and_the_next_file_is_read(isolated: IsolatedParser) -> None:
    begun = threading.Event()
    hanging = partial(isolated.parse, PaperFile(Path("hang.pdf")), on_page=lambda _done, _total: begun.set())
    task = asyncio.create_task(run_in_thread(hanging))
    await asyncio.to_thread(begun.wait)
    before, started = threading.active_count(), time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - started < 5
    assert threading.active_count() <= before
    assert (await run_in_thread(partial(isolated.parse, PaperFile(Path("good.pdf"))))).crops


@pytest.mark.slow
def test_a_pdf_file_is_read_as_without(tmp_path: Path) -> None:
    file = tmp_path / "paper.pdf"
    file.write_bytes(make_paper())
    plain = PdfParser(dpi=36)
    assert IsolatedParser(plain, seconds=60, memory_mb=2000).parse(PaperFile(file)) == plain.parse(PaperFile(file))


@pytest.mark.slow
def test_ctrl_c_stops_the_child(odd: Parser, folder: Path, tmp_path: Path, root: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(f"""
        import pickle, sys
        sys.path[:0] = [{str(root)!r}, {str(folder)!r}]
        from pathlib import Path
        from ingest.sandbox.isolated_parser import IsolatedParser
        from paperscope_core.types import PaperFile
        parser = pickle.loads({pickle.dumps(odd)!r})
        say = lambda done, total: print("page", flush=True)
        try:
            IsolatedParser(parser, seconds=60, memory_mb=500).parse(PaperFile(Path("hang.pdf")), on_page=say)
        except KeyboardInterrupt:
            print("stopped", flush=True)
        """)
    )
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A shell that runs the tests in the background has them, and what they start, ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "page\n"
        started = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "stopped\n"
        assert process.wait(timeout=20) == 0
        assert time.monotonic() - started < 20
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
