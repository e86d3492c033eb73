"""HTTP calls to an OpenAI-compatible server, and the translation of their errors."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, SecretStr, ValidationError

from paperscope_core.errors import (
    ModelError,
    ModelRateLimitError,
    ModelRefusedError,
    ModelReplyError,
    ModelUnavailableError,
)

if TYPE_CHECKING:
    import ssl

    from openai import APIStatusError, AsyncOpenAI, OpenAIError


__all__ = ["BadRequestError", "Endpoint", "redacted", "retry_after", "translate_error"]


QUOTE_LENGTH = 300
"""How many characters of a server's own words an error quotes."""


class BadRequestError(ModelRefusedError):
    """The server dislikes the request itself; `complaint` is what it said, in small letters."""

    def __init__(self, public: str, *, where: str, complaint: str) -> None:
        super().__init__(public, where=where)
        self.complaint = complaint


def translate_error(error: "OpenAIError", *, model: str, base_url: str, key: SecretStr) -> ModelError:
    """The error of our own tree that says what happened, to which model, where, and what to do."""
    import openai

    named = f"model {model!r}"
    if isinstance(error, openai.APITimeoutError):
        return ModelUnavailableError(
            f"{named}: no reply in time; raise the role's timeout or try later", where=base_url
        )
    if isinstance(error, openai.APIConnectionError):
        reason = redacted(str(error.__cause__ or error), base_url=base_url, key=key)
        told = f"{named}: no connection ({reason}); is the server up, and base_url right?"
        return ModelUnavailableError(told, where=base_url)
    if isinstance(error, openai.APIStatusError):
        said = redacted(str(error.body or error.message), base_url=base_url, key=key)
        return _translate_status(error, model=named, where=base_url, said=said)
    said = redacted(str(error), base_url=base_url, key=key)
    return ModelReplyError(f"{named}: {said}; is base_url an OpenAI-compatible endpoint?", where=base_url)


def _translate_status(error: "APIStatusError", *, model: str, where: str, said: str) -> ModelError:
    status = error.status_code
    told = f"{model}: HTTP {status}, {said!r}"
    if status == 429 and error.code != "insufficient_quota":
        wait = retry_after(error.response.headers)
        return ModelRateLimitError(f"{told}; lower the role's concurrency or try later", where=where, retry_after=wait)
    if status in (408, 409, 425) or status >= 500:
        return ModelUnavailableError(f"{told}; try later", where=where)
    if status in (400, 422):
        return BadRequestError(f"{told}; the server can't do what was asked", where=where, complaint=said.lower())
    if 300 <= status < 400:
        target = error.response.headers.get("location", "")[:QUOTE_LENGTH]
        return ModelRefusedError(
            f"{model}: a redirection, which is not followed; set base_url to the final address",
            where=f"{where} (to {target!r})",
        )
    remedies = {
        401: "check the role's api_key",
        403: "the key may not use this model: check api_key and model",
        404: "no such model or path: check model, and base_url (it usually ends in /v1)",
        429: "the account has no credit left",
    }
    return ModelRefusedError(f"{told}; {remedies.get(status, 'check model and base_url')}", where=where)


def redacted(text: str, *, base_url: str, key: SecretStr) -> str:
    """The beginning of a text of the server's, key and address blotted out."""
    address = urlsplit(base_url)
    for secret in filter(None, (key.get_secret_value(), base_url, address.netloc)):
        text = text.replace(secret, "********")
    # A host may be called as words that occur in any text.
    host = re.escape(address.hostname or base_url)
    return re.sub(rf"(?<!\w){host}(?!\w)", "********", text)[:QUOTE_LENGTH]


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a server asks to wait: RFC 9110 section 10.2.3 (seconds or a date), or `retry-after-ms`."""
    with suppress(KeyError, ValueError):
        return max(0.0, float(headers["retry-after-ms"]) / 1000)
    text = headers.get("retry-after", "")
    with suppress(ValueError):
        return max(0.0, float(text))
    with suppress(ValueError):
        return max(0.0, (parsedate_to_datetime(text).replace(tzinfo=UTC) - datetime.now(UTC)).total_seconds())
    return None


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
                    told = redacted(str(error), base_url=self.base_url, key=self.api_key)
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
            raise translate_error(error, model=self.model, base_url=self.base_url, key=self.api_key) from None

    def _read(self, text: str, reply: type[Reply]) -> Reply:
        try:
            return reply.model_validate_json(text)
        except ValidationError:
            start = redacted(text, base_url=self.base_url, key=self.api_key)
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
