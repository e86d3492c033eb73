"""Which chunks become a context's sources, within a budget of tokens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from paperscope.types import Chunk, ContextSource, Table, model_words
from query.element_text import Pictured
from query.pool import Pool
from query.table_excerpt import table_excerpt

__all__ = ["SourceChooser"]

# Of a table too large for what is left of the budget, as much is shown at the most, so that others find room.
_TABLE_SHARE = 0.5
# An excerpt of less says too little to be worth a row.
_LEAST_EXCERPT = 150


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceChooser:
    """Chooses at most `limit` chunks for a question, together of at most `tokens` as `count` counts them.

    The best chunk is there whatever it takes, unless it is a table: a table too large is reduced to an excerpt. Any
    other chunk that does not fit is left out, and smaller ones behind it may come in.
    """

    question: str
    limit: int
    tokens: int
    count: Callable[[str], int]

    def choose(self, pool: Pool, images: Sequence[Pictured]) -> tuple[ContextSource, ...]:
        """The rows, best first; what holds a chosen image is chosen before any but the best."""
        shown = {image.id for image in images}
        ranked = pool.chunks()
        wanted = [*ranked[:1], *(chunk for chunk in ranked if shown.intersection(chunk.elements)), *ranked]
        chosen: dict[str, ContextSource] = {}
        room = self.tokens
        for chunk in {chunk.id: chunk for chunk in wanted}.values():
            if len(chosen) == self.limit:
                break
            row = self._row(chunk, pool, room, first=not chosen)
            if row is not None:
                chosen[chunk.id] = row
                room -= self._cost(row)
        kept = [chosen[chunk.id] for chunk in ranked if chunk.id in chosen]
        return tuple(replace(row, id=number) for number, row in enumerate(kept))

    def _row(self, chunk: Chunk, pool: Pool, room: int, *, first: bool) -> ContextSource | None:
        """The chunk under the element that it is there for; None if there is no room for it."""
        elements = list(pool.elements(chunk.elements).values())
        held = next((element for element in elements if element.place == chunk.place), elements[0])
        row = ContextSource(id=0, content=chunk.shown, element=held.id, place=chunk.place)
        if self._cost(row) <= room:
            return row
        within = min(room, int(_TABLE_SHARE * self.tokens))
        if isinstance(held, Table) and held.cells and (first or within >= _LEAST_EXCERPT):
            excerpt = table_excerpt(
                held, self.question, tokens=within - self._cost(replace(row, content="")), count=self.count
            )
            content = "\n".join(part for part in (excerpt, model_words(chunk.seen) if chunk.seen else "") if part)
            reduced = replace(row, content=content)
            return reduced if first or self._cost(reduced) <= room else None
        return row if first else None

    def _cost(self, row: ContextSource) -> int:
        return self.count(f'0,"{row.content}","{row.element}","{row.place}"\n')
