"""`eval/kg_scierc.jsonl`: SciERC's abstracts with entities, relations and coreference (Luan et al., 2018)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from pydantic import TypeAdapter

from evaluation.gold.graphs import Cluster, GoldGraph, GoldRelation, GoldSection, Mention, entities_of
from evaluation.gold.named import made_of_lines
from evaluation.gold.tokens import Running, running_text
from paperscope_core.errors import GoldFileError

__all__ = ["scierc_graphs"]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Line:
    """Positions of tokens count from 0 over all sentences; the last one of a span belongs to it."""

    doc_key: str
    sentences: tuple[tuple[str, ...], ...]
    ner: tuple[tuple[tuple[int, int, str], ...], ...]
    relations: tuple[tuple[tuple[int, int, int, int, str], ...], ...]
    clusters: tuple[tuple[tuple[int, int], ...], ...]


_LINE = TypeAdapter(_Line)


def scierc_graphs(data: Path) -> Iterator[GoldGraph | GoldFileError]:
    """One graph a line, and the errors of lines that can't be used."""
    file = data / "eval" / "kg_scierc.jsonl"
    yield from made_of_lines(file, _LINE, name=lambda line: line.doc_key, make=_graph)


def _graph(line: _Line) -> GoldGraph:
    text = running_text([*chain.from_iterable(line.sentences)])
    mentions = [_mention(text, *entry) for entry in chain.from_iterable(line.ner)]
    clusters = [Cluster(spans=spans) for spans in line.clusters]
    entities, place = entities_of(mentions, clusters)
    relations = []
    for first, last, other_first, other_last, kind in chain.from_iterable(line.relations):
        ends = [(first, last), (other_first, other_last)]
        for end in ends:
            if end not in place:
                raise KeyError(f"a relation's end {list(end)} is no entity")
        relations.append(GoldRelation(source=place[ends[0]], target=place[ends[1]], kind=kind))
    return GoldGraph(
        name=f"scierc/{line.doc_key}",
        sections=(GoldSection(heading="", text=text.text),),
        entities=entities,
        relations=tuple(dict.fromkeys(relations)),
        coreferent=True,
    )


def _mention(text: Running, first: int, last: int, kind: str) -> Mention:
    return Mention(span=(first, last), words=text.of(first, last + 1), type=kind)
