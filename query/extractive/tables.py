"""Reads tables: aligns the question with each that may answer, and computes over the one that fits best."""

from collections.abc import Mapping, Sequence

from paperscope_core.protocols import Corpus, Embedder
from paperscope_core.text.words import singular_key
from paperscope_core.types import Claim, Element, Paper
from query.extractive.across import compare_across
from query.extractive.align import Aligner
from query.extractive.compare import decides
from query.extractive.compute import compute
from query.extractive.grid import TableView, view
from query.extractive.links import linked
from query.extractive.question import Question
from query.extractive.select import Selection, select
from query.extractive.significance import asks_significance
from query.extractive.symbols import spelt_out
from query.extractive.table_reading import TableReading
from query.extractive.weights import Weights

__all__ = ["TableReader", "described"]


# Among tables that account for the question equally well, likeness in meaning and nearness in the context decide.
_LIKENESS = 0.15
_IN_CONTEXT = 0.05
_SPECIFIC = 0.05
_DESCRIBED = 600


class TableReader:
    """Answers from table cells alone."""

    def __init__(self, corpus: Corpus, embedder: Embedder) -> None:
        self._corpus = corpus
        self._embedder = embedder

    async def read(
        self,
        question: Question,
        near: Mapping[str, Element],
        weights: Weights,
        *,
        papers: Sequence[Paper],
        named: Sequence[str],
    ) -> TableReading | None:
        """The best answer from the tables of these papers, or from those among them that the question names.

        None where no table can answer. Raises ModelError.
        """
        selections = self._selections(question, weights, papers=papers, named=named)
        best = await self._best(question, selections, near=near)
        if best is None or best.unheld:
            best = compare_across(question, selections) or best
        return best if best is None or _answers(question, best.claim) else None

    def _selections(
        self, question: Question, weights: Weights, *, papers: Sequence[Paper], named: Sequence[str]
    ) -> list[Selection]:
        tables = [(element, paper) for paper in papers for element in paper.elements if element.kind == "table"]
        asked = [(table, paper) for table, paper in tables if table.id in named]
        aligner = Aligner(question, weights)
        selections = []
        for table, paper in asked or tables:
            seen = view(table)
            titles = (section.path for section in paper.sections if section.id == table.section)
            around = "\n".join((table.label, table.caption, *titles, *seen.corners, paper.title))
            found = select(question, seen, aligner, around=around, aliases=self._aliases(seen))
            selections.append(linked(question, found, weights, paper))
        return selections

    def _aliases(self, seen: TableView) -> Mapping[str, Sequence[str]]:
        """What else the library's entities, and the caption, call the names in a table's headers."""
        keys = {part.text: singular_key(part.text) for part in seen.parts}
        entities = self._corpus.entities(tuple(dict.fromkeys(keys.values())))
        found = {text: (entities[key].name, *entities[key].aliases) for text, key in keys.items() if key in entities}
        spelt = {text: spelt_out(text, seen.table.caption) for text in keys}
        return {text: (*found.get(text, ()), *filter(None, (spelt[text],))) for text in keys}

    async def _best(
        self, question: Question, selections: Sequence[Selection], *, near: Mapping[str, object]
    ) -> TableReading | None:
        alike = await self._alike(question, selections)
        best, most = None, 0.0
        for selection, like in zip(selections, alike, strict=True):
            claim = compute(question, selection)
            if claim is None:
                continue
            reading = _reading(selection, claim)
            in_context = selection.view.table.id in near
            score = reading.coverage + _LIKENESS * like + _SPECIFIC * reading.specific + _IN_CONTEXT * in_context
            if best is None or score > most:
                best, most = reading, score
        return best

    async def _alike(self, question: Question, selections: Sequence[Selection]) -> list[float]:
        if not selections:
            return []
        texts = [described(selection.view) for selection in selections]
        vectors = await self._embedder.embed([question.text, *texts])
        return [float(value) for value in vectors[1:] @ vectors[0]]


def _answers(question: Question, claim: Claim) -> bool:
    """Whether a claim says yes or no where that is asked for: values alone say neither, nor tell whether they differ
    by more than chance."""
    if question.expected.form != "polar" or question.choices:
        return True
    return decides(claim.text) and not any(asks_significance(word.text) for word in question.words)


def described(seen: TableView) -> str:
    """What a table is about, in words whose meaning a question's is compared with."""
    return f"{seen.table.caption}. {', '.join(part.text for part in seen.parts)}"[:_DESCRIBED]


def _reading(selection: Selection, claim: Claim) -> TableReading:
    return TableReading(
        claim=claim,
        tables=(selection.view.table,),
        coverage=selection.coverage,
        unheld=selection.unheld,
        specific=len(selection.axes()) == 2 or _one_each(selection),
        direct=selection.direct,
        mentioned=frozenset(index for mention in selection.mentions if mention.whole for index in mention.at),
    )


def _one_each(selection: Selection) -> bool:
    """Whether each row that the question names holds one value, so that no column need be named."""
    rows = [mention for mention in selection.mentions if mention.part.axis == "row" and mention.whole]
    return len(selection.data) == len({datum.row for datum in selection.data}) <= len(rows)
