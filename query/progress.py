"""Stages, events and the streamed text of one answer."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from paperscope_core.models.structured import partial_text
from paperscope_core.types import Answer, AnswerEvent, DoneEvent, StageEvent, StageTime, TextEvent

__all__ = ["FinalText", "Stages", "answer_events"]

# A reply is read again when it has grown by this share, so that all readings take time in proportion to its length.
_GROWTH = 1 / 128


class Stages:
    """Measures the stages of one answer; stages may overlap."""

    def __init__(self, on_stage: Callable[[str], None] | None = None) -> None:
        self._on_stage = on_stage
        self._start = time.perf_counter()
        self._times: list[StageTime] = []

    @contextmanager
    def run(self, stage: str) -> Iterator[None]:
        """Measures the block under this name; a block that raises is not recorded."""
        if self._on_stage is not None:
            self._on_stage(stage)
        start = time.perf_counter()
        yield
        self._times.append(StageTime(stage=stage, seconds=time.perf_counter() - start))

    @property
    def times(self) -> tuple[StageTime, ...]:
        """The finished stages, in the order in which they ended."""
        return tuple(self._times)

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._start


class FinalText:
    """Emits the final text in pieces while a model writes it.

    `hold` keeps back a reply that may not be the final one until `end` confirms it; `restart` drops it.
    """

    def __init__(self, emit: Callable[[TextEvent], None]) -> None:
        self._emit = emit
        self._emitted = self._known = ""
        self._read = 0
        self._held = False

    def hold(self) -> None:
        """Emits nothing until it is known whether this reply is the final text."""
        self._held = True

    def restart(self) -> None:
        """Drops the reply; the final text begins now."""
        self._held = False
        self._known = ""
        self._read = 0

    def grow(self, reply: str) -> None:
        """Takes the reply so far, a JSON object with the text under "answer"."""
        if 0 <= len(reply) - self._read < self._read * _GROWTH:
            return
        self._read = len(reply)
        self._known = partial_text(reply, "answer").strip()
        if not self._held:
            self._say(self._known)

    def end(self, text: str) -> None:
        """Emits the rest of the final text."""
        self._held = False
        self._say(text)

    def _say(self, text: str) -> None:
        anew = not text.startswith(self._emitted)
        piece = text if anew else text.removeprefix(self._emitted)
        if piece or anew:
            self._emitted = text
            self._emit(TextEvent(text=piece, anew=anew))


async def answer_events(
    answering: Callable[[Callable[[str], None], FinalText], Coroutine[Any, Any, Answer]],
) -> AsyncGenerator[AnswerEvent, None]:
    """Runs `answering` with callbacks for stages and text, and yields the events.

    Raises what `answering` raises, and cancels it if the generator is closed early.
    """
    events: asyncio.Queue[AnswerEvent | None] = asyncio.Queue()
    text = FinalText(events.put_nowait)
    task = asyncio.create_task(answering(lambda stage: events.put_nowait(StageEvent(stage=stage)), text))
    task.add_done_callback(lambda _: events.put_nowait(None))
    try:
        while (event := await events.get()) is not None:
            yield event
        answer = await task
        yield DoneEvent(answer=answer)
    finally:
        task.cancel()
