"""Finds the papers that a user names: files, folders, and objects of S3-compatible storage."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from graph_store.objects import open_s3
from paperscope.originals import file_name
from paperscope_core.errors import InputError, PaperFileError
from paperscope_core.types import BibRecord, PaperFile

__all__ = ["LookedUp", "PaperSource", "find_sources", "read_list"]

_S3 = "s3://"
# A fetched text refers to no picture of this machine: a folder that is a file holds none.
_NOWHERE = Path(os.devnull)
_URL = re.compile("[A-Za-z][A-Za-z0-9+.-]*://")


@dataclass(frozen=True, kw_only=True, slots=True)
class LookedUp:
    """A paper that was looked up by its name: the content and the name of its file, and its record."""

    name: str
    content: bytes
    record: BibRecord | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperSource:
    """Where a paper is.

    Attributes:
        address: The path of a file or of a folder of MinerU, or an address such as s3://bucket/paper.pdf or
            https://doi.org/10.1371/journal.pbio.1000053.
        record: A record of the paper that came with it, from a reference file or Zotero.
        known: The id of the paper, if the library has this work already. Then nothing is looked up.
        look_up: Looks up a paper that has an address only.
    """

    address: str
    record: BibRecord | None = None
    known: str = ""
    look_up: Callable[[], LookedUp] | None = field(default=None, compare=False, repr=False)

    @property
    def name(self) -> str:
        """The file name, or the address of a paper that has to be looked up."""
        if self.look_up is not None:
            return self.address
        return PurePosixPath(self.address).name if self.is_remote else Path(self.address).name

    @property
    def is_remote(self) -> bool:
        """Whether the file has to be fetched. The library then keeps a copy."""
        return self.look_up is not None or self.address.startswith(_S3)

    def file(self, *, max_mb: int, password: str | None = None) -> PaperFile:
        """Return the file, with its content if it is fetched. See `read`."""
        return self.read(max_mb=max_mb, password=password)[0]

    def read(self, *, max_mb: int, password: str | None = None) -> tuple[PaperFile, BibRecord | None]:
        """Return the file, with its content if it is fetched, and its record, if there is one.

        Raises:
            PaperFileError: It can't be read or looked up, or has more than `max_mb` megabytes.
        """
        from ingest.parsers import check_bytes

        if not self.is_remote:
            return PaperFile(Path(self.address), password=password), self.record
        if self.look_up is not None:
            found = self.look_up()
            check_bytes(len(found.content), max_mb=max_mb, name=self.name)
            name, content, record = found.name, found.content, found.record or self.record
        else:
            with _translated(self.address):
                system = open_s3()
                check_bytes(system.size(self.address), max_mb=max_mb, name=self.name)
                name, content, record = self.name, system.cat_file(self.address), self.record
        return PaperFile(_NOWHERE / file_name(name), password=password, content=content), record


def find_sources(place: str) -> Sequence[PaperSource]:
    """Return the papers at a place, sorted.

    Args:
        place: A file, a folder, or an S3 address: of an object, or the beginning of the addresses of several.

    Raises:
        PaperFileError: There is none, or the storage can't be read.
        InputError: The address has no bucket, or s3fs is not installed.
    """
    from ingest.formats import is_paper, paper_files

    if not place.startswith(_S3):
        if _URL.match(place):
            raise PaperFileError(f"{place}: Paperscope fetches from s3:// only; download it, and name the file")
        return [PaperSource(address=str(file)) for file in paper_files(Path(place))]
    if place.startswith(f"{_S3}/") or place == _S3:
        raise InputError(f"{place!r} has no bucket; write s3://BUCKET/PREFIX")
    with _translated(place):
        system = open_s3()
        found = _objects(system, place)
        named = found == [place.removeprefix(_S3)]
        papers = [name for name in found if named or is_paper(PurePosixPath(name), partial(_head, system, name))]
    if not papers:
        raise PaperFileError(f"{place}: no paper has an address that begins like this; check bucket and prefix")
    return [PaperSource(address=f"{_S3}{name}") for name in papers]


def read_list(file: Path) -> Sequence[str]:
    """Return the places that a text file lists, one a line; empty lines and those that begin with # are comments.

    Raises:
        InputError: The file can't be read, or lists nothing.
    """
    try:
        lines = [line.strip() for line in file.read_text(encoding="utf-8-sig").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--list {file}: can't be read ({error}); name a text file in UTF-8") from error
    places = [line for line in lines if line and not line.startswith("#")]
    if not places:
        raise InputError(f"--list {file}: lists nothing; write a path or an s3:// address on each line")
    return places


def _objects(system: Any, place: str) -> list[str]:  # noqa: ANN401
    """Return the visible objects whose address begins with `place`, without the scheme."""
    root = place.removeprefix(_S3)
    folder, _, start = root.rpartition("/")
    if not folder or not start:
        names: Sequence[str] = system.find(root.rstrip("/"))
    else:
        names = system.find(folder, prefix=start)
    return [name for name in sorted(names) if not any(part.startswith(".") for part in PurePosixPath(name).parts)]


def _head(system: Any, name: str) -> bytes:  # noqa: ANN401
    from ingest.formats import HEAD_BYTES

    head: bytes = system.cat_file(name, start=0, end=HEAD_BYTES)
    return head


@contextmanager
def _translated(address: str) -> Iterator[None]:
    """Raise failures of the storage as PaperFileError."""
    try:
        from botocore.exceptions import BotoCoreError, ClientError
    except ImportError:
        # `open_s3` says what is missing.
        open_s3()
        raise
    try:
        yield
    except FileNotFoundError as error:
        raise PaperFileError(f"{address}: no such object; check bucket and key") from error
    except (OSError, BotoCoreError, ClientError) as error:
        raise PaperFileError(
            f"{address}: can't be read ({error}); check the address, your rights and the AWS configuration"
        ) from error
