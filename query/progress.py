"""The progress of one answer: its stages, and its text while a model writes it."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from paperscope_core.models.reply_reading import partial_text
from paperscope_core.types import StageTime, TextEvent

__all__ = ["Progress"]

# A reply is read again when it has grown by this share, so that all readings take time in proportion to its length.
_GROWTH = 1 / 128


def _ignore(_stage: str) -> None:
    return


class Progress:
    """Measures the stages of an answer, and tells of them and of its final text.

    Args:
        on_stage: Called with the name of each stage when it begins.
        on_text: Called with each piece of the final text. Without it, no model is asked to stream.
    """

    def __init__(
        self, on_stage: Callable[[str], None] = _ignore, on_text: Callable[[TextEvent], None] | None = None
    ) -> None:
        self._on_stage = on_stage
        self._on_text = on_text
        self._emitted = ""
        self.begin()

    def begin(self) -> None:
        """Begin an attempt. What an earlier one told of the text is void, unless this one says the same."""
        self._start = time.perf_counter()
        self._times: list[StageTime] = []
        self.restart()

    @property
    def streams(self) -> bool:
        """Whether the text is told while it is written."""
        return self._on_text is not None

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure the block under this name; a block that raises is not recorded. Stages may overlap."""
        self._on_stage(name)
        start = time.perf_counter()
        yield
        self._times.append(StageTime(stage=name, seconds=time.perf_counter() - start))

    @property
    def times(self) -> tuple[StageTime, ...]:
        """The finished stages, in the order in which they ended."""
        return tuple(self._times)

    @property
    def seconds(self) -> float:
        """Seconds since the attempt began."""
        return time.perf_counter() - self._start

    def hold(self) -> None:
        """Tell nothing of the reply until `end` confirms that it is the final text, or `restart` drops it."""
        self._held = True

    def restart(self) -> None:
        """Drop the reply; the final text begins now."""
        self._held = False
        self._read = 0

    def grow(self, reply: str) -> None:
        """Take the reply so far, a JSON object with the text under "answer"."""
        if 0 <= len(reply) - self._read < self._read * _GROWTH:
            return
        self._read = len(reply)
        if not self._held:
            self._tell(partial_text(reply, "answer").strip())

    def end(self, text: str) -> None:
        """Tell the rest of the final text."""
        self._tell(text)

    def _tell(self, text: str) -> None:
        anew = not text.startswith(self._emitted)
        piece = text if anew else text.removeprefix(self._emitted)
        if self._on_text is not None and (piece or anew):
            self._emitted = text
            self._on_text(TextEvent(text=piece, anew=anew))
