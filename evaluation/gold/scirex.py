"""`eval/kg_scirex.jsonl`: SciREX's whole papers with coreference and results (Jain et al., 2020)."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from evaluation.gold.graphs import Cluster, GoldGraph, GoldResult, GoldSection, Mention, entities_of
from evaluation.gold.named import made_of_lines
from evaluation.gold.tokens import Running, running_text
from paperscope_core.errors import GoldFileError

__all__ = ["scirex_graphs"]


_Span = tuple[int, int]
_MEMBERS = ("Method", "Task", "Material", "Metric")
# What the source's markup left before headings: "section : Introduction".
_MARK = re.compile(r"^(?:document|(?:sub)*section|(?:sub)?paragraph|appendix|bibliography): ?")
# What it left of citations and cross-references.
_CITATION = re.compile(r" ?\[reference\]")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Line:
    """Positions of words count from 0; the end of a span does not belong to it. `coref` has an entry for each entity of
    `n_ary_relations`, without spans where the paper never names it."""

    doc_id: str
    words: tuple[str, ...]
    sentences: tuple[_Span, ...]
    sections: tuple[_Span, ...]
    ner: tuple[tuple[int, int, str], ...]
    coref: Mapping[str, tuple[_Span, ...]]
    coref_non_salient: Mapping[str, tuple[_Span, ...]]
    n_ary_relations: tuple[Mapping[str, str | float | None], ...]


_LINE = TypeAdapter(_Line)


def scirex_graphs(data: Path) -> Iterator[GoldGraph | GoldFileError]:
    """One graph a line, and the errors of lines that can't be used."""
    file = data / "eval" / "kg_scirex.jsonl"
    yield from made_of_lines(file, _LINE, name=lambda line: line.doc_id, make=_graph)


def _graph(line: _Line) -> GoldGraph:
    text = running_text(line.words)
    mentions = [Mention(span=(first, end), words=text.of(first, end), type=kind) for first, end, kind in line.ner]
    clusters = [
        *(Cluster(spans=spans, salient=True) for spans in line.coref.values()),
        *(Cluster(spans=spans) for spans in line.coref_non_salient.values()),
    ]
    entities, place = entities_of(mentions, clusters)
    return GoldGraph(
        name=f"scirex/{line.doc_id}",
        sections=tuple(_sections(line, text)),
        entities=entities,
        results=tuple(_results(line, place)),
        coreferent=True,
    )


def _results(line: _Line, place: Mapping[_Span, int]) -> Iterator[GoldResult]:
    """The results whose members the paper names at all; the benchmark, too, leaves out the others."""
    for relation in line.n_ary_relations:
        named = [str(relation[member]) for member in _MEMBERS if member in relation]
        for name in named:
            if name not in line.coref:
                raise KeyError(f"a relation's member {name!r} has no entry in 'coref'")
        members = [next((place[span] for span in line.coref[name] if span in place), None) for name in named]
        known = tuple(dict.fromkeys(member for member in members if member is not None))
        if len(members) > 1 and None not in members:
            yield GoldResult(members=known, score=str(relation.get("score") or ""))


def _sections(line: _Line, text: Running) -> Iterator[GoldSection]:
    """A section's first sentence is its heading where the source's markup says so."""
    ends: Mapping[int, int] = dict(line.sentences)
    for first, end in line.sections:
        words = text.of(first, end)
        mark = _MARK.match(words)
        cut = min(ends.get(first, first), end) if mark else first
        heading = text.of(first, cut)[mark.end() :] if mark and cut > first else ""
        yield GoldSection(heading=_CITATION.sub("", heading), text=_CITATION.sub("", _rest(text, cut, end)))


def _rest(text: Running, first: int, end: int) -> str:
    return text.of(first, end) if first < end else ""
