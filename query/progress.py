"""The progress of one answer: its stages with their usage, and its text while a model writes it."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from paperscope_core.models.reply_reading import partial_text
from paperscope_core.types import StageTime, TextEvent, Usage

__all__ = ["Progress", "StageUsage"]

# A reply is read again when it has grown by this share, so that all readings take time in proportion to its length.
_GROWTH = 1 / 128


def _ignore(_stage: str) -> None:
    return


@dataclass(slots=True)
class StageUsage:
    """The usage of models in a stage, to which its code adds."""

    usage: Usage = Usage()


class Progress:
    """Measures the stages of an answer, and tells of them and of its text.

    Args:
        on_stage: Called with the name of each stage when it begins.
        on_text: Called with each piece of the text, which begins anew when a later reply replaces it. Without it, no
            model is asked to stream.
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
        self._times: dict[str, StageTime] = {}
        self.restart()

    @property
    def streams(self) -> bool:
        """Whether the text is told while it is written."""
        return self._on_text is not None

    @contextmanager
    def stage(self, name: str) -> Iterator[StageUsage]:
        """Measure the block under this name; a block that raises is not recorded. Stages may overlap and be
        repeated."""
        self._on_stage(name)
        spent = StageUsage()
        start = time.perf_counter()
        yield spent
        before = self._times.pop(name, StageTime(stage=name, seconds=0.0))
        seconds = before.seconds + time.perf_counter() - start
        self._times[name] = replace(before, seconds=seconds, usage=before.usage + spent.usage)

    def report(self, name: str) -> None:
        """Tell how far a stage is, as a stage of another name."""
        self._on_stage(name)

    @property
    def times(self) -> tuple[StageTime, ...]:
        """The finished stages in the order in which they ended, each once."""
        return tuple(self._times.values())

    @property
    def usage(self) -> Usage:
        """The usage of the finished stages."""
        return sum((one.usage for one in self._times.values()), Usage())

    @property
    def seconds(self) -> float:
        """Seconds since the attempt began."""
        return time.perf_counter() - self._start

    def restart(self) -> None:
        """Begin another reply. What was told is void from where the new one differs."""
        self._read = 0

    def grow(self, reply: str) -> None:
        """Take the reply so far, a JSON object with the text under "answer"."""
        if 0 <= len(reply) - self._read < self._read * _GROWTH:
            return
        self._read = len(reply)
        text = partial_text(reply, "answer").strip()
        # A reply that so far says what was told leaves it.
        if not self._emitted.startswith(text):
            self._tell(text)

    def end(self, text: str) -> None:
        """Tell the rest of the final text."""
        self._tell(text)

    def _tell(self, text: str) -> None:
        anew = not text.startswith(self._emitted)
        piece = text if anew else text.removeprefix(self._emitted)
        if self._on_text is not None and (piece or anew):
            self._emitted = text
            self._on_text(TextEvent(text=piece, anew=anew))
