"""Are tables and figures tied to the text that speaks of them?"""

import re
from collections.abc import Iterator

from evaluation.values import Miss, Score, Tally
from paperscope_core.types import Figure, IndexedPaper, Passage, Table

__all__ = ["score_floats"]


_WORDS = {"table": r"tab(?:le)?s?", "figure": r"fig(?:ure)?s?"}
_NUMBER = r"\(?[A-Z]{0,2}\.?\d{1,3}(?:\.\d{1,3})*"
_NAMED = re.compile(
    rf"\b(?:(?P<table>{_WORDS['table']})|(?P<figure>{_WORDS['figure']}))\b\.?\s*"
    rf"(?P<numbers>{_NUMBER}(?:[a-z]?\)?(?:,\s*(?:and\s+)?|\s*(?:and|&|or|to|[-–])\s*){_NUMBER})*)",
    re.IGNORECASE,
)


def score_floats(indexed: IndexedPaper) -> Score:
    """floats.linked: captioned tables and figures that are entities standing on a passage that names them, or in a
    relation that does, of those that a passage names at all ("Tables 2 and 3", "Fig. A.1"); read anew from the text."""
    floats = [one for one in indexed.paper.elements if isinstance(one, Table | Figure) and one.caption]
    naming = {one.id: _passages(indexed, one) for one in floats}
    grounds: dict[str, set[str]] = {entity.id: set(entity.sources) for entity in indexed.extraction.entities}
    for relation in indexed.extraction.relations:
        for end in (relation.source, relation.target):
            grounds.setdefault(end, set()).update(relation.sources)
    named = [one for one in floats if naming[one.id]]
    loose = [one for one in named if not naming[one.id] & grounds.get(one.id, set())]
    return Score(
        tallies={"floats.linked": Tally(right=len(named) - len(loose), total=len(named))},
        misses=tuple(Miss(metric="floats.linked", what=one.kind, gold=one.label, got=one.caption) for one in loose),
    )


def _passages(indexed: IndexedPaper, one: Table | Figure) -> set[str]:
    """The passages that name it by its label."""
    wanted = {name for _, name in _names(one.label)}
    return {
        passage.id
        for passage in indexed.paper.elements
        if isinstance(passage, Passage)
        and passage.role != "furniture"
        and any(kind == one.kind and number in wanted for kind, number in _names(passage.text))
    }


def _names(text: str) -> Iterator[tuple[str, str]]:
    """The kind and number of each table and figure that the text names."""
    for match in _NAMED.finditer(text):
        kind = "table" if match["table"] else "figure"
        for number in re.findall(_NUMBER, match["numbers"], re.IGNORECASE):
            yield kind, number.strip("(").upper()
