"""A paper's outline as a row of the context: its record, its sections, and its floats with label, page and caption.

Questions about a paper as a whole ("How many figures are in the appendix?") can't be answered from a few chunks. Those
for its gist ("What is the main contribution?") are answered by its abstract, introduction and conclusion: no list of
words recognises them, but they are nearer in meaning to a description of a summary than to any chunk.
"""

import re
from collections.abc import Iterable, Iterator

from paperscope_core.text.escaping import shortened
from paperscope_core.types import (
    ContextSource,
    Element,
    Evidence,
    Figure,
    Paper,
    PaperEntry,
    Passage,
    Table,
)
from paperscope_core.types.tables import column_headers
from query.content_words import content_words
from query.element_views import evidence_in
from query.question.named_elements import section_number, without_numbered

__all__ = [
    "GISTS",
    "LIMITS",
    "PARTS",
    "asked_parts",
    "gist_elements",
    "is_outline",
    "limitation_elements",
    "outline_evidence",
    "outline_row",
    "summary_elements",
]

# The parts of a paper by the words for them; a question that names one by its number ("Table 8") is about its content.
_NUMBERED = {
    "Figures": r"fig(?:ure)?s?|charts?|plots?|diagrams?",
    "Tables": r"tables?",
    "Listings": r"listings?|algorithms?",
}
_OTHER = {
    "Sections": r"(?:sub)?sections?|appendix|appendices|chapters?|table of contents|outlines?",
    "Record": r"who|authors?|titles?|pages?|published|publication|venue|journal|conference|doi|"
    r"arxiv (?:id|identifier|number)",
}
PARTS: tuple[str, ...] = ("Sections", *_NUMBERED)
"""The parts of a paper that an outline can list."""
_OPENING = "Outline of the paper “"
# Characters; what follows says little about which part it is.
_LONGEST_CAPTION = 200
_LONGEST_HEADERS = 120
_MOST_CITED = 12
_FRAMING = re.compile(r"(?:introduction|conclu|summary)", re.IGNORECASE)
_CONCLUDING = re.compile(r"conclu|summary", re.IGNORECASE)
_LIMITING = re.compile(r"limit(?:ation)?s\b|threats? to validity|shortcomings|caveats|weaknesses", re.IGNORECASE)
_APPENDIX = ("appendix", "appendices", "supplement")
GISTS = (
    "What this paper is about: its topic, main idea and goal.",
    "A summary of the paper: its main contributions, findings and conclusions.",
)
"""Descriptions of a summary. On 95 questions of ArgSciChat, the nine that ask for one are nearer to these than to any
chunk of their paper by a cosine of .42 to .68; of the other 86 and of 41 of MMLongBench, two are by .2 to .3, and 15 by
.1 to .2."""


LIMITS = (
    "The limitations of this work: what it does not cover, its weaknesses and open problems.",
    "Limitations and threats to validity of the study.",
)
"""Descriptions of what a paper says about its limits, used like `GISTS`."""


def asked_parts(question: str) -> frozenset[str]:
    """Return the parts of papers that a question asks about without naming one by its number, or sections at all."""
    unnamed = without_numbered(question)
    texts = [(unnamed, _NUMBERED), (question, _OTHER)]
    return frozenset(
        part
        for text, parts in texts
        for part, words in parts.items()
        if re.search(rf"\b(?:{words})\b", text, re.IGNORECASE)
    )


def _is_appendix(number: str) -> bool:
    """Return whether a section's number is a letter that is no Roman numeral."""
    bare = section_number(number).partition(".")[0]
    return bare.isalpha() and not set(bare.casefold()) <= set("ivx")


def outline_row(paper: Paper, entry: PaperEntry | None, parts: Iterable[str]) -> ContextSource | None:
    """Return a paper's outline with these parts, as a source at its title; None for a paper without elements.

    The number of each kind of part is always stated.
    """
    if not paper.elements:
        return None
    titles = (one for one in paper.elements if isinstance(one, Passage) and one.role == "title")
    at = next(titles, paper.elements[0])
    outline = _Outline(paper)
    authors = f"Authors: {'; '.join(paper.authors)}" if paper.authors else ""
    year = f"Year: {entry.year}" if entry and entry.year else ""
    ids = (("Venue", entry.venue), ("DOI", entry.doi), ("arXiv id", entry.arxiv)) if entry else ()
    published = [f"{name}: {value}" for name, value in ids if value]
    pages = f"Pages: {len(paper.pages)}" if paper.paged else ""
    if before := paper.pages_before:
        pages += f" (page 1 is printed as {1 + before})"
    retracted = f"RETRACTED: {paper.publication.retraction}" if paper.publication.retraction else ""
    lines = [f"{_OPENING}{paper.title}”", retracted, authors, year, *published, pages]
    wanted = set(parts)
    for part, listed in outline.parts.items():
        lines.append(outline.count(part))
        lines += [line for line, _ in listed] if part in wanted else []
    for kind, name in (("equation", "Equations with a number"), ("reference", "References")):
        count = sum(element.kind == kind and bool(element.label) for element in paper.elements)
        lines.append(f"{name}: {count}" if count else "")
    return ContextSource(id=0, content="\n".join(filter(None, lines)), element=at.id, place=at.place)


def is_outline(source: ContextSource) -> bool:
    """Return whether a source is an outline."""
    return source.content.startswith(_OPENING)


def outline_evidence(source: ContextSource, paper: Paper, claim: str) -> tuple[Evidence, ...]:
    """Return the evidence in an outline for a claim: the parts whose labels or titles it names, and the count it shares
    words with; otherwise the line that shares most words with it."""
    lines = source.content.splitlines()
    listed = {line: element for part in _Outline(paper).parts.values() for line, element in part}
    asked = content_words(claim)
    claimed = f" {_folded(claim)} "
    named = [listed[line] for line in lines if line in listed and f" {_folded(_quote(listed[line]))} " in claimed]
    counts = [line for line in lines if line not in listed and content_words(line.partition(":")[0]) & asked]
    best = [] if named or counts else [max(lines, key=lambda line: len(content_words(line) & asked))]
    elements = [*named, *(listed[line] for line in best if line in listed)][:_MOST_CITED]
    stated = [*counts, *(line for line in best if line not in listed)]
    return (
        *(evidence_in(element, _quote(element)) for element in elements),
        *(Evidence(element=source.element, place=source.place, quote=line) for line in stated),
    )


def _folded(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+(?:\.\d+)*", text.casefold()))


def _quote(element: Element) -> str:
    """Return what names a part: the label of a float, the text of a heading."""
    return element.text if isinstance(element, Passage) and not element.label else element.label


class _Outline:
    """The lines of a paper's parts in reading order, each with its element."""

    def __init__(self, paper: Paper) -> None:
        self._sections = {section.id: section for section in paper.sections}
        self._numbers = {section.path: section.number for section in paper.sections}
        floats = [one for one in paper.elements if one.label and isinstance(one, Figure | Table | Passage)]
        self.parts: dict[str, list[tuple[str, Element]]] = {
            "Sections": list(self._headings(paper)),
            "Figures": [(self._float(one), one) for one in floats if isinstance(one, Figure)],
            "Tables": [(self._float(one), one) for one in floats if isinstance(one, Table)],
            "Listings": [(self._float(one), one) for one in floats if isinstance(one, Passage)],
        }

    def count(self, part: str) -> str:
        """Return how many there are of a part, in the appendix, too; "" if there is none."""
        listed = [element for _, element in self.parts[part]]
        appended = sum(map(self._is_appended, listed))
        split = f" ({len(listed) - appended} in the main part, {appended} in the appendix)" if appended else ""
        return f"{part}: {len(listed)}{split}" if listed else ""

    def _headings(self, paper: Paper) -> Iterator[tuple[str, Element]]:
        for element in paper.elements:
            section = self._sections.get(element.section)
            if section and isinstance(element, Passage) and element.role == "heading":
                title = f"{section.number} {section.title}".strip()
                yield f"{'  ' * (section.level - 1)}{title} ({element.place.where})", element

    def _float(self, element: Passage | Figure | Table) -> str:
        top = self._top(element)
        where = element.place.where + (f", in {top}" if top else "")
        headers = column_headers(element) if isinstance(element, Table) else []
        columns = shortened(" | ".join(" ".join(names) for names in headers if names), limit=_LONGEST_HEADERS)
        caption = shortened(" ".join(element.caption.split()), limit=_LONGEST_CAPTION)
        text = f"{element.label} ({where})" + (f": {caption}" if caption else "")
        return f"{text} [columns: {columns}]" if columns else text

    def _top(self, element: Element) -> str:
        section = self._sections.get(element.section)
        return section.path.partition(" > ")[0] if section else ""

    def _is_appended(self, element: Element) -> bool:
        top = self._top(element)
        return _is_appendix(self._numbers.get(top, "")) or top.casefold().startswith(_APPENDIX)


def gist_elements(paper: Paper) -> list[Passage]:
    """Return the abstract, and the first and the last text of introduction and conclusion; none if no section is titled
    so."""
    ends = (text for texts in _texts_in(paper, _FRAMING) for text in (*texts[:1], *texts[-1:]))
    return list({one.id: one for one in (*_abstract(paper), *ends)}.values())


def limitation_elements(paper: Paper) -> list[Passage]:
    """Return the texts of the sections whose titles announce limitations; else the last texts of the conclusion, where
    papers without such a section state them."""
    stated = [text for texts in _texts_in(paper, _LIMITING) for text in texts]
    return stated or [text for texts in _texts_in(paper, _CONCLUDING) for text in texts[-1:]]


def summary_elements(paper: Paper) -> list[Passage]:
    """Return what sums a paper up: the first texts of the abstract (else of the introduction), of the conclusion and of
    the limitations."""
    opening = _abstract(paper) or _first_text(paper, _FRAMING)
    parts = (*opening[:1], *_first_text(paper, _CONCLUDING), *_first_text(paper, _LIMITING))
    return list({one.id: one for one in parts}.values())


def _abstract(paper: Paper) -> list[Passage]:
    return [one for one in paper.elements if isinstance(one, Passage) and one.role == "abstract"]


def _first_text(paper: Paper, title: re.Pattern[str]) -> list[Passage]:
    return [text for texts in _texts_in(paper, title) for text in texts[:1]][:1]


def _texts_in(paper: Paper, title: re.Pattern[str]) -> Iterator[list[Passage]]:
    """Yield the texts of each section with such a title."""
    texts = [one for one in paper.elements if isinstance(one, Passage) and one.role in ("abstract", "paragraph")]
    for section in paper.sections:
        if title.match(section.title):
            yield [one for one in texts if one.section == section.id]
