"""Scores the claims of an answer by what the paper's pages print at the places they cite."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from evaluation.citations.matching import holds_numbers, holds_quote, word_share
from evaluation.matching import spaced
from evaluation.printed import PrintedPage, printed_pages, words_in
from evaluation.values import Miss, Score, Tally, total
from paperscope_core.types import Answer, Box, Claim, Element, Evidence, Figure, Place, Table

__all__ = ["Checker"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Checker:
    """Checks answers from one PDF. `element` finds elements of its parse by id, for what stands beside a place: a
    caption, the headers of a table."""

    file: Path
    element: Callable[[str], Element]

    def check(self, answer: Answer, *, gold_pages: Set[int] = frozenset()) -> Score:
        """The tallies of all claims; each also by the kind of element that the claim rests on ("quote.table"):

        uncited: no place is cited; place: all places lie on pages of the paper; quote: all that is quoted stands there;
        numbers: see `holds_numbers`; words: the share of the claim's words that stand there, or in the caption or the
        headers beside; page: one of the pages is the gold's, where the gold has any. with_claims counts the answers
        that have claims. What is cited on a page that prints no words (a scan) is not compared.
        """
        scores = [self._claim(claim, answer, gold_pages) for claim in answer.claims]
        tallies = {}
        if answer.status == "answered":
            tallies["with_claims"] = Tally(right=bool(answer.claims), total=1)
        cited = "; ".join(str(found.place) for claim in answer.claims for found in claim.evidence)
        details = {"question": answer.question, "answer": spaced(answer.text), "cited": cited}
        return total((Score(tallies=tallies, details=details), *scores))

    def _claim(self, claim: Claim, answer: Answer, gold_pages: Set[int]) -> Score:
        marks = {"uncited": float(not claim.evidence)}
        pages = printed_pages(self.file)
        places = [evidence.place for evidence in claim.evidence]
        if places:
            marks["place"] = float(all(_exists(place, pages) for place in places))
        if gold_pages and places:
            marks["page"] = float(any(place.page in gold_pages for place in places))
        printed = [_printed(place, pages) for place in places if _exists(place, pages)]
        if all(printed_page.words for place in places for printed_page in pages[place.page - 1 : place.page]):
            marks |= self._words(claim, answer, [word for words in printed for word in words])
        return _scored(
            claim,
            marks,
            kinds={self.element(evidence.element).kind for evidence in claim.evidence},
            printed=" | ".join(" ".join(words) for words in printed),
        )

    def _words(self, claim: Claim, answer: Answer, printed: Sequence[str]) -> Mapping[str, float]:
        pages = printed_pages(self.file)
        beside = {place: None for it in claim.evidence for place in _beside(it.place, self.element(it.element))}
        names = [word for place in beside for word in _printed(place, pages)]
        marks = {"numbers": float(holds_numbers(printed, claim.text, question=answer.question, names=names))}
        quoted = [evidence for evidence in claim.evidence if evidence.quote and not _is_reading(evidence, answer)]
        if quoted:
            marks["quote"] = float(all(holds_quote(_printed(it.place, pages), it.quote) for it in quoted))
        if claim.evidence:
            marks["words"] = word_share([*printed, *names], claim.text)
        return marks


def _exists(place: Place, pages: Sequence[PrintedPage]) -> bool:
    return 1 <= place.page <= len(pages) and pages[place.page - 1].holds(place.box)


def _printed(place: Place, pages: Sequence[PrintedPage]) -> list[str]:
    return words_in(pages[place.page - 1], place.box) if _exists(place, pages) else []


def _is_reading(evidence: Evidence, answer: Answer) -> bool:
    """What a model says to see in a picture is not printed."""
    return any(reading.element == evidence.element for reading in answer.readings)


def _beside(place: Place, element: Element) -> Iterator[Place]:
    """What names the things at a place: the caption, and in a table the headers of the rows and columns there."""
    if isinstance(element, Table | Figure) and element.caption_place:
        yield element.caption_place
    if isinstance(element, Table):
        cited = [
            cell for cell in element.cells if cell.place.page == place.page and _is_within(cell.place.box, place.box)
        ]
        rows = {row for cell in cited for row in range(cell.row, cell.row + cell.row_span)}
        columns = {column for cell in cited for column in range(cell.column, cell.column + cell.column_span)}
        sections = [cell for cell in element.cells if cell.role == "section" and cell.row <= min(rows, default=-1)]
        for cell in element.cells:
            across, down = range(cell.column, cell.column + cell.column_span), range(cell.row, cell.row + cell.row_span)
            heads = cell.role == "column_header" and not columns.isdisjoint(across)
            if heads or (cell.role == "row_header" and not rows.isdisjoint(down)) or cell in sections[-1:]:
                yield cell.place


def _is_within(one: Box, other: Box) -> bool:
    x, y = (one.x0 + one.x1) / 2, (one.y0 + one.y1) / 2
    return other.x0 <= x <= other.x1 and other.y0 <= y <= other.y1


def _scored(claim: Claim, marks: Mapping[str, float], *, kinds: Set[str], printed: str) -> Score:
    kind = next(iter(kinds)) if len(kinds) == 1 else "mixed" if kinds else ""
    tallies = {metric: Tally(right=mark, total=1) for metric, mark in marks.items()}
    by_kind = {f"{metric}.{kind}": tally for metric, tally in tallies.items() if kind and metric != "uncited"}
    wrong = [metric for metric, mark in marks.items() if mark == (metric == "uncited")]
    quotes = " | ".join(evidence.quote for evidence in claim.evidence)
    misses = (Miss(metric=metric, what=claim.text, gold=quotes, got=printed) for metric in wrong)
    return Score(tallies=tallies | by_kind, misses=tuple(misses))
