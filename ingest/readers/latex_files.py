"""Finds the files of a LaTeX paper: in a .tex file's folder, or in an archive as arXiv gives it."""

import gzip
import io
import posixpath
import re
import tarfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from ingest.readers.character_sets import decode
from ingest.readers.element_collector import Source
from ingest.readers.zip_archive import ZipArchive
from paperscope_core.errors import PaperFileError
from paperscope_core.types import PageProblem

__all__ = ["LatexFiles", "is_main_file", "open_latex"]

_GZIP = b"\x1f\x8b"
# Limits decompression bombs.
_MAX_FILES = 5_000
_MAX_TOTAL = 400_000_000
_MAX_FILE = 40_000_000
_TEXTS = (".tex", ".ltx", ".bbl", ".bib", ".sty")
_PICTURES = ("", ".pdf", ".png", ".jpg", ".jpeg", ".eps")
_CLASS = re.compile(rb"^[^%\n]*\\document(?:class|style)\b[^{\n]*\{\s*(?!standalone|subfiles)", re.MULTILINE)
_COMMON_NAMES = ("main", "ms", "paper", "article", "manuscript")


@dataclass(kw_only=True, slots=True)
class LatexFiles:
    """The files of a paper; paths are relative to the main file.

    Attributes:
        main: The path of the main file, without its suffix.
        text: The text of the main file.
        parts: The files of an archive by path, None if the paper's folder is read.
        problems: What could not be read.
        picture_folders: Folders that pictures are in, as the paper lists them.
    """

    source: Source
    main: str
    text: str
    parts: Mapping[str, bytes] | None = None
    problems: list[PageProblem] = field(default_factory=list)
    picture_folders: tuple[str, ...] = ()

    def read(self, path: str) -> str | None:
        """Return the text of a source file, None if there is none; `.tex` may be left out."""
        named = (path,) if path.endswith(_TEXTS) else (f"{path}.tex",)
        data = next((data for name in named if (data := self._bytes(name)) is not None), None)
        if data is None:
            return None
        text, problems = decode(data, name=path)
        self.problems += problems
        return text

    def picture(self, path: str) -> bytes | None:
        """Return the bytes of a picture, None if there is none; its suffix may be left out."""
        paths = (
            posixpath.join(folder, path) + suffix for folder in ("", *self.picture_folders) for suffix in _PICTURES
        )
        return next((data for one in paths if (data := self._bytes(one)) is not None), None)

    def _bytes(self, path: str) -> bytes | None:
        if self.parts is None:
            return self.source.images.in_folder(path)
        folder = posixpath.dirname(self.main)
        paths = (posixpath.normpath(posixpath.join(start, path)) for start in (folder, ""))
        return next((self.parts[one] for one in paths if one in self.parts), None)


def open_latex(source: Source) -> LatexFiles:
    """Return the files of a paper. Raise `PaperFileError` if there is no main file, or the archive is too large."""
    data = _unpacked(source.data, name=source.name)
    parts = _parts(data, name=source.name)
    if parts is None:
        text, problems = decode(data, name=source.name)
        main = re.sub(r"\.\w+$", "", source.name)
        return LatexFiles(source=source, main=main, text=text, problems=list(problems))
    mains = sorted(
        (name for name in parts if is_main_file(name, parts[name])), key=lambda name: _rank(name, parts[name])
    )
    if not mains:
        raise PaperFileError(f"{source.name!r} holds no LaTeX paper: none of its files has \\documentclass.")
    text, problems = decode(parts[mains[0]], name=mains[0])
    found = LatexFiles(source=source, main=mains[0].rpartition(".")[0], text=text, parts=parts, problems=list(problems))
    if mains[1:]:
        reason = f"of several papers in the archive, {mains[0]} was read; left out: {', '.join(mains[1:6])}"
        found.problems.append(PageProblem(page=1, reason=reason))
    return found


def _unpacked(data: bytes, *, name: str) -> bytes:
    if not data.startswith(_GZIP):
        return data
    try:
        with gzip.open(io.BytesIO(data)) as opened:
            data = opened.read(_MAX_TOTAL + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise PaperFileError(f"{name!r} is a damaged archive ({error}). Fetch the file again.") from error
    if len(data) > _MAX_TOTAL:
        raise PaperFileError(f"{name!r} would unpack to more than {_MAX_TOTAL / 1e6:.0f} MB. Pack its sources only.")
    return data


def _parts(data: bytes, *, name: str) -> dict[str, bytes] | None:
    """Return the regular files of a ZIP or TAR archive by path, None for any other file."""
    if data.startswith(b"PK"):
        archive = ZipArchive(data, name=name, kind="ZIP")
        parts = {path: archive.image(path) or b"" for path in archive.names}
    elif data[257:262] == b"ustar":
        try:
            with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as opened:
                # A sparse file is larger than what the archive has of it.
                regular = (member for member in opened if member.isreg() and not member.issparse())
                members = [member for member in regular if member.size <= _MAX_FILE]
                files = ((member.name, opened.extractfile(member)) for member in members[:_MAX_FILES])
                parts = {path: file.read() for path, file in files if file}
        except (tarfile.TarError, OSError, EOFError, ValueError) as error:
            raise PaperFileError(f"{name!r} is a damaged archive ({error}). Fetch the file again.") from error
    else:
        return None
    return {posixpath.normpath(path): part for path, part in parts.items()}


def is_main_file(name: str, data: bytes) -> bool:
    """Return whether a file is a paper of its own, and neither a part of one nor a single drawing."""
    return name.endswith((".tex", ".ltx")) and not name.startswith(("../", "/")) and bool(_CLASS.search(data))


def _rank(name: str, data: bytes) -> tuple[bool, int, bool, int]:
    stem = posixpath.basename(name).rpartition(".")[0].lower()
    return b"\\begin{document}" not in data, name.count("/"), stem not in _COMMON_NAMES, -len(data)
