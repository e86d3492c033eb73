"""Facts of a paper's record (title, authors, year, venue, ids), number of its parts, captions, and the papers that
mention a name."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from paperscope_core.types import Claim, Element, Figure, Paper, PaperEntry, Passage, Section, Table
from query.elements import evidence_in
from query.extractive.wording import FORM_WORDS, fold, tokens
from query.outline import is_appendix
from query.question.references import section_number

__all__ = ["Record", "mentioned_term", "mentioning_papers", "recorded_fact", "searched_text"]

_ASK = r"(?:what(?: is|'s| are| was| were)|give|state|name|list|tell me)"
_FLOAT = r"(?:table|tab\.?|figure|fig\.?) [\w.]+"
_SECTION = r"(?P<kind>section|appendix) (?P<number>[a-z0-9]+(?:\.\d+)*)"
_COUNTED = {
    "page": "pages?",
    "table": "tables?",
    "figure": "figures?",
    "equation": "(?:display(?:ed)? )?equations?",
    "section": "(?:top-level |main )?sections?",
    "appendix": "appendix|appendices",
    "reference": "references?|(?:bibliography|reference) entries",
    "author": "authors?",
}
_COUNT = "|".join(f"(?P<{name}>{words})" for name, words in _COUNTED.items())
_MENTIONING = re.compile(
    r"(?:which|what)(?: of (?:the|these|my))? (?:papers?|documents?|articles?)(?: in the library)? mentions? "
    r"(?:the (?:words?|terms?|names?|phrases?) )?[“\"']?(?P<term>.+?)[”\"']?\W*",
    re.IGNORECASE,
)
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
    """The fact of a paper's record that the question asks for.

    Every other word of the question must be a function word or identify the paper, as words of its title and authors
    do.
    """
    text = fold(question).casefold()
    paper = record.paper
    known = {word.text for name in (paper.title, *paper.authors, paper.file) for word in tokens(name)} | _OF_PAPER
    for pattern, fact in _FACTS:
        match = pattern.search(text)
        if match is None:
            continue
        rest = f"{text[: match.start()]} {text[match.end() :]}"
        return fact(record, match) if all(word.text in known for word in tokens(rest)) else None
    return None


def mentioned_term(question: str) -> str:
    """The name in "Which papers mention X?"; "" for any other question."""
    match = _MENTIONING.fullmatch(fold(question))
    return match["term"] if match else ""


def mentioning_papers(term: str, papers: Sequence[Paper]) -> Claim | None:
    """The papers that mention a name, each with the first place; None if no paper does."""
    found = [(paper, element) for paper in papers if (element := _first_mention(term, paper)) is not None]
    if not found:
        return None
    titles = "; ".join(paper.title or paper.file for paper, _ in found)
    many = "1 paper mentions" if len(found) == 1 else f"{len(found)} papers mention"
    return _claim(f"{many} {term}: {titles}.", [element for _, element in found], quotes=[term] * len(found))


def _first_mention(term: str, paper: Paper) -> Element | None:
    wanted = [word.text for word in tokens(term)]
    for element in paper.elements:
        words = [word.text for word in tokens(searched_text(element))]
        if any(words[start : start + len(wanted)] == wanted for start in range(len(words) - len(wanted) + 1)):
            return element
    return None


def searched_text(element: Element) -> str:
    """All words of an element, with the cells of a table on separate lines."""
    if isinstance(element, Table):
        return "\n".join((element.caption, *(cell.text for cell in element.cells)))
    return f"{element.caption}\n{element.text}" if isinstance(element, Figure) else element.text


def _title(record: Record, _match: re.Match[str]) -> Claim | None:
    title = record.paper.title
    return _claim(f"The title is “{title}”.", _role(record, "title"), quotes=[title]) if title else None


def _authors(record: Record, match: re.Match[str]) -> Claim | None:
    authors = record.paper.authors
    if not authors:
        return None
    which = match.groupdict().get("which")
    if which:
        text = f"The {which} author is {authors[0 if which == 'first' else -1]}."
    else:
        text = f"The author{'s are' if len(authors) > 1 else ' is'} {', '.join(authors)}."
    return _claim(text, _role(record, "authors"))


def _year(record: Record, _match: re.Match[str]) -> Claim | None:
    year = record.entry.year if record.entry else None
    return _claim(f"The paper is of {year}.", _role(record, "title")) if year else None


def _venue(record: Record, _match: re.Match[str]) -> Claim | None:
    venue = record.entry.venue if record.entry else ""
    return _claim(f"The paper was published in {venue}.", _role(record, "title")) if venue else None


def _doi(record: Record, _match: re.Match[str]) -> Claim | None:
    doi = record.entry.doi if record.entry else ""
    return _claim(f"The DOI of the paper is {doi}.", _role(record, "title")) if doi else None


def _arxiv(record: Record, _match: re.Match[str]) -> Claim | None:
    arxiv = record.entry.arxiv if record.entry else ""
    return _claim(f"The arXiv id of the paper is {arxiv}.", _role(record, "title")) if arxiv else None


def _count(record: Record, match: re.Match[str]) -> Claim | None:
    paper = record.paper
    asked = next(name for name in _COUNTED if match[name])
    if asked == "page":
        return _claim(f"The paper has {_many(len(paper.pages), 'page')}.", paper.elements[-1:]) if paper.paged else None
    if asked == "author":
        text = f"The paper has {_many(len(paper.authors), 'author')}."
        return _claim(text, _role(record, "authors")) if paper.authors else None
    if asked in ("section", "appendix"):
        return _sections(record, appendices=asked == "appendix")
    found = [element for element in paper.elements if element.kind == asked]
    if asked == "reference":
        return _claim(f"The paper lists {_many(len(found), asked)}.", found[:1]) if found else None
    # A picture without a label may be a logo, and an equation without one has no number.
    labelled = {label: one for one in found if (label := one.label)}
    if labelled:
        text = f"The paper has {_many(len(labelled), asked)} with a label: {', '.join(labelled)}."
        return _claim(text, list(labelled.values()))
    return _claim(f"The paper has {_many(len(found), asked)}.", found) if found else None


def _sections(record: Record, *, appendices: bool) -> Claim | None:
    """The top-level sections; those without a number are left out if others are numbered."""
    # A table of contents lists the sections, too.
    top = list({one.number or one.id: one for one in record.paper.sections if one.level == 1}.values())
    chosen = [one for one in top if one.number and is_appendix(one.number) == appendices]
    chosen = chosen or ([] if appendices else top)
    if not chosen:
        return None
    names = "; ".join(f"{section.number} {section.title}".strip() for section in chosen)
    number = _many(len(chosen), *(("appendix", "appendices") if appendices else ("numbered section",)))
    return _claim(f"The paper has {number} at the top level: {names}.", _headings(record, chosen))


def _section_title(record: Record, match: re.Match[str]) -> Claim | None:
    found = [one for one in record.paper.sections if section_number(one.number).casefold() == match["number"]]
    if len(found) != 1:
        return None
    title = found[0].title
    text = f"The title of {match['kind'].capitalize()} {match['number'].upper()} is “{title}”."
    return _claim(text, _headings(record, found), quotes=[title])


def _caption(record: Record, _match: re.Match[str]) -> Claim | None:
    found = _named_float(record)
    if found is None or not found.caption:
        return None
    return _claim(f"The caption of {found.label} reads: “{found.caption}”", [found], quotes=[found.caption])


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
        (rf"\b(?:title|name|heading) of {_SECTION}", _section_title),
        (rf"\bwhat is {_SECTION} (?:called|titled|entitled)\b", _section_title),
        (rf"\bcaption of {_FLOAT}(?: (?:say|read)s?\b)?", _caption),
        (rf"^what (?:does|do) {_FLOAT} (?:show|depict|present|illustrate|report)|^what is {_FLOAT} about", _caption),
        (rf"^(?:on|at) (?:what|which) page (?:is|are|can) {_FLOAT}(?: be found)?", _page),
        (r"\btitle of\b|\b(?:called|titled|entitled)\b", _title),
        (r"\b(?P<which>first|last) author of\b", _authors),
        (rf"\bwho (?:wrote|authored|are the authors?|is the author)\b|{_ASK} the authors\b", _authors),
        (r"\b(?:what|which) year\b.*\b(?:published|written)\b|^when (?:was|is)\b.*\b(?:published|written)\b", _year),
        (
            r"^(?:where (?:was|is|did)|in (?:what|which) (?:venue|journal|conference))\b(?=.*\b(?:published|appear)\b)"
            r"|\bvenue of\b",
            _venue,
        ),
        (rf"{_ASK} (?:the |its )?doi\b|\bdoi of\b", _doi),
        (rf"{_ASK} (?:the |its )?arxiv (?:id|identifier|number)\b|\barxiv (?:id|identifier|number) of\b", _arxiv),
        (rf"\b(?:how many|number of) (?:(?:numbered|labelled|labeled) )?(?:{_COUNT})\b", _count),
    )
)


def _role(record: Record, role: str) -> Sequence[Element]:
    """The passage with a role, or the paper's first element."""
    found = [one for one in record.paper.elements if isinstance(one, Passage) and one.role == role]
    return found[:1] or record.paper.elements[:1]


def _headings(record: Record, sections: Sequence[Section]) -> list[Element]:
    """The first element of each section: its heading, if the parser kept it. If no section has one, the paper's first
    element."""
    first: dict[str, Element] = {}
    for element in record.paper.elements:
        first.setdefault(element.section, element)
    return [first[one.id] for one in sections if one.id in first] or list(record.paper.elements[:1])


def _many(count: int, noun: str, plural: str = "") -> str:
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


def _claim(text: str, elements: Sequence[Element], *, quotes: Sequence[str] = ()) -> Claim:
    """A statement with elements as evidence, each with its quotation, or else its label."""
    shown = (*quotes, *(element.label for element in elements[len(quotes) :]))
    return Claim(text=text, evidence=tuple(map(evidence_in, elements, shown)))
