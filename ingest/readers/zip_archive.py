"""Reads the parts of documents that are ZIP archives (DOCX, PPTX, XLSX, ODT, EPUB), within limits."""

import posixpath
import zipfile
import zlib
from collections.abc import Callable, Collection
from io import BytesIO

from ingest.readers.markup_tree import Node, parse_xml
from paperscope_core.errors import PaperFileError
from paperscope_core.types import PageProblem

__all__ = ["ZipArchive"]

# Limits decompression bombs.
_MAX_ENTRIES = 5_000
_MAX_TOTAL = 400_000_000
_MAX_XML = 60_000_000
_MAX_MEDIA = 40_000_000
_FAULTS = (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, OSError, ValueError, EOFError)


class ZipArchive:
    """An archive; `problems` lists what could not be read of the parts so far.

    Nothing is unpacked to disk, executed or followed. Raises `PaperFileError` if the file is damaged or would unpack to
    more than the limit for a paper.

    Args:
        data: The file's bytes.
        name: Its name, for messages.
        kind: Its format, for messages.
    """

    def __init__(self, data: bytes, *, name: str, kind: str) -> None:
        self._name = name
        self.problems: list[PageProblem] = []
        try:
            self._zip = zipfile.ZipFile(BytesIO(data))
        except _FAULTS as error:
            raise PaperFileError(f"{name!r} is a damaged {kind} file ({error}). Fetch the file again.") from error
        entries = self._zip.infolist()
        total = sum(entry.file_size for entry in entries)
        if len(entries) > _MAX_ENTRIES or total > _MAX_TOTAL:
            raise PaperFileError(
                f"{name!r} would unpack to {len(entries)} parts of {total / 1e6:.0f} MB together; the limits are "
                f"{_MAX_ENTRIES} and {_MAX_TOTAL / 1e6:.0f} MB. Save it again with smaller pictures."
            )

    @property
    def names(self) -> Collection[str]:
        """The names of all parts."""
        return self._zip.NameToInfo

    def text(self, part: str) -> str | None:
        """Return the text of a part of markup, None if it is missing. Raise `PaperFileError` if it can't be read."""
        data = self.read(part, most=_MAX_XML)
        if data is None:
            return None
        return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", errors="replace")

    def tree(self, part: str) -> Node:
        """Return the XML of a part, an empty element if it is missing. Raise `PaperFileError` if it can't be read."""
        text = self.text(part)
        if text is None:
            return Node(tag="", attributes={}, children=(), first=1, last=1)
        tree, problems = parse_xml(text, name=f"{self._name}: {part}")
        self.problems += problems
        return tree

    def properties(self) -> dict[str, str]:
        """Return the properties of an Office document by name: title, creator, subject and others."""
        return {node.tag: node.plain_text() for node in self.tree("docProps/core.xml").nodes}

    def image(self, part: str) -> bytes | None:
        """Return the bytes of an image, None if it is missing, too large or damaged."""
        try:
            return self.read(part, most=_MAX_MEDIA)
        except PaperFileError:
            return None

    def images_in(self, folder: str) -> Callable[[str], bytes | None]:
        """Return a function that returns the bytes of an image by its path from a folder of the archive."""
        return lambda path: self.image(posixpath.normpath(posixpath.join("/", folder, path)).lstrip("/"))

    def targets(self, part: str) -> dict[str, str]:
        """Return the parts that a part of an Office document refers to, by id, without those outside the file."""
        folder, file = posixpath.split(part)
        return {
            relation.get("Id"): posixpath.normpath(posixpath.join("/", folder, relation.get("Target"))).lstrip("/")
            for relation in self.tree(f"{folder}/_rels/{file}.rels").findall("relationship")
            if relation.get("TargetMode").lower() != "external"
        }

    def read(self, part: str, *, most: int) -> bytes | None:
        """Return the bytes of a part, None if it is missing.

        Raise `PaperFileError` if it is damaged, or has more than `most` bytes.
        """
        entry = self._zip.NameToInfo.get(part)
        if entry is None:
            return None
        if entry.file_size > most:
            raise PaperFileError(
                f"{self._name!r} holds a part of {entry.file_size / 1e6:.0f} MB ({part!r}): too large."
            )
        try:
            # With this limit, because an entry may unpack to more than it says; other methods have none.
            if entry.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                with self._zip.open(entry) as opened:
                    return opened.read(entry.file_size)
            raise NotImplementedError("it is compressed by a method that these files don't have")
        except _FAULTS as error:
            raise PaperFileError(
                f"{self._name!r} is damaged: its part {part!r} can't be read ({error}). Fetch the file again."
            ) from error
