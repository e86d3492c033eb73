"""Converts images embedded in a file or stored in its folder to PNG; nothing is downloaded."""

import base64
import binascii
import io
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from urllib.parse import unquote, unquote_to_bytes

from PIL import Image, UnidentifiedImageError

from ingest.document.crops import png_bytes
from ingest.document.geometry import bounding_box
from paperscope_core.types import Box, PageProblem, content_hash

__all__ = ["EmbeddedImages"]

# Limits the memory and disk space for the images of one paper.
_MAX_BYTES = 30_000_000
_MAX_PIXELS = 40_000_000
_MAX_IMAGES = 500
_MAX_TOTAL = 200_000_000
_MAX_SIDE = 4000
# Smaller images are icons, rules and counters.
_MIN_SIDE = 24
_MAX_PANELS = 12
_GAP = 20
_MAX_SCALE = 600 / 72  # Pixels per point.
_PNG_MODES = ("1", "L", "LA", "P", "RGB", "RGBA")
# A drawing in SVG, after its declaration and comments.
_SVG = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+(?:<\?xml[^>]*+>\s*+|<!--.{0,1500}?-->\s*+|<!DOCTYPE[^>]*+>\s*+)*+<(?:svg:)?svg\b",
    re.DOTALL,
)
_HEAD = 4000
# Its size is in points of 72 to the inch.
_SVG_SCALE = 2.0
_KINDS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP")
# JATS refers to images without their suffix.
_SUFFIXES = ("", ".png", ".jpg", ".jpeg", ".gif", ".tif")
_PRINTED = (".tif", ".tiff", ".eps")
_DATA = re.compile(r"data:image/[\w.+-]+((?:;[\w=.-]+)*),", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|\\\\")


class EmbeddedImages:
    """Collects the crops of one paper, and problems with unusable images.

    Args:
        folder: The folder of the paper's file.
        min_side: Images with a shorter side, in pixels, are left out; the default leaves out icons.
    """

    def __init__(self, folder: Path, *, min_side: int = _MIN_SIDE) -> None:
        self._folder = folder
        self._min_side = min_side
        self._total = 0
        self._reasons: dict[str, list[str]] = {}
        self._stored: Callable[[str], bytes | None] | None = None
        self.crops: dict[str, bytes] = {}

    def look_in(self, stored: Callable[[str], bytes | None]) -> None:
        """Read the images that the text refers to from an archive; `stored` returns None for one that it lacks."""
        self._stored = stored

    @property
    def problems(self) -> tuple[PageProblem, ...]:
        """A problem for each reason, naming the first images that it applies to."""
        return tuple(
            PageProblem(page=1, reason=f"{reason}: {_listed(names)}") for reason, names in self._reasons.items()
        )

    def named(self, source: str) -> str | None:
        """Return the crop of an image that the text refers to, None if it can't be used.

        `source` is a `data:` address, or a path in the file's own folder.
        """
        source = source.strip()
        return self._crop(lambda: self._found(source), name=source) if source else None

    def add(self, data: bytes, *, name: str) -> str | None:
        """Return the crop of an image's bytes, None (and a problem) if it can't be used."""
        return self._crop(lambda: data, name=name)

    def in_folder(self, path: str) -> bytes | None:
        """Return the bytes of a file in the folder of the paper's file or below it, None if there is none."""
        found = self._path(path)
        with suppress(OSError):
            if found is not None and found.stat().st_size <= _MAX_BYTES:
                return found.read_bytes()
        return None

    def _crop(self, read: Callable[[], bytes], *, name: str) -> str | None:
        try:
            return self._kept(read())
        except _RefusedError as refusal:
            name = "data:" if name.startswith("data:") else name
            self._reasons.setdefault(str(refusal), []).append(name)
            return None

    def _kept(self, data: bytes) -> str | None:
        if len(self.crops) >= _MAX_IMAGES or self._total > _MAX_TOTAL:
            raise _RefusedError(f"more than {_MAX_IMAGES} pictures or {_MAX_TOTAL} bytes of them")
        picture = _png(data, min_side=self._min_side)
        if picture is None:
            return None
        crop = content_hash(picture)
        if crop not in self.crops:
            self.crops[crop] = picture
            self._total += len(picture)
        return crop

    def _found(self, source: str) -> bytes:
        """Return the bytes at an address."""
        if match := _DATA.match(source):
            return _embedded(source[match.end() :], base64_coded="base64" in match[1].lower())
        if _SCHEME.match(source):
            raise _RefusedError("pictures on the web are not fetched")
        relative = unquote(source.partition("#")[0].partition("?")[0])
        if self._stored is not None:
            for suffix in _SUFFIXES:
                if (data := self._stored(relative + suffix)) is not None:
                    return data
            raise _RefusedError("pictures that are not in the file are left out")
        path = self._path(relative)
        if path is None:
            raise _RefusedError("pictures that are not in the file's folder are left out")
        try:
            if path.stat().st_size > _MAX_BYTES:
                raise _RefusedError("pictures that are too large are left out")
            return path.read_bytes()
        except OSError as error:
            raise _RefusedError(f"pictures that can't be read ({error.strerror})") from error

    def joined(self, sources: Iterable[str]) -> str | None:
        """Return one crop of the images that a text refers to, side by side as the panels of a figure."""
        crops = [crop for source in sources if (crop := self.named(source))]
        if len(crops) < 2:
            return next(iter(crops), None)
        images = [self._open(crop) for crop in crops[:_MAX_PANELS]]
        height = min(max(image.height for image in images), _MAX_SIDE // 2)
        images = [image.resize((max(1, image.width * height // image.height), height)) for image in images]
        lefts = accumulate((image.width + _GAP for image in images[:-1]), initial=0)
        return self._sheet([((left, 0), image) for left, image in zip(lefts, images, strict=True)])

    def laid_out(self, parts: Sequence[tuple[Box, str]]) -> str | None:
        """Return one crop of the images of the parts of a float, laid out as on the page; boxes are in points."""
        found = [(box, crop) for box, source in parts if (crop := self.named(source))]
        if len(found) < 2:
            return found[0][1] if found else None
        whole = bounding_box(box for box, _ in found)
        images = [(box, self._open(crop)) for box, crop in found[:_MAX_PANELS]]
        scale = max(image.width / max(box.x1 - box.x0, 1) for box, image in images)
        scale = min(scale, _MAX_SCALE, _MAX_SIDE / max(whole.x1 - whole.x0, whole.y1 - whole.y0, 1))
        placed = []
        for box, image in images:
            size = max(1, round((box.x1 - box.x0) * scale)), max(1, round((box.y1 - box.y0) * scale))
            corner = round((box.x0 - whole.x0) * scale), round((box.y0 - whole.y0) * scale)
            placed.append((corner, image.resize(size)))
        return self._sheet(placed)

    def _open(self, crop: str) -> Image.Image:
        return Image.open(io.BytesIO(self.crops[crop])).convert("RGB")

    def _sheet(self, images: Sequence[tuple[tuple[int, int], Image.Image]]) -> str | None:
        """Return the crop of images at these corners, on white."""
        size = (
            max(left + image.width for (left, _), image in images),
            max(top + image.height for (_, top), image in images),
        )
        sheet = Image.new("RGB", size, "white")
        for corner, image in images:
            sheet.paste(image, corner)
        return self.add(png_bytes(sheet), name="panels")

    def _path(self, relative: str) -> Path | None:
        """Return the file at a path if, with links resolved, it is in the folder; else None."""
        if "\0" in relative or len(relative) > 1000:
            return None
        with suppress(OSError, RuntimeError, ValueError):
            folder = self._folder.resolve()
            named = relative.replace("\\", "/")
            stem, dot, kind = named.rpartition(".")
            # Publishers name the picture for print, and deliver the one for the screen.
            others = [stem + suffix for suffix in _SUFFIXES[1:]] if f"{dot}{kind}".lower() in _PRINTED else []
            for name in (*(named + suffix for suffix in _SUFFIXES), *others):
                path = (folder / name).resolve()
                if path.is_relative_to(folder) and path.is_file():
                    return path
        return None


class _RefusedError(Exception):
    """Raised with the reason why an image is omitted."""


def _embedded(payload: str, *, base64_coded: bool) -> bytes:
    if len(payload) > 2 * _MAX_BYTES:
        raise _RefusedError("pictures that are too large are left out")
    try:
        return base64.b64decode(unquote(payload)) if base64_coded else unquote_to_bytes(payload)
    except (binascii.Error, ValueError) as error:
        raise _RefusedError("pictures that can't be read (damaged)") from error


def _png(data: bytes, *, min_side: int) -> bytes | None:
    """Return an image as PNG, None for one with a shorter side."""
    if data.startswith(b"%PDF-") or _SVG.match(data[:_HEAD]):
        data = _drawn(data, filetype="pdf" if data.startswith(b"%PDF-") else "svg")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data), formats=_KINDS) as picture:
                return _converted(picture, data, min_side=min_side)
    except Image.DecompressionBombError as error:
        raise _RefusedError(f"pictures that can't be read (over {_MAX_PIXELS} pixels)") from error
    except (OSError, ValueError, SyntaxError, EOFError, MemoryError) as error:
        reason = "of no format that is read" if isinstance(error, UnidentifiedImageError) else str(error)
        raise _RefusedError(f"pictures that can't be read ({reason.partition('<')[0].strip() or 'damaged'})") from error


def _drawn(data: bytes, *, filetype: str) -> bytes:
    """Return an SVG drawing, or the first page of a PDF, as PNG."""
    # Takes a tenth of a second to import.
    import pymupdf

    try:
        with pymupdf.open(stream=data, filetype=filetype) as document:
            page = document[0]
            scale = min(_SVG_SCALE, _MAX_SIDE / max(page.rect.width, page.rect.height, 1))
            return bytes(page.get_pixmap(matrix=pymupdf.Matrix(scale, scale)).tobytes("png"))
    except (IndexError, RuntimeError, ValueError) as error:
        raise _RefusedError(f"{filetype.upper()} drawings that can't be drawn are left out") from error


def _converted(picture: Image.Image, data: bytes, *, min_side: int) -> bytes | None:
    """Raise Pillow's errors, and ValueError for too many pixels."""
    if picture.width * picture.height > _MAX_PIXELS:
        raise ValueError(f"over {_MAX_PIXELS} pixels")
    if min(picture.size) < min_side:
        return None
    if picture.format == "PNG" and max(picture.size) <= _MAX_SIDE and len(data) < _MAX_BYTES // 4:
        picture.load()
        return data
    picture.thumbnail((_MAX_SIDE, _MAX_SIDE))
    return png_bytes(picture if picture.mode in _PNG_MODES else picture.convert("RGB"))


def _listed(names: list[str]) -> str:
    shown = [name if len(name) <= 80 else name[:79] + "…" for name in names[:3]]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(shown) + more
