"""Texts that every format can hold: no lone surrogates, no control characters."""

import re
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar, cast

from paperscope.types import Place

__all__ = ["sound"]

T = TypeVar("T")

# Tab and newline stay: a listing is made of them.
_UNSOUND = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def sound(value: T) -> T:
    """The value (a text, a tuple, a dataclass made of them) with control characters left out, at any depth.

    Half a surrogate pair, which no encoding can write, becomes the replacement character.
    """
    return cast("T", _sound(value))


def _sound(value: object) -> object:
    if isinstance(value, str):
        return _UNSOUND.sub(_mended, value)
    if type(value) is tuple:
        return tuple(_sound(item) for item in value)
    if not is_dataclass(value) or isinstance(value, type | Place):
        return value
    pairs = ((field.name, getattr(value, field.name)) for field in fields(value))
    changed = {name: new for name, old in pairs if (new := _sound(old)) != old}
    return replace(value, **changed) if changed else value


def _mended(match: re.Match[str]) -> str:
    return "\ufffd" if "\ud800" <= match[0] <= "\udfff" else ""
