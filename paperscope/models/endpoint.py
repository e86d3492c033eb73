"""A server that speaks OpenAI's protocol, through the `openai` package."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, SecretStr, ValidationError

from paperscope.errors import ModelReplyError, ModelUnavailableError
from paperscope.models.openai_errors import quoted, translated

if TYPE_CHECKING:
    import ssl

    from openai import AsyncOpenAI

__all__ = ["Endpoint"]

Reply = TypeVar("Reply", bound=BaseModel)


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """One model on one server. `timeout` (seconds) bounds a whole call; key and address come from the settings only."""

    model: str
    base_url: str
    api_key: SecretStr
    timeout: float

    async def post(self, path: str, body: Mapping[str, object], reply: type[Reply]) -> Reply:
        """Send `body` with the model's name and read the reply; raise `ModelError`."""
        async with self._call() as client:
            text = await client.post(path, body={"model": self.model, **body}, cast_to=str)
        return self._read(text, reply)

    async def stream(
        self, path: str, body: Mapping[str, object], reply: type[Reply], *, on_chunk: Callable[[object], None]
    ) -> Reply | None:
        """Send `body` and hand over each event's data as it comes; raise `ModelError`, also where `on_chunk` raises
        ValueError. A server that answers with a whole reply instead: that reply."""
        import openai

        async with self._call() as client:
            stream = await client.post(
                path,
                body={"model": self.model, **body},
                cast_to=object,
                stream=True,
                stream_cls=openai.AsyncStream[object],
            )
            async with stream:
                if "text/event-stream" not in stream.response.headers.get("content-type", ""):
                    return self._read((await stream.response.aread()).decode("utf-8", "replace"), reply)
                try:
                    async for chunk in stream:
                        on_chunk(chunk)
                except ValueError as error:
                    told = quoted(str(error), base_url=self.base_url, key=self.api_key)
                    raise ModelReplyError(
                        f"model {self.model!r} streams no {reply.__name__} ({told}); is base_url an OpenAI-compatible "
                        "endpoint?",
                        where=self.base_url,
                    ) from None
        return None

    @asynccontextmanager
    async def _call(self) -> AsyncIterator["AsyncOpenAI"]:
        import openai

        try:
            async with asyncio.timeout(self.timeout), self._client() as client:
                yield client
        except TimeoutError:
            raise ModelUnavailableError(
                f"model {self.model!r}: no reply within {self.timeout:g} s; raise the role's timeout",
                where=self.base_url,
            ) from None
        except openai.OpenAIError as error:
            # The cause may quote the key.
            raise translated(error, model=self.model, base_url=self.base_url, key=self.api_key) from None

    def _read(self, text: str, reply: type[Reply]) -> Reply:
        try:
            return reply.model_validate_json(text)
        except ValidationError:
            start = quoted(text, base_url=self.base_url, key=self.api_key)
            raise ModelReplyError(
                f"model {self.model!r} answered no {reply.__name__} but {start!r}; is base_url an OpenAI-compatible "
                "endpoint? It usually ends in /v1",
                where=self.base_url,
            ) from None

    def _client(self) -> "AsyncOpenAI":
        """A client for one call: it costs a millisecond, and no socket outlives its event loop."""
        import openai

        key = self.api_key.get_secret_value() or "none"
        return openai.AsyncOpenAI(
            base_url=self.base_url,
            api_key=key,
            # Explicit, so that OPENAI_CUSTOM_HEADERS, which the package reads, can't put another key in its place.
            default_headers={"Authorization": f"Bearer {key}"},
            timeout=self.timeout,
            max_retries=0,
            http_client=openai.DefaultAsyncHttpxClient(verify=self._tls, follow_redirects=False, trust_env=False),
        )

    @cached_property
    def _tls(self) -> "ssl.SSLContext":
        import httpx2

        return httpx2.create_ssl_context(trust_env=False)
