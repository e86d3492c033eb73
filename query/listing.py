"""Replies that need no retrieval: to questions on the library as a list of papers, and to small talk."""

import re
from collections.abc import Sequence

from paperscope_core.protocols import Corpus
from paperscope_core.types import Claim, Filters, Paper, PaperEntry, Passage
from query.elements import evidence_in
from query.evidence import Draft
from query.question.paper_names import named_papers

__all__ = ["library_reply", "talk_reply"]

# Each paper that is listed is cited; a longer list is no answer that one reads.
_LISTED = 50
_MOST_AUTHORS = 3
_EXAMPLES = 2
# Words of a name after "by", in which case is ignored.
_NAME_WORDS = 3
_YEAR = re.compile(r"\b(?:1[89]|20)\d\d\b")
# What stands before a year that begins or ends a span, and by how much the span's first or last year differs from it.
_OPEN = (
    (re.compile(r"(?i)\b(?:after|(?:newer|later|more recent) than)\s*$"), "first", 1),
    (re.compile(r"(?i)\bsince\s*$"), "first", 0),
    (re.compile(r"(?i)\b(?:before|(?:older|earlier) than)\s*$"), "last", -1),
    (re.compile(r"(?i)\b(?:until|till|up to)\s*$"), "last", 0),
)
_ONWARDS = re.compile(r"(?i)^\s*(?:on|onwards?|or (?:later|newer))\b")
_WORD = re.compile(r"[^\W\d_]+(?:['’\-](?!s\b)[^\W\d_]+)*")
_BY = re.compile(r"(?i)\bby\s+")
_NAME = re.compile(r"[^\W\d_a-z][\w'’.\-]*(?:\s+[^\W\d_a-z][\w'’\-]*)*")


def library_reply(question: str, corpus: Corpus, filters: Filters) -> Draft:
    """A reply from the library's own list of papers, each with its title as evidence.

    Years, authors, titles and file names that the question names select papers. The reply says what it lists, so it is
    true whatever else the question asks for.
    """
    entries = [one for one in corpus.entries() if not filters.papers or one.id in filters.papers]
    entries = [one for one in entries if not filters.by_year or filters.allows_year(one.year)]
    size = _many(len(entries))
    if not entries:
        return Draft(text="The library has no papers.", status="answered", certain=True)
    found, which = _selected(question, entries)
    if not found:
        lines = [f"The library has {size}, none {which}.", *_undated(question, entries)]
        return Draft(text="\n".join(lines), status="answered", certain=True)
    head = f"The library has {size}" + (f", {len(found)} {which}:" if which else ":")
    claims = tuple(_claim(entry, corpus.paper(entry.id)) for entry in found[:_LISTED])
    lines = [head, *(f"{number}. {claim.text}" for number, claim in enumerate(claims, start=1))]
    if len(found) > len(claims):
        lines.append(f"… and {len(found) - len(claims)} more")
    lines += _undated(question, entries)
    return Draft(text="\n".join(lines), status="answered", claims=claims, certain=True)


def talk_reply(entries: Sequence[PaperEntry]) -> Draft:
    """A reply to small talk: what one may ask."""
    if not entries:
        text = "I answer questions on papers and cite where they say it. The library has no papers yet: add some first."
        return Draft(text=text, status="answered", certain=True)
    examples = [f"What is the main contribution of “{entry.title or entry.file}”?" for entry in entries[:_EXAMPLES]]
    head = f"I answer questions on the library ({_many(len(entries))}) and cite where the papers say it. For example:"
    lines = [head, *(f"- {example}" for example in ("Which papers do you have?", *examples))]
    return Draft(text="\n".join(lines), status="answered", certain=True)


def _selected(question: str, entries: Sequence[PaperEntry]) -> tuple[list[PaperEntry], str]:
    """The papers that the question selects, and how ("of 2023"); all and "" if it names nothing to select by."""
    found, which = list(entries), list[str]()
    authors, named = _authors(question, entries), set(named_papers(question, entries))
    if authors:
        found = [one for one in found if _surnames(one).intersection(name.split()[-1].casefold() for name in authors)]
        which.append(f"by {' or '.join(authors)}")
    elif named:
        found = [one for one in found if one.id in named]
        which.append("of this name")
    years = _years(question)
    if years is not None:
        found = [one for one in found if years.allows_year(one.year)]
        span = dict.fromkeys((years.first_year, years.last_year))
        which.append(f"of {'–'.join(str(year or '…') for year in span)}")
    return found, " ".join(which)


def _authors(question: str, entries: Sequence[PaperEntry]) -> list[str]:
    """The surnames of the library's authors in the question; else the name after "by", which is none of them."""
    surnames = frozenset[str]().union(*map(_surnames, entries))
    known, unknown = [], []
    for match in _BY.finditer(question):
        name, rest = _NAME.match(question, match.end()), _WORD.findall(question, match.end())
        known += [word for word in rest[:_NAME_WORDS] if word.casefold() in surnames]
        unknown += [name[0]] if name else []
    # The first word has a capital, whatever it is.
    words = (match[0] for match in list(_WORD.finditer(question))[1:])
    known += [word for word in words if word[0].isupper() and word.casefold() in surnames]
    return list(dict.fromkeys(known)) or unknown[:1]


def _surnames(entry: PaperEntry) -> frozenset[str]:
    return frozenset(author.split()[-1].casefold() for author in entry.authors if author.strip())


def _years(question: str) -> Filters | None:
    """The years that the question admits; None if it names none."""
    matches = list(_YEAR.finditer(question))
    years = [int(match[0]) for match in matches]
    if len(years) != 1:
        return Filters(first_year=min(years), last_year=max(years)) if years else None
    before, after = question[: matches[0].start()], question[matches[0].end() :]
    for pattern, end, shift in _OPEN:
        if pattern.search(before):
            year = years[0] + shift
            return Filters(first_year=year) if end == "first" else Filters(last_year=year)
    return Filters(first_year=years[0], last_year=None if _ONWARDS.match(after) else years[0])


def _undated(question: str, entries: Sequence[PaperEntry]) -> list[str]:
    """A line on the papers without a year, if the question names years."""
    count = sum(entry.year is None for entry in entries)
    return [f"The year of {_many(count)} is not known."] if count and _years(question) else []


def _claim(entry: PaperEntry, paper: Paper) -> Claim:
    """The record of a paper, with its title as evidence, or else its first element."""
    name = entry.title or entry.file
    authors = list(entry.authors[:_MOST_AUTHORS])
    more = " et al." if len(entry.authors) > len(authors) else ""
    text = f"{name} ({entry.year})" if entry.year else name
    text += f", by {', '.join(authors)}{more}" if authors else ""
    titles = (one for one in paper.elements if isinstance(one, Passage) and one.role == "title")
    at = next(titles, next(iter(paper.elements), None))
    return Claim(text=text, evidence=(evidence_in(at, entry.title),) if at else ())


def _many(papers: int) -> str:
    return "1 paper" if papers == 1 else f"{papers} papers"
