"""The answerer without a language model: it quotes sentences and computes over table cells."""

from collections.abc import Sequence

from paperscope_core.protocols import Corpus, Embedder
from paperscope_core.types import Claim, Context, Paper
from query.evidence import Draft
from query.extractive.choice import choose
from query.extractive.confidence import coverage_probability
from query.extractive.definitions import definition
from query.extractive.passages import PassageReader, elements_of
from query.extractive.phrase import table_name
from query.extractive.question import Question, read_question
from query.extractive.quotes import Quote, Scorer, complementing
from query.extractive.table_reading import TableReading
from query.extractive.tables import TableReader
from query.extractive.verdict import settled
from query.extractive.weights import Vocabulary, Weights, vocabulary
from query.extractive.words import Token

__all__ = ["EmbeddedAnswerer"]


# The shares of the question's telling words that evidence must account for; below, the papers are taken not to say.
# Chosen on questions put to the papers they were written for and to others: they answer more than four in five of
# the former and fewer than one in fifty of the latter. A table whose row and column are both named needs less, and
# one that the question names by its label least.
_TABLE_COVERAGE = 0.55
_MANY_COVERAGE = 0.65
_FEW = 2
_SPECIFIC_COVERAGE = 0.4
_NAMED_COVERAGE = 0.3
# A wrong answer costs half of what a right one is worth: more probable than this, it pays to answer.
_LEAST = 1 / 3
# A choice is made from many sentences, none of which need be probable by itself.
_CHOICE_COVERAGE = 0.4
# How probable it is that an abbreviation that a paper introduces is read aright.
_DEFINED = 0.9
# A sentence outdoes a table's look-up only if it accounts for clearly more of the question.
_TABLE_FIRST = 0.05
# A header that the question holds in full and no sentence does decides for the table.
_TELLING = 0.4
_DOUBTFUL_GRID = 0.6
# The words of so many papers are remembered: some 40 MB.
_MOST_VOCABULARIES = 64
_COMPUTED = ("superlative", "difference", "gain", "ratio", "sum", "average", "comparison")


class EmbeddedAnswerer:
    """Answers from a context with an embedder alone; deterministic for a given embedder."""

    def __init__(self, corpus: Corpus, embedder: Embedder) -> None:
        self._corpus = corpus
        self._tables = TableReader(corpus, embedder)
        self._passages = PassageReader(embedder)
        self._vocabularies: dict[tuple[str, int], Vocabulary] = {}

    async def answer(self, question: str, context: Context, *, named: tuple[str, ...] = ()) -> Draft:
        """A draft that rests on cells or sentences, or says that the papers don't say. Raises ModelError.

        `named` are ids of elements that the question names ("Table 8"); of tables, only these are read then.
        """
        papers = self._papers(context, named)
        weights = self._weights_of(papers)
        asked = read_question(question, common=weights.common)
        scorer = Scorer(asked, weights)
        near = elements_of(self._corpus, context)
        quotes = await self._passages.read(asked, near, scorer, papers=papers)
        unknown = weights.unknown(asked.words, asked.names)
        if unknown or not papers:
            return _unanswerable(asked, quotes, unknown)
        defined = definition(question, scorer, papers)
        if defined is not None:
            return _told(*defined, _DEFINED)
        found = await self._tables.read(asked, near, weights, papers=papers, named=named)
        reading = found if found is not None and _holds(found, named) else None
        best = [quote for quote in quotes if _says(asked, quote)]
        if reading is not None and (not best or _prefers_table(asked, reading, best[0], scorer, named)):
            return _from_table(reading)
        draft = _from_text(asked, best, scorer, papers) if best else None
        return draft or _unanswerable(asked, quotes, ())

    def _papers(self, context: Context, named: Sequence[str]) -> list[Paper]:
        ids = [self._corpus.element(element).place.paper for element in named]
        ids += [source.place.paper for source in context.sources]
        return [self._corpus.paper(paper) for paper in dict.fromkeys(ids)]

    def _weights_of(self, papers: Sequence[Paper]) -> Weights:
        return Weights([self._vocabulary_of(paper) for paper in papers])

    def _vocabulary_of(self, paper: Paper) -> Vocabulary:
        key = (paper.id, len(paper.elements))
        found = self._vocabularies.pop(key, None) or vocabulary(paper)
        self._vocabularies[key] = found
        if len(self._vocabularies) > _MOST_VOCABULARIES:
            del self._vocabularies[next(iter(self._vocabularies))]
        return found


def _holds(reading: TableReading, named: Sequence[str]) -> bool:
    if any(table.id in named for table in reading.tables):
        return reading.coverage >= _NAMED_COVERAGE
    cells = len(reading.claim.evidence)
    least = _SPECIFIC_COVERAGE if reading.specific and cells <= _FEW else _TABLE_COVERAGE
    return reading.coverage >= (least if cells <= _FEW else _MANY_COVERAGE) and not reading.unheld


def _says(question: Question, quote: Quote) -> bool:
    return quote.score >= _LEAST or (bool(question.choices) and quote.coverage >= _CHOICE_COVERAGE)


def _prefers_table(
    question: Question, reading: TableReading, quote: Quote, scorer: Scorer, named: Sequence[str]
) -> bool:
    if question.kind in ("formula", "reason"):
        return False
    if question.kind in _COMPUTED or reading.direct or any(table.id in named for table in reading.tables):
        return True
    if reading.specific and scorer.weight(reading.mentioned - quote.held - quote.around) >= _TELLING:
        return True
    if reading.specific and question.quantity:
        return True
    return reading.specific and reading.coverage >= quote.coverage - _TABLE_FIRST


def _from_table(reading: TableReading) -> Draft:
    warnings = tuple(
        f"The grid of {table_name(table)} was read with low confidence ({table.confidence:.2f}); "
        "compare the cells with the page."
        for table in reading.tables
        if table.confidence < _DOUBTFUL_GRID
    )
    return Draft(
        text=reading.claim.text,
        status="answered",
        claims=(reading.claim,),
        warnings=warnings,
        confidence=coverage_probability(reading.coverage),
    )


def _from_text(question: Question, best: Sequence[Quote], scorer: Scorer, papers: Sequence[Paper]) -> Draft | None:
    """None where yes or no is asked for, and no quotation settles it."""
    chosen = choose(question, best)
    if chosen is not None:
        choice, quote = chosen
        return _told(f"{choice[:1].upper()}{choice[1:]}", quote, coverage_probability(quote.coverage))
    if question.expected.form == "polar" and not question.choices:
        found = settled(question, best, scorer, papers)
        return _told("Yes" if found[0] else "No", found[1], found[1].score) if found is not None else None
    claims = tuple(Claim(text=quote.shown, evidence=quote.evidence) for quote in complementing(best, scorer))
    text = " ".join(claim.text for claim in claims)
    return Draft(text=text, status="answered", claims=claims, confidence=best[0].score)


def _told(answer: str, quote: Quote, confidence: float) -> Draft:
    text = f"{answer}: {quote.shown}"
    claims = (Claim(text=text, evidence=quote.evidence),)
    return Draft(text=text, status="answered", claims=claims, confidence=confidence)


def _unanswerable(question: Question, quotes: Sequence[Quote], unknown: Sequence[Token]) -> Draft:
    spelled = dict.fromkeys(question.text[word.start : word.end] for word in unknown)
    lacking = f" Nothing in them mentions {', '.join(spelled)}." if spelled else ""
    pictured = " What a picture shows is not read without a vision model." if question.pictured else ""
    nearest = f" The nearest passage is: {quotes[0].shown}" if quotes else ""
    return Draft(text=f"The papers do not say.{pictured}{lacking}{nearest}", status="unanswerable")
