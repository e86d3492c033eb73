"""The formats in which language models write entities: bracketed, XML, and JSON with occurrences.

Brackets and tags are not escaped. A reply that repeats the text is read against it, so that brackets of the text are
told apart from those of the format.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol, get_args

from pydantic import BaseModel, ValidationError

from ingest.extraction.recognizer.examples import Example, Span
from ingest.extraction.recognizer.tagging import flat_spans
from paperscope_core.files import write_atomically
from paperscope_core.models.reply_reading import outermost_object
from paperscope_lab.ner.alignment import Alignment, Marked, Named, align_marked, align_named, occurrences
from prompts import load

__all__ = [
    "FORMATS",
    "FormatName",
    "JsonEntities",
    "ParsedReply",
    "ReplyFormat",
    "alpaca_records",
    "one_line",
    "reply_format",
    "write_alpaca",
]

FormatName = Literal["bracketed", "xml", "json"]
FORMATS: tuple[FormatName, ...] = get_args(FormatName)
_SPACE = re.compile(r"\s")


@dataclass(frozen=True, kw_only=True)
class ParsedReply:
    """The entities that a reply names, each on the text, and what became of the others.

    Attributes:
        spans: The entities.
        outcomes: The number of entities by outcome; see `Alignment`.
        failure: Why the reply can't be read; there are then no entities.
    """

    spans: tuple[Span, ...]
    outcomes: Counter[str]
    failure: str | None = None


class ReplyFormat(Protocol):
    """Writes entities as a model should, and reads what a model wrote."""

    @property
    def name(self) -> FormatName:
        """The format's name."""
        ...

    def write(self, example: Example) -> str:
        """Return the reply for a text. Of entities that overlap, the longest is written."""
        ...

    def parse(self, text: str, reply: str) -> ParsedReply:
        """Read the reply for a text. What follows the first line is dropped."""
        ...


def reply_format(name: FormatName, labels: Sequence[str]) -> ReplyFormat:
    """Return the format of this name for these labels."""
    if name == "json":
        return _Json(labels=tuple(labels))
    marks = {
        "bracketed": {label: ("[", f" | {label}]") for label in labels},
        "xml": {label: (f"<{label}>", f"</{label}>") for label in labels},
    }
    return _Inline(name=name, marks=marks[name])


def one_line(text: str) -> str:
    """Return the text with each white space as a blank, so that it is a line of the same length."""
    return _SPACE.sub(" ", text)


# What looks like a mark, of any label.
_LOOSE = {
    "bracketed": re.compile(r"\[(?P<words>[^\[\]]*) \| (?P<label>[^\[\]|]+)\]"),
    "xml": re.compile(r"<(?P<label>[^<>/][^<>]*)>(?P<words>[^<>]*)</(?P=label)>"),
}
_PARTS = {
    "bracketed": re.compile(r" \| [^\[\]|]+\]"),
    "xml": re.compile(r"</?[^<>/]+>"),
}


@dataclass(frozen=True, kw_only=True)
class _Inline:
    """The text is repeated, with a mark before and after each entity."""

    name: FormatName
    marks: Mapping[str, tuple[str, str]]

    def write(self, example: Example) -> str:
        parts, at = [], 0
        for span in flat_spans(example.spans):
            before, after = self.marks[span.label]
            parts += [example.text[at : span.start], before, example.text[span.start : span.end], after]
            at = span.end
        return one_line("".join([*parts, example.text[at:]]))

    def parse(self, text: str, reply: str) -> ParsedReply:
        line = one_line(text)
        words = line.strip()
        written = _first_line(reply)
        if not written:
            return ParsedReply(spans=(), outcomes=Counter(), failure="empty reply" if words else None)
        shift = len(line) - len(line.lstrip())
        spans = self._read_exactly(words, written)
        if spans is not None:
            placed = tuple(replace(span, start=span.start + shift, end=span.end + shift) for span in spans)
            return _parsed(align_marked(line, Marked(text=line, spans=placed), self.marks))
        marked, broken = self._read_loosely(written)
        if not marked.spans:
            return ParsedReply(
                spans=(), outcomes=Counter({"broken": broken} if broken else {}), failure="another text without marks"
            )
        parsed = _parsed(align_marked(line, marked, self.marks))
        parsed.outcomes.update({"broken": broken} if broken else {})
        return parsed

    def _read_exactly(self, text: str, written: str) -> list[Span] | None:
        """Return the entities if the reply is the text with marks; None if it is not.

        Each character of the reply is one of the text or starts a mark. Where both are possible, the mark is tried
        first.
        """
        begins: dict[str, list[str | None]] = {}
        for name, (before, _) in self.marks.items():
            # All labels of brackets begin alike; the end says which one it is.
            begins.setdefault(before, []).append(name if before != "[" else None)
        pending: list[tuple[int, int, str | None, int, tuple[Span, ...]]] = [(0, 0, None, -1, ())]
        tried = set()
        while pending:
            at, place, label, start, spans = pending.pop()
            if (at, place, label, start >= 0) in tried:
                continue
            tried.add((at, place, label, start >= 0))
            if place == len(written):
                if at == len(text) and start < 0:
                    return list(spans)
                continue
            if at < len(text) and text[at] == written[place]:
                pending.append((at + 1, place + 1, label, start, spans))
            if start < 0:
                pending.extend(
                    (at, place + len(before), labels[0], at, spans)
                    for before, labels in begins.items()
                    if written.startswith(before, place)
                )
            elif start < at:
                pending.extend(
                    (at, place + len(after), None, -1, (*spans, Span(start=start, end=at, label=closed)))
                    for closed, (_, after) in self.marks.items()
                    if label in (None, closed) and written.startswith(after, place)
                )
        return None

    def _read_loosely(self, written: str) -> tuple[Marked, int]:
        """Return whatever looks like an entity in the reply, the rest of its text, and the number of lone marks."""
        parts: list[str] = []
        spans: list[Span] = []
        at = length = broken = 0
        for match in _LOOSE[self.name].finditer(written):
            between = written[at : match.start()]
            broken += len(_PARTS[self.name].findall(between))
            parts += [between, match["words"]]
            length += len(between)
            spans.append(Span(start=length, end=length + len(match["words"]), label=match["label"].strip()))
            length += len(match["words"])
            at = match.end()
        broken += len(_PARTS[self.name].findall(written[at:]))
        return Marked(text="".join([*parts, written[at:]]), spans=tuple(spans)), broken


class _JsonEntity(BaseModel):
    text: str
    label: str
    occurrence: int | None = None


class JsonEntities(BaseModel):
    """A reply in JSON. Errors quote its name."""

    entities: list[_JsonEntity]


@dataclass(frozen=True, kw_only=True)
class _Json:
    """A JSON object with the surface, the label and the number of the occurrence of each entity."""

    labels: tuple[str, ...]
    name: FormatName = "json"

    def write(self, example: Example) -> str:
        line = one_line(example.text)
        entities = []
        for span in flat_spans(example.spans):
            surface = line[span.start : span.end]
            places = occurrences(line, surface)
            number = places.index((span.start, span.end)) + 1
            entities.append({"text": surface, "label": span.label, "occurrence": number})
        return json.dumps({"entities": entities}, ensure_ascii=False)

    def parse(self, text: str, reply: str) -> ParsedReply:
        try:
            read = _first_entities(reply)
        except (ValidationError, ValueError) as error:
            reason = str(error) if not isinstance(error, ValidationError) else error.errors()[0]["msg"]
            return ParsedReply(spans=(), outcomes=Counter(), failure=f"no valid JSON: {reason}")
        named = [Named(surface=one.text, label=one.label, occurrence=one.occurrence) for one in read.entities]
        return _parsed(align_named(one_line(text), named, self.labels))


def _first_entities(reply: str) -> JsonEntities:
    """Return what the first object of a reply says; a model may go on with others. Raises ValueError and
    ValidationError."""
    try:
        return JsonEntities.model_validate_json(outermost_object(reply))
    except (ValidationError, ValueError):
        try:
            first, _ = json.JSONDecoder().raw_decode(reply, reply.index("{"))
        except (ValueError, RecursionError):
            first = None
        if first is None:
            raise
        return JsonEntities.model_validate(first)


def _parsed(alignment: Alignment) -> ParsedReply:
    return ParsedReply(spans=alignment.spans, outcomes=alignment.outcomes)


def _first_line(reply: str) -> str:
    """Return the first line that is not blank: models go on after it."""
    return one_line(reply.lstrip().split("\n", 1)[0]).strip()


def alpaca_records(examples: Sequence[Example], name: FormatName, labels: Mapping[str, str]) -> list[dict[str, str]]:
    """Return examples for supervised fine-tuning in the form of Alpaca (instruction, input, output).

    Args:
        examples: Gold.
        name: The format of the outputs.
        labels: What each label means.
    """
    format_, instruction = reply_format(name, tuple(labels)), instruction_of(name, labels)
    return [
        {"instruction": instruction, "input": one_line(example.text), "output": format_.write(example)}
        for example in examples
    ]


def write_alpaca(path: Path, examples: Sequence[Example], name: FormatName, labels: Mapping[str, str]) -> None:
    """Write `alpaca_records` as a JSON list. Raises OutputError."""
    records = alpaca_records(examples, name, labels)
    write_atomically(path, f"{json.dumps(records, indent=1, ensure_ascii=False)}\n".encode())


def instruction_of(name: FormatName, labels: Mapping[str, str]) -> str:
    """Return what a model is told to do."""
    listed = "\n".join(f"{label}: {meaning}" if meaning else label for label, meaning in labels.items())
    system, _ = load(f"entities_{name}", placeholders=frozenset({"labels", "text"})).fill(labels=listed, text="")
    return system
