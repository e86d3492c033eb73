"""Facts of a paper's record: title, authors, year, venue, ids, number of its parts, and captions."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from paperscope_core.types import PRINTED, Claim, Element, Figure, Paper, PaperEntry, Passage, Table
from query.element_views import element_text, evidence_in
from query.extractive.wording import FORM_WORDS, fold, tokens

__all__ = ["Record", "recorded_fact"]

_ASK = r"(?:what(?: is|'s| are| was| were)|give|state|name|list|tell me)"
_FLOAT = r"(?:table|tab\.?|figure|fig\.?) [\w.]+"
_PUBLISHED = r"\b(?:published|written)\b"
_COUNTED = {
    "page": "pages?",
    "table": "tables?",
    "figure": "figures?",
    "equation": "(?:display(?:ed)? )?equations?",
    "reference": "references?|(?:bibliography|reference) entries",
    "author": "authors?",
}
_COUNT = "|".join(f"(?P<{name}>{words})" for name, words in _COUNTED.items())
# Besides function words, these refer to the paper as a whole and to its parts.
_OF_PAPER = FORM_WORDS | frozenset(
    """appear article cite cited contain document include manuscript name numbered please publication published study
    there""".split()
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """A paper, its entry in the library, and the ids of its elements that the question names."""

    paper: Paper
    entry: PaperEntry | None = None
    named: Sequence[str] = ()


def recorded_fact(question: str, record: Record) -> Claim | None:
    """Return the fact of a paper's record that the question asks for.

    Every other word of the question must be a function word or identify the paper, as words of its title and authors
    do.
    """
    text = fold(question).casefold()
    paper = record.paper
    known = {word.text for name in (paper.title, *paper.authors, paper.file) for word in tokens(name)} | _OF_PAPER
    for pattern, fact in _FACTS:
        match = pattern.search(text)
        if match is not None:
            rest = f"{text[: match.start()]} {text[match.end() :]}"
            return fact(record, match) if all(word.text in known for word in tokens(rest)) else None
    return None


def _title(record: Record, _match: re.Match[str]) -> Claim | None:
    title, at = record.paper.title, _role(record, "title")
    # The title of a record may be spelled otherwise than the paper prints it.
    printed = any(title in " ".join(element_text(one).split()) for one in at)
    said = f"The title is “{title}”{_by(record, 'title')}."
    return _claim(said, at, quote=title if printed else "") if title else None


def _authors(record: Record, match: re.Match[str]) -> Claim | None:
    authors = record.paper.authors
    if not authors:
        return None
    which = match.groupdict().get("which")
    if which:
        text = f"The {which} author is {authors[0 if which == 'first' else -1]}{_by(record, 'authors')}."
    else:
        text = f"The author{'s are' if len(authors) > 1 else ' is'} {', '.join(authors)}{_by(record, 'authors')}."
    return _claim(text, _role(record, "authors"))


def _of_entry(field: str, said: str) -> "_Fact":
    """State a field of the paper's entry."""

    def fact(record: Record, _match: re.Match[str]) -> Claim | None:
        value = getattr(record.entry, field, None)
        return _claim(f"The {said} {value}{_by(record, field)}.", _role(record, "title")) if value else None

    return fact


def _by(record: Record, field: str) -> str:
    """Say whose record states a field that the paper's file does not."""
    origin = record.paper.publication.origin(field)
    return "" if origin == PRINTED else f" (by the record of {origin})"


def _count(record: Record, match: re.Match[str]) -> Claim | None:
    paper = record.paper
    asked = next(name for name in _COUNTED if match[name])
    if asked == "page":
        return _claim(f"The paper has {_many(len(paper.pages), asked)}.", paper.elements[-1:]) if paper.paged else None
    if asked == "author":
        text = f"The paper has {_many(len(paper.authors), asked)}."
        return _claim(text, _role(record, "authors")) if paper.authors else None
    found = [element for element in paper.elements if element.kind == asked]
    if asked == "reference":
        return _claim(f"The paper lists {_many(len(found), asked)}.", found[:1]) if found else None
    # A picture without a label may be a logo, and an equation without one has no number.
    labelled = {label: one for one in found if (label := one.label)}
    if labelled:
        text = f"The paper has {_many(len(labelled), asked)} with a label: {', '.join(labelled)}."
        return _claim(text, list(labelled.values()))
    return _claim(f"The paper has {_many(len(found), asked)}.", found) if found else None


def _caption(record: Record, _match: re.Match[str]) -> Claim | None:
    found = _named_float(record)
    if found is None or not found.caption:
        return None
    return _claim(f"The caption of {found.label} reads: “{found.caption}”", [found], quote=found.caption)


def _page(record: Record, _match: re.Match[str]) -> Claim | None:
    found = _named_float(record)
    return _claim(f"{found.label} is on {found.place.where}.", [found]) if found and not found.place.by_line else None


def _named_float(record: Record) -> Table | Figure | None:
    named = [one for one in record.paper.elements if one.id in record.named and isinstance(one, Table | Figure)]
    return named[0] if len(named) == 1 else None


_Fact = Callable[[Record, re.Match[str]], Claim | None]
# How questions ask for each fact; the first pattern that matches decides.
_FACTS: tuple[tuple[re.Pattern[str], _Fact], ...] = tuple(
    (re.compile(pattern), fact)
    for pattern, fact in (
        (rf"\bcaption of {_FLOAT}(?: (?:say|read)s?\b)?", _caption),
        (rf"^what (?:does|do) {_FLOAT} (?:show|depict|present|illustrate|report)|^what is {_FLOAT} about", _caption),
        (rf"^(?:on|at) (?:what|which) page (?:is|are|can) {_FLOAT}(?: be found)?", _page),
        (r"\btitle of\b|\b(?:called|titled|entitled)\b", _title),
        (r"\b(?P<which>first|last) author of\b", _authors),
        (rf"\bwho (?:wrote|authored|are the authors?|is the author)\b|{_ASK} the authors\b", _authors),
        (
            rf"\b(?:what|which) year\b.*{_PUBLISHED}|^when (?:was|is)\b.*{_PUBLISHED}",
            _of_entry("year", "paper is of"),
        ),
        (
            r"^(?:where (?:was|is|did)|in (?:what|which) (?:venue|journal|conference))\b(?=.*\b(?:published|appear)\b)"
            r"|\bvenue of\b",
            _of_entry("venue", "paper was published in"),
        ),
        (rf"{_ASK} (?:the |its )?doi\b|\bdoi of\b", _of_entry("doi", "DOI of the paper is")),
        (
            rf"{_ASK} (?:the |its )?arxiv (?:id|identifier|number)\b|\barxiv (?:id|identifier|number) of\b",
            _of_entry("arxiv", "arXiv id of the paper is"),
        ),
        (rf"\b(?:how many|number of) (?:(?:numbered|labelled|labeled) )?(?:{_COUNT})\b", _count),
    )
)


def _role(record: Record, role: str) -> Sequence[Element]:
    """Return the passage with a role, or the paper's first element."""
    found = [one for one in record.paper.elements if isinstance(one, Passage) and one.role == role]
    return found[:1] or record.paper.elements[:1]


def _many(count: int, noun: str) -> str:
    return f"{count} {noun if count == 1 else noun + 's'}"


def _claim(text: str, elements: Sequence[Element], *, quote: str = "") -> Claim:
    """Return a statement with elements as evidence, each with the quotation, or else its label."""
    return Claim(text=text, evidence=tuple(evidence_in(element, quote or element.label) for element in elements))
