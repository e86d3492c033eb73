"""How a step that is slow by nature asks for time, past all layers between it and whoever watches the clock."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["ask_for_time", "heard_by"]

_listener: ContextVar[Callable[[float], None] | None] = ContextVar("_listener", default=None)


def ask_for_time(times: float = 1.0) -> None:
    """Say that a step begins, and how many times as long as other steps it may take; nobody need be listening."""
    listener = _listener.get()
    if listener:
        listener(times)


@contextmanager
def heard_by(listener: Callable[[float], None]) -> Iterator[None]:
    """Let `listener` hear what is asked for within the block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
