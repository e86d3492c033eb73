"""Asks a library of a given size many questions and times each; the same loop for ours and for a peer's.

Only the standard library is imported, so that a peer's Python can.
"""

import json
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

from evaluation.memory import peak_memory_mb
from evaluation.peers.growing import Clock
from evaluation.peers.synthetic import SHARED, synthetic_paper, synthetic_words

__all__ = ["KINDS", "Asked", "Question", "Told", "papers_with", "questions_over", "size_mb", "tell", "time_questions"]

KINDS = ("two names", "one own name", "words only")
_WORDS_ASKED = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question of one of `KINDS`."""

    kind: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """One question's retrieval: seconds by the wall and of the processor, and how many texts were found."""

    kind: str
    seconds: float
    cpu: float
    found: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """What a process tells of a library of `papers` papers: of making it, or of asking it.

    `seconds` are those of making or opening it, without the embedder's. `memory_mb` is the most that the process held.
    `asked[0]` is the first question after opening.
    """

    papers: int
    seconds: float
    memory_mb: float
    disk_mb: float
    asked: tuple[Asked, ...] = ()


def papers_with(entities: int, *, seed: int) -> int:
    """How many of the synthetic papers, from the first on, hold so many distinct entities together."""
    names: set[str] = set()
    papers = 0
    while len(names) < entities:
        papers += 1
        names.update(entity.name for entity in synthetic_paper(papers, seed=seed).entities)
    return papers


def questions_over(papers: int, *, count: int, seed: int) -> list[Question]:
    """`count` questions about random ones of so many papers, the kinds in turn; the same for the same seed."""
    draw = random.Random(f"questions {seed} {papers}")  # noqa: S311
    made = []
    for number in range(count):
        names = [entity.name for entity in synthetic_paper(draw.randint(1, papers), seed=seed).entities]
        shared, own = draw.choice(names[:SHARED]), draw.choice(names[SHARED:])
        texts = (
            f"How does {shared} compare with {own}?",
            f"What is reported of {own}, and how was it measured?",
            f"Which results were found for {synthetic_words(draw, count=_WORDS_ASKED)}?",
        )
        kind = number % len(KINDS)
        made.append(Question(kind=KINDS[kind], text=texts[kind]))
    return made


async def time_questions(
    questions: Sequence[Question], retrieve: Callable[[str], Awaitable[int]], *, clock: Clock
) -> tuple[Asked, ...]:
    """Ask one after the other."""
    asked = []
    for question in questions:
        found, seconds, cpu = await clock.time(retrieve(question.text))
        asked.append(Asked(kind=question.kind, seconds=round(seconds, 5), cpu=round(cpu, 5), found=found))
    return tuple(asked)


def tell(stream: TextIO, folder: Path, *, papers: int, seconds: float, asked: tuple[Asked, ...] = ()) -> None:
    """Write what there is to tell of the library in `folder` as a line of JSON."""
    told = Told(
        papers=papers,
        seconds=round(seconds, 3),
        memory_mb=peak_memory_mb(),
        disk_mb=size_mb(folder),
        asked=asked,
    )
    stream.write(json.dumps(asdict(told)) + "\n")


def size_mb(folder: Path) -> float:
    """What a folder holds, in megabytes (2^20 bytes)."""
    return round(sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / (1 << 20), 2)
