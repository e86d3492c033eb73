"""Our side of `bench query`, in a process of its own: `python -m evaluation.bench.querying STEP PAPERS ...`.

`make PAPERS SEED FOLDER OUT` adds papers to the library in FOLDER until it holds so many. `ask PAPERS SEED FOLDER OUT
COUNT` opens it and asks questions. Each writes what there is to tell as a line of JSON.
"""

import asyncio
import sys
import time
from pathlib import Path
from typing import TextIO

from evaluation.bench.growing import open_library
from evaluation.peers.growing import Clock
from evaluation.peers.querying import questions_over, tell, time_questions
from evaluation.peers.synthetic import synthetic_paper

__all__ = ["main"]


async def _make(folder: Path, stream: TextIO, *, papers: int, seed: int) -> None:
    started = time.perf_counter()
    with open_library(folder, Clock()) as library:
        for number in range(library.papers + 1, papers + 1):
            await library.add(synthetic_paper(number, seed=seed))
    tell(stream, folder, papers=papers, seconds=time.perf_counter() - started)


async def _ask(folder: Path, stream: TextIO, *, papers: int, seed: int, count: int) -> None:
    questions = questions_over(papers, count=count, seed=seed)
    clock, started = Clock(), time.perf_counter()
    with open_library(folder, clock) as library:
        seconds = time.perf_counter() - started
        asked = await time_questions(questions, library.retrieve, clock=clock)
    tell(stream, folder, papers=library.papers, seconds=seconds, asked=asked)


def main(arguments: list[str]) -> None:
    """STEP PAPERS SEED FOLDER OUT [COUNT]"""
    step, papers, seed, folder, out, *count = arguments
    with Path(out).open("w", encoding="utf-8") as stream:
        if step == "make":
            asyncio.run(_make(Path(folder), stream, papers=int(papers), seed=int(seed)))
        else:
            asyncio.run(_ask(Path(folder), stream, papers=int(papers), seed=int(seed), count=int(count[0])))


if __name__ == "__main__":
    main(sys.argv[1:])
