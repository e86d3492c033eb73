"""Entries of a bibliography: the mark, year, label and title of each."""

import re
import unicodedata
from dataclasses import dataclass

from ingest.document.authors import HEAD_END, authors_of

__all__ = ["EntryMark", "entry_label", "entry_mark", "entry_year", "mark_of", "title_of"]

_DATED_KEY = r"[^\W\d_][^\]]{2,60}(?:(?:19|20)\d{2}|n\.d\.)[a-z]?"
_MARK = re.compile(
    rf"^(?:\[\s*(?P<bracket>[^\]\s]{{1,12}}|{_DATED_KEY})\s*\]"
    r"|\((?P<round>\d{1,3})\)\s|(?P<number>\d{1,3})\.\s|(?P<raised>[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3})\s?(?=\w)"
    r"|(?P<bare>\d{1,3})\s+(?=[^\W\d_]))"
)
_YEAR = re.compile(r"(?<![\d–:/.-])((?:19|20)\d{2})[a-z]?(?![\d–-]|\.\d)")
_FRAMED_YEAR = re.compile(r"(?:\(|[.,]\s)((?:19|20)\d{2})[a-z]?[).,;]")
_UNDATED = re.compile(r"\(n\.\s?d\.\)")

_PRINTED_MARK = re.compile(r"^(?:\[[^\]]{1,70}\]|\(\d{1,3}\)|\d{1,3}\.|[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3})\s*")
_TITLE_YEAR = re.compile(r"[(\[]?\b(?:(?:19|20)\d{2}|n\.\s?d\.)[a-z]?(?:,[^)\]]{1,20})?[)\]]?[.,:]?\s+")
_AFTER_INITIALS = re.compile(r"[A-Z]\.:\s")  # "Smock, B., Abraham, R.: PubTables-1M: Towards …"
_QUOTED = re.compile(r"[“\"‘]([^”\"]{10,300}?)[,.?!]?[”\"’](?=[\s,.]|$)")
# A stop ends the title unless it belongs to an initial or an abbreviation; "?" and "!" may be inside it.
_END = re.compile(
    r"(?<!\b[A-Z])(?<!\bvs)(?<!\bSt)(?<!\bDr)(?<!\bNo)(?<!\bvol)\.(?=\s|$)|[?!](?=\s+[^\sa-z]|$)|,(?=\s[Ii]n:\s)"
)
_BRACKETS = re.compile(r"(?<!\s)\s*+[(\[][^()\[\]]*[)\]]$")
_QUOTES = '“"‘'
_NO_TITLE = re.compile(r"https?:|www\.|\bdoi\b|\barxiv\b|\bet al\b|\bpp\b|\bproceedings\b", re.IGNORECASE)
_MIN_TITLE_WORDS = 3  # Fewer words don't identify a work.
_MAX_TITLE_WORDS = 40  # A longer text is an address or a venue; chosen on the development papers.


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryMark:
    """The mark before an entry: a number (`[12]`, `(12)`, `12.`, `¹²` or bare, as `form` says) or a key (`[LCS20]`,
    `[Li et al., 2020]`)."""

    text: str
    form: str

    @property
    def number(self) -> int | None:
        """The number, None for a key."""
        return int(self.text) if self.text.isdecimal() else None


def mark_of(text: str) -> EntryMark | None:
    """Return the mark with which an entry, or a line of a bibliography, begins."""
    match = _MARK.match(text)
    if not match or not match.lastgroup:
        return None
    return EntryMark(text=unicodedata.normalize("NFKC", " ".join(match[match.lastgroup].split())), form=match.lastgroup)


def entry_mark(text: str) -> str:
    """Return the mark of a numbered entry (`12` of `[12]` or `12.`); "" if it has none, or a bare number only."""
    mark = mark_of(text)
    return mark.text if mark and mark.form != "bare" else ""


def entry_year(text: str) -> int | None:
    """Return the year of publication: the first one in parentheses or between stops, otherwise the last one."""
    framed = _FRAMED_YEAR.search(text)
    if framed:
        return int(framed[1])
    years = _YEAR.findall(text)
    return int(years[-1]) if years else None


def entry_label(text: str) -> str:
    """Return the entry as a text cites it: `[12]`, `[LCS20]` or `Li et al., 2020`; "" if it can't be read."""
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


def title_of(text: str) -> str:
    """Return the title in an entry, "" if it is not certain.

    It is in quotation marks, or follows the authors and the year up to the next full stop, as in `Li, X. (2020). TITLE.
    Venue`, `Xiaoya Li. 2020. TITLE. Venue`, `[3] Xiaoya Li. TITLE. Venue, 2020`, `Li, X., 2020. TITLE, in: Venue` and
    `3. Li, X.: TITLE. In: Venue (2020)`. Brackets at its end ("(Version 1.0)") are removed.
    """
    text = " ".join(text.split())
    if mark_of(text):
        text = _PRINTED_MARK.sub("", text)
    start = _title_start(text)
    if start is None:
        return ""
    quoted = _QUOTED.match(text, start)
    end = _END.search(text, start)
    title = quoted[1] if quoted else text[start : end.start() if end else start]
    while (shorter := _BRACKETS.sub("", title)) != title:
        title = shorter
    certain = (
        _MIN_TITLE_WORDS <= len(title.split()) <= _MAX_TITLE_WORDS
        and title.lstrip(_QUOTES)[:1].isalnum()
        and not _NO_TITLE.search(title)
    )
    return title if certain else ""


def _title_start(text: str) -> int | None:
    """Return the start of the title, None if the end of the authors can't be found."""
    head = HEAD_END.search(text)
    initials = _AFTER_INITIALS.search(text)
    if initials and (head is None or initials.end() < head.end()):
        return initials.end()
    if head is None:
        return None
    # A year that ends the head is part of the match, but not the brackets and stops around it.
    year = _TITLE_YEAR.search(text, max(head.start() - 1, 0))
    near = year is not None and year.start() <= head.start() + 4
    at = year.end() if year and near else head.end()
    while text[at : at + 1].isspace():
        at += 1
    return at
