"""The rows of a context's graph that fit a budget of tokens."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from paperscope.types import Context, ContextEntity, ContextRelation
from query.context_csv import render_context

__all__ = ["cut_rows"]

Row = TypeVar("Row", ContextEntity, ContextRelation)


def cut_rows(context: Context, *, tokens: int, count: Callable[[str], int]) -> Context:
    """The context with its first entities, and its first relations, of half of these tokens each, as `count` counts
    them; where both fit together, all."""
    if count(render_context(context)) <= tokens:
        return context

    def cost(one: Context) -> int:
        return count(render_context(one)) - frame

    frame = count(render_context(Context()))
    return replace(
        context,
        entities=_first(context.entities, tokens // 2, lambda row: cost(Context(entities=(row,)))),
        relations=_first(context.relations, tokens // 2, lambda row: cost(Context(relations=(row,)))),
    )


def _first(rows: Sequence[Row], tokens: int, cost: Callable[[Row], int]) -> tuple[Row, ...]:
    kept = list[Row]()
    for row in rows:
        tokens -= cost(row)
        if tokens < 0:
            break
        kept.append(row)
    return tuple(kept)
