"""`RowFiller`: fills a paper's rows of a literature table, with one context and one call for all columns."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest

from pydantic import BaseModel, field_validator

import prompts
from paperscope_core.cancellation import run_in_thread
from paperscope_core.errors import ContextTooLongError, QuestionBudgetError
from paperscope_core.models.budget import question_budget
from paperscope_core.models.structured import ask_json
from paperscope_core.models.token_counting import count_tokens
from paperscope_core.protocols import Corpus, LanguageModel, PageImages
from paperscope_core.settings import AnswerSettings, RetrievalSettings
from paperscope_core.types import (
    AskRequest,
    Context,
    ContextImage,
    ContextSource,
    Filters,
    Finding,
    ImageFinding,
    ModelRequest,
    Paper,
    PaperEntry,
    Usage,
    content_hash,
)
from paperscope_core.types.literature import ColumnSet, LiteratureCell, LiteratureColumn
from prompts import as_data
from query.answering.image_reader import ImageReader
from query.answering.look_ups import MOST_LOOK_UPS, LookedUp, LookUpReply, add_to_context, look_up, only_calls
from query.context import render_for_model, source_line
from query.element_views import is_reference
from query.engine import QueryEngine
from query.evidence import EvidenceNamer, parse_row
from query.literature.cell_checks import CellMaker, CellReply
from query.outline import PARTS, is_outline, outline_row
from query.question.paper_names import citation_names
from query.reading_tools import PART_TOKENS
from query.retrieval.context_builder import fitting_sources
from query.retrieval.page_selection import page_image

__all__ = ["FilledPaper", "RowFiller"]

# A row answers many questions at once, so its context may have this many times the tokens of a question's.
_CONTEXT = 2
# Columns of a call. A longer reply is more often cut off.
_MOST_TOGETHER = 12
_MOST_ROWS = 40
_LEAST_TOKENS = 1000


class _RowReply(BaseModel):
    """A row; `row` names the method, study or arm."""

    row: str = ""
    cells: list[CellReply] = []


class _Reply(BaseModel):
    rows: list[_RowReply]


class _OpenReply(_Reply):
    """The reply of a model that may look something up."""

    look_up: list[LookUpReply] = []

    @field_validator("look_up", mode="before")
    @classmethod
    def _only_calls(cls, value: object) -> object:
        return only_calls(value)


@dataclass(frozen=True, kw_only=True, slots=True)
class FilledPaper:
    """The cells of a paper's rows, by the names of these ("" if a row is a paper), and the usage of models."""

    rows: Mapping[str, tuple[LiteratureCell, ...]]
    usage: Usage = Usage()


@dataclass(kw_only=True, slots=True)
class _Asked:
    """What a paper is asked in one call, and what came of it."""

    paper: Paper
    columns: Sequence[LiteratureColumn]
    rows: str
    known: Sequence[str]
    tokens: int
    context: Context = field(default_factory=Context)
    whole: bool = False
    findings: dict[int, ImageFinding] = field(default_factory=dict)
    replies: dict[str, dict[str, CellReply]] = field(default_factory=dict)
    wanted: list[LookUpReply] = field(default_factory=list)
    usage: Usage = Usage()

    @property
    def readable(self) -> bool:
        """Whether there is anything to read."""
        return bool(self.context.sources or self.findings)

    @property
    def open(self) -> list[LiteratureColumn]:
        """The columns of which some row has no value."""
        rows = self.replies.values()
        return [one for one in self.columns if not rows or any(not _value(row.get(one.name)) for row in rows)]

    def take(self, reply: _Reply, usage: Usage) -> None:
        """Add a reply; what an earlier one says is kept unless it said nothing."""
        self.usage += usage
        names = {column.name.casefold(): column.name for column in self.columns}
        for row in reply.rows[:_MOST_ROWS]:
            name = "" if self.rows == "paper" else " ".join(row.row.split())
            if self.rows != "paper" and not name:
                continue
            spelled = {one.casefold(): one for one in (*self.replies, *self.known)}
            if self.known and name.casefold() not in spelled:
                continue
            at = spelled.get(name.casefold(), name)
            cells = self.replies.setdefault(at, {})
            for cell in row.cells:
                column = names.get(" ".join(cell.column.split()).casefold())
                if column and not _value(cells.get(column)):
                    cells[column] = cell
        self.wanted = reply.look_up[:MOST_LOOK_UPS] if isinstance(reply, _OpenReply) else []


def _value(reply: CellReply | None) -> str:
    return reply.value.strip() if reply else ""


class RowFiller:
    """Fills the rows of papers.

    Args:
        corpus: The library.
        engine: Retrieves contexts, has the reading tools, and answers without a model.
        model: Fills the cells; without it, those are filled that the record or a table cell settles, and the others
            show their best place.
        vision: Reads images that the model looks up.
        count: Returns the number of tokens of a text.
        page_image: Renders the pages that are read as images.
    """

    def __init__(
        self,
        corpus: Corpus,
        engine: QueryEngine,
        model: LanguageModel | None = None,
        vision: LanguageModel | None = None,
        *,
        retrieval: RetrievalSettings = RetrievalSettings(),
        answering: AnswerSettings = AnswerSettings(),
        count: Callable[[str], int] = count_tokens,
        page_image: PageImages | None = None,
    ) -> None:
        self._corpus = corpus
        self._engine = engine
        self._model = model
        self._reader = ImageReader(corpus, vision, page_image=page_image) if model and vision else None
        self._names = tuple(one.name for one in (model, vision) if one)
        self._retrieval = retrieval
        self._answering = answering
        self._count = count
        self._prompt = prompts.load("table_row", placeholders=frozenset({"paper", "rows", "columns", "context"}))
        self._look_up = prompts.load("table_look_up", placeholders=frozenset({"extent", "results"}))

    def made_from(self, entry: PaperEntry, column: LiteratureColumn, rows: str) -> str:
        """Return a hash of all that determines a cell; one with another hash is asked again."""
        by_model = (*self._names, self._prompt.system, self._retrieval.model_dump_json(), str(self._answering.rounds))
        parts = (entry.id, str(entry.revision), repr(column), rows, *(by_model if self._model else ()))
        return content_hash("\0".join(parts).encode())

    async def fill(
        self,
        entry: PaperEntry,
        columns: ColumnSet,
        wanted: Sequence[str],
        *,
        known: Sequence[str] = (),
        share: float = _CONTEXT,
    ) -> FilledPaper:
        """Return the rows of a paper with the cells of these columns.

        Args:
            entry: The paper.
            columns: The columns of the table.
            wanted: The names of the columns to fill.
            known: The names of the rows that the paper has already, if rows are things within papers.
            share: How many times the tokens of a question's context the model is shown.

        Raises:
            NotFoundError: The library does not have the paper any more.
            ModelError: A model or the embedder failed.
            BudgetError: The budget is spent.
        """
        wished = [column for column in columns.columns if column.name in set(wanted)]
        if self._model is None:
            found = [await self._extracted(entry, one) for one in wished] if columns.rows == "paper" else []
            return FilledPaper(rows={"": tuple(found)} if found else {})
        paper = await run_in_thread(lambda: self._corpus.paper(entry.id))
        usage = Usage()
        rows: dict[str, tuple[LiteratureCell, ...]] = {}
        for start in range(0, len(wished), _MOST_TOGETHER):
            group = wished[start : start + _MOST_TOGETHER]
            names = tuple(dict.fromkeys((*known, *rows)))
            asked = _Asked(
                paper=paper, columns=group, rows=columns.rows, known=names, tokens=int(share * self._retrieval.tokens)
            )
            with question_budget(self._answering.max_cost):
                await self._ask_first(self._model, entry, asked)
                with suppress(QuestionBudgetError):
                    await self._ask_again(self._model, asked)
            checked = await run_in_thread(partial(self._checked, asked, self._model.name))
            rows |= {name: (*rows.get(name, ()), *cells) for name, cells in checked.items()}
            usage += asked.usage
        return FilledPaper(rows=rows, usage=usage)

    async def _extracted(self, entry: PaperEntry, column: LiteratureColumn) -> LiteratureCell:
        """Fill a cell without a model: by the record, a definition or a table cell, else with the best places."""
        filters = Filters(papers=(entry.id,))
        answer = await self._engine.ask(AskRequest(question=column.instruction, filters=filters))
        if answer.status != "answered":
            note = Finding(kind="model", subject=column.name, message="no model is set: this is the best place")
            return LiteratureCell(column=column.name, evidence=answer.evidence[:1], findings=(note,))
        quotes = [one.quote for one in answer.evidence if one.quote]
        value = quotes[0] if column.type == "number" and len(quotes) == 1 else answer.text
        findings = tuple(one for one in answer.findings if one.kind != "model")
        stated = LiteratureCell(column=column.name, value=value, status="stated", evidence=answer.evidence)
        return replace(stated, checks=answer.checks, findings=findings)

    async def _ask_first(self, model: LanguageModel, entry: PaperEntry, asked: _Asked) -> None:
        """Ask from the whole paper if it fits, else from what is retrieved for each column; from half as much as often
        as the model's window is too short."""
        tokens = asked.tokens
        while True:
            asked.context, asked.whole = await self._context(entry, asked, tokens)
            if not asked.context.sources:
                pages = sorted(asked.paper.doubtful_pages)[: self._retrieval.images]
                await self._read_images(asked, [page_image(asked.paper, number) for number in pages])
            if not asked.readable:
                return None
            try:
                return await self._ask(model, asked, asked.columns, asked.context, rounds=self._answering.rounds)
            except ContextTooLongError:
                tokens //= 2
                if tokens < _LEAST_TOKENS:
                    raise

    async def _context(self, entry: PaperEntry, asked: _Asked, tokens: int) -> tuple[Context, bool]:
        """Return the context of a row, and whether it is the whole paper."""
        whole = await run_in_thread(partial(self._whole, asked.paper, entry))
        if sum(map(self._count, map(source_line, whole))) <= tokens:
            return Context(sources=_numbered(whole)), True
        filters = Filters(papers=(entry.id,))
        questions = [AskRequest(question=f"{one.name}: {one.instruction}", filters=filters) for one in asked.columns]
        found = [(await self._engine.retrieve(one)).sources for one in questions]
        turns = (one for turn in zip_longest(*found) for one in turn if one is not None and not is_outline(one))
        distinct = {one.content: one for one in turns}
        sources = fitting_sources([*whole[:1], *distinct.values()], tokens=tokens, count=self._count)
        return Context(sources=_numbered(sources)), False

    def _whole(self, paper: Paper, entry: PaperEntry) -> list[ContextSource]:
        """Return the paper's outline, and its text without the bibliography in reading order."""
        name = citation_names([entry])[entry.id]
        outline = outline_row(paper, entry, PARTS)
        order = {element.id: number for number, element in enumerate(paper.elements)}
        chunks = [one for one in self._corpus.chunks_of(list(order)) if not all(map(is_reference, one.elements))]
        chunks.sort(key=lambda chunk: min(order.get(element, len(order)) for element in chunk.elements))
        texts = [
            ContextSource(
                id=0,
                content=chunk.shown,
                element=chunk.elements[0],
                place=chunk.place,
                more_places=chunk.more_places,
                paper=name,
                section=chunk.section,
                label=self._corpus.element(chunk.elements[0]).label,
            )
            for chunk in chunks
        ]
        return [*([replace(outline, paper=name)] if outline else []), *texts]

    async def _ask(
        self,
        model: LanguageModel,
        asked: _Asked,
        columns: Sequence[LiteratureColumn],
        context: Context,
        *,
        rounds: int = 0,
        results: str = "",
    ) -> None:
        shown = render_for_model(context)
        read = "\n".join(f"I{number}: {one.text}" for number, one in asked.findings.items())
        system, user = self._prompt.fill(
            paper=as_data(asked.paper.title or asked.paper.file),
            rows=_said_rows(asked),
            columns=as_data("\n".join(map(_said_column, columns))),
            context=as_data(f"{shown}\nFindings:\n{read}" if read else shown),
        )
        # Of a whole paper, only pictures can show more.
        looking_up = rounds > 0 and not (asked.whole and self._reader is None)
        extent = "The context has the whole text, so only pictures can show more." if asked.whole else ""
        look_up_system, look_up_user = self._look_up.fill(extent=extent, results=as_data(results))
        if looking_up:
            system = f"{system}\n\n{look_up_system}"
        if results:
            user = f"{user}\n\n{look_up_user}"
        request = ModelRequest.of((system, user), "table_row")
        validator: type[_Reply] = _OpenReply if looking_up else _Reply
        reply, usage = await ask_json(model, request, validator)
        asked.take(reply, usage)

    async def _ask_again(self, model: LanguageModel, asked: _Asked) -> None:
        """Look up what is wanted, and ask once more for what is open; also for columns that the reply left out."""
        missing = [one for one in asked.columns if not any(one.name in row for row in asked.replies.values())]
        wanted, context = asked.open, asked.context
        results = ""
        if not asked.readable:
            return
        if asked.wanted and wanted:
            tools = self._engine.reading_tools(Filters(papers=(asked.paper.id,)), (asked.paper.id,), tokens=PART_TOKENS)
            found = await look_up(tools.run, [replace(one.call, paper="") for one in asked.wanted])
            images = self._retrieval.images if self._reader else 0
            looked_up = await add_to_context(self._corpus, asked.context, found, most_images=images)
            asked.context = looked_up.context
            await self._read_images(asked, looked_up.images)
            context = self._needed(asked, looked_up)
            results = looked_up.told({one.id for one in context.sources})
        elif 0 < len(missing) < len(asked.columns):
            wanted = missing
        else:
            return
        await self._ask(model, asked, wanted, context, results=results)

    def _needed(self, asked: _Asked, looked_up: LookedUp) -> Context:
        """Return the rows that were looked up, and those that the reply cites or whose pictures were read."""
        cells = [cell for row in asked.replies.values() for cell in row.values()]
        cited = {parse_row(one) for cell in cells for one in cell.evidence}
        read = {one.element for one in asked.findings.values()}
        found = [one for one in asked.context.sources if one.id in looked_up.rows]
        more = [one for one in asked.context.sources if ("S", one.id) in cited or one.element in read]
        chosen = dict.fromkeys((*found, *more))
        return Context(sources=fitting_sources(chosen, tokens=asked.tokens, count=self._count))

    async def _read_images(self, asked: _Asked, images: Sequence[ContextImage]) -> None:
        if self._reader is None or not images:
            return
        following = len(asked.findings)
        numbered = [replace(image, id=following + number) for number, image in enumerate(images)]
        question = "\n".join(f"{one.name}: {one.instruction}" for one in asked.open)
        readings, usage = await self._reader.read(question, numbered, answer="")
        asked.usage += usage
        for image, reading in zip(numbered, readings, strict=True):
            if isinstance(reading, ImageFinding) and reading.relevant:
                asked.findings[image.id] = reading

    def _checked(self, asked: _Asked, model: str) -> dict[str, tuple[LiteratureCell, ...]]:
        namer = EvidenceNamer(self._corpus)
        maker = CellMaker(corpus=self._corpus, context=asked.context, namer=namer, findings=asked.findings, model=model)
        rows: Mapping[str, Mapping[str, CellReply]] = asked.replies or ({"": {}} if asked.rows == "paper" else {})
        return {
            name: tuple(maker.cell(cells.get(one.name), one) for one in asked.columns) for name, cells in rows.items()
        }


def _numbered(sources: Sequence[ContextSource]) -> tuple[ContextSource, ...]:
    return tuple(replace(one, id=number) for number, one in enumerate(sources))


def _said_column(column: LiteratureColumn) -> str:
    more: list[str] = [column.type]
    if column.unit:
        more.append(f"expected unit: {column.unit}")
    if column.values:
        more.append(f"allowed values: {' | '.join(column.values)}")
    return f"- {column.name} ({'; '.join(more)}): {column.instruction}"


def _said_rows(asked: _Asked) -> str:
    if asked.rows == "paper":
        return 'one row, with `row` "".'
    rows = tuple(dict.fromkeys((*asked.known, *asked.replies)))
    if rows:
        said, what = "these, with its name in `row`, exactly as given, and no other", "; ".join(rows)
    else:
        said = (
            "what follows between the lines that the paper itself reports, with its name as printed in `row`, at most "
        )
        said, what = f"{said}{_MOST_ROWS}", asked.rows
    return f"one for each of {said}:\n{as_data(what)}"
