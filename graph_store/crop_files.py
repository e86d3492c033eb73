"""Crops: PNG files named by the SHA-256 of their bytes, `crops/ab/abcd….png`."""

import re
import time
from collections.abc import Collection, Mapping
from pathlib import PurePosixPath

from graph_store.objects import Objects
from graph_store.writing import crops_of_paper
from paperscope_core.errors import UnknownCropError
from paperscope_core.types import Paper, content_hash

__all__ = ["CROPS_FOLDER", "CropFiles"]

CROPS_FOLDER = "crops"

_NAME = re.compile(r"[0-9a-f]{64}")
_TEMPORARY_SECONDS = 3600


class CropFiles:
    """The crops among the files of a library. When `put` returns, they are durable. Failures are raised as OSError."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def put(self, paper: Paper, crops: Mapping[str, bytes]) -> None:
        """Write the missing crops of a paper.

        Raises ValueError if a name is not the hash of the bytes, or the paper names a crop that is neither given nor
        stored.
        """
        missing = {crop: data for crop, data in crops.items() if crop not in self}
        for crop, data in missing.items():
            if content_hash(data) != crop:
                raise ValueError(f"crop {crop!r}: the bytes have another SHA-256; name crops with content_hash")
        if missing:
            self._objects.write({_file(crop): data for crop, data in missing.items()})
        for crop in sorted(crops_of_paper(paper)):
            if crop not in crops and crop not in self:
                raise ValueError(f"paper {paper.id!r} names crop {crop!r}, whose bytes were not given")

    def get(self, crop: str) -> bytes:
        """Return the bytes of a crop. Raises UnknownCropError for anything but the hash of a stored and undamaged
        crop."""
        if not _NAME.fullmatch(crop):
            raise UnknownCropError(crop)
        try:
            data = self._objects.read(_file(crop))
        except FileNotFoundError:
            raise UnknownCropError(crop) from None
        if content_hash(data) != crop:
            raise UnknownCropError(crop)
        return data

    def __contains__(self, crop: str) -> bool:
        return _NAME.fullmatch(crop) is not None and self._objects.holds(_file(crop), sha256=crop)

    def files(self) -> Mapping[str, float]:
        """Return the files there are, and when they were written (seconds since the epoch)."""
        return self._objects.names(CROPS_FOLDER)

    def sweep(self, files: Mapping[str, float], *, keep: Collection[str]) -> int:
        """Delete those of the files that are crops not in `keep`, or temporary files of killed writers; return the
        number of deleted files."""
        oldest = time.time() - _TEMPORARY_SECONDS
        swept = 0
        for name, changed in files.items():
            file = PurePosixPath(name)
            # A temporary file may belong to a running writer. After an hour, its writer must have been killed.
            if file.stem not in keep if file.suffix == ".png" else changed < oldest:
                self._objects.delete(name)
                swept += 1
        return swept


def _file(crop: str) -> str:
    return f"{CROPS_FOLDER}/{crop[:2]}/{crop}.png"
