"""The context as text: headed, fenced CSV sections that parse back to equal values, and a shorter form for models."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar, cast

from paperscope_core.text.escaping import markdown_fence
from paperscope_core.text.sentences import split_sentences
from paperscope_core.types import (
    Context,
    ContextEntity,
    ContextImage,
    ContextRelation,
    ContextSource,
    Place,
)
from query.element_views import strip_excerpt_note

__all__ = ["compact", "render_context", "render_for_model", "source_line"]

# The title and the rows of each section, by the field of `Context`. The columns are the fields of a row; `page` of a
# source follows from its place, and is not read back.
_SECTIONS: dict[str, tuple[str, type]] = {
    "entities": ("Entities", ContextEntity),
    "relations": ("Relationships", ContextRelation),
    "sources": ("Sources", ContextSource),
    "images": ("Images", ContextImage),
}
_LANGUAGE = "csv"
_BETWEEN_PLACES = "; "
_WORD = re.compile(r"[^\W_]+(?:[.,]\d+)*")
# A block of a model's words (see `model_words`), or a line.
_SEGMENT = re.compile(r"⟦[^⟦⟧]*+⟧?|[^\n⟦]++")
_MARK = re.compile(r"⟦[^:⟦⟧]*+:|⟧")
_SEEN = re.compile(r"see [SER]\d+(?:, [SER]\d+)*")
# Fewer words are about as short as a reference to them.
_LEAST_WORDS = 5

GraphRow = TypeVar("GraphRow", ContextEntity, ContextRelation)


def render_context(context: Context) -> str:
    """Render the four sections as CSV (RFC 4180), which parses back; a row's places are joined by "; "."""
    return "".join(
        _rendered(title, _columns(kind), [[_written(row, column) for column in _columns(kind)] for row in rows])
        for field, (title, kind) in _SECTIONS.items()
        for rows in [getattr(context, field)]
    )


def render_for_model(context: Context) -> str:
    """Render what a language model reads: no text twice, no coordinates, no images, no empty section, no entity or
    relation of which the sources say all."""
    short = compact(context)
    short = replace(
        short,
        entities=tuple(row for row in short.entities if _says_more(row.description)),
        relations=tuple(row for row in short.relations if _says_more(row.description)),
    )
    parts = []
    for field, (title, kind) in _SECTIONS.items():
        rows = getattr(short, field)
        if rows and kind is not ContextImage:
            columns = _read_columns(kind)
            parts.append(_rendered(title, columns, [[_written(row, column) for column in columns] for row in rows]))
    return "".join(parts)


def _says_more(description: str) -> bool:
    """Return whether a description of `compact` says more than where the rest is said."""
    said, seen, _ = description.rpartition("see ")
    return not (seen and _SEEN.fullmatch(description, len(said))) or len(_folded(said).split()) >= _LEAST_WORDS


def source_line(source: ContextSource) -> str:
    """Return the line of a source in `render_for_model`."""
    return _csv([[_written(source, column) for column in _read_columns(ContextSource)]])


def _csv(rows: Iterable[Sequence[str | float]]) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n").writerows(rows)  # noqa: TID251 # is read back
    return out.getvalue()


def _rendered(title: str, columns: Sequence[str], rows: Iterable[Sequence[str | float]]) -> str:
    lines = f"{','.join(columns)}\n{_csv(rows)}".removesuffix("\n")
    return f"-----{title}-----\n{markdown_fence(lines, language=_LANGUAGE)}\n"


def _columns(kind: type) -> list[str]:
    names = ["place" if one.name == "places" else one.name for one in fields(kind)]
    return [name for name in names if name != "more_places"] + (["page"] if kind is ContextSource else [])


def _read_columns(kind: type) -> list[str]:
    """Return the columns that a language model reads."""
    return [name for name in _columns(kind) if name not in ("element", "place")]


def _written(row: Any, column: str) -> str | float:  # noqa: ANN401 -- a row of any section
    if column != "place":
        return cast("str | float", getattr(row, column))
    places = (row.place,) if isinstance(row, ContextImage) else row.places
    return _BETWEEN_PLACES.join(map(str, places))


def compact(context: Context) -> Context:
    """Return the context whose entities and relations have only what no source and no earlier row has.

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
        """Return the row without repetitions."""
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
        """Return the names of the rows that have these words; empty if none does, or if the words are few."""
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
    """Return the sentences of a description; a block of a model's words is one part."""
    return [
        part
        for segment in _SEGMENT.findall(description)
        for part in ([segment] if segment.startswith("⟦") else split_sentences(segment))
    ]


def _folded(text: str) -> str:
    words = _WORD.findall(_MARK.sub(" ", text).casefold())
    # The last word of a text that was cut off may be half a word.
    return " ".join(words[:-1] if text.rstrip("⟧").endswith("…") else words)
