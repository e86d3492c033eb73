"""Limits the size of a server's response while it is read."""

from collections.abc import AsyncIterator

import httpx2

__all__ = ["LimitedStream"]


class LimitedStream(httpx2.AsyncByteStream):
    """Passes on the bytes of a response, and raises `error` once there are more than `max_bytes`."""

    def __init__(self, stream: httpx2.AsyncByteStream, *, max_bytes: int, error: Exception) -> None:
        self._stream = stream
        self._left = max_bytes
        self._error = error

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the bytes as they are received."""
        async for part in self._stream:
            self._left -= len(part)
            if self._left < 0:
                raise self._error
            yield part

    async def aclose(self) -> None:
        """Close the response."""
        await self._stream.aclose()
