"""Which papers a question is asked of: those that its filters or its own words choose."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from paperscope.types import Filters, PaperEntry
from query.paper_names import named_papers

__all__ = ["Scope", "scope_of"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """What may be searched, the papers of `filters` chosen by their years, too; `notes` say what was left out.

    Nothing may be searched where `empty`: no papers in `filters` would mean all.
    """

    filters: Filters
    empty: bool = False
    notes: tuple[str, ...] = ()


def scope_of(question: str, filters: Filters, entries: Sequence[PaperEntry]) -> Scope:
    """The papers that the filters name, or else those that the question names, or else all, of the wanted years."""
    papers = filters.papers or named_papers(question, entries)
    if not filters.by_year:
        return Scope(filters=replace(filters, papers=papers))
    asked = [entry for entry in entries if not papers or entry.id in papers]
    fitting = tuple(entry.id for entry in asked if filters.allows_year(entry.year))
    undated = sum(entry.year is None for entry in asked)
    span = "–".join(dict.fromkeys(str(year or "…") for year in (filters.first_year, filters.last_year)))
    notes = [f"no paper of {span} is among those that were asked"] if not fitting else []
    if undated:
        left = "1 paper, whose year is" if undated == 1 else f"{undated} papers, whose years are"
        notes.append(f"{left} not known, left out: only papers of {span} were asked")
    return Scope(filters=replace(filters, papers=fitting), empty=not fitting, notes=tuple(notes))
