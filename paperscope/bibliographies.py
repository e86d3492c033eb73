"""Bibliographies: papers as BibTeX, RIS and CSL-JSON, and as references in a citation style."""

import json
import re
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple

from paperscope_core.errors import InputError
from paperscope_core.text.escaping import one_line
from paperscope_core.types import UNPUBLISHED, PaperEntry, Publication

__all__ = [
    "BIBLIOGRAPHIES",
    "BibliographyFormat",
    "bibtex",
    "bibtex_keys",
    "csl_json",
    "references",
    "ris",
    "tex_escaped",
]

_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        # BibTeX counts braces behind a backslash, too.
        "{": r"\textbraceleft{}",
        "}": r"\textbraceright{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{sign: f"\\{sign}" for sign in "&%$#_"},
    }
)
# Keys of bibliographies can't contain others.
_NO_LETTERS = re.compile(r"[^a-z0-9]+")
# The one that citeproc-py brings.
_STYLE = "harvard-cite-them-right"
# The shortest word of a title that tells papers apart.
_MIN_WORD_LENGTH = 4


class _Form(NamedTuple):
    """How the formats call a kind of work: the entry types of BibTeX and RIS, and BibTeX's fields for the venue and the
    publisher. BibTeX has no type for a preprint, and RIS calls it unpublished."""

    bibtex: str
    ris: str
    venue: str = "howpublished"
    publisher: str = "publisher"


_OTHER = _Form("misc", "GEN")
_FORMS: Mapping[str, _Form] = {
    "article-journal": _Form("article", "JOUR", "journal"),
    "paper-conference": _Form("inproceedings", "CONF", "booktitle"),
    "chapter": _Form("incollection", "CHAP", "booktitle"),
    "book": _Form("book", "BOOK", "series"),
    "thesis": _Form("phdthesis", "THES", publisher="school"),
    "report": _Form("techreport", "RPRT", publisher="institution"),
    "article": _Form("misc", "UNPB"),
    "dataset": _Form("misc", "DATA"),
}
Publications = Mapping[str, Publication]
_NONE: Publications = MappingProxyType({})


def bibtex(papers: Iterable[PaperEntry], publications: Publications = _NONE) -> str:
    """Return a BibTeX entry for each paper, in their order, with keys such as `vaswani2017attention`.

    Papers rarely state what they are: without a record that does, an entry is `@misc`.
    """
    return "\n".join(_bibtex_entry(*one) for one in _keyed(papers, publications))


def ris(papers: Iterable[PaperEntry], publications: Publications = _NONE) -> str:
    """Return a RIS record for each paper, in their order."""
    return "\n".join(_ris_record(*one) for one in _keyed(papers, publications))


def csl_json(papers: Iterable[PaperEntry], publications: Publications = _NONE) -> str:
    """Return the papers in the JSON form of CSL, which citation processors and Zotero read."""
    items = [_csl_item(*one) for one in _keyed(papers, publications)]
    return json.dumps(items, indent=2, ensure_ascii=False) + "\n"


def references(
    papers: Iterable[PaperEntry], publications: Publications = _NONE, *, style: Path | None = None
) -> list[str]:
    """Return a reference to each paper, in the order of a citation style.

    Args:
        style: A file of CSL; None for the style Cite Them Right (Harvard).

    Raises:
        InputError: The file is no style with a bibliography.
    """
    # It takes 0.5 s to import.
    from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle, formatter
    from citeproc.source.json import CiteProcJSON

    items = [_csl_item(*one) for one in _keyed(papers, publications)]
    if not items:
        return []
    try:
        # What the style and the records lack is left out; warnings about it help nobody.
        with warnings.catch_warnings(action="ignore"):
            read = CitationStylesStyle(str(style) if style else _STYLE, validate=False)
            written = CitationStylesBibliography(read, CiteProcJSON(items), formatter.plain)
            for item in items:
                written.register(Citation([CitationItem(item["id"])]))
            written.sort()
            return [one_line(str(reference)) for reference in written.bibliography()]
    except (OSError, ValueError, AttributeError, KeyError, SyntaxError) as error:
        raise InputError(f"{style}: this is no citation style of CSL with a bibliography") from error


def _as_text(papers: Iterable[PaperEntry], publications: Publications) -> str:
    return "".join(f"{one}\n" for one in references(papers, publications))


BibliographyFormat = Literal["bibtex", "ris", "csl-json", "text"]
BIBLIOGRAPHIES: Mapping[BibliographyFormat, Callable[[Iterable[PaperEntry], Publications], str]] = {
    "bibtex": bibtex,
    "ris": ris,
    "csl-json": csl_json,
    "text": _as_text,
}
"""What writes each format."""


def _bibtex_entry(paper: PaperEntry, published: Publication, key: str) -> str:
    form = _FORMS.get(published.kind, _OTHER)
    title = tex_escaped(paper.title)
    fields = {
        # In two braces, so that its capitals are kept.
        "title": f"{{{title}}}" if title else "",
        "author": " and ".join(_bibtex_author(*one) for one in _names(paper, published)),
        "year": str(paper.year or ""),
        form.venue: tex_escaped(paper.venue),
        "volume": tex_escaped(published.volume),
        "number": tex_escaped(published.issue),
        "pages": tex_escaped(re.sub(r"(?<=\w)[-–](?=\w)", "--", published.pages)),
        form.publisher: tex_escaped(published.publisher),
        "doi": tex_escaped(paper.doi),
        "eprint": tex_escaped(paper.arxiv),
        "archiveprefix": "arXiv" if paper.arxiv else "",
    }
    lines = (f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    return f"@{form.bibtex}{{{key},\n{''.join(lines)}}}\n"


def _bibtex_author(name: str, family: str) -> str:
    escaped = tex_escaped(name)
    # In braces, a name that contains "and", or that of an organisation, is one name.
    if re.search(r"(?i)\band\b", escaped) or (name == family and " " in name):
        return f"{{{escaped}}}"
    given = name.removesuffix(family).strip()
    return f"{tex_escaped(family)}, {tex_escaped(given)}" if family and given and "," not in name else escaped


def _ris_record(paper: PaperEntry, published: Publication, _key: str) -> str:
    first, _, last = published.pages.partition("-")
    fields = [
        ("TY", _FORMS.get(published.kind, _OTHER).ris),
        ("TI", paper.title),
        *(("AU", ", ".join(filter(None, _parts(*one)))) for one in _names(paper, published)),
        ("PY", str(paper.year or "")),
        ("T2", paper.venue),
        ("VL", published.volume),
        ("IS", published.issue),
        ("SP", first),
        ("EP", last),
        ("PB", published.publisher),
        ("DO", paper.doi),
        ("UR", f"https://arxiv.org/abs/{paper.arxiv}" if paper.arxiv else ""),
    ]
    plain = ((tag, one_line(value)) for tag, value in fields)
    return "".join(f"{tag}  - {value}\n" for tag, value in plain if value) + "ER  - \n"


def _csl_item(paper: PaperEntry, published: Publication, key: str) -> dict[str, object]:
    item = {
        "id": key,
        "type": published.kind or "document",
        "title": one_line(paper.title),
        "author": [_csl_name(*_parts(*one)) for one in _names(paper, published)],
        "issued": {"date-parts": [[paper.year]]} if paper.year else None,
        "container-title": one_line(paper.venue),
        "volume": one_line(published.volume),
        "issue": one_line(published.issue),
        "page": one_line(published.pages),
        "publisher": one_line(published.publisher),
        "DOI": one_line(paper.doi),
        "number": f"arXiv:{one_line(paper.arxiv)}" if paper.arxiv else "",
        "URL": f"https://arxiv.org/abs/{one_line(paper.arxiv)}" if paper.arxiv else "",
    }
    return {name: value for name, value in item.items() if value}


def _csl_name(family: str, given: str) -> dict[str, str]:
    return {"family": one_line(family), "given": one_line(given)} if given else {"literal": one_line(family)}


def _names(paper: PaperEntry, published: Publication) -> list[tuple[str, str]]:
    """Return the authors, each with the family name that a record states, or ""."""
    families = published.families if len(published.families) == len(paper.authors) else ("",) * len(paper.authors)
    return [(name, family) for name, family in zip(paper.authors, families, strict=True) if name.strip()]


def _parts(name: str, family: str) -> tuple[str, str]:
    """Return family and given names: the stated family name, else, as in BibTeX, what begins with a word in lower case,
    or the last word."""
    words = name.split()
    known = family and name.endswith(family)
    small = next((at for at, word in enumerate(words) if at and word[0].islower()), len(words) - 1)
    last = family if known else " ".join(words[small:])
    return last, name.removesuffix(family).strip() if known else " ".join(words[:small])


def tex_escaped(text: str) -> str:
    """Return a text on one line that TeX prints as it is."""
    return one_line(text).translate(_ESCAPES)


def bibtex_keys(papers: Iterable[PaperEntry]) -> list[str]:
    """Return the key of each paper in `bibtex`, in their order."""
    known: Counter[str] = Counter()
    return [_unique(_key(paper), known) for paper in papers]


def _keyed(papers: Iterable[PaperEntry], publications: Publications) -> Iterator[tuple[PaperEntry, Publication, str]]:
    entries = list(papers)
    for paper, key in zip(entries, bibtex_keys(entries), strict=True):
        yield paper, publications.get(paper.id, UNPUBLISHED), key


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
