"""The wording of captions and headings: labels ("Tab. 5", "Figure S2"), notes of continued tables, numbers, titles."""

import re
from dataclasses import dataclass
from typing import Literal

from ingest.document.language_words import ABSTRACTS, BIBLIOGRAPHIES, FIGURES, TABLES

__all__ = [
    "FIXED_TITLE",
    "FLOAT_WORDS",
    "NUMBER",
    "CaptionKind",
    "CaptionStart",
    "caption_start",
    "float_kind",
    "is_abstract_title",
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
_OTHER_KINDS: dict[str, tuple[CaptionKind, str]] = {
    **{word.casefold(): ("table", "Table") for word in TABLES},
    **{word.casefold(): ("figure", "Figure") for word in FIGURES},
}
FLOAT_WORDS = "|".join(map(re.escape, sorted((*TABLES, *FIGURES), key=len, reverse=True)))
"""A pattern of the words with which captions in other languages begin."""
# Capitals, and the letters of scripts without case.
_OPENING = r"A-Z(À-ÖØ-ÞΑ-ΩА-Я\u0590-\u06ff\u0900-\u0e7f\u3040-\u9fff\uac00-\ud7af"
_START = re.compile(
    r"^(?:Supplementary\s+|Extended Data\s+|Appendix\s+)?"
    rf"(?P<word>Table|Tab\.|Figure|Fig\.?|Algorithm|Listing|Box|Prompt|Scheme|{FLOAT_WORDS})\s*"
    r"(?P<number>[A-Z]{0,2}\.?\d+(?:\.\d+)*|[IVX]+|[A-Z]\.\d+)"
    rf"(?P<mark>\s*[:|—：．。]|\s*[–-]\s|\.(?=\s|$)|\s*$|(?=\s+[{_OPENING}]))\s*",
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
    r"supplementary materials?|declarations?|funding|data availability|"
    rf"{'|'.join((*BIBLIOGRAPHIES, *ABSTRACTS))})[.:]?",
    re.IGNORECASE,
)
_ABSTRACT = re.compile(rf"(?:abstract|{'|'.join(ABSTRACTS)})[\s.:—]{{0,3}}", re.IGNORECASE)
_REFERENCES = re.compile(
    r"(?:\S+\s+)?(?:references(?: and notes| cited)?|notes and references|bibliography|works cited|"
    rf"literature cited|{'|'.join(BIBLIOGRAPHIES)})[.:：]?",
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
    """`Tab.`, `5` -> `Table 5`; `Fig.`, `S.2` -> `Figure S.2`; `Tabelle`, `1` -> `Table 1`."""
    return f"{_named(word)[1]} {number.rstrip('.')}"


def float_kind(word: str) -> CaptionKind:
    """Return the kind of float that a word of a label names."""
    return _named(word)[0]


def _named(word: str) -> tuple[CaptionKind, str]:
    return _OTHER_KINDS.get(word.casefold()) or _KINDS[word[:3].lower()]


def caption_start(text: str, *, marked: bool = False) -> CaptionStart | None:
    """Read the label with which a text begins; None if there is none.

    With `marked`, a text without punctuation after the label (`Table 4 shows`) is no caption.
    """
    match = _START.match(text)
    if not match or match["word"][0].islower():
        return None
    if marked and not match["mark"].strip() and match.end() < len(text):
        return None
    return CaptionStart(
        kind=float_kind(match["word"]),
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


def is_abstract_title(text: str) -> bool:
    """Return whether a heading is the title of an abstract."""
    return bool(_ABSTRACT.fullmatch(text.strip()))


def is_references_title(text: str) -> bool:
    """Return whether a heading is the title of a bibliography."""
    return bool(_REFERENCES.fullmatch(split_number(text)[1]))
