"""`MinerUCommandParser`: MinerU's own command line reads a PDF, and what it wrote is read here."""

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

from ingest.mineru.folder import is_mineru_folder
from ingest.mineru.parser import read_folder
from ingest.pdf.source import read_pdf
from ingest.stopping import when_stopped
from paperscope.errors import PaperFileError, SettingsError
from paperscope.types import ParsedPaper

__all__ = ["MinerUCommandParser"]

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
                with when_stopped(process.terminate):
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
