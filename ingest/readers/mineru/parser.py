"""`MinerUParser` reads a folder of MinerU; `MinerUCommandParser` runs MinerU on a PDF first."""

import hashlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from ingest.document.assembly import assemble_paper, paper_id
from ingest.document.authors import author_names
from ingest.document.source import read_pdf
from ingest.readers.mineru.elements import FloatBuilder, draft_blocks
from ingest.readers.mineru.folder import is_mineru_folder, read_document, source_of
from ingest.sandbox.cancellation import on_cancel
from paperscope_core.errors import PaperFileError, SettingsError
from paperscope_core.types import PageProblem, PaperFormat, ParsedPaper

__all__ = ["MinerUCommandParser", "MinerUParser", "read_folder"]


_NOT_SIZED = "MinerU's file names no page sizes; boxes are set as if the pages were A4"


class MinerUParser:
    """Reads the folder that MinerU writes for one paper; `max_pages` refuses longer ones."""

    def __init__(self, *, max_pages: int | None = None) -> None:
        self._max_pages = max_pages

    def parse(
        self, file: Path, *, password: str | None = None, on_page: Callable[[int, int], None] | None = None
    ) -> ParsedPaper:
        """Parse a folder; MinerU's files have no password.

        Raises `PaperFileError` when its JSON can't be read; a picture that can't is a `PageProblem` of the paper.
        """
        del password
        parsed = read_folder(file, name=file.resolve().name, max_pages=self._max_pages)
        if on_page:
            on_page(len(parsed.paper.pages), len(parsed.paper.pages))
        return parsed


def read_folder(
    folder: Path,
    *,
    name: str,
    max_pages: int | None,
    sha256: str = "",
    format: PaperFormat = "mineru",  # noqa: A002 -- the field's name
) -> ParsedPaper:
    """The paper in a folder of MinerU. Without the `sha256` of the file that MinerU read it is known by MinerU's JSON.

    Raises `PaperFileError` as `MinerUParser.parse` does.
    """
    source = source_of(folder)
    sha256 = sha256 or source.sha256
    document = read_document(source)
    count = len(document.pages)
    if max_pages is not None and count > max_pages:
        raise PaperFileError(
            f"{name}: {count} pages are over the limit of {max_pages}; raise limits.max_pages to add it."
        )
    floats = FloatBuilder(document, paper=paper_id(sha256), folder=folder)
    drafted = draft_blocks(document, paper=paper_id(sha256), floats=floats)
    unsized = () if document.sized else (PageProblem(page=document.pages[0].number, reason=_NOT_SIZED),)
    return ParsedPaper(
        paper=assemble_paper(
            drafted.drafts,
            sha256=sha256,
            file=name,
            title=drafted.title or name,
            authors=author_names(drafted.authors, metadata=""),
            pages=document.pages,
            problems=(*unsized, *drafted.problems),
            format=format,
        ),
        crops=floats.crops,
    )


_GRACE = 10.0
_LAST_BYTES = 8192
_LONGEST_LINE = 300


class MinerUCommandParser:
    """Runs `command` (a program and its options, without a shell) for each file, at most `seconds` long.

    Raises `SettingsError` where there is no such program.
    """

    def __init__(self, command: str, *, seconds: float, max_pages: int | None = None) -> None:
        self._command = _program(command)
        self._seconds = seconds
        self._max_pages = max_pages

    def parse(
        self, file: Path, *, password: str | None = None, on_page: Callable[[int, int], None] | None = None
    ) -> ParsedPaper:
        """Parse a PDF; `on_page` is called once, after the last page. MinerU opens no encrypted file.

        Raises `PaperFileError` when the command fails, takes too long, or writes nothing that can be read.
        """
        if password is not None:
            raise PaperFileError(
                f"{file.name!r}: MinerU opens no encrypted files. Take its password off, or set "
                "parser.engine = 'paperscope'."
            )
        data = read_pdf(file)
        with tempfile.TemporaryDirectory(prefix="paperscope-mineru-", ignore_cleanup_errors=True) as scratch:
            # Under a name of ours: the file's own may look like an option, or be longer than MinerU can take.
            paper, out = Path(scratch, "paper.pdf"), Path(scratch, "out")
            paper.write_bytes(data)
            out.mkdir()
            said = self._run(["-p", str(paper), "-o", str(out)], name=file.name)
            parsed = read_folder(
                self._written(out, said=said, name=file.name),
                name=file.name,
                max_pages=self._max_pages,
                sha256=hashlib.sha256(data).hexdigest(),
                format="pdf",
            )
        if on_page:
            on_page(len(parsed.paper.pages), len(parsed.paper.pages))
        return parsed

    def _run(self, options: Sequence[str], *, name: str) -> str:
        """Run the command to its end; returns the last line that it said."""
        with tempfile.TemporaryFile() as said:
            try:
                process = subprocess.Popen(  # noqa: S603 -- the user's own command, without a shell
                    [*self._command, *options], stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT
                )
            except OSError as error:
                raise SettingsError(
                    f"parser.mineru_command = {shlex.join(self._command)!r} can't be run: {error.strerror}. "
                    "Set it to MinerU's program."
                ) from error
            try:
                with on_cancel(process.terminate):
                    code = process.wait(timeout=self._seconds)
            except subprocess.TimeoutExpired as error:
                raise PaperFileError(
                    f"{name!r} was given up: MinerU took longer than {self._seconds:g} seconds. "
                    "Raise limits.engine_seconds, or set parser.engine = 'paperscope'."
                ) from error
            finally:
                _stop(process)
            last = _last_line(said)
        if code:
            raise PaperFileError(
                f"{name!r}: MinerU failed ({_ending(code)}): {last or 'it said nothing'}. Run "
                f"'{shlex.join(self._command)} -p FILE -o FOLDER' to see all that it says, or set "
                "parser.engine = 'paperscope'."
            )
        return last

    def _written(self, out: Path, *, said: str, name: str) -> Path:
        """The folder of the paper, somewhere below `out`: its depth differs from version to version."""
        found = sorted(folder for folder in (out, *out.rglob("*")) if is_mineru_folder(folder))
        if not found:
            raise PaperFileError(
                f"{name!r}: MinerU wrote no middle.json and no content_list.json: {said or 'it said nothing'}. Is "
                f"parser.mineru_command = {shlex.join(self._command)!r} MinerU's program?"
            )
        return found[0]


def _program(command: str) -> list[str]:
    """The command's words, the first one a program that is there."""
    try:
        words = shlex.split(command, posix=os.name != "nt")
    except ValueError as error:
        raise SettingsError(f"parser.mineru_command = {command!r} can't be read: {error}.") from error
    if not words or shutil.which(words[0]) is None:
        raise SettingsError(
            f"parser.engine = 'mineru' runs {command!r} (parser.mineru_command), and there is no such program. Install "
            'MinerU in an environment of its own (pip install "mineru[core]") and set parser.mineru_command to its '
            "program, or set parser.engine = 'paperscope'."
        )
    return words


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """End a process that still runs, politely at first, so that it can end those that it started itself."""
    if process.poll() is not None:
        return
    if sys.platform == "win32":
        process.terminate()
    else:
        process.send_signal(signal.SIGINT)
    try:
        process.wait(timeout=_GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _last_line(said: IO[bytes]) -> str:
    """The last line that isn't blank of what a command said; a progress bar's lines end in a carriage return."""
    size = said.seek(0, os.SEEK_END)
    said.seek(max(0, size - _LAST_BYTES))
    lines = [line.strip() for line in said.read().decode("utf-8", "replace").splitlines()]
    return next((line[:_LONGEST_LINE].rstrip(".") for line in reversed(lines) if line), "")


def _ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
