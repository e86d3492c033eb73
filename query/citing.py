"""Names what an answer cites: the paper, the label, and the page."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from paperscope_core.protocols import Corpus
from paperscope_core.types import Check, Claim, Context, Element, Evidence, Paper, PaperEntry, Passage, where

__all__ = ["EvidenceNamer", "paper_names", "short_title"]

_LONGEST_TITLE = 60


def short_title(title: str) -> str:
    """A title without its subtitle, which follows a colon, as reference managers shorten it; cut off if it is long."""
    main = title.partition(": ")[0].strip()
    if len(main) <= _LONGEST_TITLE:
        return main
    return f"{main[: _LONGEST_TITLE - 1].rpartition(' ')[0] or main[: _LONGEST_TITLE - 1]}…"


class EvidenceNamer:
    """Sets the names of evidence: "Four Reports, Four Rulers (2024), Table 5, page 4"."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._papers = _names(corpus.entries())

    def claims(self, claims: Sequence[Claim]) -> tuple[Claim, ...]:
        """The claims with named evidence."""
        return tuple(replace(claim, evidence=self._named(claim.evidence)) for claim in claims)

    def checks(self, checks: Sequence[Check]) -> tuple[Check, ...]:
        """The checks with named evidence."""
        return tuple(replace(check, support=self._named(check.support)) for check in checks)

    def _named(self, evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
        return tuple(replace(one, name=self._name(one)) for one in evidence)

    def _name(self, evidence: Evidence) -> str:
        paper = evidence.place.paper
        label = _label(self._corpus.element(evidence.element), self._corpus.paper(paper))
        return ", ".join(filter(None, (self._papers.get(paper, paper), label, where(evidence.places))))


def paper_names(corpus: Corpus, context: Context) -> Mapping[str, str] | None:
    """The names of the papers of a context's sources by id; None if there is only one, which needs no name."""
    if len({source.place.paper for source in context.sources}) == 1:
        return None
    return _names(corpus.entries())


def _names(entries: Sequence[PaperEntry]) -> dict[str, str]:
    names = {entry.id: _paper_name(entry) for entry in entries}
    counts = Counter(names.values())
    return {paper: name if counts[name] == 1 else f"{name} [{paper}]" for paper, name in names.items()}


def _paper_name(entry: PaperEntry) -> str:
    name = short_title(entry.title) or entry.file
    return f"{name} ({entry.year})" if entry.year else name


def _label(element: Element, paper: Paper) -> str:
    """The printed label, else the section of a passage, else the kind of the element."""
    if element.label:
        return element.label
    section = next((one for one in paper.sections if one.id == element.section), None)
    if not isinstance(element, Passage):
        return element.kind
    if section is None:
        return element.role if element.role in ("title", "authors", "abstract") else ""
    return f"Section {section.number}" if section.number else short_title(section.title)
