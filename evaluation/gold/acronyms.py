"""SDU's acronyms (Veyseh et al., 2020): `eval/acronym_identification.jsonl`, `eval/acronym_disambiguation.jsonl`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from evaluation.gold.named import line_error, named_lines
from evaluation.gold.tokens import running_text
from paperscope_core.errors import GoldFileError

__all__ = ["GoldAcronyms", "GoldExpansion", "gold_acronyms", "gold_expansions"]


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldAcronyms:
    """A sentence with its short and long forms as they stand in it; `name` is SET/ID."""

    name: str
    text: str
    shorts: tuple[str, ...]
    longs: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldExpansion:
    """A sentence, a short form in it, and what that means there; `name` is SET/ID."""

    name: str
    text: str
    short: str
    long: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _Identification:
    """A label a token: "O", or "B-" or "I-" with "short" or "long"."""

    id: str
    tokens: tuple[str, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Disambiguation:
    """`acronym` is the position of the short form, from 0."""

    id: str
    tokens: tuple[str, ...]
    acronym: int
    expansion: str


_IDENTIFICATION = TypeAdapter(_Identification)
_DISAMBIGUATION = TypeAdapter(_Disambiguation)
_LABELS = frozenset({"O", "B-short", "I-short", "B-long", "I-long"})


def gold_acronyms(data: Path) -> Iterator[GoldAcronyms | GoldFileError]:
    """One value a line, and the errors of lines that can't be used."""
    file = data / "eval" / "acronym_identification.jsonl"
    bad: list[GoldFileError] = []
    for number, line in named_lines(file, _IDENTIFICATION, name=lambda line: line.id, bad=bad):
        unknown = sorted(set(line.labels) - _LABELS)
        if unknown:
            yield line_error(file, number, f"unknown label {unknown[0]!r}")
        elif len(line.tokens) != len(line.labels):
            yield line_error(file, number, f"{len(line.labels)} labels for {len(line.tokens)} tokens")
        else:
            text = running_text(line.tokens)
            spans = list(_spans(line.labels))
            yield GoldAcronyms(
                name=f"acronym_identification/{line.id}",
                text=text.text,
                shorts=tuple(text.of(first, end) for kind, first, end in spans if kind == "short"),
                longs=tuple(text.of(first, end) for kind, first, end in spans if kind == "long"),
            )
    yield from bad


def gold_expansions(data: Path) -> Iterator[GoldExpansion | GoldFileError]:
    """One value a line, and the errors of lines that can't be used."""
    file = data / "eval" / "acronym_disambiguation.jsonl"
    bad: list[GoldFileError] = []
    for number, line in named_lines(file, _DISAMBIGUATION, name=lambda line: line.id, bad=bad):
        if not 0 <= line.acronym < len(line.tokens):
            yield line_error(file, number, f"'acronym' is {line.acronym}, but there are {len(line.tokens)} tokens")
        else:
            yield GoldExpansion(
                name=f"acronym_disambiguation/{line.id}",
                text=running_text(line.tokens).text,
                short=line.tokens[line.acronym],
                long=line.expansion,
            )
    yield from bad


def _spans(labels: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Kind, first token and the one after the last; an "I-" without its "B-" begins a span, too (as in CoNLL-2000)."""
    kind, first = "", 0
    for number, label in enumerate((*labels, "O")):
        mark, _, following = label.partition("-")
        if kind and (mark != "I" or following != kind):
            yield kind, first, number
            kind = ""
        if following and not kind:
            kind, first = following, number
