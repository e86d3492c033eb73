"""What an entry of a bibliography names as the title of the work."""

import re

from ingest.pdf.references.entry import mark_of
from ingest.pdf.references.names import HEAD_END

__all__ = ["title_of"]

_MARK = re.compile(r"^(?:\[[^\]]{1,70}\]|\(\d{1,3}\)|\d{1,3}\.|[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3})\s*")
_YEAR = re.compile(r"[(\[]?\b(?:(?:19|20)\d{2}|n\.\s?d\.)[a-z]?(?:,[^)\]]{1,20})?[)\]]?[.,:]?\s+")
_AFTER_INITIALS = re.compile(r"[A-Z]\.:\s")  # "Smock, B., Abraham, R.: PubTables-1M: Towards …"
_QUOTED = re.compile(r"[“\"‘]([^”\"]{10,300}?)[,.?!]?[”\"’](?=[\s,.]|$)")
# A stop ends the title unless it belongs to an initial or an abbreviation; "?" and "!" may stand within it.
_END = re.compile(
    r"(?<!\b[A-Z])(?<!\bvs)(?<!\bSt)(?<!\bDr)(?<!\bNo)(?<!\bvol)\.(?=\s|$)|[?!](?=\s+[^\sa-z]|$)|,(?=\s[Ii]n:\s)"
)
_BRACKETS = re.compile(r"\s*[(\[][^()\[\]]*[)\]]$")
_QUOTES = '“"‘'
_NO_TITLE = re.compile(r"https?:|www\.|\bdoi\b|\barxiv\b|\bet al\b|\bpp\b|\bproceedings\b", re.IGNORECASE)
_FEWEST_WORDS = 3
_MOST_WORDS = 40


def title_of(text: str) -> str:
    """The title in an entry, "" where it can't be told.

    It stands in quotation marks, or follows the authors and the year up to the next full stop, as in
    `Li, X. (2020). TITLE. Venue`, `Xiaoya Li. 2020. TITLE. Venue`, `[3] Xiaoya Li. TITLE. Venue, 2020`,
    `Li, X., 2020. TITLE, in: Venue` and `3. Li, X.: TITLE. In: Venue (2020)`. What is in brackets at its end
    ("(Version 1.0)") is no part of it. Fewer than three words tell no work from another, and more than forty, an
    address or a venue are none.
    """
    text = " ".join(text.split())
    if mark_of(text):
        text = _MARK.sub("", text)
    start = _start(text)
    if start is None:
        return ""
    quoted = _QUOTED.match(text, start)
    end = _END.search(text, start)
    title = quoted[1] if quoted else text[start : end.start() if end else start]
    while (shorter := _BRACKETS.sub("", title)) != title:
        title = shorter
    words = title.split()
    told = (
        _FEWEST_WORDS <= len(words) <= _MOST_WORDS
        and title.lstrip(_QUOTES)[:1].isalnum()
        and not _NO_TITLE.search(title)
    )
    return title if told else ""


def _start(text: str) -> int | None:
    """Where the title begins, None where no end of the authors is found."""
    head = HEAD_END.search(text)
    initials = _AFTER_INITIALS.search(text)
    if initials and (head is None or initials.end() < head.end()):
        return initials.end()
    if head is None:
        return None
    # The year is part of the match where it ends the head; what frames it follows.
    year = _YEAR.search(text, max(head.start() - 1, 0))
    near = year is not None and year.start() <= head.start() + 4
    at = year.end() if year and near else head.end()
    while text[at : at + 1].isspace():
        at += 1
    return at
