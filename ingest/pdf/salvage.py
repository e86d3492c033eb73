"""Recovers the pages of a truncated PDF, whose page list is missing along with its end."""

import re
import zlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

__all__ = ["salvaged"]

_TAIL = 2048  # Bytes; readers look for `startxref` at the end of a file, after which junk may follow.
_TOKEN = re.compile(rb"endstream|endobj|\bstream\r?\n|\b(\d{1,9})\s{1,8}\d{1,5}\s{1,8}obj\b")
_PAGE, _CATALOG = re.compile(rb"/Type\s{0,8}/Page\b"), re.compile(rb"/Type\s{0,8}/Catalog\b")
_PAGES = re.compile(rb"/Pages\s{1,8}(\d{1,9})\b")
_PACK = re.compile(rb"/Type\s{0,8}/ObjStm\b")
_COUNT, _FIRST = re.compile(rb"/N\s{1,8}(\d{1,7})\b"), re.compile(rb"/First\s{1,8}(\d{1,9})\b")
_MAX_UNPACKED = 1 << 26  # Bytes of all compressed objects, against decompression bombs.


class _Found(NamedTuple):
    """An object: its number, its text up to a stream, and the start and end of its stream (0 without one)."""

    number: int
    text: bytes
    start: int = 0
    end: int = 0


def salvaged(data: bytes) -> bytes:
    """Return a truncated file with a new list of its remaining pages; any other file unchanged.

    Fonts are often at the end of a file, so a recovered page may contain only its plain letters.
    """
    if b"startxref" in data[-_TAIL:] or b"/Encrypt" in data:
        return data
    found = list(_objects(data))
    packed = dict(_unpacked(data, found))
    texts = {**{each.number: each.text for each in found}, **packed}
    pages = [number for number, text in texts.items() if _PAGE.search(text)]
    return _closed(data, found) + _ending(texts, packed, pages) if pages else data


def _objects(data: bytes) -> Iterator[_Found]:
    """Yield the complete objects, and a last one whose stream is truncated."""
    number, begin, start = -1, 0, 0
    for token in _TOKEN.finditer(data):
        kind = token[0][:6]
        if start:
            if kind == b"endstr":
                yield _Found(number, data[begin : start - len(b"stream\n")], start, token.start())
                number, start = -1, 0
        elif token[1]:
            number, begin = int(token[1]), token.end()
        elif number >= 0 and kind == b"stream":
            start = token.end()
        elif number >= 0 and kind == b"endobj":
            yield _Found(number, data[begin : token.start()])
            number = -1
    if start:
        yield _Found(number, data[begin : start - len(b"stream\n")], start, len(data))


def _unpacked(data: bytes, found: list[_Found]) -> Iterator[tuple[int, bytes]]:
    """Yield the objects in compressed object streams."""
    room = _MAX_UNPACKED
    for pack in found:
        count, first = _COUNT.search(pack.text), _FIRST.search(pack.text)
        if not (pack.start and _PACK.search(pack.text) and count and first):
            continue
        try:
            text = zlib.decompressobj().decompress(data[pack.start : pack.end], room)
            table = [int(word) for word in text[: int(first[1])].split()[: 2 * int(count[1])]]
        except (zlib.error, ValueError):
            continue
        room = max(1, room - len(text))
        starts = [int(first[1]) + offset for offset in table[1::2]]
        for number, begin, end in zip(table[::2], starts, [*starts[1:], len(text)], strict=False):
            # The last object of a truncated stream is incomplete.
            if end < len(text) or pack.end < len(data):
                yield number, text[begin:end]


def _closed(data: bytes, found: list[_Found]) -> bytes:
    """Return the file without a truncated object, unless that is a stream, whose beginning may be readable."""
    if found and found[-1].end == len(data):
        return data + b"\nendstream\nendobj\n"
    return data[: data.rfind(b"endobj") + len(b"endobj")] + b"\n"


def _ending(texts: Mapping[int, bytes], packed: Mapping[int, bytes], pages: list[int]) -> bytes:
    """Return the objects of object streams, a new list of pages if it is lost, and a trailer that names it."""
    root, size = _root(texts), max(texts) + 1
    added = dict(packed)
    if root is None:
        kids = " ".join(f"{number} 0 R" for number in pages)
        added[size] = f"<</Type/Pages/Count {len(pages)}/Kids[{kids}]/MediaBox[0 0 612 792]>>".encode()
        added[size + 1] = f"<</Type/Catalog/Pages {size} 0 R>>".encode()
        root, size = size + 1, size + 2
    bodies = b"".join(b"%d 0 obj\n%b\nendobj\n" % item for item in added.items())
    return bodies + b"trailer\n<</Root %d 0 R/Size %d>>\nstartxref\n0\n%%%%EOF\n" % (root, size)


def _root(texts: Mapping[int, bytes]) -> int | None:
    """Return the object that names the list of pages, None if it or the list is lost."""
    for number, text in texts.items():
        named = _PAGES.search(text) if _CATALOG.search(text) else None
        if named and int(named[1]) in texts:
            return number
    return None
