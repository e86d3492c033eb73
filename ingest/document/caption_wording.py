"""The wording of captions and headings: labels ("Tab. 5", "Figure S2"), notes of continued tables, numbers, titles."""

import re
from dataclasses import dataclass
from typing import Literal

__all__ = [
    "FIXED_TITLE",
    "NUMBER",
    "CaptionKind",
    "CaptionStart",
    "caption_start",
    "is_continuation_note",
    "is_references_title",
    "normalized_label",
    "opens_continuation",
    "split_number",
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

NUMBER = re.compile(
    r"(?:(?i:appendix|section|chapter)\s+)?(?P<number>\d{1,2}(?:\.\d{1,2}){0,3}|[A-Z](?:\.\d{1,2}){1,3}|[A-Z]|[IVX]{1,5})"
    r"(?P<dot>[.:)]?)\s+(?=[^\W\d_]|\d+[A-Z]|[“\"'])"
)
FIXED_TITLE = re.compile(
    r"(?:abstract|references|bibliography|works cited|acknowledge?ments?|appendi(?:x|ces)|conclusions?|limitations|"
    r"introduction|discussion|results|methods|(?:broader )?impact(?: statement)?|ethics statement|"
    r"supplementary materials?|declarations?|funding|data availability)[.:]?",
    re.IGNORECASE,
)
_REFERENCES = re.compile(
    r"(?:\S+\s+)?(?:references(?: and notes| cited)?|notes and references|bibliography|works cited|"
    r"literature cited)[.:]?",
    re.IGNORECASE,
)


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
    """Read the label with which a text begins; None if there is none.

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
    """Return whether a caption's text begins by marking the table as continued: `(continued)`, `Cont.`"""
    return bool(_CONTINUATION.match(text))


def is_continuation_note(text: str) -> bool:
    """Return whether a line only notes that a table is continued, here or elsewhere."""
    return bool(_NOTE.fullmatch(text.strip()))


def split_number(text: str) -> tuple[str, str]:
    """`4.2 Results` -> (`4.2`, `Results`); ("", text) if the heading has no number."""
    match = NUMBER.match(text)
    if not match:
        return "", text.strip()
    return match["number"], text[match.end() :].strip()


def is_references_title(text: str) -> bool:
    """Return whether a heading is the title of a bibliography."""
    return bool(_REFERENCES.fullmatch(split_number(text)[1]))
