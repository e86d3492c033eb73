"""Builds a context within a budget of tokens: sources, table excerpts, graph rows, merged parts."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from paperscope_core.types import (
    Chunk,
    Context,
    ContextEntity,
    ContextRelation,
    ContextSource,
    Table,
    main_element,
    model_words,
)
from paperscope_core.types.elements import title_lines
from paperscope_core.types.tables import column_headers, table_lines, table_rows
from query.content_words import Rarity, content_words
from query.context import render_for_model, source_line
from query.element_views import ImageElement
from query.retrieval.candidates import CandidatePool

__all__ = ["SourceSelector", "fit_rows", "fitting_sources", "table_excerpt"]

# Weight of a match in a cell relative to one in a header: a word in a cell may be a value that the question gives.
_IN_CELLS = 0.5
# Rows and columns that score at least this share of the best one are relevant.
_TELLING = 0.5
# Share of the remaining tokens that an excerpt of a large table may use, so that other sources fit.
_TABLE_SHARE = 0.5
# Minimum tokens of an excerpt; a shorter one says too little.
_LEAST_EXCERPT = 150

Count = Callable[[str], int]
GraphRow = TypeVar("GraphRow", ContextEntity, ContextRelation)


def table_excerpt(table: Table, question: str, *, tokens: int, count: Count) -> str:
    """Reduce a table to its title, its headers, and the rows and columns most relevant to the question.

    Further rows and columns follow in table order while they fit. At least one row and one column are kept, whatever
    their size. The last line states how much is shown.

    Args:
        tokens: Maximum tokens, as `count` counts them.
    """
    body = [row for row in table_rows(table) if row.values]
    headers = [" ".join(names) for names in column_headers(table)]
    used = sorted({column for row in body for column, _ in row.values})
    stubs = set(range(table.shape[1])).difference(used)
    asked = content_words(question)
    texts = {row.number: (row.name, " ".join(cell.text for _, cell in row.values)) for row in body}
    rows, relevant_rows = _ranked(texts, asked)
    columns, relevant_columns = _ranked({column: (headers[column], "") for column in used}, asked)

    names = {row.number: row.name for row in body}
    values = {row.number: {column: f" | {headers[column]}: {cell.text}" for column, cell in row.values} for row in body}

    def note(rows: int, columns: int) -> str:
        return f"… {rows} of {len(body)} rows, {len(stubs) + columns} of {table.shape[1]} columns shown"

    def fits(rows: Sequence[int], columns: Sequence[int]) -> bool:
        titles = (headers[column] for column in sorted(stubs.union(columns)))
        lines = ("".join((names[row], *(values[row].get(column, "") for column in columns))) for row in rows)
        text = (*title_lines(table), "Columns: ", " | ".join(titles), *lines, note(len(rows), len(columns)))
        return count("\n".join(text)) <= tokens

    # The relevant columns (all if none is) with which the relevant rows fit, then the rows that fit.
    needed = rows[: max(relevant_rows, 1)]
    most = relevant_columns or len(columns)
    chosen = columns[: _largest(1, most, lambda size: fits(needed, columns[:size]))]
    kept = rows[: _largest(1, len(rows), lambda size: fits(rows[:size], chosen))]
    if len(kept) == len(rows):
        chosen = columns[: _largest(len(chosen), len(columns), lambda size: fits(kept, columns[:size]))]
    lines = table_lines(table, rows=set(kept), columns=stubs.union(chosen))
    return "\n".join((*title_lines(table), *lines, note(len(kept), len(chosen))))


def _largest(least: int, most: int, fits: Callable[[int], bool]) -> int:
    """Return the largest size from `least` to `most` that fits, or else `least`. Smaller sizes need less room."""
    return least + bisect_left(range(least + 1, most + 1), True, key=lambda size: not fits(size))


def _ranked(texts: Mapping[int, tuple[str, str]], asked: frozenset[str]) -> tuple[list[int], int]:
    """Return row or column numbers by their header and cells, best first, and how many of them are relevant."""
    rarity = Rarity.of(" ".join(parts) for parts in texts.values())
    scores = {
        number: rarity.coverage(asked, header) + _IN_CELLS * rarity.coverage(asked, cells)
        for number, (header, cells) in texts.items()
    }
    best = max(scores.values(), default=0.0)
    relevant = sum(score >= _TELLING * best for score in scores.values()) if best else 0
    return sorted(scores, key=lambda number: (-scores[number], number)), relevant


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceSelector:
    """Selects at most `limit` chunks of at most `tokens` in total, besides what is given as a whole.

    The best chunk is always selected, reduced to an excerpt if it is a large table. Another chunk that does not fit is
    skipped; smaller ones after it may fit. `names` are those of the papers, by id.
    """

    question: str
    names: Mapping[str, str]
    limit: int
    tokens: int
    count: Count

    def choose(
        self,
        ranked: Sequence[Chunk],
        pool: CandidatePool,
        images: Sequence[ImageElement],
        *,
        parts: Sequence[Chunk] = (),
    ) -> tuple[ContextSource, ...]:
        """Return the sources, best first.

        Args:
            ranked: The candidates, best first.
            images: Selected images, whose chunks are preferred to all but the best.
            parts: Chunks that are given besides the others, in this order and together where the best of them ranks.
        """
        shown = {image.id for image in images}
        whole = {chunk.id for chunk in parts}
        pictured = (chunk for chunk in ranked if shown.intersection(chunk.elements))
        wanted = [*parts, *ranked[:1], *pictured, *ranked]
        chosen: dict[str, ContextSource] = {}
        room, others = self.tokens, 0
        for chunk in {chunk.id: chunk for chunk in wanted}.values():
            if others == self.limit and chunk.id not in whole:
                break
            row = self._row(chunk, pool, room, first=not chosen)
            if row is not None:
                chosen[chunk.id] = row
                room -= self._cost(row)
                others += chunk.id not in whole
        order = [chunk.id for chunk in ranked]
        best = next((number for number, chunk in enumerate(order) if chunk in whole), len(order))
        order = [*order[:best], *(chunk.id for chunk in parts), *order[best:]]
        kept = [chosen[chunk] for chunk in dict.fromkeys(order) if chunk in chosen]
        return tuple(replace(row, id=number) for number, row in enumerate(kept))

    def first_that_fit(self, chunks: Sequence[Chunk], *, share: float) -> int:
        """Return how many of the first chunks fit this share of the tokens."""
        room = share * self.tokens
        for number, chunk in enumerate(chunks):
            room -= self._cost(self._source(chunk))
            if room < 0:
                return number
        return len(chunks)

    def _row(self, chunk: Chunk, pool: CandidatePool, room: int, *, first: bool) -> ContextSource | None:
        """Return the chunk as a source, under the element it was selected for; None if it does not fit."""
        elements = list(pool.elements(chunk.elements).values())
        element = main_element(elements)
        row = self._source(chunk, element=element.id, label=element.label)
        if self._cost(row) <= room:
            return row
        within = min(room, int(_TABLE_SHARE * self.tokens))
        if isinstance(element, Table) and element.cells and (first or within >= _LEAST_EXCERPT):
            excerpt = table_excerpt(
                element, self.question, tokens=within - self._cost(replace(row, content="")), count=self.count
            )
            content = "\n".join(part for part in (excerpt, model_words(chunk.seen) if chunk.seen else "") if part)
            reduced = replace(row, content=content)
            return reduced if first or self._cost(reduced) <= room else None
        return row if first else None

    def _source(self, chunk: Chunk, *, element: str = "", label: str = "") -> ContextSource:
        return ContextSource(
            id=0,
            content=chunk.shown,
            element=element,
            place=chunk.place,
            more_places=chunk.more_places,
            paper=self.names.get(chunk.paper, chunk.paper),
            section=chunk.section,
            label=label,
        )

    def _cost(self, row: ContextSource) -> int:
        return self.count(source_line(row))


def fit_rows(context: Context, *, tokens: int, count: Count) -> Context:
    """Reduce the entities and relations of a context to `tokens`, half for each, if they exceed it together."""
    if count(render_for_model(context)) <= tokens:
        return context
    return replace(
        context,
        entities=_first(
            context.entities, tokens // 2, lambda rows: count(render_for_model(Context(entities=tuple(rows))))
        ),
        relations=_first(
            context.relations, tokens // 2, lambda rows: count(render_for_model(Context(relations=tuple(rows))))
        ),
    )


def _first(rows: Sequence[GraphRow], tokens: int, cost: Callable[[Sequence[GraphRow]], int]) -> tuple[GraphRow, ...]:
    """As many of the first rows as fit."""
    return tuple(rows[: _largest(0, len(rows), lambda size: cost(rows[:size]) <= tokens)])


def fitting_sources(sources: Iterable[ContextSource], *, tokens: int, count: Count) -> tuple[ContextSource, ...]:
    """Return the first source, and of the others, in their order, each that fits what is left of `tokens`."""
    kept: list[ContextSource] = []
    for source in sources:
        cost = count(source_line(source))
        if not kept or cost <= tokens:
            kept.append(source)
            tokens -= cost
    return tuple(kept)
