"""`MinerUCommandParser` runs MinerU on a PDF and reads what it writes."""

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

from ingest.document.source import read_pdf
from ingest.readers.mineru import MinerUParser, is_mineru_folder
from paperscope_core.cancellation import on_cancel
from paperscope_core.errors import PaperFileError, SettingsError
from paperscope_core.protocols import PageCallback, Parser
from paperscope_core.types import PaperFile, ParsedPaper, content_hash

__all__ = ["MinerUCommandParser"]

# How long an interrupted MinerU may take to end its own child processes.
_GRACE_SECONDS = 10.0
_TAIL_BYTES = 8192
_MAX_LINE_LENGTH = 300


class MinerUCommandParser:
    """Runs MinerU on each PDF and reads what it writes.

    Args:
        command: MinerU's program and its options; no shell is used.
        seconds: The time limit for a file.
        max_pages: Files with more pages are refused.
        isolated: Limits the parser of what MinerU writes.

    Raises:
        SettingsError: There is no such program.
    """

    def __init__(
        self,
        command: str,
        *,
        seconds: float,
        max_pages: int | None = None,
        isolated: Callable[[Parser], Parser] = lambda parser: parser,
    ) -> None:
        self._command = _split_command(command)
        self._seconds = seconds
        self._max_pages = max_pages
        self._isolated = isolated

    def parse(self, file: PaperFile, *, on_page: PageCallback | None = None) -> ParsedPaper:
        """See `Parser.parse`; `on_page` is called once, after the last page. MinerU opens no encrypted file.

        Raise `PaperFileError` if the command fails, takes too long, or writes nothing that can be read.
        """
        if file.password is not None:
            raise PaperFileError(
                f"{file.name!r}: MinerU opens no encrypted files. Take its password off, or set "
                "parser.engine = 'paperscope'."
            )
        data = read_pdf(file)
        with tempfile.TemporaryDirectory(prefix="paperscope-mineru-", ignore_cleanup_errors=True) as scratch:
            # The file's own name may look like an option, or be too long for MinerU.
            paper, out = Path(scratch, "paper.pdf"), Path(scratch, "out")
            paper.write_bytes(data)
            out.mkdir()
            message = self._run(["-p", str(paper), "-o", str(out)], name=file.name)
            reader = MinerUParser(
                max_pages=self._max_pages, name=file.name, sha256=file.sha256 or content_hash(data), format="pdf"
            )
            folder = self._find_output(out, message=message, name=file.name)
            return self._isolated(reader).parse(PaperFile(folder), on_page=on_page)

    def _run(self, options: Sequence[str], *, name: str) -> str:
        """Run the command and return the last line of its output."""
        with tempfile.TemporaryFile() as output:
            try:
                process = subprocess.Popen(  # noqa: S603 -- the user's own command, without a shell
                    [*self._command, *options], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
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
                    "Raise limits.parse_seconds, or set parser.engine = 'paperscope'."
                ) from error
            finally:
                _stop(process)
            message = _last_line(output)
        if code:
            ending = f"signal {-code}" if code < 0 else f"exit code {code}"
            raise PaperFileError(
                f"{name!r}: MinerU failed ({ending}): {message or 'it said nothing'}. Run "
                f"'{shlex.join(self._command)} -p FILE -o FOLDER' to see its whole output, or set "
                "parser.engine = 'paperscope'."
            )
        return message

    def _find_output(self, out: Path, *, message: str, name: str) -> Path:
        """Return the paper's folder below `out`; its depth differs between versions of MinerU."""
        found = sorted(folder for folder in (out, *out.rglob("*")) if is_mineru_folder(folder))
        if not found:
            raise PaperFileError(
                f"{name!r}: MinerU wrote no middle.json and no content_list.json: {message or 'it said nothing'}. Is "
                f"parser.mineru_command = {shlex.join(self._command)!r} MinerU's program?"
            )
        return found[0]


def _split_command(command: str) -> list[str]:
    """Return the words of a command whose first word is an existing program."""
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
    """Interrupt a running process, so that it can end its child processes, and kill it if it doesn't exit."""
    if process.poll() is not None:
        return
    if sys.platform == "win32":
        process.terminate()
    else:
        process.send_signal(signal.SIGINT)
    try:
        process.wait(timeout=_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _last_line(output: IO[bytes]) -> str:
    """Return the last line that isn't blank; the lines of a progress bar end in a carriage return."""
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - _TAIL_BYTES))
    lines = [line.strip() for line in output.read().decode("utf-8", "replace").splitlines()]
    return next((line[:_MAX_LINE_LENGTH].rstrip(".") for line in reversed(lines) if line), "")
