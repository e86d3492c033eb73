"""Where and when a paper was published: year, venue, DOI and arXiv id, from what its file states and prints.

Only certain forms count: a paper cites many works whose years, journals and DOIs are not its own.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from difflib import SequenceMatcher
from itertools import zip_longest

from paperscope_core.types import CORRECTED, UNPUBLISHED, BibRecord, Paper, PaperEntry, Passage, Publication

__all__ = [
    "arxiv_in",
    "complete_publication",
    "doi_in",
    "is_placeholder",
    "is_same_paper",
    "is_same_work",
    "looked_up",
    "with_record",
    "year_in",
]

_DOI = re.compile(r"(?<![\d.])10\.\d{4,9}/[^\s\"<>]+")
_STATED_DOI = re.compile(r"(?i)(?:\bdoi\b\s*+[:.]?\s*+|doi\.org/\s*+)(?=10\.\d{4,9}/\S)")
_DOI_ALONE = re.compile(r"(?i)(?:doi\b\s*+:?\s*+)?(?:https?://)?(?:(?:dx\.)?doi\.org/)?10\.\d{4,9}/\S+")
_CITATION = re.compile(
    r"(?i)(?:citation|(?:how to|to|please|suggested)? ?cit(?:e|ation)(?: (?:this|as)[^:]{0,20})?)\s*:"
)
_MIN_TITLE, _MIN_CITED = 20, 10  # Letters of a title that show where it is printed again, and in a citation.
# What the template of a publisher prints in place of a DOI; it prints no real venue then, either.
_PLACEHOLDER = re.compile(r"(?i)\bX{5,}\.X{5,}|10\.\d{4,9}/n{5,}|\b1122445\.1122456\b")
_ARXIV_DOI = re.compile(r"(?i)^10\.48550/arxiv\.(.+)")
_ARXIV_NUMBER = r"\d\d(?:0[1-9]|1[0-2])\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7}"
_ARXIV = re.compile(rf"(?i)^(?:https?://)?(?:arxiv\.org/abs/|arxiv:)\s*({_ARXIV_NUMBER})(?!\d)")
_ARXIV_FILE = re.compile(r"(\d\d(?:0[1-9]|1[0-2])\.\d{4,5})(?:v\d{1,2})?\.[a-z]+")

_MONTHS = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    "nov(?:ember)?|dec(?:ember)?"
)
_YEAR = re.compile(r"(?<![\d.,/])(?:19|20)\d\d(?![\d/]|[.,]\d)")
# Words of a line that states when and where a paper was published. A month counts only together with the days of a
# meeting, because repositories print the date of a download.
_PUBLISHED = re.compile(
    r"(?i)©|⃝c|\(c\)|\b(?:copyright|published|accepted|communicated|proceedings|conference|workshop|symposium|journal|transactions"
    rf"|arxiv|preprint)\b|\bvol(?:ume|\.) ?\d+,|\b(?:{_MONTHS})\s+\d{{1,2}}\s*[\-\u2010-\u2015]"
)
_DOWNLOADED = re.compile(r"(?i)\bdownload")
_DATE = re.compile(
    rf"(?i)(?:[^\W\d_]+:\s+)?(?:\d{{1,2}}(?:st|nd|rd|th)?\s+)?(?:{_MONTHS})\.?(?:\s+\d{{1,2}}(?:st|nd|rd|th)?)?,?\s+((?:19|20)\d\d)"
    r"|((?:19|20)\d\d)-\d\d-\d\d"
)
_ARXIV_YEAR = re.compile(r"(?<![\d.])(\d\d)(?:0[1-9]|1[0-2])\.\d{4,5}(?!\d)")
# It has the date of a version, which may be years later.
_STAMP = re.compile(r"arXiv:\d")
_FILE_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")

_NAME = r"(?P<venue>[A-Z][^\W\d_]?[^\d,;|/()©]{1,90}?)"
_BEGIN = r"(?:^|/ ?|\| ?|\. |\.\u2003)"
_AN = r"[A-Za-z]?\d"
# The forms of running heads and imprints that name a journal or a meeting.
_VENUES = tuple(
    re.compile(form)
    for form in (
        r"^(?P<venue>(?:Proceedings|Findings|Transactions) of [^;©]{5,200}?),? \(?"
        r"(?:Volume|[Vv]ol\.|pages?\b|pp\.|PMLR)",
        r"^(?P<venue>\d+\s?(?:st|nd|rd|th) [^.,;]{0,60}(?:Conference|Workshop|Symposium) on [^.,;(]{3,150}"
        r"\([^()]*(?:19|20)\d\d\))",
        r"^Published as an? [a-z ]*paper (?:at|in) (?:the )?(?P<venue>[A-Z][^.,;]{2,80})",
        r"^Published in (?P<venue>[A-Z][^.,;()\d]{2,80}) \(\d{1,2}/\d{4}\)",
        r"\(Eds?\.\): (?P<venue>[^,]{3,60}), [A-Z]{3,6} \d+, pp\.",
        r"^(?P<venue>[A-Z][\w@&/ -]{1,30} [’']\d\d), (?i:" + _MONTHS + r")\.? \d",
        rf"^{_NAME} preprint doi:",
        # Journal 260 (2023) 110163; Journal (2023) 12:34; Journal 2023, 12, 34; Journal 2016;70(10):1
        rf"{_BEGIN}{_NAME},? \d+ \((?:19|20)\d\d\) {_AN}",
        rf"{_BEGIN}{_NAME},? ?\|? ?\((?:19|20)\d\d\) \d+(?: ?\(\d+\))? ?: ?{_AN}",
        rf"{_BEGIN}{_NAME},? (?:19|20)\d\d, \d+(?:\(\d+\))?, {_AN}",
        rf"{_BEGIN}{_NAME},? (?:19|20)\d\d ?; ?\d+ ?\(\d+\) ?: ?{_AN}",
        # Journal, 7(75), 90; Journal 116, 061102 (2016); JOURNAL, VOL. 3, NO. 2; Journal | https://doi.org/
        rf"{_BEGIN}{_NAME}, \d+ ?\(\d+\) ?[,:] ?{_AN}",
        rf"{_BEGIN}{_NAME} \d+, \d+ \((?:19|20)\d\d\)",
        rf"{_BEGIN}{_NAME},? (?:(?:19|20)\d\d, )?[Vv](?:ol|OL)(?:\.|ume|UME) ?\d+, ?"
        r"(?:[Nn][Oo]|[Ii]ssue|[Ii]ss|[Nn]umber)\b",
        rf"^{_NAME} \| (?:https?://)?(?:dx\.)?doi\.org/",
    )
)
_MONTH = re.compile(rf"(?i)(?:{_MONTHS})")
_IMPRINT = re.compile(r"©|⃝c|\(c\)|\bISSN\b|\bISBN\b|\bReceived\b|\bAvailable online\b")
# A longer paragraph is running text, which cites other years. A footnote may also contain a permission to copy.
_MAX_LINE_LENGTH = 250
_MAX_IMPRINT_LENGTH = 2000  # Of a footnote with a permission to copy; a longer text is not a footnote.
# In a file without pages, the imprint is among the first elements.
_FIRST_ELEMENTS = 10
# The left pages of some journals have another running head than the right ones, and the first page has none.
_HEAD_PAGES = 3
_MAX_WORDS = 14
# Words up to a full stop of an abbreviated name: "IEEE Trans.".
_MAX_ABBREVIATED = 2
_PAGE_NUMBER = re.compile(r"(?:^|\s)\d{1,5}$")
# Titles of one work differ by hyphens, signs and letters that were misread. Titles of two works of one group may share
# half of their words.
_SAME_TITLE = 0.8
_MAX_TITLE = 300


def complete_publication(paper: Paper, *, stated: Publication = UNPUBLISHED) -> Publication:
    """Return what is known about where and when a paper was published.

    The year is the one in the paper's citation of itself, else the latest one in the imprint on the first page
    ("Proceedings of …", "© 2020", "Published: 4 July 2025"), else the year of the arXiv number in the stamp on the
    first page or in the file name, else of a date below the title, else a year in the file name. Venue, DOI and arXiv
    id are printed in the head, the foot or the margin of the first page, or above its text; a DOI also in its citation
    of itself, or on a cover sheet, which has the title, too. Running text, which cites other works, is ignored.

    Args:
        stated: What the file's metadata state; it comes first.
    """
    arxiv = stated.arxiv or _printed_arxiv(paper)
    doi = stated.doi or _printed_doi(paper)
    if in_doi := _ARXIV_DOI.match(doi):
        arxiv = arxiv or arxiv_in(f"arXiv:{in_doi[1]}")
    year = stated.year or year_in(_own_citation(paper)) or _printed_year(paper)
    venue = stated.venue or _printed_venue(paper)
    return replace(stated, year=year, venue=venue, doi=doi, arxiv=arxiv)


def with_record(paper: Paper, record: BibRecord) -> Paper:
    """Return a paper with what a record says of it; what the record leaves open stays.

    What a user corrected stays, too. A title that differs in capitals only stays as the paper prints it: some
    catalogues know no others.
    """
    told, known = record.publication, paper.publication
    is_correction = record.origin == CORRECTED
    kept = {"origins"} | {field for field, origin in known.origins if origin == CORRECTED and not is_correction}
    given = {one.name: value for one in fields(told) if (value := getattr(told, one.name)) and one.name not in kept}
    is_other = is_correction or " ".join(record.title.split()).casefold() != " ".join(paper.title.split()).casefold()
    title = record.title if record.title and is_other and "title" not in kept else paper.title
    renamed = bool(record.authors) and "authors" not in kept
    authors = record.authors if renamed else paper.authors
    if renamed:
        # Those of another record are not those of these authors.
        given["families"] = told.families
    said = [*given, *(["title"] if title != paper.title else []), *(["authors"] if renamed else [])]
    origins = dict(known.origins) | dict.fromkeys(said, record.origin)
    publication = replace(known, **given, origins=tuple(sorted(origins.items())))
    return replace(paper, title=title, authors=authors, publication=publication)


def looked_up(paper: Paper) -> Sequence[BibRecord]:
    """Return what records said of a paper, one for each origin, so that it can be said of another reading of it."""
    known = paper.publication
    records = []
    for origin in sorted({origin for _, origin in known.origins}):
        said = {field for field, one in known.origins if one == origin}
        told = replace(UNPUBLISHED, **{name: getattr(known, name) for name in said - {"title", "authors"}})
        title, authors = paper.title if "title" in said else "", paper.authors if "authors" in said else ()
        records.append(BibRecord(origin=origin, title=title, authors=authors, publication=told))
    return records


def is_same_work(paper: Paper, record: BibRecord) -> bool:
    """Return whether a record that was found by a DOI or an id which the paper prints is that of the paper: papers also
    print the ids of others. A title that is missing or was read in part decides nothing."""
    ours, theirs = _letters(paper.title), _letters(record.title)
    if not ours or not theirs or ours in theirs or theirs in ours:
        return True
    return SequenceMatcher(None, ours[:_MAX_TITLE], theirs[:_MAX_TITLE], autojunk=False).ratio() >= _SAME_TITLE


def is_same_paper(paper: Paper, entry: PaperEntry) -> bool:
    """Return whether a paper certainly is the one of an entry: it has the same title, and the same DOI or arXiv id or
    an author in common."""
    title = _letters(paper.title)
    if not title or title != _letters(entry.title):
        return False
    ours, theirs = paper.publication, entry
    ids = {one.casefold() for one in (ours.doi, ours.arxiv) if one} & {theirs.doi.casefold(), theirs.arxiv.casefold()}
    surnames, others = (
        {_letters(name.split()[-1]) for name in names if name.split()} for names in (paper.authors, entry.authors)
    )
    return bool(ids or surnames & others)


def _letters(text: str) -> str:
    """Return the letters and digits of a title without accents and case."""
    return "".join(sign for sign in unicodedata.normalize("NFKD", text).casefold() if sign.isalnum())


def doi_in(text: str) -> str:
    """Return the first DOI in a text, "" if there is none or a template's placeholder."""
    found = _DOI.search(text)
    if found is None or is_placeholder(text):
        return ""
    doi = found[0].rstrip(".,;:'’”")
    while doi[-1] in ")]}" and doi.count(doi[-1]) > doi.count("([{"[")]}".index(doi[-1])]):
        doi = doi[:-1].rstrip(".,;:'’”")
    return doi


def is_placeholder(text: str) -> bool:
    """Return whether a text has what templates print in place of a DOI."""
    return bool(_PLACEHOLDER.search(text))


def arxiv_in(text: str) -> str:
    """Return the id at the start of a stamp or an address of arXiv, without its version; "" for any other text."""
    found = _ARXIV.match(text.strip())
    return found[1] if found else ""


def year_in(text: str) -> int | None:
    """Return the first year in a date of any form, None without one."""
    found = _FILE_YEAR.search(text)
    return int(found[0]) if found else None


def _printed_year(paper: Paper) -> int | None:
    imprint = [line for line in _lines(paper) if _PUBLISHED.search(line) and not _DOWNLOADED.search(line)]
    stamps = [line for line in imprint if _STAMP.match(line)]
    years = [int(year) for line in imprint if line not in stamps for year in _YEAR.findall(line)]
    if years:
        return max(years)
    for text in (*stamps, paper.file):
        if arxiv := _ARXIV_YEAR.search(text):
            return 2000 + int(arxiv[1])
    below = (
        line.strip() for one in _front(paper) if one.role in ("authors", "paragraph") for line in one.text.split("\n")
    )
    dates = [found for line in below if (found := _DATE.fullmatch(line))]
    return int(dates[-1][1] or dates[-1][2]) if dates else year_in(paper.file)


def _printed_arxiv(paper: Paper) -> str:
    stamps = (arxiv_in(one.text) for one in _first(paper) if one.role == "furniture")
    named = _ARXIV_FILE.fullmatch(paper.file)
    return next(filter(None, stamps), named[1] if named else "")


def _printed_doi(paper: Paper) -> str:
    """Return the only DOI that the head, the foot or the front matter states, or else the only one of head and foot."""
    first = _first(paper)
    if any(is_placeholder(one.text) for one in first):
        return ""
    furniture = _stated_dois(_joined(first))
    short = (one.text for one in _front(paper) if one.role != "abstract" and len(one.text) <= _MAX_LINE_LENGTH)
    every = _stated_dois((*_joined(first), *_imprints(first), *short))
    for found in (every, furniture, _stated_dois([_own_citation(paper)]), _cover_dois(paper)):
        if len({doi.casefold() for doi in found}) == 1:
            return found[0]
    return ""


def _cover_dois(paper: Paper) -> list[str]:
    """Return the DOIs on the last page if the title is printed there, as on the cover sheets of repositories."""
    last = [one for one in _passages(paper) if one.place.page == len(paper.pages) > 1 and one.role != "furniture"]
    title = _letters(paper.title)
    if len(title) < _MIN_TITLE or not any(title in _letters(one.text) for one in last):
        return []
    return _stated_dois(one.text for one in last)


def _own_citation(paper: Paper) -> str:
    """Return how the paper says on its first page that it is cited ("Citation: ..."), "" without that; with the
    address on the line below."""
    title, first = _letters(paper.title), _first(paper)
    for one, below in zip_longest(first, first[1:]):
        cited = _CITATION.match(one.text)
        if cited and len(title) >= _MIN_CITED and title in _letters(one.text):
            address = below.text if below and _DOI_ALONE.fullmatch(below.text.strip()) else ""
            return f"{one.text[cited.end() :]} {address}"
    return ""


def _stated_dois(texts: Iterable[str]) -> list[str]:
    found = (doi_in(text[mark.end() :]) for text in texts for mark in _STATED_DOI.finditer(text))
    return [doi for doi in found if doi]


def _imprints(first: Sequence[Passage]) -> list[str]:
    """Return the footnotes with the signs of an imprint, and their neighbours; a note that cites data has a DOI,
    too."""
    notes = [one for one in first if one.role in ("footnote", "furniture")]
    signs = [bool(_IMPRINT.search(one.text)) for one in notes]
    near = zip(notes, signs, [False, *signs], [*signs[1:], False], strict=False)
    return [one.text for one, own, before, after in near if one.role == "footnote" and (own or before or after)]


def _printed_venue(paper: Paper) -> str:
    first = _first(paper)
    if any(is_placeholder(one.text) for one in first):
        return ""
    heads = [one for one in _passages(paper) if one.role == "furniture" and one.place.page <= _HEAD_PAGES]
    front = [one.text for one in _front(paper) if one.role in ("authors", "paragraph")]
    short = (line for text in front for line in text.split("\n") if len(line) <= _MAX_LINE_LENGTH)
    texts = [text for text in (*_joined(heads), *short, *_imprints(first)) if len(text) <= _MAX_IMPRINT_LENGTH]
    found = (match["venue"] for form in _VENUES for text in texts for match in form.finditer(" ".join(text.split())))
    return next((name for venue in found if _is_name(name := _last_phrase(venue.strip(" .,:|–-")))), "")


def _last_phrase(text: str) -> str:
    """`Journal of Maps` of `A title of it. Journal of Maps`; the words of an abbreviated name are capitalised."""
    parts = text.split(". ")
    phrases = [
        at for at, part in enumerate(parts) if len(words := part.split()) > _MAX_ABBREVIATED or words[-1].islower()
    ]
    after = [at for at in phrases if at < len(parts) - 1]
    return ". ".join(parts[after[-1] + 1 :] if after else parts)


def _is_name(venue: str) -> bool:
    """Return whether the words before a volume are a name, rather than authors or a month."""
    words = venue.split()
    worded = any(sum(map(str.isalpha, word)) > 2 for word in words)
    return worded and len(words) <= _MAX_WORDS and " et al" not in venue and not _MONTH.fullmatch(words[0])


def _lines(paper: Paper) -> Iterator[str]:
    """Yield the short passages of the first page that are not its title, headings or abstract, and its margins."""
    for one in _first(paper):
        if one.role not in ("abstract", "heading", "title") and (
            len(one.text) <= _MAX_LINE_LENGTH or one.role in ("footnote", "furniture")
        ):
            yield one.text


def _first(paper: Paper) -> list[Passage]:
    """Return the passages of the first page, or at the beginning of a file without pages."""
    elements = [element for element in paper.elements if element.place.page == 1]
    return _of(elements if paper.paged else [*elements[:_FIRST_ELEMENTS], *_furniture(elements)])


def _furniture(elements: Iterable[object]) -> list[Passage]:
    return [one for one in elements if isinstance(one, Passage) and one.role == "furniture"]


def _passages(paper: Paper) -> list[Passage]:
    return _of(paper.elements)


def _of(elements: Iterable[object]) -> list[Passage]:
    return [one for one in elements if isinstance(one, Passage)]


def _front(paper: Paper) -> list[Passage]:
    """Return the passages above the first heading of the first page."""
    return [one for one in _first(paper) if not one.section and one.role not in ("furniture", "footnote", "title")]


def _joined(furniture: Iterable[Passage]) -> list[str]:
    """Return the texts of heads and feet; lines below each other are one text."""
    texts: list[str] = []
    last: Passage | None = None
    for one in furniture:
        if one.role != "furniture":
            continue
        box = one.place.box
        near = last is not None and one.place.page == last.place.page and abs(box.y0 - last.place.box.y1) < box.height
        if near and len(texts[-1]) < _MAX_LINE_LENGTH and not arxiv_in(one.text):
            # The page number is next to the first or the last line of the text.
            texts[-1] = f"{_PAGE_NUMBER.sub('', texts[-1])} {one.text}"
        else:
            texts.append(one.text)
        last = one
    return texts
