"""The formats in which language models write entities: bracketed, XML, and JSON with occurrences.

Brackets and tags are not escaped. A reply that repeats the text is read against it, so that brackets of the text are
told apart from those of the format. Thoughts, code fences, and lines that are not the text are passed over.
"""

import html
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol, get_args

from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError

from ingest.extraction.recognizer.examples import Example, Span
from paperscope_core.files import write_atomically
from paperscope_core.models.reply_reading import read_replies, without_thoughts
from paperscope_lab.ner.alignment import Marked, Named, align_marked, align_named, folded_label, letters, occurrences
from paperscope_lab.ner.gold_tags import flat_spans
from prompts import load

__all__ = [
    "FORMATS",
    "FormatName",
    "JsonEntities",
    "ParsedReply",
    "ReplyFormat",
    "alpaca_records",
    "instruction_of",
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
        """Read the reply for a text. Of several lines or objects, those that fit the text best are read."""
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


# What looks like a mark, of any label. Inside brackets may be others without a bar: [F [2] | PER].
_LOOSE = {
    "bracketed": re.compile(r"\[(?P<words>[^\[\]]*(?:\[[^\[\]|]*\][^\[\]]*)*)\|(?P<label>[^\[\]|]*)\]"),
    "xml": re.compile(r"<(?P<opening>[^<>/]+)>(?P<words>[^<>]*)</(?P<label>[^<>/]+)>"),
}
_PARTS = {
    "bracketed": re.compile(r"\|[^\[\]|]+\]|\[[^\[\]|]+\|"),
    "xml": re.compile(r"</?[^<>/]+>"),
}
_FENCE = re.compile(r"^\s*```\w*\s*$|^\s*`+|`+\s*$")
# A text and a reply share at least this part of the groups of three letters of the shorter one. Of other sentences of
# CoNLL-2003, SciER, KLUE and JNLPBA, 0 to 2.4 % share more. Of sentences with a tenth of the words lost and a fifth
# misspelt, 2.4 % share less in CoNLL, whose sentences may be two words, and none in the other sets.
_IS_ANOTHER = 0.5
# Without marks, a reply has to have this share of the text to say that it has no entities. Of other sentences .1 % do.
_IS_REPEATED = 0.8
# Lines that are joined to one are together no longer than the text and a fifth.
_LONGEST_JOINED = 1.2
_MOST_LINES = 64


@dataclass(frozen=True, kw_only=True)
class _Candidate:
    """A line of a reply, or some that follow each other, as the text that it may repeat."""

    written: str
    marked: Marked
    broken: int
    shared: int
    pieces: int


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
        due = _grams(words)
        best = max(self._candidates(words, reply, due), key=lambda one: _rank(one, due.total()), default=None)
        if best is None:
            return ParsedReply(spans=(), outcomes=Counter(), failure="empty reply" if words else None)
        shift = len(line) - len(line.lstrip())
        spans = self._read_exactly(words, best.written)
        if spans is None:
            spans = self._read_exactly(words, self._canonical(best.written))
        if spans is not None:
            placed = tuple(replace(span, start=span.start + shift, end=span.end + shift) for span in spans)
            return _aligned(line, Marked(text=line, spans=placed), self.marks)
        broken = Counter(broken=best.broken) if best.broken else Counter[str]()
        if best.shared < _IS_ANOTHER * min(best.pieces, due.total()):
            other = "another text" if best.marked.spans else "another text without marks"
            return ParsedReply(spans=(), outcomes=broken, failure=other)
        if not best.marked.spans:
            whole = best.shared >= _IS_REPEATED * due.total() and not broken
            failure = None if whole else "no whole mark" if broken else "another text without marks"
            return ParsedReply(spans=(), outcomes=broken, failure=failure)
        parsed = _aligned(line, best.marked, self.marks)
        parsed.outcomes.update(broken)
        return parsed

    def _candidates(self, text: str, reply: str, due: Counter[str]) -> Iterator[_Candidate]:
        """Yield what of the reply may be the text: each line, and lines that follow each other as long as they are no
        longer than the text."""
        if without_thoughts(text) == text:
            reply = without_thoughts(reply)
        if "`" not in text:
            reply = "\n".join(_FENCE.sub("", line) for line in reply.split("\n"))
        lines = [line for part in reply.split("\n") if (line := one_line(part).strip())]
        if len(lines) > _MOST_LINES:  # the text comes first, or after long thoughts without marks
            lines = lines[: _MOST_LINES // 2] + lines[-_MOST_LINES // 2 :]
        longest = _LONGEST_JOINED * len(text)
        for start in range(len(lines)):
            for end in range(start + 1, len(lines) + 1):
                written = " ".join(lines[start:end])
                marked, broken = self._read_loosely(written)
                if end > start + 1 and len(marked.text) > longest:
                    break
                given = _grams(marked.text)
                shared = (given & due).total()
                yield _Candidate(written=written, marked=marked, broken=broken, shared=shared, pieces=given.total())

    def _canonical(self, written: str) -> str:
        """Return a reply with the marks of known labels as they should be written."""
        known = {folded_label(label): marks for label, marks in self.marks.items()}
        parts, at = [], 0
        for start, end, words, label in self._marked(written):
            before, after = self.marks.get(label) or known.get(folded_label(label), ("", ""))
            parts += [written[at:start], f"{before}{words}{after}" if before else written[start:end]]
            at = end
        return "".join([*parts, written[at:]])

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

    def _marked(self, written: str) -> Iterator[tuple[int, int, str, str]]:
        """Yield start, end, words and label of whatever looks like an entity in the reply."""
        for match in _LOOSE[self.name].finditer(written):
            words, label = match["words"], match["label"].strip()
            if self.name == "bracketed":
                yield match.start(), match.end(), words.rstrip(), label
            elif f"{folded_label(match['opening'])} ".startswith(f"{folded_label(label)} "):  # it may have attributes
                yield match.start(), match.end(), words, label

    def _read_loosely(self, written: str) -> tuple[Marked, int]:
        """Return whatever looks like an entity in the reply, the rest of its text, and the number of lone marks."""
        plain = html.unescape if self.name == "xml" else str
        parts: list[str] = []
        spans: list[Span] = []
        at = length = broken = 0
        for start, end, marked, label in self._marked(written):
            between, words = plain(written[at:start]), plain(marked)
            broken += len(_PARTS[self.name].findall(written[at:start]))
            parts += [between, words]
            length += len(between)
            spans.append(Span(start=length, end=length + len(words), label=label))
            length += len(words)
            at = end
        broken += len(_PARTS[self.name].findall(written[at:]))
        return Marked(text="".join([*parts, plain(written[at:])]), spans=tuple(spans)), broken


def _grams(text: str) -> Counter[str]:
    """Return the parts of three letters of a text."""
    folded, _ = letters(text)
    size = min(3, len(folded)) or 1
    return Counter(folded[at : at + size] for at in range(len(folded) - size + 1))


def _rank(one: _Candidate, pieces: int) -> tuple[float, bool]:
    """Return how much of the text and of the reply is the same (Dice's coefficient), and whether anything is marked."""
    return 2 * one.shared / max(1, one.pieces + pieces), bool(one.marked.spans)


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
        line = one_line(text)
        try:
            readings = [_listed(line, found, self.labels) for found in _entity_lists(without_thoughts(reply))]
        except ValueError as error:
            reason = str(error) if not isinstance(error, ValidationError) else error.errors()[0]["msg"]
            return ParsedReply(spans=(), outcomes=Counter(), failure=f"no valid JSON: {reason}")
        # The last objects come first. Of those that fit the text as well, the first is read: a model may go on with
        # texts of its own.
        return max(reversed(readings), key=lambda one: (len(one.spans), -one.outcomes["rejected"]))


class _EntityList(BaseModel):
    entities: list[JsonValue]


_LIST, _SCHEMA = TypeAdapter(_EntityList), TypeAdapter(JsonEntities).json_schema()


def _entity_lists(reply: str) -> list[tuple[list[_JsonEntity], int]]:
    """Return the entities of each object of a reply that has any, or an empty list, and the number of broken ones.

    Raises:
        ValueError: There is no such object. A `ValidationError` tells what is wrong with the likeliest one.
    """
    with suppress(ValidationError):
        return [(JsonEntities.model_validate_json(reply).entities, 0)]
    try:
        return list(_good_items(reply))
    except ValueError:
        with suppress(ValueError):  # the object may not be closed, but its items are
            return [(good, broken + 1) for good, broken in _good_items(reply.partition("[")[2])]
        raise


def _good_items(reply: str) -> Iterator[tuple[list[_JsonEntity], int]]:
    first: ValidationError | None = None
    found = False
    for one in read_replies(reply, _LIST, _SCHEMA):
        good = []
        for item in one.entities:
            try:
                good.append(_JsonEntity.model_validate(item))
            except ValidationError as error:
                first = first or error
        if good or not one.entities:
            yield good, len(one.entities) - len(good)
            found = True
    if not found and first:
        raise first


def _listed(line: str, found: tuple[list[_JsonEntity], int], labels: Sequence[str]) -> ParsedReply:
    entities, broken = found
    named = [Named(surface=one.text, label=one.label, occurrence=one.occurrence) for one in entities]
    alignment = align_named(line, named, labels)
    alignment.outcomes.update({"broken": broken} if broken else {})
    return ParsedReply(spans=alignment.spans, outcomes=alignment.outcomes)


def _aligned(line: str, marked: Marked, labels: Mapping[str, object]) -> ParsedReply:
    alignment = align_marked(line, marked, labels)
    return ParsedReply(spans=alignment.spans, outcomes=alignment.outcomes)


def alpaca_records(
    examples: Sequence[Example], name: FormatName, labels: Mapping[str, str], instruction: str = ""
) -> list[dict[str, str]]:
    """Return examples for supervised fine-tuning in the form of Alpaca (instruction, input, output).

    Args:
        examples: Gold.
        name: The format of the outputs.
        labels: What each label means.
        instruction: What a model is told, in place of our own words.
    """
    format_, instruction = reply_format(name, tuple(labels)), instruction or instruction_of(name, labels)
    return [
        {"instruction": instruction, "input": one_line(example.text), "output": format_.write(example)}
        for example in examples
    ]


def write_alpaca(
    path: Path, examples: Sequence[Example], name: FormatName, labels: Mapping[str, str], instruction: str = ""
) -> None:
    """Write `alpaca_records` as a JSON list. Raises OutputError."""
    records = alpaca_records(examples, name, labels, instruction)
    write_atomically(path, f"{json.dumps(records, indent=1, ensure_ascii=False)}\n".encode())


def instruction_of(name: FormatName, labels: Mapping[str, str]) -> str:
    """Return what a model is told to do."""
    listed = "\n".join(f"{label}: {meaning}" if meaning else label for label, meaning in labels.items())
    system, _ = load(f"entities_{name}", placeholders=frozenset({"labels", "text"})).fill(labels=listed, text="")
    return system
