"""Copies of the uploaded files that papers were read from."""

import re
import shutil
import time
import unicodedata
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path, PurePosixPath

from graph_store import Store
from graph_store.database import translate_errors
from graph_store.objects import FolderObjects, Objects
from paperscope_core.errors import PaperFileError
from paperscope_core.files import PRIVATE_FILE, create_private_folder, replace_file
from paperscope_core.types import OtherFile, PaperEntry, content_hash

__all__ = ["Originals", "file_name", "open_originals"]


# File systems allow 255 bytes, some of which are used by the name of a temporary file.
_MAX_BYTES = 150
_MAX_SUFFIX_LENGTH = 12
_FORBIDDEN = re.compile(r'[<>:"|?*]')
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]) *(\.|$)", re.IGNORECASE)
# A younger folder may belong to an add in progress.
_ABANDONED_SECONDS = 3600
_FOLDER = "originals"


class Originals:
    """A folder of files by the SHA-256 of their content, `FOLDER/abcd…/the paper.pdf`.

    Files are written atomically. All methods raise StoreError if the folder can't be read or written.

    Args:
        remote: Where the files of the library are if not in the folder, which then has copies of them.
    """

    def __init__(self, folder: Path, *, remote: Objects | None = None) -> None:
        self._folder = folder
        self._remote = remote

    def put(self, data: bytes, *, sha256: str, name: str) -> Path:
        """Write a copy of an uploaded file.

        Args:
            name: The file's name, which is untrusted; see `file_name`.
        """
        name = file_name(name)
        if self._remote and not self._remote.holds(_remote_name(sha256, name), sha256=sha256):
            self._remote.write({_remote_name(sha256, name): data})
        return self._copy(sha256, name, data)

    def _copy(self, sha256: str, name: str, data: bytes) -> Path:
        copy = self._folder / sha256 / name
        with translate_errors(self._folder):
            if not (copy.is_file() and content_hash(copy.read_bytes()) == sha256):
                create_private_folder(self._folder)
                create_private_folder(copy.parent)
                replace_file(copy, data, mode=PRIVATE_FILE)
        return copy

    def has_copy(self, entry: PaperEntry | OtherFile) -> bool:
        """Return whether the library keeps a copy of the paper's file, whatever its content."""
        return (self._folder / entry.sha256 / entry.file).is_file()

    def of(self, entry: PaperEntry | OtherFile) -> Path:
        """Return the file of a paper: the copy, or the file that it was added from.

        Raises:
            PaperFileError: The file no longer exists, or has changed.
        """
        from ingest.formats import content_file

        copy = self._folder / entry.sha256 / entry.file
        if self._remote and not self.has_copy(entry):
            with suppress(FileNotFoundError):
                self._copy(entry.sha256, entry.file, self._remote.read(_remote_name(entry.sha256, entry.file)))
        kept = self.has_copy(entry)
        file = copy if kept else Path(entry.source)
        try:
            digest = content_hash(content_file(file).read_bytes())
        except OSError as error:
            raise PaperFileError(f"{entry.file!r} is no longer where it was added from; add it again") from error
        if digest != entry.sha256 and kept:
            raise PaperFileError(
                f"the library's copy of {entry.file!r} is damaged; upload it again, or remove the paper and add it "
                "again"
            )
        if digest != entry.sha256:
            raise PaperFileError(f"{entry.file!r} has changed since it was added; add it again")
        return file

    def drop(self, sha256: str, *, keep: str = "") -> None:
        """Delete the copies of a file, except the one named `keep`."""
        if self._remote:
            for one in self._remote.names(f"{_FOLDER}/{sha256}"):
                if PurePosixPath(one).name != keep:
                    self._remote.delete(one)
        with translate_errors(self._folder):
            for copy in (self._folder / sha256).glob("*"):
                if copy.name != keep:
                    copy.unlink(missing_ok=True)
            if not keep:
                shutil.rmtree(self._folder / sha256, ignore_errors=True)

    def sweep(self, *, keep: Collection[str]) -> None:
        """Delete remains of killed adds: files whose hash is not in `keep` and that are more than an hour old."""
        oldest = time.time() - _ABANDONED_SECONDS
        if self._remote:
            for one, changed in self._remote.names(_FOLDER).items():
                if PurePosixPath(one).parent.name not in keep and changed < oldest:
                    self._remote.delete(one)
        with translate_errors(self._folder):
            for folder in self._folder.glob("*"):
                # Another process may delete it at the same time.
                with suppress(FileNotFoundError):
                    if folder.name not in keep and folder.stat().st_mtime < oldest:
                        self.drop(folder.name)


def _remote_name(sha256: str, name: str) -> str:
    return f"{_FOLDER}/{sha256}/{name}"


def open_originals(store: Store) -> Originals:
    """Return the uploaded papers of a library. Those in S3 have copies on this machine."""
    if isinstance(store.objects, FolderObjects):
        return Originals(store.folder / _FOLDER)
    return Originals(store.local_folder / _FOLDER, remote=store.objects)


def file_name(name: str) -> str:
    """Return a safe form of an untrusted file name, for a folder on any system and for a screen.

    Everything up to the last slash or backslash is removed, and so are invisible characters. A long name is truncated
    before its suffix. If nothing is left, the name is "paper".
    """
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    shown = "".join(sign for sign in last if sign.isprintable())
    plain = _FORBIDDEN.sub("_", shown).strip(" .").lstrip("-")
    stem, dot, suffix = plain.rpartition(".")
    if not stem or len(suffix) > _MAX_SUFFIX_LENGTH or not suffix.isascii():
        stem, dot, suffix = plain, "", ""
    room = _MAX_BYTES - len(dot + suffix)
    stem = stem.encode()[:room].decode(errors="ignore").strip(" .") or "paper"
    whole = f"{stem}{dot}{suffix}"
    return f"_{whole}" if _DEVICE.match(whole) else whole
