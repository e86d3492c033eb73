"""A context without repetitions: a text that several rows have is written once, and the others refer to it."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from paperscope_core.text.sentences import split_sentences
from paperscope_core.types import Context, ContextEntity, ContextRelation, Place
from query.elements import strip_excerpt_note

__all__ = ["compact"]

GraphRow = TypeVar("GraphRow", ContextEntity, ContextRelation)

_WORD = re.compile(r"[^\W_]+(?:[.,]\d+)*")
# A block of a model's words (see `model_words`), or a line.
_SEGMENT = re.compile(r"⟦[^⟦⟧]*+⟧?|[^\n⟦]++")
_MARK = re.compile(r"⟦[^:⟦⟧]*+:|⟧")
# Fewer words are about as short as a reference to them.
_LEAST_WORDS = 5


def compact(context: Context) -> Context:
    """The context whose entities and relations have only what no source and no earlier row has.

    A sentence is a repetition if its words occur in the same order in a source or in an earlier row, or, like a fact of
    a table, in any order in whole sources at the row's places. "see S2, E0" takes its place, and the places of the
    source are those of the row.
    """
    written = _Written(context)
    return replace(
        context,
        entities=tuple(written.add(row, f"E{row.id}") for row in context.entities),
        relations=tuple(written.add(row, f"R{row.id}") for row in context.relations),
    )


class _Written:
    """What the sources and the rows so far say."""

    def __init__(self, context: Context) -> None:
        self._sources = {f"S{source.id}": source for source in context.sources}
        self._texts = {name: f" {_folded(source.content)} " for name, source in self._sources.items()}
        # An excerpt of a table may have the words of a fact that it does not show.
        self._whole = {
            name: frozenset(self._texts[name].split())
            for name, source in self._sources.items()
            if strip_excerpt_note(source.content) == source.content
        }
        self._rows: dict[str, str] = {}

    def add(self, row: GraphRow, name: str) -> GraphRow:
        """The row without repetitions."""
        kept: list[str] = []
        seen: dict[str, None] = {}
        for part in _parts(row.description):
            folded = _folded(part)
            found = self._found(folded, row.places)
            if found:
                seen |= dict.fromkeys(found)
            else:
                kept.append(part)
                self._rows.setdefault(folded, name)
        if not seen:
            return row
        said = " ".join((*kept, f"see {', '.join(seen)}"))
        shown = {place for one in seen if one in self._sources for place in self._sources[one].places}
        return replace(row, description=said, places=tuple(place for place in row.places if place not in shown))

    def _found(self, folded: str, places: Sequence[Place]) -> list[str]:
        """The names of the rows that have these words; empty if none does, or if the words are few."""
        words = set(folded.split())
        if folded.count(" ") < _LEAST_WORDS - 1:
            return []
        for name, text in self._texts.items():
            if f" {folded} " in text:
                return [name]
        own = [name for name in self._whole if not set(places).isdisjoint(self._sources[name].places)]
        if words <= frozenset().union(*(self._whole[name] for name in own)):
            return own
        return [self._rows[folded]] if folded in self._rows else []


def _parts(description: str) -> list[str]:
    """The sentences of a description; a block of a model's words is one part."""
    return [
        part
        for segment in _SEGMENT.findall(description)
        for part in ([segment] if segment.startswith("⟦") else split_sentences(segment))
    ]


def _folded(text: str) -> str:
    words = _WORD.findall(_MARK.sub(" ", text).casefold())
    # The last word of a text that was cut off may be half a word.
    return " ".join(words[:-1] if text.rstrip("⟧").endswith("…") else words)
