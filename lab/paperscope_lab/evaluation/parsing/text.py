"""Scores the text of a paper: sentences and their order, headings, captions, references, title and counts."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from paperscope_core.text.sentences import split_sentences
from paperscope_core.types import Equation, Figure, Paper, Passage, Reference, Section, Table
from paperscope_lab.evaluation.gold.papers import Gold, GoldCaption
from paperscope_lab.evaluation.matching import (
    align,
    longest_increasing_subsequence,
    normalise_spaces,
    pair_best,
    remove_spaces,
    similarity,
)
from paperscope_lab.evaluation.parsing.tables import label_number
from paperscope_lab.evaluation.score import Miss, Score, Tally, score_checks, total

__all__ = ["score_captions", "score_counts", "score_headings", "score_order", "score_references"]

_MIN_CAPTION_SIMILARITY = 0.85
_MIN_TITLE_SIMILARITY = 0.8
# Headings that gold data commonly omits: they count neither as found nor as false.
_UNLISTED = frozenset(
    "abstract references bibliography acknowledgement acknowledgements acknowledgment acknowledgments contents "
    "keywords".split()
)
_MIN_UNIT_LENGTH = 25
_SEED_LENGTH = 12
_MIN_SEED_SHARE = 0.8
_MIN_REFERENCE_SIMILARITY = 0.9


def score_captions(paper: Paper, gold: Gold) -> Score:
    """captions.figure, captions.table, captions.any (kind unknown): gold captions found on a float of that kind, with
    the gold's number if it has one.

    Captions match at a trigram similarity of 0.85 or more.
    """
    floats = [element for element in paper.elements if isinstance(element, Table | Figure)]
    pairs = pair_best(gold.captions, floats, worth=_caption_worth, least=_MIN_CAPTION_SIMILARITY)
    return total(
        score_checks(
            {f"captions.{caption.kind or 'any'}": index in pairs},
            what=caption.label or "caption",
            gold=caption.text,
            got=_nearest(caption, floats),
        )
        for index, caption in enumerate(gold.captions)
    )


def _caption_worth(caption: GoldCaption, element: Table | Figure) -> float:
    if caption.kind not in (None, element.kind):
        return 0.0
    if caption.label and label_number(caption.label) != label_number(element.label):
        return 0.0
    return similarity(caption.text, element.caption)


def _nearest(caption: GoldCaption, floats: Sequence[Table | Figure]) -> str:
    nearest = max(floats, key=lambda element: similarity(caption.text, element.caption), default=None)
    return f"{nearest.label}: {nearest.caption}" if nearest else ""


def score_headings(paper: Paper, gold: Gold) -> Score:
    """headings.found: gold titles that match a section, in order; headings.true: sections that match the gold;
    headings.level: sections at the right level, of those found whose level the gold annotates.

    Abstract, references and similar headings are not false if the gold lacks them.
    """
    if gold.headings is None:
        return Score()
    optional = _UNLISTED - {remove_spaces(heading.title).casefold() for heading in gold.headings}
    got = [section for section in paper.sections if remove_spaces(section.title).casefold() not in optional]
    pairs = align(gold.headings, got, worth=lambda heading, section: _title_worth(heading.title, section))
    levels = [(gold.headings[i].level, got[j].level) for i, j in pairs.items() if gold.headings[i].level is not None]
    known = set(pairs.values())
    misses = [
        Miss(metric="headings.found", what="heading", gold=heading.title)
        for index, heading in enumerate(gold.headings)
        if index not in pairs
    ]
    misses += [
        Miss(metric="headings.true", what="heading", gold="", got=section.title)
        for index, section in enumerate(got)
        if index not in known
    ]
    return Score(
        tallies={
            "headings.found": Tally(right=len(pairs), total=len(gold.headings)),
            "headings.true": Tally(right=len(pairs), total=len(got)),
            "headings.level": Tally(right=sum(level == other for level, other in levels), total=len(levels)),
        },
        misses=tuple(misses),
    )


def _title_worth(title: str, section: Section) -> float:
    likeness = max(similarity(title, section.title), similarity(title, f"{section.number} {section.title}"))
    return likeness if likeness >= _MIN_TITLE_SIMILARITY else 0.0


def score_order(paper: Paper, gold: Gold) -> Score:
    """Return how much of the gold's running text is found, and in order.

    Units are the gold's sentences of at least 25 letters that occur in it once; spaces count in text.spaced only.

    - text.found: units that the paper contains verbatim, exactly once.
    - text.fuzzy: those, and units of which at least 80 % of the 12-letter parts are in one place.
    - text.spaced: of the units found verbatim, those with the gold's word boundaries.
    - text.order: of the units found verbatim, those in the longest increasing sequence of positions.
    - text.in_order: the units in that sequence, of all units: lost and repeated text costs here, too.
    """
    units = _units(gold)
    if not units:
        return Score()
    printed = normalise_spaces(" ".join(_running_texts(paper)))
    text = printed.replace(" ", "")
    found = {unit: text.find(unit) for unit in units if text.count(unit) == 1}
    names = list(found)
    ordered = {names[index] for index in longest_increasing_subsequence(list(found.values()))}
    spaced = {unit for unit in found if units[unit] in printed}
    seeds = _seeds(text)
    states = {unit: _state(unit, text, seeds) for unit in units if unit not in found}
    near = sum(state == "differs a little" for state in states.values())
    misses = [Miss(metric="text.found", what=state, gold=units[unit]) for unit, state in states.items()]
    misses += [Miss(metric="text.order", what="order", gold=units[unit]) for unit in found if unit not in ordered]
    misses += [Miss(metric="text.spaced", what="blanks", gold=units[unit]) for unit in found if unit not in spaced]
    return Score(
        tallies={
            "text.found": Tally(right=len(found), total=len(units)),
            "text.fuzzy": Tally(right=len(found) + near, total=len(units)),
            "text.spaced": Tally(right=len(spaced), total=len(found)),
            "text.order": Tally(right=len(ordered), total=len(found)),
            "text.in_order": Tally(right=len(ordered), total=len(units)),
        },
        misses=tuple(misses),
    )


def _running_texts(paper: Paper) -> Iterator[str]:
    """Yield all texts of a paper in reading order, without page furniture."""
    for element in paper.elements:
        if isinstance(element, Table | Figure):
            yield element.caption
        elif not (isinstance(element, Passage) and element.role == "furniture"):
            yield element.text


def _units(gold: Gold) -> dict[str, str]:
    """Return the sentences to look for, in order: a mapping from the text without spaces to the text with them."""
    found = [normalise_spaces(sentence) for paragraph in gold.paragraphs for sentence in split_sentences(paragraph)]
    once = Counter(found)
    folded = ((unit.replace(" ", ""), unit) for unit in found if once[unit] == 1)
    return {key: unit for key, unit in folded if len(key) >= _MIN_UNIT_LENGTH}


def _state(unit: str, text: str, seeds: Mapping[str, Sequence[int]]) -> str:
    """Why a unit is not found exactly once."""
    if unit in text:
        return "found more than once"
    return "differs a little" if _is_nearly_found(unit, seeds) else "lost"


def _seeds(text: str) -> Mapping[str, Sequence[int]]:
    places: dict[str, list[int]] = defaultdict(list)
    for start in range(len(text) - _SEED_LENGTH + 1):
        places[text[start : start + _SEED_LENGTH]].append(start)
    return places


def _is_nearly_found(unit: str, seeds: Mapping[str, Sequence[int]]) -> bool:
    """Return whether most parts of `unit` are in one place, up to a small shift."""
    width = len(unit)
    starts = range(width - _SEED_LENGTH + 1)
    diagonals: Counter[int] = Counter()
    for start in starts:
        for bucket in {(place - start) // width for place in seeds.get(unit[start : start + _SEED_LENGTH], ())}:
            diagonals.update((bucket, bucket + 1))
    return max(diagonals.values(), default=0) / len(starts) >= _MIN_SEED_SHARE


def score_references(paper: Paper, gold: Gold) -> Score:
    """references.count: the paper has as many entries as the gold (per paper).

    If the gold has their texts: references.split: gold entries matched one to one at a trigram similarity of 0.9;
    references.true: found entries that match; references.year and references.label: correct years and labels of the
    matched entries, where the gold has them.
    """
    got = [element for element in paper.elements if isinstance(element, Reference)]
    expected = len(gold.references) if gold.references is not None else gold.reference_count
    if expected is None:
        return Score()
    equal = {"references.count": len(got) == expected}
    score = score_checks(equal, what="entries", gold=str(expected), got=str(len(got)))
    return score if gold.references is None else score + _score_entries(got, gold)


def _score_entries(got: Sequence[Reference], gold: Gold) -> Score:
    wanted = gold.references or ()
    pairs = pair_best(wanted, got, worth=lambda a, b: similarity(a.text, b.text), least=_MIN_REFERENCE_SIMILARITY)
    met = [(wanted[i], got[j]) for i, j in pairs.items()]
    years = [(one.year, other.year) for one, other in met if one.year is not None]
    labels = [(remove_spaces(one.label), remove_spaces(other.label)) for one, other in met if one.label]
    misses = [
        Miss(metric="references.split", what=f"entry {index + 1}", gold=entry.text)
        for index, entry in enumerate(wanted)
        if index not in pairs
    ]
    misses += [Miss(metric="references.year", what="year", gold=str(a), got=str(b)) for a, b in years if a != b]
    misses += [Miss(metric="references.label", what="label", gold=a, got=b) for a, b in labels if a != b]
    return Score(
        tallies={
            "references.split": Tally(right=len(pairs), total=len(wanted)),
            "references.true": Tally(right=len(pairs), total=len(got)),
            "references.year": Tally(right=sum(a == b for a, b in years), total=len(years)),
            "references.label": Tally(right=sum(a == b for a, b in labels), total=len(labels)),
        },
        misses=tuple(misses),
    )


def score_counts(paper: Paper, gold: Gold) -> Score:
    """equations.found: gold numbers found on an equation; equations.true: numbers that the gold has; figures.count: the
    smaller of the two counts, of the larger; title: equal apart from case and spaces."""
    tallies: dict[str, Tally] = {}
    misses: list[Miss] = []
    if gold.equations is not None:
        labels = [element.label for element in paper.elements if isinstance(element, Equation) and element.label]
        got, wanted = Counter(map(label_number, labels)), Counter(gold.equations)
        met = (got & wanted).total()
        tallies["equations.found"] = Tally(right=met, total=wanted.total())
        tallies["equations.true"] = Tally(right=met, total=got.total())
        misses += [Miss(metric="equations.found", what="equation", gold=number) for number in wanted - got]
        misses += [Miss(metric="equations.true", what="equation", gold="", got=number) for number in got - wanted]
    if gold.figures is not None:
        count = sum(isinstance(element, Figure) for element in paper.elements)
        tallies["figures.count"] = Tally(right=min(count, gold.figures), total=max(count, gold.figures))
        if count != gold.figures:
            misses.append(Miss(metric="figures.count", what="figures", gold=str(gold.figures), got=str(count)))
    score = Score(tallies=tallies, misses=tuple(misses))
    if gold.title is None:
        return score
    equal = {"title": similarity(gold.title, paper.title) == 1}
    return score + score_checks(equal, what="title", gold=gold.title, got=paper.title)
