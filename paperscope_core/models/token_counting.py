"""Counts tokens, with a model's own tokenizer or with an estimate."""

import json
import math
from collections.abc import Callable
from pathlib import Path

from paperscope_core.errors import SettingsError
from paperscope_core.types import ModelRequest

__all__ = ["count_tokens", "request_tokens", "token_counter"]

# Tokens per character, fitted to cl100k (OpenAI's tokenizer for GPT-4) on the text of papers: a token is 5.5 letters
# and spaces, 1 digit, or 1.4 other ASCII characters; any other character takes two tokens.
_PER_LETTER, _PER_DIGIT, _PER_SIGN, _PER_NON_ASCII = 1 / 5.5, 1.0, 1 / 1.4, 2.0
_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ \n\t\r"
_DIGITS = b"0123456789"
# OpenAI's guide "Images and vision": an image takes 85 tokens plus 170 per tile of 512 pixels, after it is scaled down
# to fit into 2048 x 2048 and to a shorter side of 768.
_PER_IMAGE, _PER_TILE, _TILE_SIDE, _LONG_SIDE, _SHORT_SIDE = 85, 170, 512, 2048, 768
# OpenAI's cookbook "How to count tokens with tiktoken": 3 or 4 tokens separate messages.
_PER_MESSAGE = 4
# Width and height in a PNG's header, 4 bytes each.
_PNG_SIZE = slice(16, 24)


def count_tokens(text: str) -> int:
    """Estimate the tokens of a text, within about 5 % of cl100k for English papers."""
    ascii_ = text.encode("ascii", errors="ignore")
    # The context of every question is counted, and `translate` is much faster than a loop.
    digits = len(ascii_) - len(ascii_.translate(None, _DIGITS))
    letters = len(ascii_) - len(ascii_.translate(None, _LETTERS))
    signs = len(ascii_) - digits - letters
    others = len(text) - len(ascii_)
    return math.ceil(_PER_LETTER * letters + _PER_DIGIT * digits + _PER_SIGN * signs + _PER_NON_ASCII * others)


def token_counter(tokenizer: str) -> Callable[[str], int]:
    """Return a function that counts the tokens of a text.

    Args:
        tokenizer: A Hugging Face tokenizer.json, or "" for `count_tokens`.

    Raises:
        SettingsError: The file can't be read.
    """
    if not tokenizer:
        return count_tokens
    from tokenizers import Tokenizer

    try:
        loaded = Tokenizer.from_str(Path(tokenizer).expanduser().read_text(encoding="utf-8"))
    except Exception as error:  # tokenizers raises no narrower error
        raise SettingsError(
            f"answer.tokenizer {tokenizer!r} can't be read ({error}); name a model's tokenizer.json, or leave it empty"
        ) from error
    loaded.no_truncation()

    def count(text: str) -> int:
        return len(loaded.encode(text, add_special_tokens=False).ids)

    return count


def request_tokens(request: ModelRequest) -> int:
    """Estimate the prompt tokens of a request: its messages, images and schema."""
    texts = sum(_PER_MESSAGE + count_tokens(message.text) for message in request.messages)
    images = sum(_image_tokens(image) for message in request.messages for image in message.images)
    schema = 0 if request.schema is None else count_tokens(json.dumps(request.schema))
    return texts + images + schema


def _image_tokens(png: bytes) -> int:
    size = png[_PNG_SIZE]
    width, height = int.from_bytes(size[:4]), int.from_bytes(size[4:])
    if not width or not height:
        return _PER_IMAGE
    scale = min(1.0, _LONG_SIDE / max(width, height), _SHORT_SIDE / min(width, height))
    tiles = math.ceil(width * scale / _TILE_SIDE) * math.ceil(height * scale / _TILE_SIDE)
    return _PER_IMAGE + _PER_TILE * tiles
