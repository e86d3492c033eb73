"""Scores an answer to a look-up."""

from pathlib import Path

from evaluation.gold.values import GoldLookup
from evaluation.matching import spaced
from evaluation.metrics.numbers import same_number, stated_numbers
from evaluation.metrics.quantities import as_number, numbers_in
from evaluation.metrics.text import contains_answer
from evaluation.parsing.lookups import found_cells
from evaluation.printed import printed_pages, words_in
from evaluation.values import Miss, Score, Tally
from paperscope_core.types import Answer, Box, Paper, Place

__all__ = ["question_of", "score_answer", "states_value"]


_SAME_BOX = 0.5


def question_of(lookup: GoldLookup) -> str:
    """The look-up in words; a table without a label is named by its caption."""
    if lookup.label:
        return f"In {lookup.label}, what is the {lookup.column} of {lookup.row}?"
    return f'In the table "{lookup.caption}", what is the {lookup.column} of {lookup.row}?'


def score_answer(answer: Answer, lookup: GoldLookup, *, paper: Paper, file: Path) -> Score:
    """answered; right: the value is stated; where the gold names the table's page, cited_page: a claim cites that page,
    and cited_cell: it cites there the gold's cell as our parse has it, or else a place that prints the value alone."""
    text = answer.text if answer.status == "answered" else ""
    right = bool(text) and states_value(lookup.answer, text, question=answer.question)
    marks = {"right": right, "answered": bool(text)}
    places = [evidence.place for claim in answer.claims for evidence in claim.evidence]
    if lookup.page is not None:
        there = [place for place in places if place.page == lookup.page]
        marks["cited_cell"] = bool(text) and _is_cited(there, lookup, paper=paper, file=file)
        marks["cited_page"] = bool(text) and bool(there)
    wrong = [name for name, good in marks.items() if not good]
    shown = spaced(answer.text)
    cited = "; ".join(map(str, places))
    return Score(
        tallies={name: Tally(right=good, total=1) for name, good in marks.items()},
        misses=tuple(Miss(metric=name, what=answer.question, gold=lookup.answer, got=shown) for name in wrong),
        details={"question": answer.question, "gold": lookup.answer, "answer": shown, "cited": cited},
    )


def states_value(gold: str, text: str, *, question: str) -> bool:
    """Whether the text states the cell's value: a number as rounded as it is printed, several ones, or words.

    Numbers that the question gives, and those of labels such as "Table 5", don't count, unless the value is among the
    question's.
    """
    number = as_number(gold)
    if number is None and contains_answer(gold, text):
        return True
    wanted = (number,) if number else numbers_in(gold)
    given = numbers_in(question)
    asked = "" if any(same_number(one, other) for one in wanted for other in given) else question
    stated = stated_numbers(text, asked)
    return bool(wanted) and all(any(same_number(one, other) for other in stated) for one in wanted)


def _is_cited(places: list[Place], lookup: GoldLookup, *, paper: Paper, file: Path) -> bool:
    cells = found_cells(paper, lookup)
    if cells:
        return any(
            place.page == cell.place.page and _common(place.box, cell.place.box) >= _SAME_BOX
            for place in places
            for cell in cells
        )
    pages = printed_pages(file)
    printed = [words_in(pages[place.page - 1], place.box) for place in places if place.page <= len(pages)]
    return any(spaced(" ".join(words)) == spaced(lookup.answer) for words in printed)


def _common(one: Box, other: Box) -> float:
    """The shared area over the area of both (Jaccard index)."""
    width, height = min(one.x1, other.x1) - max(one.x0, other.x0), min(one.y1, other.y1) - max(one.y0, other.y0)
    shared = max(width, 0) * max(height, 0)
    both = sum((box.x1 - box.x0) * (box.y1 - box.y0) for box in (one, other)) - shared
    return shared / both if both > 0 else 0.0
