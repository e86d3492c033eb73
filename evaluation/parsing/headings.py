"""Scores section headings."""

from evaluation.gold.values import Gold
from evaluation.matching import align, fold, similarity
from evaluation.values import Miss, Score, Tally
from paperscope_core.types import Paper, Section

__all__ = ["score_headings"]


_SAME_TITLE = 0.8
# Headings that gold of sections commonly leaves out: neither found nor false.
_UNLISTED = frozenset(
    "abstract references bibliography acknowledgement acknowledgements acknowledgment acknowledgments contents "
    "keywords".split()
)


def score_headings(paper: Paper, gold: Gold) -> Score:
    """headings.found: gold titles that a section bears, in their order; headings.true: sections that the gold knows
    (abstract, references and the like don't count where the gold has none); headings.level: level right, of those found
    whose level the gold knows."""
    if gold.headings is None:
        return Score()
    listed = {fold(heading.title).casefold() for heading in gold.headings}
    got = [section for section in paper.sections if not _unlisted(section, listed)]
    pairs = align(gold.headings, got, worth=lambda heading, section: _title_worth(heading.title, section))
    levels = [(gold.headings[i].level, got[j].level) for i, j in pairs.items() if gold.headings[i].level is not None]
    known = set(pairs.values())
    lost = [heading.title for index, heading in enumerate(gold.headings) if index not in pairs]
    false = [section.title for index, section in enumerate(got) if index not in known]
    return Score(
        tallies={
            "headings.found": Tally(right=len(pairs), total=len(gold.headings)),
            "headings.true": Tally(right=len(pairs), total=len(got)),
            "headings.level": Tally(right=sum(level == other for level, other in levels), total=len(levels)),
        },
        misses=(
            *(Miss(metric="headings.found", what="heading", gold=title) for title in lost),
            *(Miss(metric="headings.true", what="heading", gold="", got=title) for title in false),
        ),
    )


def _unlisted(section: Section, listed: set[str]) -> bool:
    title = fold(section.title).casefold()
    return title in _UNLISTED and title not in listed


def _title_worth(title: str, section: Section) -> float:
    likeness = max(similarity(title, section.title), similarity(title, f"{section.number} {section.title}"))
    return likeness if likeness >= _SAME_TITLE else 0.0
