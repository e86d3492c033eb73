"""Mutates files at random: their bytes, their tokens, and what ZIP archives, PDF streams and JSON contain."""

import json
import re
import zipfile
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from io import BytesIO
from random import Random
from typing import Any

from tests.rendered_markdown import HOSTILE

__all__ = ["mutated"]

_MAX_BYTES = 300_000
_MAX_REPEATS = 400
_TOKEN = re.compile(rb"<[^<>]{0,200}>|\d+ \d+ (?:R|obj)\b|/\w+|\\?\w+|[^\w\s]|\s+")
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
_STREAM = re.compile(rb"stream\r?\n(.*?)\r?\n?endstream", re.DOTALL)
_NUMBERS = (*"0 -1 1 255 65536 2147483648 -9223372036854775809 1e999 0.0000001 NaN".split(), "1" * 400)
_CONTROLS = "\0 \x85 \u2028 \u202e \ufeff \ufffe \U0010ffff \xa0 \u200b \xad \r \r\n \n\n \t".split(" ")
_LETTERS = "\u0130 ß ﬁ 𝟘 ٣ ١٢ ½ ー שלום 漢字".split()
_TABLES = '=1+1 @SUM(A1) \t=cmd \'=1 " "" \' ; , | || ../../etc/passwd'.split(" ")
_MARKUP = "<tr> </table> <table> <math><mfrac> <sec> <ref/> <![CDATA[ ]]> &#0; &#x1f600;".split()
_PAPER = "Table Figure Eq.(1) $$ & \\\\ \\hline \\frac{ \\begin{tabular}{lc} \\end{tabular} \\multicolumn{99}{c}{a}"
_PDF = "obj endobj stream endstream xref trailer << >> /Length /FlateDecode /DCTDecode /ObjStm BT ET Tj cm Do Tm Tf q Q"
_JSON = 'null true {} [] {" : [[[[[[[[[ "\\ud800" "\\u0000" 1E400'
_HTTP = "%00 %2e%2e/ %ff ?a=b # // * HTTP/1.0 HTTP/9.9 \x80\xff Content-Length: Transfer-Encoding: Connection:upgrade"
# Each means something to one of the readers, or to what shows their results.
_TEXTS = (
    *(*HOSTILE, *_NUMBERS, *_CONTROLS, *_LETTERS, *_TABLES, *_MARKUP),
    *(token for tokens in (_PAPER, _PDF, _JSON, _HTTP) for token in tokens.split(" ")),
    *("é\u0301" * 30, "\x1b[2J", "\x1b]8;;http://a.example\x07x", "[" * 50, "{" * 50, "\r\n\r\n", "0 0 obj", "1 0 R"),
    *("<td colspan=99999>", "<td rowspan=99999>", "<xref rid='a'>", "<?xml version='1.0' encoding='utf-16'?>"),
    *("Table 1: a", "Figure 2. b", "[1] A. Li. 2019.", "Section 1", "Li et al. (2019)", "/Count -1", "/Kids[1 0 R]"),
    *("Transfer-Encoding: chunked\r\n", "Content-Length: 0\r\n", "Expect: 100-continue\r\n", "Host: a\r\n"),
)


def mutated(data: bytes, random: Random, *, others: Sequence[bytes]) -> bytes:
    """A file made from this one by a few changes; `others` are files from which parts may be taken."""
    for _ in range(random.choice((1, 1, 1, 2, 3, 5))):
        changed = _inside(data, random, others) if random.random() < 0.6 else None
        data = changed if changed is not None else random.choice(_CHANGES)(data, random, others)
        data = data[:_MAX_BYTES]
    return data


Change = Callable[[bytes, Random, Sequence[bytes]], bytes]


def _inside(data: bytes, random: Random, others: Sequence[bytes]) -> bytes | None:
    """The file with a change of what it contains; None if it contains nothing that is known."""
    if data.startswith(b"PK"):
        return _archive(data, random, others)
    if b"%PDF" in data[:1024]:
        return _pdf_stream(data, random, others)
    if data.lstrip()[:1] in (b"{", b"["):
        return _json_lines(data, random)
    head, blank, body = data.partition(b"\r\n\r\n")
    if blank and b"HTTP/1" in head[:300]:
        return _message(head, body, random, others)
    return None


def _archive(data: bytes, random: Random, others: Sequence[bytes]) -> bytes | None:
    with suppress(Exception), zipfile.ZipFile(BytesIO(data)) as archive:
        parts = {
            name: archive.read(name) for name in archive.namelist() if archive.getinfo(name).file_size < _MAX_BYTES
        }
        name = random.choice(sorted(parts, key=lambda name: "document" not in name)[: random.choice((1, 1, 1, 20))])
        parts[name] = _bytes(parts[name], random, others)
        out = BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as written:
            for part, text in parts.items():
                written.writestr(part, text)
        return out.getvalue()
    return None


def _pdf_stream(data: bytes, random: Random, others: Sequence[bytes]) -> bytes | None:
    found = list(_STREAM.finditer(data))
    if not found:
        return None
    one = random.choice(found)
    text = one[1]
    packed = False
    with suppress(zlib.error):
        unpacker = zlib.decompressobj()
        text, packed = unpacker.decompress(one[1], _MAX_BYTES), True
    changed = _bytes(text, random, others)
    return data[: one.start(1)] + (zlib.compress(changed) if packed else changed) + data[one.end(1) :]


def _message(head: bytes, body: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    """An HTTP message with another head, or with another body and its length."""
    if not body or random.random() < 0.4:
        return _bytes(head, random, others) + b"\r\n\r\n" + body
    body = (_json_lines(body, random) if body.lstrip()[:1] in (b"{", b"[") else None) or _bytes(body, random, others)
    return re.sub(rb"(?i)(content-length: *)\d+", rb"\g<1>%d" % len(body), head, count=1) + b"\r\n\r\n" + body


def _json_lines(data: bytes, random: Random) -> bytes | None:
    """JSON, or one of its lines, with another value somewhere."""
    with suppress(ValueError, RecursionError):
        return _json(data, random)
    lines = data.split(b"\n")
    at = random.randrange(len(lines))
    with suppress(ValueError, RecursionError):
        lines[at] = _json(lines[at], random)
        return b"\n".join(lines)
    return None


def _json(data: bytes, random: Random) -> bytes:
    value = _changed(json.loads(data), random)
    return json.dumps(value, ensure_ascii=random.random() < 0.5).encode("utf-8", "surrogatepass")


def _changed(value: Any, random: Random) -> Any:
    """The value with one change at any depth."""
    if isinstance(value, dict) and value and random.random() < 0.85:
        key = random.choice(list(value))
        changed = {**value, key: _changed(value[key], random)}
        match random.randrange(12):
            case 0:
                del changed[key]
            case 1:
                changed[random.choice(_TEXTS)] = value[key]
            case 2:
                changed = {random.choice(_TEXTS) if name == key else name: one for name, one in value.items()}
        return changed
    if isinstance(value, list) and value and random.random() < 0.85:
        at = random.randrange(len(value))
        items = [*value[:at], _changed(value[at], random), *value[at + 1 :]]
        match random.randrange(10):
            case 0:
                del items[at]
            case 1:
                items *= random.choice((2, 20))
            case 2:
                random.shuffle(items)
        return items
    text = random.choice(_TEXTS)
    if isinstance(value, str) and random.random() < 0.7:
        at = random.randint(0, len(value))
        return random.choice((value[:at] + text + value[at:], text, value * random.choice((0, 2, 50)), value[:at]))
    numbers = (0, -1, 2**31, 2**63, 10**30, 0.5, 1e308, float("nan"), float("-inf"))
    return random.choice(
        (None, True, False, random.choice(numbers), text, [], {}, [value], {text: value}, [[[[value]]]])
    )


def _bytes(data: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    return random.choice(_CHANGES)(data, random, others)


def _span(data: bytes, random: Random, most: int = 2000) -> tuple[int, int]:
    start = random.randint(0, len(data))
    return start, min(len(data), start + random.choice((1, 4, 20, 100, most)))


def _flip(data: bytes, random: Random, _others: Sequence[bytes]) -> bytes:
    changed = bytearray(data)
    for _ in range(random.choice((1, 2, 8, 50)) if data else 0):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _cut(data: bytes, random: Random, _others: Sequence[bytes]) -> bytes:
    start, end = _span(data, random)
    return data[:start] + data[end:]


def _truncate(data: bytes, random: Random, _others: Sequence[bytes]) -> bytes:
    return data[: random.randint(0, len(data))]


def _repeat(data: bytes, random: Random, _others: Sequence[bytes]) -> bytes:
    start, end = _span(data, random, 500)
    return data[:end] + data[start:end] * random.choice((1, 3, 30, _MAX_REPEATS)) + data[end:]


def _splice(data: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    other = random.choice(others)
    start, end = _span(other, random)
    at, to = _span(data, random)
    return data[:at] + other[start:end] + data[random.choice((at, to)) :]


def _insert(data: bytes, random: Random, _others: Sequence[bytes]) -> bytes:
    at = random.randint(0, len(data))
    text = random.choice(_TEXTS).encode() * random.choice((1, 1, 1, 5, 100))
    return data[:at] + text + data[at:]


def _tokens(data: bytes, random: Random, _others: Sequence[bytes]) -> bytes:
    """Some tokens near each other exchanged, repeated, removed or replaced."""
    base = random.randint(0, max(0, len(data) - 4000))
    tokens = _TOKEN.findall(data, base, base + 4000)
    for _ in range(random.choice((1, 1, 3, 10)) if tokens else 0):
        at, other = random.randrange(len(tokens)), random.randrange(len(tokens))
        match random.randrange(5):
            case 0:
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case 1:
                tokens[at] = tokens[other]
            case 2:
                tokens[at] = b""
            case 3:
                tokens[at] = random.choice(_TEXTS).encode()
            case 4:
                tokens[at] *= random.choice((2, 20, _MAX_REPEATS))
    return data[:base] + b"".join(tokens) + data[base + 4000 :]


def _number(data: bytes, random: Random, _others: Sequence[bytes]) -> bytes:
    base = random.randint(0, len(data))
    found = _NUMBER.search(data, base) or _NUMBER.search(data)
    if found is None:
        return data
    return data[: found.start()] + random.choice(_NUMBERS).encode() + data[found.end() :]


def _lines(data: bytes, random: Random, _others: Sequence[bytes]) -> bytes:
    lines = data.split(b"\n")
    at, other = random.randrange(len(lines)), random.randrange(len(lines))
    match random.randrange(4):
        case 0:
            lines[at], lines[other] = lines[other], lines[at]
        case 1:
            lines[at:at] = [lines[other]] * random.choice((1, 20, _MAX_REPEATS))
        case 2:
            del lines[at : at + random.choice((1, 5))]
        case 3:
            lines[at:at] = [random.choice(_TEXTS).encode()]
    return b"\n".join(lines)


_CHANGES: Sequence[Change] = (
    _flip,
    _cut,
    _truncate,
    _repeat,
    _splice,
    _insert,
    _tokens,
    _tokens,
    _number,
    _number,
    _lines,
)
