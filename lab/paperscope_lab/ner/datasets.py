"""What a data set contains, what is doubtful in it, and what two splits share."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from ingest.extraction.recognizer.examples import Example, Span

__all__ = ["DataStats", "Leakage", "find_problems", "leakage", "stats", "with_marks"]


@dataclass(frozen=True, kw_only=True)
class DataStats:
    """Counts of a data set.

    Attributes:
        examples: The examples.
        tokens: Their tokens.
        spans: Their entities.
        documents: Their documents, 0 if no example names one.
        document_marks: The lines `-DOCSTART-` of a CoNLL file, which some programs count as sentences of one token; of
            other files the documents, each of which had such a line.
        without_spans: The examples without entities.
        duplicates: The examples whose text an earlier one has.
        overlapping: The pairs of entities that overlap.
        labels: The entities of each label, the most frequent first.
    """

    examples: int
    tokens: int
    spans: int
    documents: int
    document_marks: int
    without_spans: int
    duplicates: int
    overlapping: int
    labels: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class Leakage:
    """What the second of two splits has in common with the first.

    Attributes:
        examples: The examples of the second whose text the first has, also as a part of a longer text or as long parts
            of it: one split may have sentences, and the other documents.
        of_examples: All examples of the second.
        documents: The documents of the second that the first has, by name.
        surfaces: The entities of the second whose text and label an entity of the first has. Common names recur in any
            two splits; this says how much can be known by heart.
        of_surfaces: All entities of the second.
    """

    examples: int
    of_examples: int
    documents: int
    surfaces: int
    of_surfaces: int


def stats(examples: Sequence[Example], *, document_marks: int = 0) -> DataStats:
    """Count what a data set contains. The marks are those of `Imported`."""
    documents = len({example.document for example in examples if example.document is not None})
    labels = Counter(span.label for example in examples for span in example.spans)
    return DataStats(
        examples=len(examples),
        tokens=sum(len(example.tokens) for example in examples),
        spans=labels.total(),
        documents=documents,
        document_marks=document_marks or documents,
        without_spans=sum(not example.spans for example in examples),
        duplicates=len(examples) - len({_folded(example) for example in examples}),
        overlapping=sum(1 for example in examples for _ in _overlaps(example)),
        labels=dict(labels.most_common()),
    )


def with_marks(counted: DataStats) -> str:
    """Return the sentences and tokens of a program that counts lines `-DOCSTART-`."""
    sentences, tokens = counted.examples + counted.document_marks, counted.tokens + counted.document_marks
    return f"{sentences:,} sentences and {tokens:,} tokens if lines -DOCSTART- count ({counted.document_marks:,})"


def find_problems(examples: Sequence[Example]) -> Iterator[str]:
    """Yield what is doubtful: entities off the tokens, twice or overlapping, and equal texts with unlike entities."""
    earlier: dict[str, Example] = {}
    for example in examples:
        starts, ends = {start for start, _ in example.tokens}, {end for _, end in example.tokens}
        if not example.tokens:
            yield f"{example.id}: no tokens"
        for span in example.spans:
            if span.start not in starts or span.end not in ends:
                yield f"{example.id}: {_shown(example, span)} does not start and end with a token"
        for span, count in Counter(example.spans).items():
            if count > 1:
                yield f"{example.id}: {_shown(example, span)} is there {count} times"
        for one, other in _overlaps(example):
            yield f"{example.id}: {_shown(example, one)} and {_shown(example, other)} overlap"
        first = earlier.setdefault(_folded(example), example)
        if _surfaces(first) != _surfaces(example):
            yield f"{example.id}: the text of {first.id} with other entities"


def leakage(first: Sequence[Example], second: Sequence[Example]) -> Leakage:
    """Compare two splits, such as those to train on and to score on."""
    texts, others = {_folded(example) for example in first}, list(map(_folded, second))
    shared = texts | {part for part, _ in _containments(others, texts)}
    shared |= {whole for _, whole in _containments(texts, others)}
    surfaces = {surface for example in first for surface in _surfaces(example)}
    documents = {example.document for example in first if example.document is not None}
    return Leakage(
        examples=sum(text in shared for text in others),
        of_examples=len(second),
        documents=len(documents & {example.document for example in second}),
        surfaces=sum(surface in surfaces for example in second for surface in _surfaces(example).elements()),
        of_surfaces=sum(len(example.spans) for example in second),
    )


# Shorter texts are parts of others by chance: 6 of CoNLL-2003's dev texts at a limit of 40 characters, none at 60.
_LONG = 60


def _containments(parts: Iterable[str], wholes: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each long part with each whole within which it stands."""
    starts: defaultdict[str, list[str]] = defaultdict(list)
    for part in set(parts):
        if len(part) >= _LONG:
            starts[part[:_LONG]].append(part)
    for whole in set(wholes):
        for at in range(len(whole) - _LONG + 1):
            for part in starts.get(whole[at : at + _LONG], ()):
                if whole.startswith(part, at):
                    yield part, whole


def _folded(example: Example) -> str:
    """Return the text without its white space, so that another tokenization of it is the same text."""
    return "".join(example.text.split())


def _surfaces(example: Example) -> Counter[tuple[str, str]]:
    return Counter(("".join(example.text[span.start : span.end].split()), span.label) for span in example.spans)


def _shown(example: Example, span: Span) -> str:
    return f"{example.text[span.start : span.end]!r} [{span.start}, {span.end}] {span.label}"


def _overlaps(example: Example) -> Iterator[tuple[Span, Span]]:
    for one, other in combinations(sorted(set(example.spans), key=lambda span: (span.start, span.end)), 2):
        if other.start < one.end:
            yield one, other
