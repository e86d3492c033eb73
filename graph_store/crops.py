"""Crops: PNG files named by the SHA-256 of their bytes, `crops/ab/abcd….png`."""

import os
import re
import time
from collections.abc import Collection, Mapping
from pathlib import Path

from graph_store.writing import crops_of_paper
from paperscope_core.files import PRIVATE_FILE, create_private_folder, replace_file
from paperscope_core.types import Paper, content_hash

__all__ = ["CropFiles"]


_NAME = re.compile(r"[0-9a-f]{64}")
_TEMPORARY_SECONDS = 3600


class CropFiles:
    """A folder of crops. When `put` returns, the crops are on the disk. Failures are raised as OSError."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, paper: Paper, crops: Mapping[str, bytes]) -> None:
        """Write the missing crops of a paper.

        Raises ValueError if a name is not the hash of the bytes, or the paper names a crop that is neither given nor
        stored.
        """
        missing = {crop: data for crop, data in crops.items() if crop not in self}
        for crop, data in missing.items():
            if content_hash(data) != crop:
                raise ValueError(f"crop {crop!r}: the bytes have another SHA-256; name crops with content_hash")
        folders = {self._path(crop).parent for crop in missing}
        for folder in folders:
            create_private_folder(folder)
        for crop, data in missing.items():
            replace_file(self._path(crop), data, mode=PRIVATE_FILE)
        if folders:
            for folder in (*folders, self._folder):
                _sync_folder(folder)
        for crop in sorted(crops_of_paper(paper)):
            if crop not in crops and crop not in self:
                raise ValueError(f"paper {paper.id!r} names crop {crop!r}, whose bytes were not given")

    def get(self, crop: str) -> bytes:
        """The bytes of a crop. Raises KeyError for anything but the hash of a stored and undamaged crop."""
        if not _NAME.fullmatch(crop):
            raise KeyError(crop)
        try:
            data = self._path(crop).read_bytes()
        except FileNotFoundError:
            raise KeyError(crop) from None
        if content_hash(data) != crop:
            raise KeyError(crop)
        return data

    def __contains__(self, crop: str) -> bool:
        try:
            self.get(crop)
        except KeyError:
            return False
        return True

    def sweep(self, *, keep: Collection[str]) -> int:
        """Delete crops that are not in `keep`, and temporary files of killed writers; return the number of deleted
        files."""
        swept = 0
        oldest = time.time() - _TEMPORARY_SECONDS
        for path in self._folder.glob("??/*"):
            # A temporary file may belong to a running writer. After an hour, its writer must have been killed.
            stale = path.stem not in keep if path.suffix == ".png" else path.stat().st_mtime < oldest
            if stale:
                path.unlink(missing_ok=True)
                swept += 1
        return swept

    def _path(self, crop: str) -> Path:
        return self._folder / crop[:2] / f"{crop}.png"


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return  # other systems can't open a folder, and order renames themselves
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
