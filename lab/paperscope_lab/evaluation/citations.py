"""The citations suite: does each cited place print what the claim says?"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from itertools import chain, permutations
from pathlib import Path

from paperscope_core.types import Answer, Cell, Claim, Element, Evidence, Figure, Place, Table
from paperscope_lab.errors import GoldFileError
from paperscope_lab.evaluation.gold.files import map_gold
from paperscope_lab.evaluation.gold.questions import PdfQuestion, docbench_questions, mmlongbench_questions
from paperscope_lab.evaluation.libraries import Libraries
from paperscope_lab.evaluation.matching import normalise_spaces
from paperscope_lab.evaluation.metrics.numbers import Number, numbers_in, same_number, stated_numbers, without_labels
from paperscope_lab.evaluation.page_words import PrintedPage, read_pages, words_in
from paperscope_lab.evaluation.question_suite import library_of_paper, question_suite
from paperscope_lab.evaluation.score import Miss, Score, Tally
from paperscope_lab.evaluation.suite import Item, Request
from query.content_words import content_words

__all__ = ["SUITE", "check_citations", "prints_numbers", "prints_quote", "word_share"]

# Readers differ on formulas and on characters without a Unicode mapping.
_MIN_TOKEN_SHARE = 0.8
# With more numbers than this, some pair gives almost any result.
_MOST_OPERANDS = 12
_TOKEN = re.compile(r"[^\W_]+")
_OPERATION_WORDS: Mapping[str, re.Pattern[str]] = {
    operation: re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    for operation, words in {
        "difference": r"differ\w*|more|less|fewer|gap|margin|gain\w*|improve\w*|increas\w*|decreas\w*|drop\w*|reduc\w*"
        r"|higher|lower|larger|smaller|faster|slower|minus|chang\w*|from",
        "sum": r"sum|totals?|together|altogether|plus|combined|in all",
        "mean": r"means?|averag\w*",
        "ratio": r"ratio|times|fold|share|per cent|percent\w*|of",
    }.items()
}
_RANKING_WORDS = re.compile("highest|lowest|largest|smallest|greatest|best|worst|values?")


def prints_quote(printed: Sequence[str], quote: str) -> bool:
    """Return whether at least 0.8 of the quote's tokens are printed, each as often; ligatures and case are folded.

    `printed` contains a word that is hyphenated at a line end both whole and in its parts, as `words_in` does.
    """
    wanted, there = _tokens(quote), _tokens(" ".join(printed))
    return (wanted & there).total() >= _MIN_TOKEN_SHARE * wanted.total()


def prints_numbers(printed: Sequence[str], claim: str, *, question: str = "", names: Sequence[str] = ()) -> bool:
    """Return whether each number that the claim adds to the question is printed (to the claim's precision) or derived.

    `names` are words that name the printed content, such as headers, which may contain a number ("α = 0.6").

    A number is derived if the claim says so ("0.97 more", "the sum", "on average", "twice the …") and it follows from
    two printed numbers: from all printed numbers if they are few, else from those that the claim states. Signs may
    differ, and labels such as "Table 5" are not numbers.
    """
    free = without_labels(claim)
    claimed = stated_numbers(free, question) if numbers_in(free) else ()
    there = numbers_in(" ".join(printed))
    operands = there if len(there) <= _MOST_OPERANDS else tuple(it for it in numbers_in(free) if _is_in(it, there))
    known = (*there, *numbers_in(" ".join(names)))
    return all(_is_in(number, known) or _is_computable(number, operands, claim) for number in claimed)


def word_share(printed: Sequence[str], claim: str) -> float:
    """Return the share of the claim's content words that are printed; 1 where it has none.

    Ignores numbers, labels, and words for what was computed ("highest", "lower"), which no page prints.
    """
    wanted = {
        word
        for word in content_words(normalise_spaces(without_labels(claim)))
        if not (numbers_in(word) or _is_computation_word(word))
    }
    there = content_words(normalise_spaces(" ".join(printed)))
    return len(wanted & there) / len(wanted) if wanted else 1.0


def _is_computation_word(word: str) -> bool:
    return any(words.fullmatch(word) for words in (_RANKING_WORDS, *_OPERATION_WORDS.values()))


def _tokens(text: str) -> Counter[str]:
    return Counter(_TOKEN.findall(normalise_spaces(text).casefold()))


def _is_in(number: Number, others: Sequence[Number]) -> bool:
    amount = replace(number, value=abs(number.value))
    return any(same_number(amount, replace(other, value=abs(other.value))) for other in others)


def _is_computable(number: Number, operands: Sequence[Number], claim: str) -> bool:
    said = {operation for operation, words in _OPERATION_WORDS.items() if words.search(claim)}
    values = list(dict.fromkeys(abs(operand.value) for operand in operands))
    return any(
        operation in said and abs(result - abs(number.value)) <= number.step / 2
        for one, other in permutations(values, 2)
        for operation, result in _results(one, other, percent=number.kind == "share")
    )


def _results(one: Decimal, other: Decimal, *, percent: bool) -> Iterator[tuple[str, Decimal]]:
    yield "difference", abs(one - other)
    yield "sum", one + other
    yield "mean", (one + other) / 2
    if other:
        yield "ratio", one / other
    if other and percent:
        yield "ratio", 100 * one / other
        yield "difference", 100 * abs(one - other) / other


def check_citations(
    answer: Answer, *, file: Path, element: Callable[[str], Element], gold_pages: Sequence[int] = ()
) -> Score:
    """Return the tallies of all claims of an answer from one PDF, whose parse has the elements that `element` finds by
    id.

    Each tally is also by the kind of element that the claim rests on ("quote.table"). uncited: no place is cited;
    place: all places are on pages of the paper; quote: the places print all quotations; numbers: see `prints_numbers`;
    words: the share of the claim's words printed there, or in the caption or the headers; page: one of the pages is the
    gold's, if the gold has any. with_claims counts the answers that have claims. What is cited on a page that prints no
    words (a scan) is not compared.
    """
    pages = read_pages(file)
    score = Score(
        tallies={"with_claims": Tally(right=bool(answer.claims), total=1)} if answer.status == "answered" else {},
        details={
            "question": answer.question,
            "answer": normalise_spaces(answer.text),
            "cited": "; ".join(str(place) for found in answer.evidence for place in found.places),
        },
    )
    for claim in answer.claims:
        elements = {found.element: element(found.element) for found in claim.evidence}
        score += _score_claim(claim, answer, pages=pages, elements=elements, gold_pages=gold_pages)
    return score


def _score_claim(
    claim: Claim,
    answer: Answer,
    *,
    pages: Sequence[PrintedPage],
    elements: Mapping[str, Element],
    gold_pages: Sequence[int],
) -> Score:
    places = [place for found in claim.evidence for place in found.places]
    printed = [_words_at(place, pages) for place in places if _exists(place, pages)]
    marks = {"uncited": float(not places)}
    if places:
        marks["place"] = float(all(_exists(place, pages) for place in places))
        if gold_pages:
            marks["page"] = float(any(place.page in gold_pages for place in places))
    if all(page.words for place in places for page in pages[place.page - 1 : place.page]):
        words = [word for at_place in printed for word in at_place]
        naming = {place: None for it in claim.evidence for place in _naming_places(it.place, elements[it.element])}
        names = [word for place in naming for word in _words_at(place, pages)]
        marks["numbers"] = float(prints_numbers(words, claim.text, question=answer.question, names=names))
        # No page prints a model's reading of an image.
        read = {reading.element for reading in answer.readings}
        quoting = [it for it in claim.evidence if it.quote and it.element not in read]
        if quoting:
            marks["quote"] = float(all(prints_quote(_words_of(it, pages), it.quote) for it in quoting))
        if places:
            marks["words"] = word_share([*words, *names], claim.text)
    kinds = {element.kind for element in elements.values()}
    kind = next(iter(kinds)) if len(kinds) == 1 else "mixed" if kinds else ""
    tallies = {metric: Tally(right=mark, total=1) for metric, mark in marks.items()}
    by_kind = {f"{metric}.{kind}": tally for metric, tally in tallies.items() if kind and metric != "uncited"}
    quotes = " | ".join(evidence.quote for evidence in claim.evidence)
    got = " | ".join(" ".join(words) for words in printed)
    wrong = [metric for metric, mark in marks.items() if mark == (metric == "uncited")]
    return Score(
        tallies=tallies | by_kind,
        misses=tuple(Miss(metric=metric, what=claim.text, gold=quotes, got=got) for metric in wrong),
    )


def _exists(place: Place, pages: Sequence[PrintedPage]) -> bool:
    return 1 <= place.page <= len(pages) and pages[place.page - 1].contains(place.box)


def _words_at(place: Place, pages: Sequence[PrintedPage]) -> list[str]:
    return words_in(pages[place.page - 1], place.box) if _exists(place, pages) else []


def _words_of(evidence: Evidence, pages: Sequence[PrintedPage]) -> list[str]:
    return [word for place in evidence.places for word in _words_at(place, pages)]


def _naming_places(place: Place, element: Element) -> Iterator[Place]:
    """Yield the places that name the content of a place: its caption, and in a table the headers of its rows and
    columns."""
    if isinstance(element, Table | Figure) and element.caption_place:
        yield element.caption_place
    if isinstance(element, Table):
        cited = [cell for cell in element.cells if _is_within(cell.place, place)]
        rows = {row for cell in cited for row in _rows(cell)}
        columns = {column for cell in cited for column in _columns(cell)}
        sections = [cell for cell in element.cells if cell.role == "section" and cell.row <= min(rows, default=-1)]
        for cell in element.cells:
            names_row = cell.role == "row_header" and not rows.isdisjoint(_rows(cell))
            names_column = cell.role == "column_header" and not columns.isdisjoint(_columns(cell))
            if names_row or names_column or cell in sections[-1:]:
                yield cell.place


def _rows(cell: Cell) -> range:
    return range(cell.row, cell.row + cell.row_span)


def _columns(cell: Cell) -> range:
    return range(cell.column, cell.column + cell.column_span)


def _is_within(inner: Place, outer: Place) -> bool:
    """Return whether the centre of a place is in another place."""
    x, y = (inner.box.x0 + inner.box.x1) / 2, (inner.box.y0 + inner.box.y1) / 2
    box = outer.box
    return inner.page == outer.page and box.x0 <= x <= box.x1 and box.y0 <= y <= box.y1


def _score(file: Path, question: str, pages: Sequence[int], libraries: Libraries) -> Score:
    """Ask the paper's library; `pages` are the gold's. Raises PaperFileError, and ModelError if a model is asked."""
    library = libraries.library(library_of_paper(libraries, file))
    return check_citations(library.ask(question), file=file, element=library.element, gold_pages=pages)


def _read(request: Request, libraries: Libraries) -> Iterator[Item | GoldFileError]:
    """Return the questions on PDFs, in the sets "papers" (question files beside papers) and "mmlongbench"."""

    def item(found: PdfQuestion) -> Iterator[Item]:
        name = "papers" if found.set == "docbench" else found.set
        yield Item(
            name=f"{name}/{found.paper}/{found.id}",
            score=partial(_score, found.file, found.question, found.evidence_pages, libraries),
            gold=(found.question, found.evidence_pages),
            files=(found.file,),
        )

    return map_gold(chain(docbench_questions(request.data), mmlongbench_questions(request.data)), item)


SUITE = question_suite(
    "citations",
    _read,
    headline=("place", "quote", "numbers", "words", "page"),
    missing="no questions here; name a folder with papers/NAME/paper.pdf and questions.jsonl beside it",
)
