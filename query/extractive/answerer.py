"""`ExtractiveAnswerer`: answers what is certain by form, and otherwise shows the most relevant places."""

from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock
from typing import Generic, TypeVar

from paperscope_core.cancellation import check_cancelled, run_in_thread
from paperscope_core.protocols import Corpus, Embedder
from paperscope_core.types import Claim, Context, Finding, Paper, Table
from query.evidence import Draft
from query.extractive.arithmetic import compute, look_up, look_up_counted, table_name
from query.extractive.cells import captioned, select, select_counted
from query.extractive.definitions import definition
from query.extractive.question import Question, read_question, words_within
from query.extractive.quoting import best_places
from query.extractive.record import Record, mentioned_term, mentioning_papers, recorded_fact, searched_text
from query.extractive.table_index import TableIndex, index_table
from query.extractive.wording import Vocabulary, names_in, unmentioned
from query.question.references import table_labels

__all__ = ["ExtractiveAnswerer"]

_EVIDENCE_LEAD = "No language model is set, so nothing is concluded; this is where the papers speak of it:"

# The share of right answers: of cells, 285 of the 286 that `eval cells` asks for; of all others, which are few, all 7
# on papers of other fields, so (7 + 1) / (7 + 2) by Laplace's rule.
_CELL_CONFIDENCE = 0.99
_OTHER_CONFIDENCE = 0.89

_MIN_GRID_CONFIDENCE = 0.6
# The maximum number of papers that are searched for a name, and whose words are cached (some 60 MB).
_MAX_PAPERS = 64
# Tables whose indexes are cached (some 0.1 MB each).
_MAX_TABLES = 256

Source = TypeVar("Source")
Derived = TypeVar("Derived")


class ExtractiveAnswerer:
    """Answers from a context without a language model; deterministic for a given embedder.

    Three kinds of question are answered: a fact of a paper's record, a definition in a fixed form, and table cells
    whose row and column the question names in full or by position, or a computation over such cells. Any other question
    gets the places that retrieval ranks first, unless the papers do not mention what it names.
    """

    def __init__(self, corpus: Corpus, embedder: Embedder) -> None:
        self._corpus = corpus
        self._embedder = embedder
        self._vocabularies = _Cache[Paper, Vocabulary](_vocabulary, size=_MAX_PAPERS)
        self._tables = _Cache[Table, TableIndex](index_table, size=_MAX_TABLES)

    async def answer(
        self, question: str, context: Context, *, named: tuple[str, ...] = (), asked: tuple[str, ...] = ()
    ) -> Draft:
        """Answer a question, show the most relevant places, or say that the papers do not mention what it names.

        Args:
            question: The question, in English.
            context: The retrieved context.
            named: Ids of elements that the question names ("Table 8"); if these include tables, no other tables are
                read.
            asked: Ids of the papers that the question is asked of; empty for those of the context.

        Raises:
            ModelError: The embedder fails.
        """
        draft = await run_in_thread(partial(self._certain, question, context, named, asked))
        if draft is not None:
            return draft
        places = await best_places(question, context, self._corpus, self._embedder)
        lines = [_EVIDENCE_LEAD, *(f"{number}. {place.text}" for number, place in enumerate(places, start=1))]
        return Draft(text="\n".join(lines), status="evidence", claims=places)

    def _certain(self, question: str, context: Context, named: tuple[str, ...], asked: tuple[str, ...]) -> Draft | None:
        """An answer that is certain by form, or that the papers do not mention what the question names."""
        papers = self._papers_of(context, named)
        asked = asked or tuple(paper.id for paper in papers)
        fact = self._fact(question, asked, named)
        if fact is not None:
            return _answered(fact, _OTHER_CONFIDENCE, certain=True)
        defined = definition(question, papers)
        if defined is not None:
            return _answered(defined, _OTHER_CONFIDENCE)
        read = self._from_tables(read_question(question), papers, named)
        if read is not None:
            return read
        missing = self._unmentioned(question, papers, asked)
        if missing:
            return Draft(text=f"Nothing in the papers asked mentions {', '.join(missing)}.", status="unanswerable")
        return None

    def _papers_of(self, context: Context, named: Sequence[str]) -> list[Paper]:
        ids = [self._corpus.element(element).place.paper for element in named]
        ids += [source.place.paper for source in context.sources]
        return [self._corpus.paper(paper) for paper in dict.fromkeys(ids)]

    def _fact(self, question: str, asked: Sequence[str], named: Sequence[str]) -> Claim | None:
        term = mentioned_term(question)
        if term and len(asked) <= _MAX_PAPERS:
            return mentioning_papers(term, [self._corpus.paper(paper) for paper in asked])
        if len(asked) != 1:
            return None
        entry = next((entry for entry in self._corpus.entries() if entry.id == asked[0]), None)
        return recorded_fact(question, Record(paper=self._corpus.paper(asked[0]), entry=entry, named=named))

    def _from_tables(self, question: Question, papers: Sequence[Paper], named: Sequence[str]) -> Draft | None:
        """An answer from table cells; None unless exactly one table answers, in one way."""
        if question.polar or not question.asks_value:
            return None
        tables = [element for paper in papers for element in paper.elements if isinstance(element, Table)]
        labels = words_within(question.words, table_labels(question.text))
        quoted = captioned(question, tables)
        by_label = [table for table in tables if table.id in named] if labels else []
        by_caption = [table for table in tables if table.id in quoted]
        if labels and not by_label:
            return None
        indexes = list(map(self._tables.get, by_label or by_caption or tables))
        counted = select_counted(question, indexes[0], quoted=labels) if len(by_label) == 1 else None
        if counted is not None:
            stated = [_answered(look_up_counted(one), _OTHER_CONFIDENCE, table=by_label[0]) for one in counted]
            return stated[0] if stated else None
        for operation in dict.fromkeys((None, question.operation)):
            found: dict[str, tuple[Claim, Table]] = {}
            for index in indexes:
                check_cancelled()
                named_by = labels | quoted.get(index.table.id, frozenset())
                by_name = bool(by_label or by_caption)
                for selection in select(question, index, operation, quoted=named_by, by_label=by_name):
                    claim = look_up(selection) if operation is None else compute(operation, selection)
                    found |= {claim.text: (claim, index.table)} if claim is not None else {}
            if len(found) > 1:
                return None
            for claim, table in found.values():
                return _answered(claim, _OTHER_CONFIDENCE if operation else _CELL_CONFIDENCE, table=table)
        return None

    def _unmentioned(self, question: str, papers: Sequence[Paper], asked: Sequence[str]) -> list[str]:
        """The names in a question that no paper asked mentions; empty if there are too many papers to search."""
        missing = [name for name in names_in(question) if unmentioned(name, map(self._vocabularies.get, papers))]
        if not missing or len(asked) > _MAX_PAPERS:
            return []
        others = set(asked) - {paper.id for paper in papers}
        vocabularies = [self._vocabularies.get(self._corpus.paper(paper)) for paper in sorted(others)]
        return [name for name in missing if unmentioned(name, vocabularies)]


def _vocabulary(paper: Paper) -> Vocabulary:
    return Vocabulary((paper.title, *paper.authors, *map(searched_text, paper.elements)))


class _Cache(Generic[Source, Derived]):
    """Caches what is derived from the `size` papers or tables used last; for several threads.

    The corpus returns the same object until it changes, and comparing objects takes no time.
    """

    def __init__(self, derive: Callable[[Source], Derived], *, size: int) -> None:
        self._derive = derive
        self._size = size
        # The source is kept, so that no other object gets its id.
        self._found: dict[int, tuple[Source, Derived]] = {}
        self._lock = Lock()

    def get(self, source: Source) -> Derived:
        """What is derived from a paper or table."""
        check_cancelled()
        with self._lock:
            found = self._found.pop(id(source), None)
        if found is None:
            found = source, self._derive(source)
        with self._lock:
            self._found[id(source)] = found
            if len(self._found) > self._size:
                del self._found[next(iter(self._found))]
        return found[1]


def _answered(claim: Claim, confidence: float, *, certain: bool = False, table: Table | None = None) -> Draft:
    findings = []
    if table is not None and table.confidence < _MIN_GRID_CONFIDENCE:
        grid = f"The grid of {table_name(table)} was read with low confidence ({table.confidence:.2f})"
        message = f"{grid}; compare the cells with the page."
        findings.append(Finding(kind="table", subject=table.id, place=table.place, message=message))
    return Draft(
        text=claim.text,
        status="answered",
        claims=(claim,),
        findings=tuple(findings),
        confidence=confidence,
        certain=certain,
    )
