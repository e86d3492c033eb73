"""The wording of captions: labels ("Tab. 5", "Figure S2"), and notes that a table is continued."""

import re
from dataclasses import dataclass
from typing import Literal

__all__ = [
    "CaptionKind",
    "CaptionStart",
    "caption_start",
    "is_continuation_note",
    "normalized_label",
    "opens_continuation",
]

CaptionKind = Literal["table", "figure", "other"]

_KINDS: dict[str, tuple[CaptionKind, str]] = {
    "tab": ("table", "Table"),
    "fig": ("figure", "Figure"),
    "alg": ("other", "Algorithm"),
    "lis": ("other", "Listing"),
    "box": ("other", "Box"),
    "pro": ("other", "Prompt"),
    "sch": ("figure", "Scheme"),
}
_START = re.compile(
    r"^(?:Supplementary\s+|Extended Data\s+|Appendix\s+)?"
    r"(?P<word>Table|Tab\.|Figure|Fig\.?|Algorithm|Listing|Box|Prompt|Scheme)\s*"
    r"(?P<number>[A-Z]{0,2}\.?\d+(?:\.\d+)*|[IVX]+|[A-Z]\.\d+)"
    r"(?P<mark>\s*[:|—]|\s*[–-]\s|\.(?=\s|$)|\s*$|(?=\s+[A-Z(]))\s*",
    re.IGNORECASE,
)
_CONTINUED = r"(?:continue[ds]?|continuation|cont['’]?d\b\.?|cont(?:in)?(?=\.))"
_WHERE = r"(?:\s++(?:on|from|in|to|of|at|over)\s++(?:the\s++)?(?:next|previous|following|preceding|last)?\s*+\w++)?"
_CONTINUATION = re.compile(rf"[\s(\[:.,–—-]*{_CONTINUED}{_WHERE}\s*(?:[)\].:…–—-]|$)", re.IGNORECASE)
_NAME = r"(?:this\s{1,3})?Tab(?:le|\.)\s{0,3}[\w.]{0,12}\s{0,3}[-–—:.,(]{0,3}\s{0,3}"
_NOTE = re.compile(rf"[(\[→]?\s*+(?:{_NAME})?(?:(?:is|to be)\s++)?{_CONTINUED}{_WHERE}[)\].:…\s→]*", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class CaptionStart:
    """How a caption begins: its label, normalized ("Table 5"), and its text, which begins at `end`.

    `marked` is true if punctuation separates them ("Table 4: Results").
    """

    kind: CaptionKind
    label: str
    text: str
    end: int
    marked: bool


def normalized_label(word: str, number: str) -> str:
    """`Tab.`, `5` -> `Table 5`; `Fig.`, `S.2` -> `Figure S.2`."""
    return f"{_KINDS[word[:3].lower()][1]} {number.rstrip('.')}"


def caption_start(text: str, *, marked: bool = False) -> CaptionStart | None:
    """Reads the label with which a text begins; None if there is none.

    With `marked`, a text without punctuation after the label (`Table 4 shows`) is no caption.
    """
    match = _START.match(text)
    if not match or not match["word"][0].isupper():
        return None
    if marked and not match["mark"].strip() and match.end() < len(text):
        return None
    return CaptionStart(
        kind=_KINDS[match["word"][:3].lower()][0],
        label=normalized_label(match["word"], match["number"]),
        text=text[match.end() :].strip(),
        end=match.end(),
        marked=bool(match["mark"].strip()),
    )


def opens_continuation(text: str) -> bool:
    """Whether a caption's text begins by marking the table as continued: `(continued)`, `Cont.`"""
    return bool(_CONTINUATION.match(text))


def is_continuation_note(text: str) -> bool:
    """Whether a line only notes that a table is continued, here or elsewhere."""
    return bool(_NOTE.fullmatch(text.strip()))
