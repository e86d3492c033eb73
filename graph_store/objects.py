"""The files of a library by name, such as `crops/ab/ab….png`, in a folder or in S3-compatible storage."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from paperscope_core.errors import InputError, StoreError, StoreUnavailableError
from paperscope_core.files import PRIVATE_FILE, create_private_folder, replace_file
from paperscope_core.locations import Location, PostgresAddress, files_folder
from paperscope_core.types import content_hash

__all__ = ["FolderObjects", "Objects", "S3Objects", "open_objects", "open_s3"]


class Objects(Protocol):
    """Files by name. Failures are raised as OSError or StoreError."""

    def read(self, name: str) -> bytes:
        """Return the content of a file. Raises FileNotFoundError."""

    def holds(self, name: str, *, sha256: str) -> bool:
        """Return whether there is an undamaged file of this name, whose content has this hash."""

    def write(self, files: Mapping[str, bytes]) -> None:
        """Write files; they are durable when this returns, and no reader sees a part of one."""

    def names(self, folder: str) -> Mapping[str, float]:
        """Return the names of the files in a folder and the folders in it, with the time of the last change of each
        (seconds since the epoch)."""

    def delete(self, name: str) -> None:
        """Delete a file if it exists."""


def open_objects(location: Location) -> Objects:
    """Return the files of a library: pictures of tables and figures, and uploaded papers."""
    if isinstance(location, PostgresAddress) and location.objects:
        return S3Objects(location.objects)
    return FolderObjects(files_folder(location))


def open_s3() -> Any:  # noqa: ANN401 # s3fs has no types
    """Return an fsspec file system of S3-compatible storage, with the endpoint and the keys of the AWS configuration.

    Raises:
        InputError: s3fs is not installed.
    """
    try:
        from s3fs import S3FileSystem
    except ImportError as error:
        raise InputError("files in S3 need s3fs: pip install 'paperscope[s3]'") from error
    # Other processes write files, so that listings are not kept.
    return S3FileSystem(use_listings_cache=False)


class FolderObjects:
    """Implements `Objects` in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, name: str) -> bytes:
        """See `Objects.read`."""
        return (self._folder / name).read_bytes()

    def holds(self, name: str, *, sha256: str) -> bool:
        """See `Objects.holds`."""
        try:
            return content_hash(self.read(name)) == sha256
        except FileNotFoundError:
            return False

    def write(self, files: Mapping[str, bytes]) -> None:
        """See `Objects.write`."""
        folders = {(self._folder / name).parent for name in files}
        for folder in folders:
            for one in (*reversed(folder.relative_to(self._folder).parents[:-1]), folder.relative_to(self._folder)):
                create_private_folder(self._folder / one)
        for name, data in files.items():
            replace_file(self._folder / name, data, mode=PRIVATE_FILE)
        for synced in {one for folder in folders for one in (folder, folder.parent)}:
            _sync_folder(synced)

    def names(self, folder: str) -> Mapping[str, float]:
        """See `Objects.names`."""
        found: dict[str, float] = {}
        for path in sorted((self._folder / folder).rglob("*")):
            # Another process may delete it at the same time.
            with suppress(FileNotFoundError):
                if path.is_file():
                    found[path.relative_to(self._folder).as_posix()] = path.stat().st_mtime
        return found

    def delete(self, name: str) -> None:
        """See `Objects.delete`."""
        (self._folder / name).unlink(missing_ok=True)


class S3Objects:
    """Implements `Objects` in S3-compatible storage, whose endpoint and keys are those of the AWS configuration.

    Args:
        url: The bucket and the prefix of all names, such as s3://bucket/papers.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._root = url.removeprefix("s3://").rstrip("/")
        self._system = open_s3()

    def read(self, name: str) -> bytes:
        """See `Objects.read`."""
        with self._translated():
            data: bytes = self._system.cat_file(f"{self._root}/{name}")
            return data

    def holds(self, name: str, *, sha256: str) -> bool:  # noqa: ARG002
        """See `Objects.holds`. S3 stores a file completely or not at all, with its own checksum."""
        with self._translated():
            return bool(self._system.exists(f"{self._root}/{name}"))

    def write(self, files: Mapping[str, bytes]) -> None:
        """See `Objects.write`."""
        with self._translated():
            for name, data in files.items():
                try:
                    self._system.pipe_file(f"{self._root}/{name}", data)
                except FileNotFoundError as error:
                    raise OSError(f"no such bucket: {error}") from error

    def names(self, folder: str) -> Mapping[str, float]:
        """See `Objects.names`."""
        with self._translated():
            found = self._system.find(f"{self._root}/{folder}", detail=True)
            return {path.removeprefix(f"{self._root}/"): one["LastModified"].timestamp() for path, one in found.items()}

    def delete(self, name: str) -> None:
        """See `Objects.delete`."""
        with self._translated(), suppress(FileNotFoundError):
            self._system.rm_file(f"{self._root}/{name}")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
        from botocore.exceptions import ConnectionError as BotoConnectionError

        try:
            yield
        except FileNotFoundError:
            raise
        except (OSError, BotoCoreError, ClientError) as error:
            kind = StoreUnavailableError if isinstance(error, BotoConnectionError | HTTPClientError) else StoreError
            raise kind(
                "the files in S3 can't be reached or written; check the bucket, its rights and the AWS configuration",
                where=f"{self._url} ({error})",
            ) from error


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return  # other systems can't open a folder, and order renames themselves
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
