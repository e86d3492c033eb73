"""`eval/kg_scier.jsonl`: SciER's sentences with entities and relations (Zhang et al., 2024)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from evaluation.gold.files import json_lines
from evaluation.gold.graphs import GoldGraph, GoldRelation, GoldSection, Mention, entities_of
from evaluation.gold.named import line_error
from evaluation.gold.tokens import running_text
from paperscope_core.errors import GoldFileError
from paperscope_core.text.words import entity_key

__all__ = ["scier_graphs"]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Line:
    """A sentence, its tokens parted by blanks; entities are (words, type), relations (words, kind, words)."""

    doc_id: str
    sentence: str
    ner: tuple[tuple[str, str], ...]
    rel: tuple[tuple[str, str, str], ...]


_LINE = TypeAdapter(_Line)
_DIGITS = re.compile(r"(?<=\b\d) (?=\d\b)")


def scier_graphs(data: Path) -> Iterator[GoldGraph | GoldFileError]:
    """One graph a document: all its sentences as one text. The errors of lines that can't be used come last."""
    file = data / "eval" / "kg_scier.jsonl"
    bad: list[GoldFileError] = []
    documents: dict[str, list[_Line]] = {}
    for number, line in json_lines(file, _LINE, bad=bad):
        if reason := _wrong(line):
            bad.append(line_error(file, number, reason))
        else:
            documents.setdefault(line.doc_id, []).append(line)
    for document, lines in documents.items():
        yield _graph(document, lines)
    yield from bad


def _wrong(line: _Line) -> str:
    """Why a line can't be used, or ""."""
    named = {words for words, _ in line.ner}
    for words in named:
        if words not in line.sentence:
            return f"the entity {words!r} does not stand in its sentence"
    for source, _, target in line.rel:
        for words in (source, target):
            if words not in named:
                return f"a relation's end {words!r} is no entity of its sentence"
    return ""


def _graph(document: str, lines: Sequence[_Line]) -> GoldGraph:
    found = dict.fromkeys((_words(words), kind) for line in lines for words, kind in line.ner)
    mentions = [Mention(span=(n, n), words=words, type=kind) for n, (words, kind) in enumerate(found)]
    entities, place = entities_of(mentions, ())
    number = {entity_key(mention.words): place[mention.span] for mention in mentions}
    relations = [
        GoldRelation(source=number[entity_key(_words(a))], target=number[entity_key(_words(b))], kind=kind)
        for line in lines
        for a, kind, b in line.rel
    ]
    return GoldGraph(
        name=f"scier/{document}",
        sections=(GoldSection(heading="", text=" ".join(_words(line.sentence) for line in lines)),),
        entities=entities,
        relations=tuple(dict.fromkeys(relations)),
    )


def _words(text: str) -> str:
    """The set cuts every number into its digits ("UCF 1 0 1"): they are put together again."""
    return _DIGITS.sub("", running_text(text.split()).text)
