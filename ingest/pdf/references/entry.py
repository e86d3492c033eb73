"""What an entry of a bibliography says of itself: its mark, its year, and how a text cites it."""

import re
import unicodedata
from dataclasses import dataclass

from ingest.pdf.references.names import authors_of

__all__ = ["Mark", "entry_label", "entry_mark", "entry_year", "mark_of"]

_DATED_KEY = r"[^\W\d_][^\]]{2,60}(?:(?:19|20)\d{2}|n\.d\.)[a-z]?"
_MARK = re.compile(
    rf"^(?:\[\s*(?P<bracket>[^\]\s]{{1,12}}|{_DATED_KEY})\s*\]"
    r"|\((?P<round>\d{1,3})\)\s|(?P<number>\d{1,3})\.\s|(?P<raised>[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3})\s?(?=\w)"
    r"|(?P<bare>\d{1,3})\s+(?=[^\W\d_]))"
)
_YEAR = re.compile(r"(?<![\d–:/.-])((?:19|20)\d{2})[a-z]?(?![\d–-]|\.\d)")
_FRAMED_YEAR = re.compile(r"(?:\(|[.,]\s)((?:19|20)\d{2})[a-z]?[).,;]")
_UNDATED = re.compile(r"\(n\.\s?d\.\)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """What stands before an entry: `12` (`[12]`, `(12)`, `12.`, `¹²` or a bare number, as `form` says) or a key
    (`[LCS20]`, `[Li et al., 2020]`)."""

    text: str
    form: str

    @property
    def number(self) -> int | None:
        """Its number, None of a key."""
        return int(self.text) if self.text.isdecimal() else None


def mark_of(text: str) -> Mark | None:
    """The mark with which an entry, or a line of a bibliography, begins."""
    match = _MARK.match(text)
    if not match or not match.lastgroup:
        return None
    return Mark(text=unicodedata.normalize("NFKC", " ".join(match[match.lastgroup].split())), form=match.lastgroup)


def entry_mark(text: str) -> str:
    """The mark with which a numbered entry begins (`12` of `[12]` or `12.`), "" if none or but a bare number."""
    mark = mark_of(text)
    return mark.text if mark and mark.form != "bare" else ""


def entry_year(text: str) -> int | None:
    """The year of publication: the first one in parentheses or between stops, else the last one named."""
    framed = _FRAMED_YEAR.search(text)
    if framed:
        return int(framed[1])
    years = _YEAR.findall(text)
    return int(years[-1]) if years else None


def entry_label(text: str) -> str:
    """As a text cites the entry: `[12]` where it is numbered, `[LCS20]` by its key, else `Li et al., 2020`.

    "" if neither can be read.
    """
    mark = mark_of(text)
    if mark:
        return mark.text if " " in mark.text else f"[{mark.text}]"
    year, authors = entry_year(text), authors_of(text).short
    if not authors:
        return ""
    if year is None:
        return f"{authors}, n.d." if _UNDATED.search(text) else ""
    suffix = re.search(rf"{year}([a-z])\b", text)
    return f"{authors}, {year}{suffix[1] if suffix else ''}"
