"""`EachPaper`: asks each paper one question, and writes one answer of what they say, grouped by paper."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from paperscope_core.cancellation import run_in_thread
from paperscope_core.errors import BudgetError, ModelUnavailableError, NotFoundError, PaperscopeError
from paperscope_core.protocols import Corpus
from paperscope_core.text.escaping import one_line
from paperscope_core.types import Answer, AskRequest, Claim, Context, ContextSource, Finding, PaperEntry, model_words
from paperscope_core.types.literature import ColumnSet, LiteratureCell, LiteratureColumn
from query.engine import QueryEngine
from query.literature.row_filler import RowFiller
from query.progress import Progress
from query.question.paper_names import citation_names

__all__ = ["EachPaper"]

# The conclusion has to read all of them, and a person the list.
_MOST_PAPERS = 50
_AT_ONCE = 4
# Of the tokens of a question's context: many papers are asked, each for its part only.
_SHARE = 0.5
_COLUMN = "question"


class EachPaper:
    """Asks each paper of a selection, or those of a library that retrieval ranks first, and concludes from the replies.

    Without a model, it shows the best place of each paper.

    Args:
        corpus: The library.
        engine: Ranks the papers, and concludes.
        rows: Asks a paper, as for a cell of a literature table. The replies are stored, so that a question that was
            stopped continues where it ended.
    """

    def __init__(self, corpus: Corpus, engine: QueryEngine, rows: RowFiller) -> None:
        self._corpus = corpus
        self._engine = engine
        self._rows = rows

    async def ask(self, request: AskRequest, progress: Progress | None = None) -> Answer:
        """Answer a question from each paper.

        Args:
            progress: Is told of the stages, and how many papers have been asked.

        Raises:
            InputError: The question is too long to be asked of each paper.
            NotFoundError: A paper is not in the library.
            ModelError: A model or the embedder failed.
            BudgetError: The budget is spent. The replies so far are stored.
        """
        progress = progress or Progress()
        progress.begin()
        asked = await self._engine.understand(request, progress)
        with progress.stage("retrieving"):
            found = await self._engine.spread(asked)
            entries = {entry.id: entry for entry in await run_in_thread(self._corpus.entries)}
        ranked = dict.fromkeys((*(one.place.paper for one in found.context.sources), *found.asked))
        papers = [entries[one] for one in ranked if one in entries][:_MOST_PAPERS]
        findings = [*found.context.findings]
        if len(ranked) > len(papers):
            left = f"of {len(ranked)} papers, only the {len(papers)} best were asked; choose papers to ask others"
            findings.append(Finding(kind="note", message=left))
        if not self._engine.has_model:
            best = {one.place.paper: one for one in reversed(found.context.sources)}
            sources = tuple(best[paper.id] for paper in papers if paper.id in best)
            context = Context(sources=sources, findings=tuple(findings))
            return await self._engine.conclude(asked, request, context, progress, searched=len(papers))
        names = citation_names(list(entries.values()))
        cells = await self._cells(asked.question, papers, progress, findings)
        sources = await run_in_thread(lambda: _sources(self._corpus, cells, names))
        context = Context(sources=sources, findings=tuple(findings))
        answer = await self._engine.conclude(asked, request, context, progress, searched=len(papers))
        whole = _by_paper(answer, cells, names, [paper.id for paper in papers if paper.id not in cells])
        progress.end(whole.text)
        return whole

    async def _cells(
        self, question: str, papers: Sequence[PaperEntry], progress: Progress, findings: list[Finding]
    ) -> dict[str, LiteratureCell]:
        """Return what each paper says, without those that say nothing; a paper that fails is a finding."""
        column = LiteratureColumn(name=_COLUMN, instruction=question)
        columns = ColumnSet(title=_COLUMN, columns=(column,))
        free = asyncio.Semaphore(_AT_ONCE)
        done = 0

        async def ask(paper: PaperEntry) -> LiteratureCell | None:
            nonlocal done
            async with free:
                try:
                    filled = await self._rows.fill(paper, columns, [_COLUMN], share=_SHARE)
                except (BudgetError, ModelUnavailableError, NotFoundError):
                    raise
                except PaperscopeError as error:
                    message = f"{paper.title or paper.file} could not be asked: {error.public}"
                    findings.append(Finding(kind="paper", subject=paper.id, message=message))
                    return None
                finally:
                    done += 1
                    progress.report(f"asking papers: {done} of {len(papers)}")
                stage.usage += filled.usage
                return filled.rows[""][0]

        with progress.stage("asking papers") as stage:
            tasks = [asyncio.create_task(ask(paper)) for paper in papers]
            try:
                cells = await asyncio.gather(*tasks)
            finally:
                for task in tasks:
                    task.cancel()
        return {paper.id: one for paper, one in zip(papers, cells, strict=True) if one is not None and one.value}


def _sources(
    corpus: Corpus, cells: Mapping[str, LiteratureCell], names: Mapping[str, str]
) -> tuple[ContextSource, ...]:
    """Return what is concluded from, a source for each paper: its own words, and what its reply says."""
    sources: list[ContextSource] = []
    for paper, cell in cells.items():
        said = f"unclear: {cell.value}" if cell.doubtful else cell.value
        shown = corpus.elements(list(dict.fromkeys(one.element for one in cell.evidence if one.element)))
        if shown:
            place, *more = dict.fromkeys(one.place for one in shown.values())
            sources.append(
                ContextSource(
                    id=len(sources),
                    content="\n".join((*dict.fromkeys(one.quote for one in cell.evidence), model_words(said))),
                    element=next(iter(shown)),
                    place=place,
                    more_places=tuple(more),
                    paper=names[paper],
                )
            )
    return tuple(sources)


def _by_paper(
    answer: Answer, cells: Mapping[str, LiteratureCell], names: Mapping[str, str], silent: Sequence[str]
) -> Answer:
    """Return a conclusion with what each paper says, and which papers say nothing."""
    said = {paper: f"{names[paper]}: {one_line(cell.value)}" for paper, cell in cells.items()}
    counted = f"Of {len(cells) + len(silent)} papers that were asked, {len(cells)} speak of it"
    lines = [f"{counted}:" if cells else f"{counted}.", *(f"- {one}" for one in said.values())]
    if silent:
        lines.append(f"Nothing about it was found in: {'; '.join(names[paper] for paper in silent)}.")
    claims = (Claim(text=said[paper], evidence=cell.evidence) for paper, cell in cells.items())
    doubts = (
        replace(one, message=f"{names[paper]}: {one.message}") for paper, cell in cells.items() for one in cell.findings
    )
    return replace(
        answer,
        text="\n".join((answer.text, "", *lines)) if cells else lines[0] + " " + "".join(lines[1:]),
        claims=(*answer.claims, *claims),
        checks=tuple(dict.fromkeys((*answer.checks, *(check for cell in cells.values() for check in cell.checks)))),
        findings=tuple(dict.fromkeys((*answer.findings, *doubts))),
    )
