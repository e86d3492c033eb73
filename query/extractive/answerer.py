"""`ExtractiveAnswerer`: answers what is certain by form, and otherwise shows the most relevant places."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from paperscope_core.cancellation import run_in_thread
from paperscope_core.protocols import Corpus, Embedder
from paperscope_core.types import Claim, Context, Finding, Paper, Table
from query.definitions import find_definition
from query.evidence import Draft
from query.extractive.cell_lookup import look_up, table_name
from query.extractive.quoting import best_places, quoted
from query.extractive.record import Record, recorded_fact
from query.extractive.table_index import TableIndex, index_table
from query.extractive.wording import fold

__all__ = ["ExtractiveAnswerer", "show_each_paper"]

_EVIDENCE_LEAD = "No language model is set, so nothing is concluded; this is where the papers speak of it:"
_PAPERS_LEAD = (
    "No language model is set, so nothing is concluded; {searched} papers were searched, and this is the nearest place "
    "in each of {found}:"
)

# The share of right answers: of cells, 285 of the 286 that `eval cells` asks for; of all others, which are few, all 7
# on papers of other fields, so (7 + 1) / (7 + 2) by Laplace's rule.
_CELL_CONFIDENCE = 0.99
_OTHER_CONFIDENCE = 0.89
_MIN_GRID_CONFIDENCE = 0.6
# Tables whose indexes are cached (some 0.1 MB each).
_MAX_TABLES = 256


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtractiveAnswerer:
    """Answers from a context without a language model; deterministic for a given embedder.

    Three kinds of question are answered: a fact of a paper's record, a definition in a fixed form, and a table cell
    whose row and column the question names in full. Any other question gets the places that retrieval ranks first.
    """

    corpus: Corpus
    embedder: Embedder

    async def answer(
        self,
        question: str,
        context: Context,
        *,
        named: Sequence[str] = (),
        asked: Sequence[str] = (),
        summary: Sequence[str] = (),
    ) -> Draft:
        """Answer a question, or show the most relevant places.

        Args:
            question: The question, in English.
            named: Ids of elements that the question names ("Table 8"); if these include tables, no other tables are
                read.
            asked: Ids of the papers that the question is asked of; empty for those of the context.
            summary: Ids of the passages that sum up the papers, or state their limitations, if the question asks for
                that: they are shown first.

        Raises:
            ModelError: The embedder fails.
        """
        draft = await run_in_thread(partial(self._certain, question, context, named, asked))
        if draft is not None:
            return draft
        places = await best_places(question, context, self.corpus, self.embedder, first=summary)
        return _shown(places, lead=_EVIDENCE_LEAD)

    def _certain(self, question: str, context: Context, named: Sequence[str], asked: Sequence[str]) -> Draft | None:
        """Return the answer that is certain by form, if there is one."""
        papers = self._papers_of(context, named)
        fact = self._fact(question, asked or [paper.id for paper in papers], named)
        if fact is not None:
            return _answered(fact, _OTHER_CONFIDENCE, certain=True)
        defined = find_definition(fold(question), papers)
        if defined is not None:
            lead = f"{defined.term} stands for {defined.expansion}" if defined.expansion else ""
            return _answered(quoted(defined.passage, defined.sentence, lead=lead), _OTHER_CONFIDENCE)
        tables = [element for paper in papers for element in paper.elements if isinstance(element, Table)]
        found = look_up(question, tables, named, lambda table: _index_of(_Identity(table)))
        return _answered(found[0], _CELL_CONFIDENCE, table=found[1]) if found is not None else None

    def _papers_of(self, context: Context, named: Sequence[str]) -> list[Paper]:
        ids = [self.corpus.element(element).place.paper for element in named]
        ids += [source.place.paper for source in context.sources]
        return [self.corpus.paper(paper) for paper in dict.fromkeys(ids)]

    def _fact(self, question: str, asked: Sequence[str], named: Sequence[str]) -> Claim | None:
        if len(asked) != 1:
            return None
        entry = next((entry for entry in self.corpus.entries() if entry.id == asked[0]), None)
        return recorded_fact(question, Record(paper=self.corpus.paper(asked[0]), entry=entry, named=named))


async def show_each_paper(
    question: str, context: Context, corpus: Corpus, embedder: Embedder, *, searched: int
) -> Draft:
    """Show the place of each source, which are of as many papers, after the paper's name.

    Args:
        searched: The number of papers that were searched.

    Raises:
        ModelError: The embedder fails.
    """
    names = {source.place.paper: source.paper for source in context.sources}
    places = await best_places(question, context, corpus, embedder, most=len(context.sources))
    named = tuple(replace(one, text=f"{names[one.evidence[0].place.paper]}: {one.text}") for one in places)
    return _shown(named, lead=_PAPERS_LEAD.format(searched=searched, found=len(named)))


def _shown(places: tuple[Claim, ...], *, lead: str) -> Draft:
    lines = [lead, *(f"{number}. {place.text}" for number, place in enumerate(places, start=1))]
    return Draft(text="\n".join(lines), status="evidence", claims=places)


class _Identity:
    """A table as a key of a cache. The corpus returns the same object until it changes, and comparing tables takes
    longer than indexing them."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self.table is other.table

    def __hash__(self) -> int:
        return id(self.table)


@lru_cache(maxsize=_MAX_TABLES)
def _index_of(one: _Identity) -> TableIndex:
    return index_table(one.table)


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
