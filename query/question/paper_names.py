"""The papers that a question names: by title, file name, or authors and year; and what an answer calls them."""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from paperscope_core.text.words import fold_spelling, plain_form
from paperscope_core.types import PaperEntry
from query.content_words import content_words, runs

__all__ = ["Citation", "PaperNames", "citation_names", "citations", "short_title"]

_SURNAME = r"[^\W\d_a-z][^\W\d_]*(?:['’\-](?!s\b)[^\W\d_]+)*"
_WORK = r"(?:papers?|articles?|work|study|studies)"
_CITED = re.compile(
    rf"(?<!\w)(?P<first>{_SURNAME})(?:\s+(?P<more>et\s+al\b\.?)|\s+(?:and|&)\s+(?P<second>{_SURNAME}))?"
    rf"(?P<owns>['’]s?)?(?:,?\s*[(\[]?(?P<year>(?:19|20)\d\d)(?:[a-z](?!\w))?(?!\d))?(?:[)\]])?(?P<work>\s+{_WORK}\b)?"
)
_BY = re.compile(rf"\b{_WORK}\s+(?:\w+\s+)?(?:by|of|from)\s*$", re.IGNORECASE)
# Characters before a name in which "paper by" stands.
_LONGEST_BY = 80
_SO_CALLED = re.compile(rf"(?<![\w'’+\-])((?:[\w'’+\-]+\s+){{1,5}}){_WORK}\b")
_FILE_START, _FILE_END = re.compile(r"(?<![\w.])"), re.compile(r"(?!\w)")
# A preprint and its journal version often differ by a year.
_YEARS_APART = 1
_RUN = 5
# A title of fewer words names no paper.
_TITLE_WORDS = 3
_LONGEST_TITLE = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class Citation:
    """A work named in prose by the surnames of its authors, first author first, and optionally its year."""

    surnames: tuple[str, ...]
    year: int | None = None


def citations(question: str) -> Iterator[Citation]:
    """Yield the works that a question names by author: "Li et al. (2020)", "Lu and Kan 2023", "the paper by Li"."""
    for match in _CITED.finditer(question):
        by = _BY.search(question[max(0, match.start() - _LONGEST_BY) : match.start()]) is not None
        owned = match["owns"] is not None and match["work"] is not None
        if match["year"] or match["more"] or by or owned:
            names = (match["first"], match["second"])
            year = int(match["year"]) if match["year"] else None
            yield Citation(surnames=tuple(name.casefold() for name in names if name), year=year)


def short_title(title: str) -> str:
    """Return a title without its subtitle, which follows a colon, as reference managers shorten it; cut off if it is
    long."""
    main = title.partition(": ")[0].strip()
    if len(main) <= _LONGEST_TITLE:
        return main
    return f"{main[: _LONGEST_TITLE - 1].rpartition(' ')[0] or main[: _LONGEST_TITLE - 1]}…"


def citation_names(entries: Sequence[PaperEntry]) -> dict[str, str]:
    """Return what an answer calls each paper, by id: its short title and year, and its id if another has the same."""
    names = {entry.id: _citation_name(entry) for entry in entries}
    counts = Counter(names.values())
    return {paper: name if counts[name] == 1 else f"{name} [{paper}]" for paper, name in names.items()}


def _citation_name(entry: PaperEntry) -> str:
    name = short_title(entry.title) or entry.file
    return f"{name} ({entry.year})" if entry.year else name


class PaperNames:
    """Finds the papers that questions name; safe for several threads.

    The names of the papers of the last question are kept, so that the time does not grow with their number while the
    same tuple is given.
    """

    def __init__(self) -> None:
        self._last: tuple[Sequence[PaperEntry], _Names] = ((), _Names(()))

    def named_in(self, question: str, papers: Sequence[PaperEntry]) -> tuple[str, ...]:
        """Return ids of the papers that a question names.

        A paper is named by its title of three words or more, by its file name, by its authors in order, or by words of
        its title before "paper". A file name without suffix counts only if it contains a digit ("2310.07609v1"),
        because "paper" is a common file name.
        """
        return tuple(papers[number].id for number in sorted(self._of(papers).found_in(question)))

    def ids(self, papers: Sequence[PaperEntry]) -> tuple[str, ...]:
        """Return the ids of the papers."""
        return self._of(papers).ids

    def cited(self, papers: Sequence[PaperEntry]) -> Mapping[str, str]:
        """See `citation_names`."""
        return self._of(papers).cited

    def _of(self, papers: Sequence[PaperEntry]) -> "_Names":
        known, names = self._last
        # A list may change.
        if known is not papers or not isinstance(papers, tuple):
            names = _Names(papers)
            self._last = papers, names
        return names


class _Names:
    """What papers are named by, each with the numbers of the papers."""

    def __init__(self, papers: Sequence[PaperEntry]) -> None:
        self.ids = tuple(paper.id for paper in papers)
        self.cited = citation_names(papers)
        self._papers = papers
        self._titles = [plain_form(paper.title) for paper in papers]
        self._joined = [title.replace(" ", "") for title in self._titles]
        self._titled: dict[str, list[int]] = defaultdict(list)
        self._filed: dict[str, list[int]] = defaultdict(list)
        self._signed: dict[str, list[int]] = defaultdict(list)
        for number, paper in enumerate(papers):
            words = self._titles[number].split()
            if len(words) >= _TITLE_WORDS:
                self._titled[" ".join(words[:_TITLE_WORDS])].append(number)
            for name in _file_names(paper):
                self._filed[name].append(number)
            for surname in _surnames(paper)[:1]:
                self._signed[surname].append(number)
        self._longest = max(map(len, self._filed), default=0)

    def found_in(self, question: str) -> set[int]:
        """Return the numbers of the papers that a question names."""
        return {
            *self._by_title(question),
            *self._by_words(question),
            *self._by_file(question),
            *self._by_work(question),
        }

    def _by_title(self, question: str) -> Iterator[int]:
        folded = plain_form(question)
        words = folded.split()
        starts = {" ".join(words[start : start + _TITLE_WORDS]) for start in range(len(words) - _TITLE_WORDS + 1)}
        for start in starts:
            for number in self._titled.get(start, ()):
                if f" {self._titles[number]} " in f" {folded} ":
                    yield number

    def _by_words(self, question: str) -> Iterator[int]:
        called = [plain_form(words).replace(" ", "") for words in _called(question)]
        for number, joined in enumerate(self._joined) if called else ():
            # Adjacent words joined, so that "DiceLoss" matches "Dice Loss".
            if any(name in joined and name in runs(self._titles[number].split(), longest=_RUN) for name in called):
                yield number

    def _by_file(self, question: str) -> Iterator[int]:
        if not self._filed:
            return
        text = question.casefold()
        ends = [match.start() for match in _FILE_END.finditer(text)]
        for start in (match.start() for match in _FILE_START.finditer(text)):
            for end in ends[bisect_right(ends, start) : bisect_right(ends, start + self._longest)]:
                yield from self._filed.get(text[start:end], ())

    def _by_work(self, question: str) -> Iterator[int]:
        for one in citations(question):
            for number in self._signed.get(fold_spelling(one.surnames[0]), ()):
                if _is_by(self._papers[number], one):
                    yield number


def _called(question: str) -> Iterator[str]:
    """Yield the words before "paper" that may belong to a title: those after the last article, without stop words."""
    for match in _SO_CALLED.finditer(question):
        words = re.split(r"(?i)\b(?:the|a|an|this|that|in|of|by|from|which|what)\b", match[1])[-1].strip()
        if words and content_words(words) and not words.islower():
            yield words


def _file_names(paper: PaperEntry) -> Iterator[str]:
    file = paper.file.casefold()
    stem = file.rpartition(".")[0]
    if stem:
        yield file
    if len(stem) >= 6 and any(letter.isdigit() for letter in stem):
        yield stem


def _surnames(paper: PaperEntry) -> list[str]:
    return [fold_spelling(author.split()[-1]).casefold() for author in paper.authors if author.strip()]


def _is_by(paper: PaperEntry, citation: Citation) -> bool:
    if citation.year is not None and paper.year is not None and abs(citation.year - paper.year) > _YEARS_APART:
        return False
    return _surnames(paper)[: len(citation.surnames)] == [fold_spelling(name) for name in citation.surnames]
