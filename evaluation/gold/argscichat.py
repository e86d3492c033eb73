"""`eval/paperqa_argscichat.jsonl`: papers as sentences, and dialogues on them (ArgSciChat, Ruggeri et al., 2023)."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from evaluation.gold.files import json_lines
from paperscope_core.errors import GoldFileError

__all__ = ["Dialogue", "Turn", "argscichat_dialogues"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """What the one who proposes says, and the facts of the paper that the other's reply rests on.

    `number` is its place in the dialogue, from 1; the facts are whole sentences or parts of them.
    """

    number: int
    text: str
    facts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Dialogue:
    """A paper's sentences and the turns that rest on facts; `where` is its file and line."""

    where: str
    line: int
    id: str
    title: str
    sentences: tuple[str, ...]
    turns: tuple[Turn, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Pair:
    P_Message: str
    facts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Paper:
    id: str
    title: str
    content: tuple[str, ...]
    message_pairs: tuple[_Pair, ...]


_PAPER = TypeAdapter(_Paper)


def argscichat_dialogues(data: Path) -> Iterator[Dialogue | GoldFileError]:
    """One dialogue a line, and the errors of lines that can't be used. Turns without facts are left out."""
    file = data / "eval" / "paperqa_argscichat.jsonl"
    bad: list[GoldFileError] = []
    for number, paper in json_lines(file, _PAPER, bad=bad):
        turns = (
            Turn(number=place, text=pair.P_Message, facts=tuple(filter(str.strip, pair.facts)))
            for place, pair in enumerate(paper.message_pairs, start=1)
        )
        yield Dialogue(
            where=f"{file}:{number}",
            line=number,
            id=paper.id,
            title=paper.title,
            sentences=tuple(filter(str.strip, paper.content)),
            turns=tuple(turn for turn in turns if turn.facts and turn.text.strip()),
        )
    yield from bad
