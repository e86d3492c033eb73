"""Reads MinerU's output folder: its JSON, and the images in it."""

import warnings
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from PIL import Image
from pydantic import TypeAdapter, ValidationError

from ingest.document.geometry import bounding_box
from ingest.readers.layout_blocks import Block
from ingest.readers.mineru.blocks import BlockDocument, blocks_of_items, blocks_of_middle
from ingest.readers.mineru.schema import Item, Middle
from paperscope_core.errors import PaperFileError
from paperscope_core.types import Box

__all__ = ["ImageError", "is_mineru_folder", "joined_image", "mineru_file", "read_blocks", "read_json"]

_CONTENT_LIST = "content_list.json"
# In order of preference: middle.json holds more.
_PATTERNS = (("*middle.json", "*middle_json.json"), (f"*{_CONTENT_LIST}",))
_MAX_BYTES = 400_000_000
_MAX_PIXELS = 80_000_000
# The resolution and the largest size of an image joined from several.
_MAX_SCALE = 600 / 72
_MAX_SIDE = 6000
_ITEMS = TypeAdapter(list[Item])


class ImageError(Exception):
    """An image of the folder that can't be used; the message says why."""


def is_mineru_folder(folder: Path) -> bool:
    """Whether a folder is MinerU's output for one paper."""
    return folder.is_dir() and bool(_candidates(folder))


def mineru_file(folder: Path) -> Path:
    """Returns the JSON file of a folder. Raises `PaperFileError` if there is none, or if there are several."""
    found = _candidates(folder)
    if not found:
        raise PaperFileError(f"{folder}: no file of MinerU (*middle.json or *content_list.json) in this folder")
    if len(found) > 1:
        names = ", ".join(repr(file.name) for file in found)
        raise PaperFileError(f"{folder}: holds several papers of MinerU ({names}); give each a folder of its own")
    return found[0]


def _candidates(folder: Path) -> Sequence[Path]:
    for patterns in _PATTERNS:
        found = sorted({file for pattern in patterns for file in folder.glob(pattern) if file.is_file()})
        if found:
            return found
    return ()


def read_json(file: Path) -> bytes:
    """Returns the bytes of MinerU's JSON. Raises `PaperFileError` if it can't be read or is too large."""
    try:
        if file.stat().st_size > _MAX_BYTES:
            raise PaperFileError(f"{file}: over {_MAX_BYTES // 1_000_000} MB; split the paper before MinerU reads it")
        return file.read_bytes()
    except OSError as error:
        raise PaperFileError(f"{file}: can't be read ({error.strerror}); check its permissions") from error


def read_blocks(data: bytes, *, file: Path, paper: str) -> BlockDocument:
    """Returns the blocks in MinerU's JSON. Raises `PaperFileError`, naming file and key, for any other JSON."""
    try:
        if file.name.endswith(_CONTENT_LIST):
            document = blocks_of_items(_ITEMS.validate_json(data), paper=paper)
        else:
            middle = Middle.model_validate_json(data)
            if middle.pdf_info is None and middle.pages is None:
                raise PaperFileError(
                    f"{file}: has neither the key 'pdf_info' nor 'pages'; it is no middle.json of a MinerU "
                    "that Paperscope knows (0.7 to 4)"
                )
            document = blocks_of_middle(middle, paper=paper)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "the file"
        raise PaperFileError(
            f"{file}: {key}: {first['msg']}; it is no file of a MinerU that Paperscope knows (0.7 to 4)"
        ) from error
    if not document.pages:
        raise PaperFileError(f"{file}: holds no page; run MinerU again")
    return document


def joined_image(folder: Path, blocks: Sequence[Block]) -> bytes:
    """Returns the images of the blocks as one PNG, laid out as on the page; there is at least one.

    Raises `ImageError`.
    """
    images = [(block.box, _open_image(folder, name)) for block in blocks for name in block.images]
    out = BytesIO()
    (images[0][1] if len(images) == 1 else _laid_out(images)).save(out, format="PNG")
    return out.getvalue()


def _laid_out(images: Sequence[tuple[Box, Image.Image]]) -> Image.Image:
    """Returns all images on a white background, at the finest of their resolutions."""
    whole = bounding_box(box for box, _ in images)
    scale = max(image.width / max(box.x1 - box.x0, 1) for box, image in images)
    scale = min(scale, _MAX_SCALE, _MAX_SIDE / max(whole.x1 - whole.x0, whole.y1 - whole.y0, 1))
    canvas = Image.new("RGB", _pixels(whole, scale), "white")
    for box, image in images:
        shown = image.resize(_pixels(box, scale))
        canvas.paste(shown, (round((box.x0 - whole.x0) * scale), round((box.y0 - whole.y0) * scale)))
    return canvas


def _pixels(box: Box, scale: float) -> tuple[int, int]:
    return max(1, round((box.x1 - box.x0) * scale)), max(1, round((box.y1 - box.y0) * scale))


def _open_image(folder: Path, name: str) -> Image.Image:
    """Returns an image by its path in the folder, in RGB. Raises `ImageError`; no file outside the folder is opened."""
    root = folder.resolve()
    for path in (folder / name, folder / "images" / name):
        file = path.resolve()
        if file.is_relative_to(root) and file.is_file():
            return _load_image(file, name=name)
    raise ImageError(f"its picture {name!r} is not in the folder")


def _load_image(file: Path, *, name: str) -> Image.Image:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(BytesIO(file.read_bytes())) as image:
                if image.width * image.height > _MAX_PIXELS:
                    raise ImageError(f"its picture {name!r} has too many pixels ({image.width}×{image.height})")
                return image.convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise ImageError(f"its picture {name!r} can't be read: {error}") from error
