"""Copies of the uploaded files that papers were read from."""

import re
import shutil
import time
import unicodedata
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from graph_store.database import translate_errors
from ingest import content_file
from paperscope_core.errors import PaperFileError
from paperscope_core.files import replace_file
from paperscope_core.types import PaperEntry, content_hash

__all__ = ["Originals", "file_name"]


_LONGEST_BYTES = 150
_LONGEST_SUFFIX = 12
_FORBIDDEN = re.compile(r'[<>:"|?*]')
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]) *(\.|$)", re.IGNORECASE)
_ABANDONED_SECONDS = 3600


class Originals:
    """A folder of files by the SHA-256 of their bytes, `FOLDER/abcd…/the paper.pdf`; each is wholly there or not at
    all. Raises StoreError."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, file: Path, *, name: str) -> Path:
        """Copy `file` under this name, which may be a stranger's; the copy's path. Raises PaperFileError, too."""
        name = file_name(name)
        try:
            data = file.read_bytes()
        except OSError as error:
            raise PaperFileError(f"{name!r} can't be read ({error.strerror}); hand it over again") from error
        copy = self._folder / content_hash(data) / name
        if not copy.is_file():
            with translate_errors(self._folder):
                copy.parent.mkdir(parents=True, exist_ok=True)
                replace_file(copy, data)
        return copy

    def of(self, entry: PaperEntry) -> Path:
        """The file of a paper: the copy that is kept, or what it was added from.

        Raises PaperFileError where it is gone or has changed since.
        """
        copy = self._folder / entry.sha256 / entry.file
        file = copy if copy.is_file() else Path(entry.source)
        try:
            digest = content_hash(content_file(file).read_bytes())
        except OSError as error:
            raise PaperFileError(f"{entry.file!r} is no longer where it was added from; add it again") from error
        if digest != entry.sha256:
            raise PaperFileError(f"{entry.file!r} has changed since it was added; add it again")
        return file

    def drop(self, sha256: str, *, keep: str = "") -> None:
        """Delete the copies of a file, but for the one with the name `keep`."""
        with translate_errors(self._folder):
            for copy in (self._folder / sha256).glob("*"):
                if copy.name != keep:
                    copy.unlink(missing_ok=True)
            if not keep:
                shutil.rmtree(self._folder / sha256, ignore_errors=True)

    def sweep(self, *, keep: Collection[str]) -> None:
        """Delete what adds that were killed left: files whose hash is none to keep, and that lie there for hours."""
        oldest = time.time() - _ABANDONED_SECONDS
        with translate_errors(self._folder):
            for folder in self._folder.glob("*"):
                # Another process may sweep as well.
                with suppress(FileNotFoundError):
                    if folder.name not in keep and folder.stat().st_mtime < oldest:
                        self.drop(folder.name)


def file_name(name: str) -> str:
    """A name that a stranger gave a file, as one that can do no harm in a folder, on any system, or on a screen.

    What is before the last slash or backslash goes, and so do signs that can't be seen; what is too long is cut before
    its suffix. Without anything left it is "paper".
    """
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    shown = "".join(sign for sign in last if sign.isprintable())
    plain = _FORBIDDEN.sub("_", shown).strip(" .").lstrip("-")
    stem, dot, suffix = plain.rpartition(".")
    if not stem or len(suffix) > _LONGEST_SUFFIX or not suffix.isascii():
        stem, dot, suffix = plain, "", ""
    room = _LONGEST_BYTES - len(dot + suffix)
    stem = stem.encode()[:room].decode(errors="ignore").strip(" .") or "paper"
    whole = f"{stem}{dot}{suffix}"
    return f"_{whole}" if _DEVICE.match(whole) else whole
