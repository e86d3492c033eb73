"""HTTP calls to an OpenAI-compatible server, and the translation of their errors.

No error message contains the API key, and no public one the server's address, even if the server quotes them.
"""

import asyncio
import base64
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING, TypeVar, cast
from urllib.parse import quote, quote_plus, urlsplit

from pydantic import BaseModel, SecretStr, ValidationError
from pydantic_core import from_json

from paperscope_core.errors import (
    ContextTooLongError,
    ModelError,
    ModelRateLimitError,
    ModelRefusedError,
    ModelReplyError,
    ModelUnavailableError,
)

if TYPE_CHECKING:
    import ssl

    import httpx2
    from openai import APIStatusError, AsyncOpenAI, OpenAIError

__all__ = ["MASK", "BadRequestError", "Endpoint", "redact", "retry_after"]

Reply = TypeVar("Reply", bound=BaseModel)

MASK = "********"
"""What replaces a secret."""

# A shorter piece of a secret reveals too little of it, and would also mask unrelated words.
_MIN_CHARACTERS = 6
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
# The maximum number of characters that an error quotes of a server's reply.
_QUOTE_LENGTH = 300
# The start of a server's text that is searched for the key.
_SEARCHED_LENGTH = 10 * _QUOTE_LENGTH
# Ten times what the vectors of a batch take as JSON.
_MAX_RESPONSE_BYTES = 50_000_000
_REMEDIES = {
    401: "check the role's api_key",
    402: "the account has no credit left",
    403: "the key may not use this model: check api_key and model",
    404: "no such model or path: check model, and base_url (it usually ends in /v1)",
    429: "the account has no credit left",
}
# How servers say that a request is longer than the model's window: OpenAI ("context_length_exceeded"), vLLM ("This
# model's maximum context length is 4096 tokens"; "The decoder prompt (length 9) is longer than the maximum model length
# of 8"), llama.cpp ("exceeds the available context size"), llama-cpp-python ("exceed context window of 2048"), Ollama
# ("the input length exceeds the context length"), Anthropic ("prompt is too long"), Gemini ("input token count exceeds
# the maximum number of tokens"), text-generation-inference and text-embeddings-inference ("must have less than 512
# tokens").
_TOO_LONG = re.compile(
    r"context_length_exceeded|string_too_long|exceed_context_size"
    r"|maximum context length|longer than the (?:model's context|maximum model) length"
    r"|exceeds? (?:the )?(?:model's |available |maximum )*(?:context|input) (?:size|length|window)"
    r"|context size has been exceeded|(?:prompt|input|text|message)s? (?:is |are )?too long|too large for model"
    r"|input token count .{0,40}exceeds the maximum|(?:must have less than|tokens? must be <=|at most) \d+ tokens"
    r"|reduce the length of|max_new_tokens` must be <="
)
_STATUS = re.compile(r"[345]\d\d")
# How servers say in an error without a status that it is not theirs; with any other, the call is repeated.
_LIMITED = re.compile(r"rate.?limit|too many requests|quota|overloaded")
_REFUSED = re.compile(
    r"invalid.?(?:request|param|api.?key)|badrequest|bad request|not.?found|unsupported|authenti|permission"
)
# The start of a complaint that is searched for what the server rejects.
_COMPLAINT_LENGTH = 2000


class BadRequestError(ModelRefusedError):
    """The server rejects the request itself; `complaint` is its message in lower case."""

    def __init__(self, public: str, *, where: str, complaint: str) -> None:
        super().__init__(public, where=where)
        self.complaint = complaint


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """One model on one server.

    Attributes:
        base_url: The server's address; environment variables don't change it.
        api_key: The server's key; empty if it needs none.
        timeout: Seconds that a whole call may take.
    """

    model: str
    base_url: str
    api_key: SecretStr
    timeout: float

    async def post(self, path: str, body: Mapping[str, object], reply: type[Reply]) -> Reply:
        """Send a request and parse its reply.

        Args:
            body: The request's JSON; the model's name is added.

        Raises:
            ModelError: The call fails, or the reply has another form.
        """
        async with self._client() as client:
            text = await client.post(path, body={"model": self.model, **body}, cast_to=str)
        return self._parse(text, reply)

    async def stream(
        self, path: str, body: Mapping[str, object], reply: type[Reply], *, on_chunk: Callable[[object], bool]
    ) -> Reply | None:
        """Send a request and pass the decoded JSON of each server-sent event to `on_chunk`.

        Args:
            reply: The type of a reply that is not streamed. Errors quote its name.
            on_chunk: Takes a chunk, and returns whether the reply is complete with it.

        Returns:
            None, or the whole reply of a server that does not stream.

        Raises:
            ModelError: The call fails, the stream ends before the reply, or `on_chunk` raises ValueError.
        """
        import openai

        async with self._client() as client:
            stream = await client.post(
                path,
                body={"model": self.model, **body},
                cast_to=object,
                stream=True,
                stream_cls=openai.AsyncStream[object],
            )
            async with stream:
                response = stream.response
                if "text/event-stream" not in response.headers.get("content-type", ""):
                    return self._parse((await response.aread()).decode("utf-8", "replace"), reply)
                complete = False
                # A chunk is one line; `openai` would hide whether the stream was ended or broke off.
                async for line in response.aiter_lines():
                    data = line.removeprefix("data:").strip() if line.startswith("data:") else ""
                    if data.startswith("[DONE]"):
                        return None
                    if data:
                        complete = self._read_chunk(data, reply, on_chunk) or complete
        if not complete:
            raise ModelUnavailableError(
                f"model {self.model!r}: the stream broke off in the middle of the reply; try later", where=self.base_url
            )
        return None

    def _read_chunk(self, data: str, reply: type[Reply], on_chunk: Callable[[object], bool]) -> bool:
        try:
            chunk = from_json(data)
            failure = self._failure_in(chunk)
            if failure is not None:
                raise failure
            return on_chunk(chunk)
        except ValueError as error:
            raise ModelReplyError(
                f"model {self.model!r} streams no {reply.__name__} ({self.redacted(str(error))}); is base_url "
                "an OpenAI-compatible endpoint?",
                where=self.base_url,
            ) from None

    @asynccontextmanager
    async def _client(self) -> AsyncIterator["AsyncOpenAI"]:
        """Yield a client for one call, and translate its errors.

        Creating a client takes a millisecond, and no socket outlives its event loop.
        """
        import httpx2
        import openai

        key = self.api_key.get_secret_value() or "none"
        try:
            async with (
                asyncio.timeout(self.timeout),
                openai.AsyncOpenAI(
                    base_url=self.base_url,
                    api_key=key,
                    # Explicit, so that OPENAI_CUSTOM_HEADERS, which the package reads, can't replace the key.
                    # A compressed response could be a thousand times as large as what is received.
                    default_headers={"Authorization": f"Bearer {key}", "Accept-Encoding": "identity"},
                    timeout=self.timeout,
                    # `RetryPolicy` gives the reason.
                    max_retries=0,
                    http_client=openai.DefaultAsyncHttpxClient(
                        verify=_tls_context(),
                        follow_redirects=False,
                        trust_env=False,
                        event_hooks={"response": [self._limit]},
                    ),
                ) as client,
            ):
                yield client
        except TimeoutError:
            raise ModelUnavailableError(
                f"model {self.model!r}: no reply within {self.timeout:g} s; raise the role's timeout",
                where=self.base_url,
            ) from None
        except openai.OpenAIError as error:
            # Without its cause, which may quote the key.
            raise self._translated(error) from None
        except httpx2.HTTPError as error:
            # openai does not translate the errors of reading a body.
            raise self._unconnected(error) from None

    async def _limit(self, response: "httpx2.Response") -> None:
        """Bound a response before it is read, and leave it compressed if it is."""
        response.headers.pop("Content-Encoding", None)
        error = ModelReplyError(
            f"model {self.model!r} sent more than {_MAX_RESPONSE_BYTES} bytes; is base_url an OpenAI-compatible "
            "endpoint?",
            where=self.base_url,
        )
        response.stream = _limited_stream()(cast("httpx2.AsyncByteStream", response.stream), error)

    def _parse(self, text: str, reply: type[Reply]) -> Reply:
        try:
            return reply.model_validate_json(text)
        except ValidationError:
            failure = self._failure_in(_decoded(text))
            if failure is not None:
                raise failure from None
            raise ModelReplyError(
                f"model {self.model!r} answered no {reply.__name__} but {self.redacted(text)!r}; is base_url an "
                "OpenAI-compatible endpoint? It usually ends in /v1",
                where=self.base_url,
            ) from None

    def _failure_in(self, reply: object) -> ModelError | None:
        """Return the failure that a reply under HTTP 200 reports: gateways send the status of the server behind them as
        a code, others the text alone."""
        if not isinstance(reply, dict):
            return None
        told = reply if reply.get("object") == "error" else reply.get("error")
        if not told or not isinstance(told, dict | str):
            return None
        details = told if isinstance(told, dict) else {}
        text = str(told).lower()
        numbers = (str(details.get(name)) for name in ("code", "status", "status_code"))
        status = next((int(one) for one in numbers if _STATUS.fullmatch(one)), 0)
        if not status:
            status = 429 if _LIMITED.search(text) else 400 if _REFUSED.search(text) or _TOO_LONG.search(text) else 502
        return self._failure(status, str(told), code=str(details.get("code")), headers={})

    def redacted(self, text: str, *, length: int = _QUOTE_LENGTH) -> str:
        """Return the start of a server's text, with key and address masked."""
        text, address = redact(text[:_SEARCHED_LENGTH], self.api_key.get_secret_value()), urlsplit(self.base_url)
        for part in filter(None, (self.base_url, address.netloc)):
            text = text.replace(part, MASK)
        # A host's name may be part of other words.
        host = re.escape(address.hostname or self.base_url)
        return re.sub(rf"(?<!\w){host}(?!\w)", MASK, text)[:length]

    def _translated(self, error: "OpenAIError") -> ModelError:
        import openai

        model = f"model {self.model!r}"
        if isinstance(error, openai.APITimeoutError):
            message = f"{model}: no reply in time; raise the role's timeout or try later"
            return ModelUnavailableError(message, where=self.base_url)
        if isinstance(error, openai.APIConnectionError):
            return self._unconnected(error.__cause__ or error)
        if isinstance(error, openai.APIStatusError):
            return self._translated_status(error)
        message = f"{model}: {self.redacted(str(error))}; is base_url an OpenAI-compatible endpoint?"
        return ModelReplyError(message, where=self.base_url)

    def _unconnected(self, cause: BaseException) -> ModelUnavailableError:
        message = (
            f"model {self.model!r}: no connection ({self.redacted(str(cause))}); is the server up, and base_url right?"
        )
        return ModelUnavailableError(message, where=self.base_url)

    def _translated_status(self, error: "APIStatusError") -> ModelError:
        return self._failure(
            error.status_code, str(error.body or error.message), code=str(error.code), headers=error.response.headers
        )

    def _failure(self, status: int, told: str, *, code: str, headers: Mapping[str, str]) -> ModelError:
        """Return the error for a status and what the server says of it."""
        where, complaint = self.base_url, self.redacted(told)
        message = f"model {self.model!r}: HTTP {status}, {complaint!r}"
        searched = self.redacted(told, length=_COMPLAINT_LENGTH).lower()
        if status in (400, 413, 422, 500) and _TOO_LONG.search(searched):
            return ContextTooLongError(
                f"{message}; the request is longer than the model's window: lower retrieval.tokens, or let the server "
                "give the model a longer one",
                where=where,
            )
        if status == 429 and code != "insufficient_quota":
            return ModelRateLimitError(
                f"{message}; lower the role's concurrency or try later", where=where, retry_after=retry_after(headers)
            )
        if status in (408, 409, 425) or status >= 500:
            return ModelUnavailableError(f"{message}; try later", where=where)
        if status in (400, 413, 422):
            message = f"{message}; the server can't do what was asked"
            return BadRequestError(message, where=where, complaint=searched)
        if 300 <= status < 400:
            target = redact(headers.get("location", "")[:_QUOTE_LENGTH], self.api_key.get_secret_value())
            return ModelRefusedError(
                f"model {self.model!r}: redirects are not followed; set base_url to the final address",
                where=f"{where} (to {target!r})",
            )
        return ModelRefusedError(f"{message}; {_REMEDIES.get(status, 'check model and base_url')}", where=where)


def _decoded(text: str) -> object:
    try:
        return from_json(text)
    except ValueError:
        return None


@cache
def _limited_stream() -> "Callable[[httpx2.AsyncByteStream, Exception], httpx2.AsyncByteStream]":
    """Return a stream that passes on the bytes of a response, and raises the error once there are too many."""
    import httpx2

    class LimitedStream(httpx2.AsyncByteStream):
        def __init__(self, stream: httpx2.AsyncByteStream, error: Exception) -> None:
            self._stream = stream
            self._error = error

        async def __aiter__(self) -> AsyncIterator[bytes]:
            left = _MAX_RESPONSE_BYTES
            async for part in self._stream:
                left -= len(part)
                if left < 0:
                    raise self._error
                yield part

        async def aclose(self) -> None:
            await self._stream.aclose()

    return LimitedStream


@cache
def _tls_context() -> "ssl.SSLContext":
    """Of all calls: to read the system's certificates takes 40 ms."""
    import httpx2

    return httpx2.create_ssl_context(trust_env=False)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the number of seconds that a server asks to wait; None if it does not say.

    Reads Retry-After (RFC 9110, section 10.2.3: seconds or a date), and OpenAI's `retry-after-ms`, which is preferred.
    """
    with suppress(KeyError, ValueError):
        return max(0.0, float(headers["retry-after-ms"]) / 1000)
    text = headers.get("retry-after", "")
    with suppress(ValueError):
        return max(0.0, float(text))
    with suppress(ValueError):
        return max(0.0, (parsedate_to_datetime(text).replace(tzinfo=UTC) - datetime.now(UTC)).total_seconds())
    return None


def redact(text: str, secret: str) -> str:
    """Mask a secret and each piece of it: plain, or encoded for a URL, as Base64, as hexadecimal digits or in JSON.

    Case is ignored. The work is linear in the length of the text.
    """
    folded = text.translate(_LOWER)
    masked = bytearray(len(text))
    for form, size in _forms(secret):
        pieces = {form[start : start + size] for start in range(len(form) - size + 1)}
        for start in range(len(text) - size + 1):
            if folded[start : start + size] in pieces:
                masked[start : start + size] = b"\1" * size
    return "".join(
        sign if not hidden else MASK * (index == 0 or not masked[index - 1])
        for index, (sign, hidden) in enumerate(zip(text, masked, strict=True))
    )


def _forms(secret: str) -> Iterator[tuple[str, int]]:
    """Yield the forms of a secret in lower case, each with the length of the shortest piece that is masked."""
    if not secret:
        return
    data, count = secret.encode(), min(_MIN_CHARACTERS, len(secret))
    forms = {
        (secret, count),
        (quote(secret, safe=""), count),
        (quote_plus(secret), count),
        ("".join(f"%{byte:02x}" for byte in data), 3 * count),
        ("".join(f"\\u{byte:04x}" for byte in data), 6 * count),
        (data.hex(), 2 * count),
    }
    # Three bytes are four digits, so the digits of a secret depend on its offset in what was encoded.
    for offset in range(3):
        digits = base64.b64encode(bytes(offset) + data).decode().rstrip("=")
        # The digits at both ends depend on the neighbours, too.
        digits = digits[(offset * 8 + 5) // 6 : len(digits) if (offset + len(data)) % 3 == 0 else -1]
        for form in (digits, digits.translate(str.maketrans("+/", "-_"))):
            forms.add((form, min(len(form), count * 4 // 3)))
    for form, size in forms:
        if size:
            yield form.translate(_LOWER), size
