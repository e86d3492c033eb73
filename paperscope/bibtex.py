"""Papers as BibTeX entries."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import count

from paperscope_core.types import PaperEntry

__all__ = ["bibtex", "bibtex_keys", "tex_escaped"]

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


def bibtex(papers: Iterable[PaperEntry]) -> str:
    """Return an entry for each paper, in their order, with keys such as `vaswani2017attention`.

    Papers rarely state their type, so every entry is `@misc`.
    """
    entries = list(papers)
    return "\n".join(_entry(paper, key) for paper, key in zip(entries, bibtex_keys(entries), strict=True))


def bibtex_keys(papers: Iterable[PaperEntry]) -> list[str]:
    """Return the key of each paper in `bibtex`, in their order."""
    known: Counter[str] = Counter()
    return [_unique(_key(paper), known) for paper in papers]


def _entry(paper: PaperEntry, key: str) -> str:
    lines = (f"  {name} = {{{value}}},\n" for name, value in _fields(paper).items() if value)
    return f"@misc{{{key},\n{''.join(lines)}}}\n"


def _fields(paper: PaperEntry) -> Mapping[str, str]:
    return {
        # In two braces, so that its capitals are kept.
        "title": f"{{{tex_escaped(paper.title)}}}" if paper.title.strip() else "",
        # In braces, a name that contains "and" is one name.
        "author": " and ".join(_author(name) for name in paper.authors if name.strip()),
        "year": str(paper.year or ""),
        "howpublished": tex_escaped(paper.venue),
        "doi": tex_escaped(paper.doi),
        "eprint": tex_escaped(paper.arxiv),
        "archiveprefix": "arXiv" if paper.arxiv else "",
    }


def _author(name: str) -> str:
    escaped = tex_escaped(name)
    return f"{{{escaped}}}" if re.search(r"(?i)\band\b", escaped) else escaped


def tex_escaped(text: str) -> str:
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
