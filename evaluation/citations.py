"""The citations suite: does each cited place print what the claim says?"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain, permutations
from pathlib import Path

from evaluation.gold.files import file_hash
from evaluation.gold.questions import docbench_questions, mmlongbench_questions
from evaluation.libraries import Libraries
from evaluation.matching import normalise_spaces
from evaluation.metrics.numbers import Number, numbers_in, same_number, stated_numbers, without_labels
from evaluation.page_words import PrintedPage, read_pages, words_in
from evaluation.question_suite import QuestionSuite, library_of_paper
from evaluation.score import Miss, Score, Tally, total
from evaluation.suite import Request
from paperscope_core.errors import GoldFileError
from paperscope_core.types import Answer, Box, Claim, Element, Evidence, Figure, Place, Table
from query.words import content_words

__all__ = [
    "CitationChecker",
    "CitationItem",
    "citations_suite",
    "prints_numbers",
    "prints_quote",
    "word_share",
]


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
    """Whether at least 0.8 of the quote's tokens are printed, each as often; ligatures and case are folded.

    `printed` contains a word that is hyphenated at a line end both whole and in its parts, as `words_in` does.
    """
    wanted, there = Counter(_tokens([quote])), Counter(_tokens(printed))
    return (wanted & there).total() >= _MIN_TOKEN_SHARE * wanted.total()


def prints_numbers(printed: Sequence[str], claim: str, *, question: str = "", names: Sequence[str] = ()) -> bool:
    """Whether each number that the claim adds to the question is printed (to the claim's precision) or derived.

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
    """The share of the claim's content words that are printed; 1 where it has none.

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


def _tokens(texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        yield from _TOKEN.findall(normalise_spaces(text).casefold())


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


@dataclass(frozen=True, kw_only=True, slots=True)
class CitationChecker:
    """Checks answers from one PDF.

    `element` finds the elements of its parse by id, for the captions and table headers of a place.
    """

    file: Path
    element: Callable[[str], Element]

    def check(self, answer: Answer, *, gold_pages: Set[int] = frozenset()) -> Score:
        """The tallies of all claims; each also by the kind of element that the claim rests on ("quote.table"):

        uncited: no place is cited; place: all places are on pages of the paper; quote: the places print all quotations;
        numbers: see `prints_numbers`; words: the share of the claim's words printed there, or in the caption or
        the headers; page: one of the pages is the gold's, if the gold has any. with_claims counts the answers
        that have claims. What is cited on a page that prints no words (a scan) is not compared.
        """
        scores = [self._claim(claim, answer, gold_pages) for claim in answer.claims]
        tallies = {}
        if answer.status == "answered":
            tallies["with_claims"] = Tally(right=bool(answer.claims), total=1)
        cited = "; ".join(str(found.place) for claim in answer.claims for found in claim.evidence)
        details = {"question": answer.question, "answer": normalise_spaces(answer.text), "cited": cited}
        return total((Score(tallies=tallies, details=details), *scores))

    def _claim(self, claim: Claim, answer: Answer, gold_pages: Set[int]) -> Score:
        marks = {"uncited": float(not claim.evidence)}
        pages = read_pages(self.file)
        places = [evidence.place for evidence in claim.evidence]
        if places:
            marks["place"] = float(all(_exists(place, pages) for place in places))
        if gold_pages and places:
            marks["page"] = float(any(place.page in gold_pages for place in places))
        printed = [_words_at(place, pages) for place in places if _exists(place, pages)]
        if all(printed_page.words for place in places for printed_page in pages[place.page - 1 : place.page]):
            marks |= self._words(claim, answer, [word for words in printed for word in words])
        return _claim_score(
            claim,
            marks,
            kinds={self.element(evidence.element).kind for evidence in claim.evidence},
            printed=" | ".join(" ".join(words) for words in printed),
        )

    def _words(self, claim: Claim, answer: Answer, printed: Sequence[str]) -> Mapping[str, float]:
        pages = read_pages(self.file)
        beside = {place: None for it in claim.evidence for place in _naming_places(it.place, self.element(it.element))}
        names = [word for place in beside for word in _words_at(place, pages)]
        marks = {"numbers": float(prints_numbers(printed, claim.text, question=answer.question, names=names))}
        quoted = [evidence for evidence in claim.evidence if evidence.quote and not _is_reading(evidence, answer)]
        if quoted:
            marks["quote"] = float(all(prints_quote(_words_at(it.place, pages), it.quote) for it in quoted))
        if claim.evidence:
            marks["words"] = word_share([*printed, *names], claim.text)
        return marks


def _exists(place: Place, pages: Sequence[PrintedPage]) -> bool:
    return 1 <= place.page <= len(pages) and pages[place.page - 1].holds(place.box)


def _words_at(place: Place, pages: Sequence[PrintedPage]) -> list[str]:
    return words_in(pages[place.page - 1], place.box) if _exists(place, pages) else []


def _is_reading(evidence: Evidence, answer: Answer) -> bool:
    """Whether the evidence is a model's reading of an image, which no page prints."""
    return any(reading.element == evidence.element for reading in answer.readings)


def _naming_places(place: Place, element: Element) -> Iterator[Place]:
    """The places that name the content of a place: its caption, and in a table the headers of its rows and columns."""
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


def _claim_score(claim: Claim, marks: Mapping[str, float], *, kinds: Set[str], printed: str) -> Score:
    kind = next(iter(kinds)) if len(kinds) == 1 else "mixed" if kinds else ""
    tallies = {metric: Tally(right=mark, total=1) for metric, mark in marks.items()}
    by_kind = {f"{metric}.{kind}": tally for metric, tally in tallies.items() if kind and metric != "uncited"}
    wrong = [metric for metric, mark in marks.items() if mark == (metric == "uncited")]
    quotes = " | ".join(evidence.quote for evidence in claim.evidence)
    misses = (Miss(metric=metric, what=claim.text, gold=quotes, got=printed) for metric in wrong)
    return Score(tallies=tallies | by_kind, misses=tuple(misses))


@dataclass(frozen=True, kw_only=True, slots=True)
class CitationItem:
    """Asks the paper's library, and checks the citations; `pages` are the gold's, empty if unknown."""

    name: str
    file: Path
    question: str
    pages: tuple[int, ...]
    libraries: Libraries

    @property
    def fingerprint(self) -> str:
        """See `SuiteItem.fingerprint`."""
        return f"{file_hash(self.file)} {self.question} {self.pages}"

    def score(self) -> Score:
        """Raises PaperFileError, and ModelError if a model is asked."""
        library = self.libraries.library(library_of_paper(self.libraries, self.file))
        checker = CitationChecker(file=self.file, element=library.element)
        return checker.check(library.ask(self.question), gold_pages=frozenset(self.pages))


def _citation_items(request: Request, libraries: Libraries) -> Iterator[CitationItem | GoldFileError]:
    """The questions on PDFs, in the sets "papers" (question files beside papers) and "mmlongbench"."""
    for found in chain(docbench_questions(request.data), mmlongbench_questions(request.data)):
        if isinstance(found, GoldFileError):
            yield found
            continue
        set_name = "papers" if found.set == "docbench" else found.set
        yield CitationItem(
            name=f"{set_name}/{found.paper}/{found.id}",
            file=found.file,
            question=found.question,
            pages=found.evidence_pages,
            libraries=libraries,
        )


def citations_suite() -> QuestionSuite:
    """The suite."""
    return QuestionSuite(
        name="citations",
        headline=("place", "quote", "numbers", "words", "page"),
        read=_citation_items,
        missing="no questions here; name a folder with papers/NAME/paper.pdf and questions.jsonl beside it",
    )
