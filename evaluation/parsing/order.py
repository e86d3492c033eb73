"""Scores running text: whether it is there, once, and in order."""

from collections import Counter
from collections.abc import Iterator

from evaluation.gold.values import Gold
from evaluation.matching import rising, spaced
from evaluation.values import Miss, Score, Tally
from paperscope_core.text.sentences import split_sentences
from paperscope_core.types import Figure, Paper, Passage, Table

__all__ = ["score_order", "stream"]


_SHORTEST_UNIT = 25
_SEED = 12
_SAME_UNIT = 0.8


def stream(paper: Paper) -> Iterator[str]:
    """All texts of a paper in reading order, page furniture left out."""
    for element in paper.elements:
        if isinstance(element, Passage):
            if element.role != "furniture":
                yield element.text
        elif isinstance(element, Table | Figure):
            yield element.caption
        else:
            yield element.text


def score_order(paper: Paper, gold: Gold) -> Score:
    """How much of the gold's running text is there, and in order. Units are its sentences (of 25 letters and more) that
    occur once in the gold; blanks count in text.spaced only.

    - text.found: units that stand verbatim, exactly once, in the paper; text.fuzzy: those, and units of which at least
      80 % of the 12-letter parts stand in one place.
    - text.spaced: of the units found verbatim, those whose words are parted as in the gold.
    - text.order: of the units found verbatim, those on a longest rising chain of places.
    - text.in_order: units on that chain, of all: lost and doubled text costs here too.
    """
    units = _units(gold)
    if not units:
        return Score()
    printed = spaced(" ".join(stream(paper)))
    text = printed.replace(" ", "")
    found = [unit for unit in units if text.count(unit) == 1]
    ordered = {found[index] for index in rising([text.find(unit) for unit in found])}
    seeds = _seeds(text)
    states = {unit: _state(unit, text, seeds) for unit in units if unit not in set(found)}
    near = sum(state == "differs a little" for state in states.values())
    parted = [unit for unit in found if units[unit] in printed]
    misses = [Miss(metric="text.found", what=state, gold=units[unit]) for unit, state in states.items()]
    misses += [Miss(metric="text.order", what="order", gold=units[unit]) for unit in found if unit not in ordered]
    misses += [Miss(metric="text.spaced", what="blanks", gold=units[unit]) for unit in found if unit not in set(parted)]
    return Score(
        tallies={
            "text.found": Tally(right=len(found), total=len(units)),
            "text.fuzzy": Tally(right=len(found) + near, total=len(units)),
            "text.spaced": Tally(right=len(parted), total=len(found)),
            "text.order": Tally(right=len(ordered), total=len(found)),
            "text.in_order": Tally(right=len(ordered), total=len(units)),
        },
        misses=tuple(misses),
    )


def _units(gold: Gold) -> dict[str, str]:
    """The sentences to look for, in order: without blanks -> with them."""
    found = [spaced(sentence) for paragraph in gold.paragraphs for sentence in split_sentences(paragraph)]
    once = Counter(found)
    folded = ((unit.replace(" ", ""), unit) for unit in found if once[unit] == 1)
    return {key: unit for key, unit in folded if len(key) >= _SHORTEST_UNIT}


def _state(unit: str, text: str, seeds: dict[str, list[int]]) -> str:
    """What became of a unit that does not stand there exactly once."""
    if unit in text:
        return "stands there more than once"
    return "differs a little" if _nearly(unit, seeds) else "lost"


def _seeds(text: str) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for start in range(len(text) - _SEED + 1):
        places.setdefault(text[start : start + _SEED], []).append(start)
    return places


def _nearly(unit: str, seeds: dict[str, list[int]]) -> bool:
    """Whether most parts of `unit` stand in one place, a little shifted at most."""
    width = len(unit)
    diagonals: Counter[int] = Counter()
    count = width - _SEED + 1
    for start in range(count):
        for bucket in {(place - start) // width for place in seeds.get(unit[start : start + _SEED], ())}:
            diagonals[bucket] += 1
            diagonals[bucket + 1] += 1
    return bool(diagonals) and max(diagonals.values()) / count >= _SAME_UNIT
