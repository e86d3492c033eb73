"""Images inside a file or beside it, as PNG; none is fetched or read from outside its folder."""

import base64
import binascii
import io
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, unquote_to_bytes

from PIL import Image, UnidentifiedImageError

from paperscope_core.types import PageProblem, content_hash

__all__ = ["EmbeddedImages"]


_MOST_BYTES = 30_000_000
_MOST_PIXELS = 40_000_000
_MOST_PICTURES = 500
_MOST_TOTAL = 200_000_000
_LONGEST_SIDE = 4000
# Smaller pictures are icons, rules and counters.
_LEAST_SIDE = 24
_MOST_PANELS = 12
_GAP = 20
_KINDS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP")
# JATS names its pictures without their suffix.
_SUFFIXES = ("", ".png", ".jpg", ".jpeg", ".gif", ".tif")
_DATA = re.compile(r"data:image/[\w.+-]+((?:;[\w=.-]+)*),", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|\\\\")


class EmbeddedImages:
    """Collects the crops of one paper; what can't be shown is counted and told at the end."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._total = 0
        self._reasons: dict[str, list[str]] = {}
        self.crops: dict[str, bytes] = {}

    @property
    def problems(self) -> tuple[PageProblem, ...]:
        """One problem for each reason, with the first pictures that it holds for."""
        return tuple(
            PageProblem(page=1, reason=f"{reason}: {_listed(names)}") for reason, names in self._reasons.items()
        )

    def named(self, source: str) -> str | None:
        """The crop of a picture that the text names: a `data:` address, or a path inside the file's own folder."""
        source = source.strip()
        if not source:
            return None
        try:
            return self._kept(self._found(source))
        except _RefusedError as refusal:
            self._tell(refusal, source)
            return None

    def add(self, data: bytes, *, name: str) -> str | None:
        """The crop of a picture's bytes, None (and a problem) if it is none that can be shown."""
        try:
            return self._kept(data)
        except _RefusedError as refusal:
            self._tell(refusal, name)
            return None

    def _tell(self, refusal: "_RefusedError", name: str) -> None:
        self._reasons.setdefault(str(refusal), []).append("data:" if name.startswith("data:") else name)

    def _kept(self, data: bytes) -> str | None:
        if len(self.crops) >= _MOST_PICTURES or self._total > _MOST_TOTAL:
            raise _RefusedError(f"more than {_MOST_PICTURES} pictures or {_MOST_TOTAL} bytes of them")
        picture = _png(data)
        if picture is None:
            return None
        crop = content_hash(picture)
        if crop not in self.crops:
            self.crops[crop] = picture
            self._total += len(picture)
        return crop

    def _found(self, source: str) -> bytes:
        """The bytes that a text's address stands for."""
        if match := _DATA.match(source):
            return _embedded(source[match.end() :], base64_coded="base64" in match[1].lower())
        if _SCHEME.match(source):
            raise _RefusedError("pictures on the web are not fetched")
        path = self._path(unquote(source.partition("#")[0].partition("?")[0]))
        if path is None:
            raise _RefusedError("pictures that are not in the file's folder are left out")
        try:
            if path.stat().st_size > _MOST_BYTES:
                raise _RefusedError("pictures that are too large are left out")
            return path.read_bytes()
        except OSError as error:
            raise _RefusedError(f"pictures that can't be read ({error.strerror})") from error

    def joined(self, crops: Sequence[str]) -> str | None:
        """One crop of several pictures side by side, as the panels of a figure."""
        if len(crops) < 2:
            return next(iter(crops), None)
        images = [Image.open(io.BytesIO(self.crops[crop])).convert("RGB") for crop in crops[:_MOST_PANELS]]
        height = min(max(image.height for image in images), _LONGEST_SIDE // 2)
        images = [image.resize((max(1, image.width * height // image.height), height)) for image in images]
        sheet = Image.new("RGB", (sum(image.width for image in images) + _GAP * (len(images) - 1), height), "white")
        left = 0
        for image in images:
            sheet.paste(image, (left, 0))
            left += image.width + _GAP
        out = io.BytesIO()
        sheet.save(out, format="PNG")
        return self.add(out.getvalue(), name="panels")

    def _path(self, relative: str) -> Path | None:
        """The file that a path names if, links followed, it lies in the folder; else None."""
        if self._folder is None or "\0" in relative or len(relative) > 1000:
            return None
        try:
            folder = self._folder.resolve()
            for suffix in _SUFFIXES:
                path = (folder / (relative.replace("\\", "/") + suffix)).resolve()
                if path.is_relative_to(folder) and path.is_file():
                    return path
        except (OSError, RuntimeError, ValueError):
            pass
        return None


class _RefusedError(Exception):
    """Why a picture is left out."""


def _embedded(payload: str, *, base64_coded: bool) -> bytes:
    if len(payload) > 2 * _MOST_BYTES:
        raise _RefusedError("pictures that are too large are left out")
    try:
        return base64.b64decode(unquote(payload)) if base64_coded else unquote_to_bytes(payload)
    except (binascii.Error, ValueError) as error:
        raise _RefusedError("pictures that can't be read (damaged)") from error


def _png(data: bytes) -> bytes | None:
    """PNG bytes, None for an icon."""
    try:
        return _converted(data)
    except Image.DecompressionBombError as error:
        raise _RefusedError(f"pictures that can't be read (over {_MOST_PIXELS} pixels)") from error
    except (OSError, ValueError, SyntaxError, EOFError, MemoryError) as error:
        reason = "of no format that is read" if isinstance(error, UnidentifiedImageError) else str(error)
        raise _RefusedError(f"pictures that can't be read ({reason.partition('<')[0].strip() or 'damaged'})") from error


def _converted(data: bytes) -> bytes | None:
    """Raises what Pillow raises, and ValueError for too many pixels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with Image.open(io.BytesIO(data), formats=_KINDS) as picture:
            width, height = picture.size
            if width * height > _MOST_PIXELS:
                raise ValueError(f"over {_MOST_PIXELS} pixels")
            if min(width, height) < _LEAST_SIDE:
                return None
            if picture.format == "PNG" and max(width, height) <= _LONGEST_SIDE and len(data) < _MOST_BYTES // 4:
                picture.load()
                return data
            picture.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE))
            out = io.BytesIO()
            (picture if picture.mode in ("1", "L", "LA", "P", "RGB", "RGBA") else picture.convert("RGB")).save(
                out, format="PNG"
            )
            return out.getvalue()


def _listed(names: list[str]) -> str:
    shown = [name if len(name) <= 80 else name[:79] + "…" for name in names[:3]]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(shown) + more
