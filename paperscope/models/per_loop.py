"""Things of asyncio belong to one event loop; a library is called from several, one after another or in threads."""

import asyncio
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["PerLoop"]

T = TypeVar("T")


class PerLoop(Generic[T]):
    """One value for each running event loop, made when first asked for and dropped once its loop is closed."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._values: dict[asyncio.AbstractEventLoop, T] = {}
        self._lock = threading.Lock()

    def get(self) -> T:
        """The running loop's value."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if loop not in self._values:
                self._values = {known: value for known, value in self._values.items() if not known.is_closed()}
                self._values[loop] = self._make()
            return self._values[loop]
