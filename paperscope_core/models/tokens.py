"""Counts tokens, with a model's own tokenizer or with an estimate."""

import json
import math
from collections.abc import Callable
from pathlib import Path

from paperscope_core.errors import SettingsError
from paperscope_core.types import ModelRequest

__all__ = ["count_tokens", "request_tokens", "token_counter"]


# Fitted to cl100k (OpenAI's tokenizer of GPT-4) on the text of papers: words take a token for 5.5 letters and spaces,
# digits one each, other signs of ASCII one for 1.4, all further characters two each.
_LETTER, _DIGIT, _SIGN, _OTHER = 1 / 5.5, 1.0, 1 / 1.4, 2.0
# OpenAI's guide "Images and vision": a picture takes 85 tokens and 170 for each tile of 512 pixels, after it was shrunk
# into 2048 x 2048 and to a shorter side of 768.
_IMAGE, _TILE, _TILE_SIDE, _LONG_SIDE, _SHORT_SIDE = 85, 170, 512, 2048, 768
_MESSAGE = 4
_PNG_SIZE = slice(16, 24)


def count_tokens(text: str) -> int:
    """About how many tokens `text` is for a model of today; within some 5 % for papers in English."""
    ascii_ = text.encode("ascii", errors="ignore")
    # A context is counted for every question: `translate` takes the signs away at once.
    digits = len(ascii_) - len(ascii_.translate(None, b"0123456789"))
    letters = len(ascii_) - len(ascii_.translate(None, _LETTERS))
    signs = len(ascii_) - digits - letters
    return math.ceil(_LETTER * letters + _DIGIT * digits + _SIGN * signs + _OTHER * (len(text) - len(ascii_)))


def token_counter(tokenizer: str) -> Callable[[str], int]:
    """What counts as the tokenizer in this file does (Hugging Face's tokenizer.json); `count_tokens` where none is.

    Raises SettingsError where the file can't be read.
    """
    if not tokenizer:
        return count_tokens
    from tokenizers import Tokenizer

    try:
        loaded = Tokenizer.from_str(Path(tokenizer).expanduser().read_text(encoding="utf-8"))
    except Exception as error:  # tokenizers raises nothing narrower
        raise SettingsError(
            f"answer.tokenizer {tokenizer!r} can't be read ({error}); name a model's tokenizer.json, or leave it empty"
        ) from error
    loaded.no_truncation()

    def count(text: str) -> int:
        return len(loaded.encode(text, add_special_tokens=False).ids)

    return count


def request_tokens(request: ModelRequest) -> int:
    """About how many prompt tokens a request is: its messages, its pictures, and its schema, which is sent along."""
    texts = sum(_MESSAGE + count_tokens(message.text) for message in request.messages)
    images = sum(_image_tokens(image) for message in request.messages for image in message.images)
    schema = 0 if request.schema is None else count_tokens(json.dumps(request.schema))
    return texts + images + schema


_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ \n\t\r"


def _image_tokens(png: bytes) -> int:
    size = png[_PNG_SIZE]
    width, height = int.from_bytes(size[:4]), int.from_bytes(size[4:])
    if not width or not height:
        return _IMAGE
    shrink = min(1.0, _LONG_SIDE / max(width, height), _SHORT_SIDE / min(width, height))
    tiles = math.ceil(width * shrink / _TILE_SIDE) * math.ceil(height * shrink / _TILE_SIDE)
    return _IMAGE + _TILE * tiles
