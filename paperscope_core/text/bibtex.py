"""BibTeX entries of papers, from what the papers print about themselves."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

__all__ = ["Work", "bibtex"]

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """What an entry says; "" and None are left out."""

    title: str
    authors: Sequence[str] = ()
    year: int | None = None
    venue: str = ""
    doi: str = ""
    arxiv: str = ""


def bibtex(works: Iterable[Work]) -> str:
    """Return an entry for each work, in their order, with keys such as `vaswani2017attention`.

    Papers rarely state their type, so every entry is `@misc`.
    """
    known: Counter[str] = Counter()
    return "\n".join(_entry(work, _unique(_key(work), known)) for work in works)


def _entry(work: Work, key: str) -> str:
    lines = (f"  {name} = {{{value}}},\n" for name, value in _fields(work).items() if value)
    return f"@misc{{{key},\n{''.join(lines)}}}\n"


def _fields(work: Work) -> Mapping[str, str]:
    return {
        # In two braces, so that its capitals are kept.
        "title": f"{{{_escaped(work.title)}}}" if work.title.strip() else "",
        # In braces, a name that contains "and" is one name.
        "author": " and ".join(_author(name) for name in work.authors if name.strip()),
        "year": str(work.year or ""),
        "howpublished": _escaped(work.venue),
        "doi": _escaped(work.doi),
        "eprint": _escaped(work.arxiv),
        "archiveprefix": "arXiv" if work.arxiv else "",
    }


def _author(name: str) -> str:
    escaped = _escaped(name)
    return f"{{{escaped}}}" if re.search(r"(?i)\band\b", escaped) else escaped


def _escaped(text: str) -> str:
    """Return a text on one line that TeX prints as it is."""
    printable = "".join(" " if unicodedata.category(letter).startswith("C") else letter for letter in text)
    return " ".join(printable.split()).translate(_ESCAPES)


def _key(work: Work) -> str:
    surname = _plain(work.authors[0].split()[-1]) if work.authors and work.authors[0].split() else ""
    words = [word for word in map(_plain, work.title.split()) if len(word) >= _MIN_WORD_LENGTH]
    return f"{surname}{work.year or ''}{next(iter(words), '')}" or "paper"


def _plain(text: str) -> str:
    """Its letters and digits of ASCII, without accents."""
    return _NO_LETTERS.sub("", unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower())


def _unique(key: str, known: Counter[str]) -> str:
    names = _numbered(key)
    name = next(name for name in names if not known[name])
    known[name] += 1
    return name


def _numbered(key: str) -> Iterator[str]:
    yield key
    yield from (f"{key}-{number}" for number in count(2))
