"""From bytes to text: byte order marks, declared character sets, UTF-8, and Windows-1252 as the last resort."""

import codecs
import re

from paperscope.errors import PaperFileError
from paperscope.types import PageProblem

__all__ = ["decode"]

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARED = re.compile(
    rb"""<\?xml[^>]*?encoding\s*=\s*["']([\w.:-]+)|<meta[^>]*?charset\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE
)
_HEAD = 4096
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd\ufffe\uffff]")
_MOST_CONTROLS = 0.005
_TEXT = re.compile(r"(?:utf|iso8859|cp\d|ascii|latin|gb|hz|big5|euc|shift_jis|koi8|mac|tis)[\w-]*", re.IGNORECASE)
# What a file may declare and browsers read as the larger set.
_LARGER = {"ascii": "cp1252", "iso8859-1": "cp1252"}


def decode(data: bytes, *, name: str, declared: bool = False) -> tuple[str, tuple[PageProblem, ...]]:
    """The text with newlines as `\\n`, and what was guessed. `declared`: heed a charset that HTML or XML declares.

    Raises `PaperFileError` for data that is no text.
    """
    text, problems = _decoded(data, declared=declared)
    if _is_garbage(text):
        raise PaperFileError(
            f"{name!r} is no text: it holds binary data. Paperscope reads PDF, Markdown, HTML, DOCX, plain text, "
            "JATS and TEI."
        )
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub(lambda match: "\ufffd" if match[0] == "\ufffd" else " ", text), problems


def _is_garbage(text: str) -> bool:
    return len(_CONTROLS.findall(text)) > _MOST_CONTROLS * len(text) + 1


def _decoded(data: bytes, *, declared: bool) -> tuple[str, tuple[PageProblem, ...]]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace"), ()
    if sixteen := _sixteen(data[:_HEAD]):
        return data.decode(sixteen, errors="replace"), ()
    told = _declared(data) if declared else ""
    for encoding in dict.fromkeys(filter(None, (told, "utf-8"))):
        try:
            return data.decode(encoding), _other(told, encoding)
        except UnicodeDecodeError:
            continue
    reason = "the file is neither UTF-8 nor says what it is; it was read as Windows-1252, so letters may be wrong"
    return data.decode("cp1252", errors="replace"), (PageProblem(page=1, reason=reason),)


def _sixteen(head: bytes) -> str:
    """UTF-16 without a mark: every second byte of Latin text is zero."""
    pairs = len(head) // 2
    if pairs < 4:
        return ""
    even, odd = head[0 : 2 * pairs : 2].count(0), head[1 : 2 * pairs : 2].count(0)
    if odd > 0.6 * pairs and even < 0.1 * pairs:
        return "utf-16-le"
    return "utf-16-be" if even > 0.6 * pairs and odd < 0.1 * pairs else ""


def _declared(data: bytes) -> str:
    """The declared character set if it is a known one of text, else ""."""
    match = _DECLARED.search(data[:_HEAD])
    if not match:
        return ""
    try:
        name = codecs.lookup((match[1] or match[2]).decode("ascii")).name
    except (LookupError, UnicodeError, ValueError):
        return ""
    return _LARGER.get(name, name) if _TEXT.fullmatch(name) else ""


def _other(told: str, used: str) -> tuple[PageProblem, ...]:
    if not told or told == used:
        return ()
    return (PageProblem(page=1, reason=f"the file declares the character set {told!r} but is {used}"),)
