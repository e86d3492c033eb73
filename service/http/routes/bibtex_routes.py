"""Bibliographies: papers as BibTeX."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import Annotated

from fastapi import APIRouter, Query, Response

from paperscope_core.types import PaperEntry
from service.http.auth import ComputingLibraryOf
from service.http.parameters import PAPER_PATTERN, EntryOf
from service.http.responses import document_content, file_response

__all__ = ["bibtex", "router"]

# Before the routes of papers, which would take `.bib` for a part of an id.
router = APIRouter(prefix="/v1", tags=["papers"])

_MEDIA_TYPE = "application/x-bibtex"
_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{sign: f"\\{sign}" for sign in "&%$#_"},
    }
)
# File names of bibliographies can't contain others.
_NO_LETTERS = re.compile(r"[^a-z0-9]+")
# The shortest word of a title that tells papers apart.
_MIN_WORD_LENGTH = 4
_PaperId = Annotated[str, Query(pattern=PAPER_PATTERN)]


@router.get(
    "/papers/{paper}.bib",
    summary="Show a paper as BibTeX",
    response_class=Response,
    responses=document_content(_MEDIA_TYPE),
)
def show_entry(entry: EntryOf) -> Response:
    """Return a BibTeX entry, of what the paper says about itself."""
    return _file([entry], name=f"{entry.id}.bib")


@router.get(
    "/bibtex", summary="Show papers as BibTeX", response_class=Response, responses=document_content(_MEDIA_TYPE)
)
def show_bibliography(
    library: ComputingLibraryOf,
    paper: Annotated[
        tuple[_PaperId, ...], Query(max_length=1000, description="Ids of papers; without one, all of the library.")
    ] = (),
) -> Response:
    """Return a BibTeX entry of each paper, in the order that was asked for."""
    entries = [library.entry(one) for one in dict.fromkeys(paper)] if paper else library.entries()
    return _file(entries, name="papers.bib")


def _file(entries: Iterable[PaperEntry], *, name: str) -> Response:
    return file_response(bibtex(entries), name=name, media_type=_MEDIA_TYPE)


def bibtex(papers: Iterable[PaperEntry]) -> str:
    """Return an entry for each paper, in their order, with keys such as `vaswani2017attention`.

    Papers rarely state their type, so every entry is `@misc`.
    """
    known: Counter[str] = Counter()
    return "\n".join(_entry(paper, _unique(_key(paper), known)) for paper in papers)


def _entry(paper: PaperEntry, key: str) -> str:
    lines = (f"  {name} = {{{value}}},\n" for name, value in _fields(paper).items() if value)
    return f"@misc{{{key},\n{''.join(lines)}}}\n"


def _fields(paper: PaperEntry) -> Mapping[str, str]:
    return {
        # In two braces, so that its capitals are kept.
        "title": f"{{{_escaped(paper.title)}}}" if paper.title.strip() else "",
        # In braces, a name that contains "and" is one name.
        "author": " and ".join(_author(name) for name in paper.authors if name.strip()),
        "year": str(paper.year or ""),
        "howpublished": _escaped(paper.venue),
        "doi": _escaped(paper.doi),
        "eprint": _escaped(paper.arxiv),
        "archiveprefix": "arXiv" if paper.arxiv else "",
    }


def _author(name: str) -> str:
    escaped = _escaped(name)
    return f"{{{escaped}}}" if re.search(r"(?i)\band\b", escaped) else escaped


def _escaped(text: str) -> str:
    """Return a text on one line that TeX prints as it is."""
    printable = "".join(" " if unicodedata.category(letter).startswith("C") else letter for letter in text)
    return " ".join(printable.split()).translate(_ESCAPES)


def _key(paper: PaperEntry) -> str:
    surname = _plain(paper.authors[0].split()[-1]) if paper.authors and paper.authors[0].split() else ""
    words = [word for word in map(_plain, paper.title.split()) if len(word) >= _MIN_WORD_LENGTH]
    return f"{surname}{paper.year or ''}{next(iter(words), '')}" or "paper"


def _plain(text: str) -> str:
    """Return its letters and digits of ASCII, without accents."""
    return _NO_LETTERS.sub("", unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower())


def _unique(key: str, known: Counter[str]) -> str:
    names = _numbered(key)
    name = next(name for name in names if not known[name])
    known[name] += 1
    return name


def _numbered(key: str) -> Iterator[str]:
    yield key
    yield from (f"{key}-{number}" for number in count(2))
