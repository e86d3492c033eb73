"""The literature tables of a library: fills their rows paper by paper, and keeps what is filled and corrected."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from graph_store import Store
from graph_store.literature_tables import table_id
from paperscope.retries import RetryRounds
from paperscope_core.cancellation import run_in_thread
from paperscope_core.errors import (
    BudgetError,
    ModelUnavailableError,
    NotFoundError,
    PaperscopeError,
    StoreError,
    UnknownTableError,
)
from paperscope_core.paper_lookup import find_entries
from paperscope_core.types import PaperEntry, Usage
from paperscope_core.types.literature import ColumnSet, LiteratureCell, LiteratureTable
from query.literature import RowFiller

__all__ = ["OnPaper", "PendingPaper", "TableFiller"]

OnPaper = Callable[[PaperEntry, str], None]
"""Called with each paper whose cells are filled, and why they could not be ("" if they are)."""


def _ignore(_paper: PaperEntry, _reason: str) -> None:
    return


@dataclass(frozen=True, kw_only=True, slots=True)
class PendingPaper:
    """A paper, the names of the columns that are still to be filled, and the names of its rows so far."""

    entry: PaperEntry
    columns: tuple[str, ...]
    rows: tuple[str, ...] = ()


@dataclass(kw_only=True, slots=True)
class _Run:
    usage: Usage = Usage()
    failures: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class TableFiller:
    """Fills literature tables.

    A cell is filled once: a paper or a column that is added later asks for its own cells only, and a run that was
    stopped continues where it ended. Cells are filled again if the paper, the column, the model or the settings of
    retrieval have changed. A cell that somebody has corrected is not asked for again.

    Attributes:
        store: The library.
        rows: Fills the rows of a paper.
        has_model: Whether a model fills them. Without one, cells that a model has filled stay.
        retries: How papers are tried again whose model was unavailable.
    """

    store: Store
    rows: RowFiller
    has_model: bool
    retries: RetryRounds = field(default_factory=RetryRounds)

    def define(self, columns: ColumnSet, papers: Sequence[str] = ()) -> str:
        """Create a table, or change the columns and papers of the one with this title; return its id.

        Args:
            columns: The columns.
            papers: What identifies each paper; none for all papers of the library.

        Raises:
            UnknownPaperError: There is no such paper, or there are several.
            StoreError: The library can't be written.
        """
        return self.store.tables.define(columns, [entry.id for entry in self._entries(papers)])

    def pending(self, columns: ColumnSet, papers: Sequence[str] = ()) -> list[PendingPaper]:
        """Return what a table with these columns and papers lacks. It need not be defined."""
        try:
            table = replace(self.store.tables.get(table_id(columns.title)), columns=columns)
        except UnknownTableError:
            table = LiteratureTable(id="", columns=columns, papers=())
        waiting = (self._pending(table, entry) for entry in self._entries(papers))
        return [one for one in waiting if one.columns]

    async def fill(self, table: str, *, at_once: int = 4, on_paper: OnPaper = _ignore) -> LiteratureTable:
        """Fill what a table lacks, and return it.

        A paper that fails is left for the next run, and the others are filled.

        Args:
            table: The id of the table.
            at_once: How many papers are asked at a time.
            on_paper: Called with each paper, those of earlier runs first.

        Raises:
            UnknownTableError: There is no such table.
            ModelUnavailableError: The model could not be reached for any paper.
            BudgetError: The budget is spent. What was filled is kept.
            StoreError: The library can't be written.
        """
        head = await run_in_thread(partial(self.store.tables.get, table))
        known = {entry.id: entry for entry in await run_in_thread(self.store.entries)}
        entries = [known[paper] for paper in head.papers if paper in known]
        waiting = await run_in_thread(lambda: [self._pending(head, entry) for entry in entries])
        for one in waiting:
            if not one.columns:
                on_paper(one.entry, "")
        run = _Run()
        open_ = [one for one in waiting if one.columns]
        work = partial(self._fill_paper, run, table, head.columns, on_paper)
        failed = await self.retries.run(open_, work, concurrency=at_once)
        if failed and len(failed) == len(open_):
            raise failed[-1][1]
        for one, error in failed:
            run.failures[one.entry.id] = error.public
            on_paper(one.entry, error.public)
        filled = await run_in_thread(partial(self.store.tables.get, table))
        return replace(filled, failures=tuple(run.failures.items()), usage=run.usage)

    async def _fill_paper(
        self, run: _Run, table: str, columns: ColumnSet, on_paper: OnPaper, waiting: PendingPaper
    ) -> None:
        """Fill a paper's rows and store them. Raises the errors that every further paper would meet."""
        reason = ""
        try:
            await self._filled(run, table, columns, waiting)
        except (BudgetError, ModelUnavailableError, StoreError):
            raise
        except NotFoundError as error:
            removed = waiting.entry.id not in {one.id for one in await run_in_thread(self.store.entries)}
            reason = "the paper was removed from the library meanwhile" if removed else error.public
        except PaperscopeError as error:
            reason = error.public
        if reason:
            run.failures[waiting.entry.id] = reason
        on_paper(waiting.entry, reason)

    async def _filled(self, run: _Run, table: str, columns: ColumnSet, waiting: PendingPaper) -> None:
        entry = waiting.entry
        with self.store.pinned(await run_in_thread(lambda: self.store.revision)):
            filled = await self.rows.fill(entry, columns, waiting.columns, known=waiting.rows)
        run.usage += filled.usage
        made = {column.name: self.rows.made_from(entry, column, columns.rows) for column in columns.columns}
        rows = {name: [replace(cell, made=made[cell.column]) for cell in cells] for name, cells in filled.rows.items()}
        # A paper that was removed meanwhile leaves no cells.
        await run_in_thread(lambda: self.store.entry(entry.id))
        await run_in_thread(partial(self.store.tables.put, table, entry.id, rows))

    def _pending(self, table: LiteratureTable, entry: PaperEntry) -> PendingPaper:
        rows = [row for row in table.rows if row.paper == entry.id]
        lacking = []
        for column in table.columns.columns:
            by = self.rows.made_from(entry, column, table.columns.rows)
            cells = [row.cell(column.name) for row in rows]
            if not cells or not all(one and self._is_filled(one, by) for one in cells):
                lacking.append(column.name)
        names = tuple(row.name for row in rows if row.name)
        return PendingPaper(entry=entry, columns=tuple(lacking), rows=names)

    def _is_filled(self, cell: LiteratureCell, by: str) -> bool:
        return cell.correction is not None or cell.made == by or bool(cell.model and not self.has_model)

    def _entries(self, papers: Sequence[str]) -> list[PaperEntry]:
        entries = self.store.entries()
        return find_entries(entries, papers, self.store.tags.all) if papers else list(entries)
