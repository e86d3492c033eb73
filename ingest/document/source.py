"""Reads the bytes of a paper's file, and what its metadata state about its publication."""

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from paperscope_core.errors import PaperFileError
from paperscope_core.publication import arxiv_in, doi_in, is_placeholder, year_in
from paperscope_core.types import PaperFile, Publication

__all__ = ["check_page_count", "publication_in", "read_file", "read_pdf", "read_unchanged"]

_HEADER_WITHIN = (
    1024  # Acrobat accepts the header anywhere in the first 1024 bytes (PDF Reference 1.7, appendix H, note 13).
)

_XMP_VALUE = (
    r"\b%s(?:(?:\s[^<>]{0,60})?>\s*(?:<rdf:(?:Bag|Seq|Alt)>\s*<rdf:li[^<>]{0,60}>\s*)?|\s*=\s*[\"'])([^<>\"']{1,300})"
)
_XMP_DOI, _XMP_VENUE, _XMP_DATE, _XMP_ID = (
    re.compile(_XMP_VALUE % name)
    for name in (
        r"(?:prism:doi|pdfx:doi|crossmark:DOI)",
        r"prism:publicationName",
        r"prism:(?:coverDate|publicationDate|coverDisplayDate)",
        r"dc:identifier",
    )
)


def read_file(file: PaperFile, *, name: str = "") -> bytes:
    """Return the bytes of a file, which are read from the disk only if they were not read before.

    Args:
        name: The name that messages quote; "" for the file's own.

    Raises:
        PaperFileError: The file is missing, unreadable, empty or not a regular file.
    """
    name = name or file.name or str(file.path)
    data = file.content if file.content is not None else _read(file.path, name=name)
    if not data:
        raise PaperFileError(f"{name!r} is empty. Fetch the file again.")
    return data


def read_unchanged(opened: BinaryIO, *, name: str, max_bytes: int = -1) -> bytes:
    """Return the bytes of an open file, at most `max_bytes`. Raise PaperFileError if it is changed in the meantime."""
    before = os.fstat(opened.fileno())
    data = opened.read(max_bytes)
    after = os.fstat(opened.fileno())
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise PaperFileError(f"{name!r} was changed while it was read. Add it again.")
    return data


def _read(path: Path, *, name: str) -> bytes:
    try:
        with open(path, "rb", opener=_open_without_waiting) as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                raise PaperFileError(f"{name!r} is not a regular file. Name a file on a disk.")
            return read_unchanged(opened, name=name)
    except FileNotFoundError as error:
        raise PaperFileError(f"There is no file {name!r}. Check the path.", where=path) from error
    except IsADirectoryError as error:
        raise PaperFileError(f"{name!r} is a folder. Name a file in it.") from error
    except OSError as error:
        raise PaperFileError(
            f"{name!r} can't be read: {error.strerror}. Check the path and its permissions.", where=path
        ) from error


def read_pdf(file: PaperFile) -> bytes:
    """Return the bytes of a PDF file. Raise `PaperFileError` as `read_file` does, and for other kinds of files."""
    data = read_file(file)
    if b"%PDF-" not in data[:_HEADER_WITHIN]:
        raise PaperFileError(f"{file.name!r} is not a PDF file. Convert it to PDF, or name another file.")
    return data


def check_page_count(count: int, *, limit: int | None, name: str) -> None:
    """Raise `PaperFileError` if a paper has more pages than the limit."""
    if limit is not None and count > limit:
        raise PaperFileError(
            f"{name!r} has {count} pages, over the limit of {limit}; raise limits.max_pages to add it."
        )


def _open_without_waiting(path: str, flags: int) -> int:
    """Open a file; a pipe that nobody writes to would block."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def publication_in(metadata: Mapping[str, str]) -> Publication:
    """Return what the metadata of a PDF file state: its XMP (PRISM, as publishers write it), the DOI and the arXiv id
    of its properties, and a DOI in its subject.

    With a template's placeholder in place of the DOI, the venue is not real, either.

    Args:
        metadata: The properties of the file by their names in lower case, and its XMP as `xmp`.
    """
    xmp = metadata.get("xmp", "")
    stated = [_first(xmp, _XMP_DOI), metadata.get("doi", ""), _first(xmp, _XMP_ID), metadata.get("subject", "")]
    sound = not any(map(is_placeholder, stated))
    return Publication(
        year=year_in(_first(xmp, _XMP_DATE)) if sound else None,
        venue=" ".join(_first(xmp, _XMP_VENUE).split()) if sound else "",
        doi=next(filter(None, map(doi_in, stated)), "") if sound else "",
        arxiv=arxiv_in(metadata.get("arxivid", "")),
    )


def _first(xmp: str, pattern: re.Pattern[str]) -> str:
    found = pattern.search(xmp)
    return found[1].strip() if found else ""
