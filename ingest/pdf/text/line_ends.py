"""What a line's end cuts without a space having stood there: addresses, and ranges of numbers."""

import re

__all__ = ["is_cut"]

_ADDRESS = re.compile(r"(?:https?:(?://\S*)?|www\.\S*|\bdoi\.org/\S*|\b10\.(?:\d{4,9}/\S*)?)$")
_RANGE = re.compile(r"\d\s?–$")
_VOLUME = re.compile(r"\d\)?:$")
_PAGES = re.compile(r"\d+\s?[–-]\s?\d|\d+,? (?:19|20)\d{2}\b")
_LAST_WORD = re.compile(r"[^\W\d_]+[.,;)]*$|[^\W\d_]+[.,;)](?:\s|$)")


def is_cut(text: str, line: str) -> bool:
    """Whether the end of a text and the line that follows are one word: an address (`https://a.org/` `b`), a range
    (`105–` `114`), or a volume and its pages (`45(1):` `1–26`)."""
    if _RANGE.search(text):
        return line[:1].isdecimal()
    if _VOLUME.search(text):
        return bool(_PAGES.match(line))
    address = _ADDRESS.search(text)
    return bool(address and line.strip() and _goes_on(address[0], line))


def _goes_on(address: str, line: str) -> bool:
    """Whether a line begins with the rest of an address that the line before broke."""
    head = line.split(maxsplit=1)[0]
    core = head.strip(".,;:()[]")
    if address[-1] in "-_=?&#%~:":
        return True
    if address[-1] == "/":
        return not core.isalpha() or bool(core.islower() and _LAST_WORD.match(line))
    if address[-1] == ".":
        named = core[:1].isdecimal() or core[:1].islower()
        return named and (any(sign in core for sign in "/._-") or (core.isdecimal() and len(core) > 4))
    return head[0] in "/?=#&_%~" or any(sign in core for sign in "=?&_%")
