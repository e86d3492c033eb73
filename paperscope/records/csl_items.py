"""Reads items of CSL-JSON as records; Crossref and Zotero write this form, too."""

import html
import re
from collections.abc import Mapping, Sequence
from typing import cast, get_args

from paperscope_core.publication import arxiv_in, doi_in, year_in
from paperscope_core.text.escaping import one_line
from paperscope_core.types import BibRecord, Publication, WorkKind

__all__ = ["arxiv_of", "csl_record", "part_of", "plain_line"]

# The types of CSL, and further ones of Crossref.
_KINDS = {kind: kind for kind in get_args(WorkKind)} | {
    name: kind
    for kind, names in {
        "article-journal": "journal-article article-magazine article-newspaper",
        "paper-conference": "proceedings-article",
        "chapter": "book-chapter book-section",
        "book": "monograph edited-book reference-book",
        "thesis": "dissertation",
        "article": "posted-content",
        "dataset": "database",
    }.items()
    for name in names.split()
}
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>")
_ARXIV_DOI = re.compile(r"(?i)^10\.48550/arxiv\.")
_ARXIV_PAGE = re.compile(r"(?i)^https?://(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html)/")
_RETRACTIONS = frozenset("retraction partial_retraction withdrawal removal".split())
_LONGEST = 2000
_MAX_AUTHORS = 5000


def csl_record(item: Mapping[str, object], *, origin: str) -> BibRecord:
    """Return the record that an item of CSL-JSON, or a work of Crossref, states. What has another form is left out."""
    names = [name for one in _list(item.get("author"))[:_MAX_AUTHORS] if (name := _name(one))[1]]
    text = {name: plain_line(value) for name, value in item.items()}
    doi, venue = doi_in(text.get("DOI", "")), text.get("container-title", "")
    kind = cast("WorkKind", _KINDS.get(str(item.get("type")), "document"))
    arxiv = arxiv_of(doi, text.get("number", ""), text.get("URL", ""), venue)
    if arxiv and "arxiv" in venue.lower():
        venue, kind = "", "article"
    return BibRecord(
        origin=origin,
        title=text.get("title", ""),
        authors=tuple(" ".join(filter(None, one)) for one in names),
        publication=Publication(
            year=_year(item),
            venue="" if venue.startswith("http") else venue,
            doi="" if _ARXIV_DOI.match(doi) else doi,
            arxiv=arxiv,
            kind=kind,
            volume=text.get("volume", ""),
            issue=text.get("issue", ""),
            pages=re.sub(r" ?[-–—]+ ?", "-", text.get("page") or text.get("article-number", "")),
            publisher=text.get("publisher", ""),
            families=tuple(family for _, family in names),
            retraction=_retraction(item),
        ),
    )


def arxiv_of(*texts: str) -> str:
    """Return the first arXiv id in texts such as a DOI of arXiv, `arXiv preprint arXiv:1706.03762`, or an address."""
    for text in texts:
        last = _ARXIV_DOI.sub("arXiv:", "".join(text.split()[-1:]))
        if found := arxiv_in(_ARXIV_PAGE.sub("arXiv:", last)):
            return found
    return ""


def plain_line(value: object) -> str:
    """Return a text, a number, or the first of several, on one line without markup and control characters."""
    while isinstance(value, list):
        value = value[0] if value else ""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        return ""
    return one_line(html.unescape(_TAG.sub("", str(value)[: 2 * _LONGEST])))[:_LONGEST]


def part_of(document: object, *names: str) -> object:
    """Return what is below these names in a JSON document, None if it has another form."""
    for name in names:
        document = document.get(name) if isinstance(document, Mapping) else None
    return document


def _name(author: object) -> tuple[str, str]:
    """Return given and family name; the whole name of an organisation is a family name."""
    given, *family = (
        plain_line(part_of(author, name))
        for name in ("given", "dropping-particle", "non-dropping-particle", "family", "suffix")
    )
    if any(family):
        return given, " ".join(filter(None, family))
    return "", plain_line(part_of(author, "literal")) or plain_line(part_of(author, "name")) or given


def _year(item: Mapping[str, object]) -> int | None:
    texts = (_date(item.get(name)) for name in ("issued", "published", "published-print", "published-online"))
    return next((year for text in texts if (year := year_in(text)) is not None), None)


def _date(date: object) -> str:
    """Return a date such as 2009-03-31; its month and day may be missing."""
    parts = _list(next(iter(_list(part_of(date, "date-parts"))), None))
    return "-".join(f"{part:02}" for part in parts if isinstance(part, int)) or plain_line(
        part_of(date, "raw") or parts[:1]
    )


def _retraction(item: Mapping[str, object]) -> str:
    """Return what retracts a work: Crossref lists notices of publishers and of Retraction Watch."""
    for notice in _list(item.get("updated-by")):
        kind, doi = plain_line(part_of(notice, "type")), doi_in(plain_line(part_of(notice, "DOI")))
        if kind.lower() in _RETRACTIONS:
            said = f"{kind.replace('_', ' ')} {_date(part_of(notice, 'updated'))}".strip()
            return f"{said}, doi:{doi}" if doi else said
    return ""


def _list(value: object) -> Sequence[object]:
    return cast("list[object]", value) if isinstance(value, list) else []
