"""One context of several: those of the parts of a question."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from typing import TypeVar

from paperscope.types import Context, ContextEntity, ContextImage, ContextRelation, ContextSource
from query.context_csv import render_context

__all__ = ["united"]

Row = TypeVar("Row", ContextEntity, ContextRelation, ContextSource, ContextImage)


def united(contexts: Sequence[Context], *, tokens: int, count: Callable[[str], int]) -> Context:
    """The first rows of each, then the second ones, and so on, without repeats: of each section as many as the longest
    has, at least one for each context, and sources while all fit the tokens.

    The first source is there whatever it takes.
    """
    whole = Context(
        entities=_merged([context.entities for context in contexts]),
        relations=_merged([context.relations for context in contexts]),
        images=_merged([context.images for context in contexts]),
    )
    sources = _merged([context.sources for context in contexts])
    frame = count(render_context(Context()))
    room = tokens - count(render_context(replace(whole, images=())))
    kept = list[ContextSource]()
    for source in sources:
        cost = count(render_context(Context(sources=(source,)))) - frame
        if not kept or cost <= room:
            kept.append(source)
            room -= cost
    return replace(whole, sources=_numbered(kept))


def _merged(lists: Sequence[Sequence[Row]]) -> tuple[Row, ...]:
    most = max((len(rows) for rows in lists), default=0)
    if most:
        most = max(most, sum(bool(rows) for rows in lists))
    turns = chain.from_iterable(zip_longest(*lists))
    rows = dict.fromkeys(replace(row, id=0) for row in turns if row is not None)
    return _numbered(list(rows)[:most])


def _numbered(rows: Iterable[Row]) -> tuple[Row, ...]:
    return tuple(replace(row, id=number) for number, row in enumerate(rows))
