"""MinerU's folder on disk: its JSON, and the images in it."""

import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from PIL import Image
from pydantic import TypeAdapter, ValidationError

from ingest.readers.mineru.blocks import Block, BlockDocument, blocks_of_items, blocks_of_middle
from ingest.readers.mineru.schema import Item, Middle
from paperscope_core.errors import PaperFileError
from paperscope_core.types import Box

__all__ = [
    "PictureError",
    "Source",
    "is_mineru_folder",
    "mineru_file",
    "open_picture",
    "picture_of",
    "read_document",
    "source_of",
]


_MIDDLE = ("*middle.json", "*middle_json.json")
_CONTENT = ("*content_list.json",)
_MOST_BYTES = 400_000_000
_MOST_PIXELS = 80_000_000
_ITEMS = TypeAdapter(list[Item])


class PictureError(Exception):
    """A picture of the folder that can't be used; the message says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """MinerU's file in a folder: its path and bytes; `whole` is true for `middle.json`."""

    file: Path
    data: bytes
    whole: bool

    @property
    def sha256(self) -> str:
        """The hash of the file, by which the paper is known wherever the folder lies."""
        return hashlib.sha256(self.data).hexdigest()


def is_mineru_folder(folder: Path) -> bool:
    """Whether a folder holds what MinerU writes for one paper."""
    return folder.is_dir() and bool(_candidates(folder))


def mineru_file(folder: Path) -> Path:
    """The JSON of a folder, `middle.json` before others. Raises `PaperFileError` where there is none or several."""
    found = _candidates(folder)
    if not found:
        raise PaperFileError(f"{folder}: no file of MinerU (*middle.json or *content_list.json) in this folder")
    if len(found) > 1:
        names = ", ".join(repr(file.name) for file in found)
        raise PaperFileError(f"{folder}: holds several papers of MinerU ({names}); give each a folder of its own")
    return found[0]


def source_of(folder: Path) -> Source:
    """Read MinerU's file. Raises `PaperFileError` where it can't be or is too large."""
    file = mineru_file(folder)
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise PaperFileError(f"{file}: over {_MOST_BYTES // 1_000_000} MB; split the paper before MinerU reads it")
        data = file.read_bytes()
    except OSError as error:
        raise PaperFileError(f"{file}: can't be read ({error.strerror}); check its permissions") from error
    return Source(file=file, data=data, whole=not file.name.endswith("content_list.json"))


def _candidates(folder: Path) -> Sequence[Path]:
    for patterns in (_MIDDLE, _CONTENT):
        found = sorted({file for pattern in patterns for file in folder.glob(pattern) if file.is_file()})
        if found:
            return found
    return ()


def read_document(source: Source) -> BlockDocument:
    """The blocks of a file. Raises `PaperFileError`, naming file and key, for a shape that we don't know."""
    try:
        if not source.whole:
            document = blocks_of_items(_ITEMS.validate_json(source.data))
        else:
            middle = Middle.model_validate_json(source.data)
            if middle.pdf_info is None and middle.pages is None:
                raise PaperFileError(
                    f"{source.file}: has neither the key 'pdf_info' nor 'pages'; it is no middle.json of a MinerU "
                    "that Paperscope knows (0.7 to 4)"
                )
            document = blocks_of_middle(middle)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "the file"
        raise PaperFileError(
            f"{source.file}: {key}: {first['msg']}; it is no file of a MinerU that Paperscope knows (0.7 to 4)"
        ) from error
    if not document.pages:
        raise PaperFileError(f"{source.file}: holds no page; run MinerU again")
    return document


def open_picture(folder: Path, name: str) -> Image.Image:
    """A picture by its path in the folder, in RGB. Raises `PictureError`; nothing outside the folder is opened."""
    root = folder.resolve()
    for path in (folder / name, folder / "images" / name):
        file = path.resolve()
        if file.is_relative_to(root) and file.is_file():
            return _loaded(file, name=name)
    raise PictureError(f"its picture {name!r} is not in the folder")


def _loaded(file: Path, *, name: str) -> Image.Image:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(BytesIO(file.read_bytes())) as picture:
                if picture.width * picture.height > _MOST_PIXELS:
                    raise PictureError(f"its picture {name!r} has too many pixels ({picture.width}×{picture.height})")
                return picture.convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise PictureError(f"its picture {name!r} can't be read: {error}") from error


_MOST_SCALE = 600 / 72
_LONGEST = 6000


def picture_of(folder: Path, blocks: Sequence[Block]) -> bytes:
    """The PNG of the blocks' pictures, several set where they stand on the page; there is at least one.

    Raises `PictureError`.
    """
    pictures = [(block.box, open_picture(folder, name)) for block in blocks for name in block.images]
    if len(pictures) == 1:
        return _png(pictures[0][1])
    return _png(_composed(pictures))


def _composed(pictures: Sequence[tuple[Box, Image.Image]]) -> Image.Image:
    """All pictures on white, at the finest of their resolutions."""
    whole = pictures[0][0]
    for box, _ in pictures:
        whole = whole.union(box)
    scale = max(picture.width / max(box.x1 - box.x0, 1) for box, picture in pictures)
    scale = min(scale, _MOST_SCALE, _LONGEST / max(whole.x1 - whole.x0, whole.y1 - whole.y0, 1))
    canvas = Image.new("RGB", _pixels(whole, scale), "white")
    for box, picture in pictures:
        shown = picture.resize(_pixels(box, scale))
        canvas.paste(shown, (round((box.x0 - whole.x0) * scale), round((box.y0 - whole.y0) * scale)))
    return canvas


def _pixels(box: Box, scale: float) -> tuple[int, int]:
    return max(1, round((box.x1 - box.x0) * scale)), max(1, round((box.y1 - box.y0) * scale))


def _png(picture: Image.Image) -> bytes:
    out = BytesIO()
    picture.save(out, format="PNG")
    return out.getvalue()
