"""Stages, events and the streamed text of one answer."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from paperscope_core.models.wrapper import text_of_field
from paperscope_core.types import Answer, AnswerEvent, DoneEvent, StageEvent, StageTime, TextEvent

__all__ = ["FinalText", "Stages", "events_of"]


class Stages:
    """The stages of one answer in the order in which they ended; two may run at the same time."""

    def __init__(self, on_stage: Callable[[str], None] | None = None) -> None:
        self._on_stage = on_stage
        self._start = time.perf_counter()
        self._times: list[StageTime] = []

    @contextmanager
    def run(self, stage: str) -> Iterator[None]:
        """Time the block under this name; one that raises is not noted."""
        if self._on_stage is not None:
            self._on_stage(stage)
        start = time.perf_counter()
        yield
        self._times.append(StageTime(stage=stage, seconds=time.perf_counter() - start))

    @property
    def times(self) -> tuple[StageTime, ...]:
        """The stages so far."""
        return tuple(self._times)

    @property
    def seconds(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self._start


class FinalText:
    """Turns replies that grow into pieces of the final text, and tells each piece once.

    A reply that may not be the final one is held back until `release` says that it is; `restart` drops it.
    """

    def __init__(self, tell: Callable[[TextEvent], None]) -> None:
        self._tell = tell
        self._told = self._known = ""
        self._held = False

    def hold(self) -> None:
        """Tell nothing until it is known whether what is written now is the final text."""
        self._held = True

    def release(self) -> None:
        """What was written is the final text: tell it."""
        self._held = False
        self._say(self._known)

    def restart(self) -> None:
        """Another text is the final one, and it begins now."""
        self._held = False
        self._known = ""

    def grow(self, reply: str) -> None:
        """Hear a reply so far, a JSON object with the text under "answer"; blanks at its ends are no part of it."""
        self._known = text_of_field(reply, "answer").strip()
        if not self._held:
            self._say(self._known)

    def end(self, text: str) -> None:
        """Tell what is still to be told of the whole text."""
        self._held = False
        self._say(text)

    def _say(self, text: str) -> None:
        if text.startswith(self._told):
            piece, anew = text[len(self._told) :], False
        else:
            piece, anew = text, True
        if piece or anew:
            self._told = text
            self._tell(TextEvent(text=piece, anew=anew))


async def events_of(
    answering: Callable[[Callable[[str], None], FinalText], Coroutine[Any, Any, Answer]],
) -> AsyncGenerator[AnswerEvent, None]:
    """Run `answering` with a listener for stages and one for the text, and give the events as they come.

    Raises what it raises. Left before its end, it is cancelled.
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
