"""Which papers a question names: by title, file, authors and year ("Li et al., 2020"), or as "the Dice Loss paper"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from paperscope.types import PaperEntry
from query.words import content_words

__all__ = ["Citation", "citations", "named_papers"]

_SURNAME = r"[^\W\d_a-z][^\W\d_]*(?:['’\-](?!s\b)[^\W\d_]+)*"
_WORK = r"(?:papers?|articles?|work|study|studies)"
_CITED = re.compile(
    rf"(?<!\w)(?P<first>{_SURNAME})(?:\s+(?P<more>et\s+al\b\.?)|\s+(?:and|&)\s+(?P<second>{_SURNAME}))?"
    rf"(?P<owns>['’]s?)?(?:,?\s*[(\[]?(?P<year>(?:19|20)\d\d)(?:[a-z](?!\w))?(?!\d))?(?:[)\]])?(?P<work>\s+{_WORK}\b)?"
)
_BY = re.compile(rf"\b{_WORK}\s+(?:\w+\s+)?(?:by|of|from)\s*$", re.IGNORECASE)
_SO_CALLED = re.compile(rf"((?:[\w'’+\-]+\s+){{1,5}}){_WORK}\b")
# Preprints and their journals are often a year apart.
_YEARS_APART = 1
_RUN = 5
# Each question is held against the titles of all papers.
_TITLES_KEPT = 20_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Citation:
    """A work as prose names it: its authors' surnames, the first first, and its year if that is given."""

    surnames: tuple[str, ...]
    year: int | None = None


def citations(question: str) -> Iterator[Citation]:
    """The works that a question names by author: "Li et al. (2020)", "Lu and Kan 2023", "the paper by Li"."""
    for match in _CITED.finditer(question):
        by = _BY.search(question[: match.start()]) is not None
        owned = match["owns"] is not None and match["work"] is not None
        if match["year"] or match["more"] or by or owned:
            names = (match["first"], match["second"])
            year = int(match["year"]) if match["year"] else None
            yield Citation(surnames=tuple(name.casefold() for name in names if name), year=year)


def named_papers(question: str, papers: Sequence[PaperEntry]) -> tuple[str, ...]:
    """Ids of the papers that the question names.

    That is by a title of three words or more, or a file name, that stands in it; by authors, the first of which must
    be named first; or by words of the title before "paper". A file name without its ending counts only if it holds a
    digit, as "2310.07609v1" does: "paper" names no file.
    """
    cited = list(citations(question))
    called = [_folded(words) for words in _called(question)]
    folded = f" {_folded(question)} "
    return tuple(
        paper.id
        for paper in papers
        if _is_titled(paper, folded, called) or _is_filed(paper, question) or any(_is_by(paper, one) for one in cited)
    )


def _is_titled(paper: PaperEntry, question: str, called: Sequence[str]) -> bool:
    title = f" {_folded(paper.title)} "
    if title.count(" ") >= 4 and title in question:
        return True
    runs = _runs(title.split()) if called else frozenset()
    return any(name.replace(" ", "") in runs for name in called)


def _runs(words: Sequence[str]) -> frozenset[str]:
    """Neighbouring words as one, so that "DiceLoss" is "Dice Loss"."""
    size = len(words)
    return frozenset(
        "".join(words[start:end]) for start in range(size) for end in range(start + 1, min(start + _RUN, size) + 1)
    )


def _called(question: str) -> Iterator[str]:
    """What stands before "paper" and may be part of a title: from the last article on, function words aside."""
    for match in _SO_CALLED.finditer(question):
        words = re.split(r"(?i)\b(?:the|a|an|this|that|in|of|by|from|which|what)\b", match[1])[-1].strip()
        if words and content_words(words) and not words.islower():
            yield words


def _is_filed(paper: PaperEntry, question: str) -> bool:
    file = paper.file.casefold()
    stem = file.rpartition(".")[0]
    names = [file] if stem else []
    if len(stem) >= 6 and any(letter.isdigit() for letter in stem):
        names.append(stem)
    return any(_stands_in(name, question.casefold()) for name in names)


def _is_by(paper: PaperEntry, citation: Citation) -> bool:
    surnames = [author.split()[-1].casefold() for author in paper.authors if author.strip()]
    if citation.year is not None and paper.year is not None and abs(citation.year - paper.year) > _YEARS_APART:
        return False
    return tuple(surnames[: len(citation.surnames)]) == citation.surnames


@lru_cache(maxsize=_TITLES_KEPT)
def _folded(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


def _stands_in(name: str, text: str) -> bool:
    # Most names don't stand there at all, and a pattern for each paper of a large library takes its time.
    return name in text and re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text) is not None
