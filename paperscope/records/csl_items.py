"""Reads items of CSL-JSON as records; Crossref and Zotero write this form, too."""

import html
import re
from collections.abc import Iterable, Mapping
from typing import cast, get_args

from paperscope_core.publication import arxiv_in, doi_in, year_in
from paperscope_core.text.escaping import one_line
from paperscope_core.types import BibRecord, Publication, WorkKind

__all__ = ["arxiv_of", "csl_record", "plain_line"]

_KINDS: Mapping[str, WorkKind] = {kind: kind for kind in get_args(WorkKind)} | {
    "journal-article": "article-journal",
    "article-magazine": "article-journal",
    "article-newspaper": "article-journal",
    "proceedings-article": "paper-conference",
    "book-chapter": "chapter",
    "book-section": "chapter",
    "monograph": "book",
    "edited-book": "book",
    "reference-book": "book",
    "dissertation": "thesis",
    "posted-content": "article",
    "database": "dataset",
}
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>")
_ARXIV_DOI = re.compile(r"(?i)^10\.48550/arxiv\.")
_RETRACTIONS = frozenset("retraction partial_retraction withdrawal removal".split())
_LONGEST = 2000
_MAX_AUTHORS = 5000


def csl_record(item: Mapping[str, object], *, origin: str) -> BibRecord:
    """Return the record that an item of CSL-JSON, or a work of Crossref, states. What has another form is left out."""
    names = [_name(one) for one in _list(item.get("author"))[:_MAX_AUTHORS]]
    names = [(given, family) for given, family in names if family]
    doi = doi_in(plain_line(item.get("DOI")))
    venue = plain_line(item.get("container-title"))
    return BibRecord(
        origin=origin,
        title=plain_line(item.get("title")),
        authors=tuple(" ".join(filter(None, one)) for one in names),
        publication=Publication(
            year=_year(item),
            venue=venue,
            doi="" if _ARXIV_DOI.match(doi) else doi,
            arxiv=arxiv_of(doi, plain_line(item.get("number")), plain_line(item.get("URL")), venue),
            kind=_KINDS.get(str(item.get("type")), "document"),
            volume=plain_line(item.get("volume")),
            issue=plain_line(item.get("issue")),
            pages=re.sub(r"\s*[-–—]+\s*", "-", plain_line(item.get("page")) or plain_line(item.get("article-number"))),
            publisher=plain_line(item.get("publisher")),
            families=tuple(family for _, family in names),
            retraction=_retraction(item),
        ),
    )


def arxiv_of(*texts: str) -> str:
    """Return the first arXiv id in texts such as a DOI of arXiv, `arXiv preprint arXiv:1706.03762`, or an address."""
    for text in texts:
        last = text.split()[-1] if text.strip() else ""
        last = _ARXIV_DOI.sub("arXiv:", last).replace("/pdf/", "/abs/")
        if found := arxiv_in(re.sub(r"^https?://(?:www|export)\.", "https://", last)):
            return found
    return ""


def plain_line(value: object) -> str:
    """Return a text, a number, or the first of several, on one line without markup and control characters."""
    while isinstance(value, list):
        value = value[0] if value else ""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        return ""
    text = html.unescape(_TAG.sub("", str(value)[: 2 * _LONGEST]))
    return one_line(text)[:_LONGEST]


def _name(author: object) -> tuple[str, str]:
    """Return given and family name; the whole name of an organisation is a family name."""
    if not isinstance(author, Mapping):
        return "", ""
    part = {name: plain_line(author.get(name)) for name in ("given", "family", "suffix", "literal", "name")}
    particles = (plain_line(author.get(f"{kind}dropping-particle")) for kind in ("", "non-"))
    family = " ".join(filter(None, (*particles, part["family"], part["suffix"])))
    return (part["given"], family) if family else ("", part["literal"] or part["name"] or part["given"])


def _year(item: Mapping[str, object]) -> int | None:
    dates = (item.get(name) for name in ("issued", "published", "published-print", "published-online"))
    for date in dates:
        if not isinstance(date, Mapping):
            continue
        parts = _list(date.get("date-parts"))
        year = year_in(plain_line(_list(parts[0] if parts else None)[:1]) or plain_line(date.get("raw")))
        if year is not None:
            return year
    return None


def _retraction(item: Mapping[str, object]) -> str:
    """Return what retracts a work: Crossref lists notices of publishers and of Retraction Watch."""
    for notice in _list(item.get("updated-by")):
        if isinstance(notice, Mapping) and str(notice.get("type")).lower() in _RETRACTIONS:
            date = notice.get("updated")
            parts = _list(date.get("date-parts")) if isinstance(date, Mapping) else []
            day = "-".join(f"{part:02}" for part in _list(parts[0] if parts else None) if isinstance(part, int))
            kind, doi = plain_line(notice.get("type")).replace("_", " "), doi_in(plain_line(notice.get("DOI")))
            return ", ".join(filter(None, (f"{kind} {day}".strip(), f"doi:{doi}" if doi else "")))
    return ""


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def items_in(document: object) -> Iterable[Mapping[str, object]]:
    """Yield the items of a CSL-JSON document: a list, an object with `items`, or one item."""
    if isinstance(document, Mapping):
        document = document.get("items", [document])
    yield from (one for one in _list(document) if isinstance(one, Mapping))
