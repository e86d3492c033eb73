"""The papers that a question is about: by filters, title, file name, or authors and year."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TypeVar, cast

from paperscope_core.protocols import Corpus
from paperscope_core.types import Chunk, Entity, Filters, Paper, PaperEntry, Relation
from query.words import content_words, runs

__all__ = ["Citation", "PaperScope", "citations", "find_scope", "named_papers", "restrict"]

_SURNAME = r"[^\W\d_a-z][^\W\d_]*(?:['’\-](?!s\b)[^\W\d_]+)*"
_WORK = r"(?:papers?|articles?|work|study|studies)"
_CITED = re.compile(
    rf"(?<!\w)(?P<first>{_SURNAME})(?:\s+(?P<more>et\s+al\b\.?)|\s+(?:and|&)\s+(?P<second>{_SURNAME}))?"
    rf"(?P<owns>['’]s?)?(?:,?\s*[(\[]?(?P<year>(?:19|20)\d\d)(?:[a-z](?!\w))?(?!\d))?(?:[)\]])?(?P<work>\s+{_WORK}\b)?"
)
_BY = re.compile(rf"\b{_WORK}\s+(?:\w+\s+)?(?:by|of|from)\s*$", re.IGNORECASE)
_SO_CALLED = re.compile(rf"(?<![\w'’+\-])((?:[\w'’+\-]+\s+){{1,5}}){_WORK}\b")
# A preprint and its journal version often differ by a year.
_YEARS_APART = 1
_RUN = 5
# Each question is compared with the titles of all papers.
_TITLES_KEPT = 20_000

Sourced = TypeVar("Sourced", Entity, Relation)


@dataclass(frozen=True, kw_only=True, slots=True)
class Citation:
    """A work named in prose by the surnames of its authors, first author first, and optionally its year."""

    surnames: tuple[str, ...]
    year: int | None = None


def citations(question: str) -> Iterator[Citation]:
    """Yields the works that a question names by author: "Li et al. (2020)", "Lu and Kan 2023", "the paper by Li"."""
    for match in _CITED.finditer(question):
        by = _BY.search(question[: match.start()]) is not None
        owned = match["owns"] is not None and match["work"] is not None
        if match["year"] or match["more"] or by or owned:
            names = (match["first"], match["second"])
            year = int(match["year"]) if match["year"] else None
            yield Citation(surnames=tuple(name.casefold() for name in names if name), year=year)


def named_papers(question: str, papers: Sequence[PaperEntry]) -> tuple[str, ...]:
    """Ids of the papers that a question names.

    A paper is named by its title of three words or more, by its file name, by its authors in order, or by words of its
    title before "paper". A file name without suffix counts only if it contains a digit ("2310.07609v1"), because
    "paper" is a common file name.
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
    # Adjacent words joined, so that "DiceLoss" matches "Dice Loss".
    joined = runs(title.split(), longest=_RUN) if called else {}
    return any(name.replace(" ", "") in joined for name in called)


def _called(question: str) -> Iterator[str]:
    """The words before "paper" that may belong to a title: those after the last article, without stop words."""
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
    # The substring test is fast, and most names do not occur.
    return name in text and re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text) is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperScope:
    """The papers to search, with the years applied; `notes` describe what was left out.

    If `empty`, nothing may be searched: empty papers in `filters` would mean all papers.
    """

    filters: Filters
    empty: bool = False
    notes: tuple[str, ...] = ()


def find_scope(question: str, filters: Filters, entries: Sequence[PaperEntry]) -> PaperScope:
    """The papers that the filters name, else those that the question names, else all; of the filters' years."""
    papers = filters.papers or named_papers(question, entries)
    if not filters.by_year:
        return PaperScope(filters=replace(filters, papers=papers))
    asked = [entry for entry in entries if not papers or entry.id in papers]
    fitting = tuple(entry.id for entry in asked if filters.allows_year(entry.year))
    undated = sum(entry.year is None for entry in asked)
    span = "–".join(dict.fromkeys(str(year or "…") for year in (filters.first_year, filters.last_year)))
    notes = [f"no paper of {span} is among those that were asked"] if not fitting else []
    if undated:
        left = "1 paper, whose year is" if undated == 1 else f"{undated} papers, whose years are"
        notes.append(f"{left} not known, left out: only papers of {span} were asked")
    return PaperScope(filters=replace(filters, papers=fitting), empty=not fitting, notes=tuple(notes))


def restrict(corpus: Corpus, filters: Filters) -> Corpus:
    """Restricts a corpus to the sections and kinds of the filters; the caller restricts papers and years."""
    restricted = filters.sections or filters.kinds
    return cast("Corpus", _RestrictedCorpus(corpus=corpus, filters=filters)) if restricted else corpus


@dataclass(frozen=True, kw_only=True, slots=True)
class _RestrictedCorpus:
    """Implements `Corpus`. Elements requested by id are returned as they are; enumerations are restricted."""

    corpus: Corpus
    filters: Filters
    _papers: dict[str, Paper] = field(default_factory=dict)

    def __getattr__(self, name: str) -> object:
        """Whatever is not restricted is the corpus's own."""
        return getattr(self.corpus, name)

    def paper(self, paper: str) -> Paper:
        if paper not in self._papers:
            whole = self.corpus.paper(paper)
            allowed = self._allowed([element.id for element in whole.elements])
            self._papers[paper] = replace(
                whole,
                elements=tuple(element for element in whole.elements if element.id in allowed),
                links=tuple(link for link in whole.links if {link.source, link.target} <= allowed),
            )
        return self._papers[paper]

    def chunks_of(self, elements: Sequence[str]) -> Sequence[Chunk]:
        return [chunk for chunk in self.corpus.chunks_of(elements) if self.filters.allows(chunk)]

    def entities(self, ids: Sequence[str], *, papers: Sequence[str] = ()) -> Mapping[str, Entity]:
        found = self.corpus.entities(ids, papers=papers)
        return {entity.id: entity for entity in self._standing(list(found.values()))}

    def relations_of(self, entities: Sequence[str], *, papers: Sequence[str] = (), limit: int) -> Sequence[Relation]:
        return self._standing(self.corpus.relations_of(entities, papers=papers, limit=limit))

    def _standing(self, ones: Sequence[Sourced]) -> list[Sourced]:
        """The items that have an allowed source, with only their allowed sources."""
        allowed = self._allowed([source for one in ones for source in one.sources])
        kept = ((one, tuple(source for source in one.sources if source in allowed)) for one in ones)
        return [replace(one, sources=sources) for one, sources in kept if sources]

    def _allowed(self, elements: Sequence[str]) -> set[str]:
        return {element for chunk in self.chunks_of(elements) for element in chunk.elements}.intersection(elements)
